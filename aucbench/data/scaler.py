"""Scaling of features, fitted on training rows only.

For a row x of d features, with l_j, u_j the smallest and largest value of column j over the training rows,
m_j their mean and s_j their standard deviation (with divisor n):

========================  ==============================================================================
``auto``                  the default; fitted to dense rows: ``standard``;
                          fitted to sparse rows: (x_j - m_j) / s_j in a dense column, which is
                          nonzero in 99.9 % of the rows, with different nonzero values; else
                          x_j / max(s_j, 1); if the root r_j of the mean square of the nonzero
                          values is below 0.001, x_j / r_j
``none``                  x
``minmax``                2 (x_j - l_j) / (u_j - l_j) - 1, with training rows in [-1, 1]; 0 in a
                          constant column
``maxabs``                x_j / max(|l_j|, |u_j|); a column of zeros stays unchanged
``standard``              fitted to dense rows: (x_j - m_j) / s_j, and 0 in a constant column;
                          fitted to sparse rows: x_j / s_j, and a constant column stays unchanged
``unit``                  x / |x|; a zero row stays zero
``centred_unit``          (x - m) / |x - m| with m the mean of the row's own features; a constant row
                          becomes zero
``maxabs_unit``           maxabs, then unit
========================  ==============================================================================

``minmax`` and ``centred_unit`` make sparse rows dense. Dense rows over 256 MB are refused if fewer than one
value in 20 is non-zero, however much memory is free. ``standard`` fitted to sparse rows does not centre them,
like scikit-learn's ``StandardScaler(with_mean=False)``, and keeps them sparse; ``auto`` leaves
sparse columns of zeros and ones as they are: divided by their deviation, rare columns would become huge.
Columns in tiny units, which regularisation would remove, are brought to the size of such columns. Dense
columns beside them are standardised; standardising common words of texts would make them huge, too.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aucbench.contracts import DatasetFacts, Matrix
from aucbench.data import memory
from aucbench.data.memory import available, check_width, fits
from aucbench.errors import DataError, ParameterError

EXPANDED_ROWS = 4096  # sparse rows made dense at a time
SPARSEST = 1 / 20  # smallest share of non-zeros at which many sparse rows may become dense
DENSE_COLUMN = 0.999  # share of rows; `auto` standardises such a column of sparse rows
SAME = 1e-15  # variance, relative to the squared range, of values that differ only by rounding
TINY = 1e-3  # size of the values of a sparse column below which `auto` brings it to 1
FEW_BYTES = 1 << 28  # dense rows up to this size are made at any share of non-zeros


class Scaling(StrEnum):
    """The scalings; names equal values."""

    auto = "auto"
    none = "none"
    minmax = "minmax"
    maxabs = "maxabs"
    standard = "standard"
    unit = "unit"
    centred_unit = "centred_unit"
    maxabs_unit = "maxabs_unit"


def default_scaling(dataset: Any) -> Scaling:
    """The default scaling of a data set: none if it declares ``scaled = True``, else auto."""
    return Scaling.none if DatasetFacts(dataset).scaled else Scaling.auto


BY_DEVIATION = {Scaling.auto, Scaling.standard}  # they centre dense rows and divide by deviations
_FITTED = BY_DEVIATION | {Scaling.minmax, Scaling.maxabs, Scaling.maxabs_unit}
_OF_ROWS = {Scaling.unit, Scaling.centred_unit, Scaling.maxabs_unit}
_DENSE = {Scaling.minmax, Scaling.centred_unit}


@dataclass(frozen=True)
class Scaler:
    """A fitted scaling; made by `fit_scaling`."""

    scaling: Scaling
    offset: NDArray[np.float64]  # (d,) subtracted from the columns; (0,) if nothing is fitted
    divisor: NDArray[np.float64]  # (d,) divisors of the columns; 0 marks a column that becomes constant
    fitted_sparse: bool = False  # fitted to sparse rows, which stay sparse

    @property
    def makes_dense(self) -> bool:
        """Whether sparse rows become dense, because zeros do not stay zero."""
        if self.scaling in BY_DEVIATION:
            return not self.fitted_sparse and bool(self.offset.any() or not self.divisor.all())
        return self.scaling in _DENSE


def fit_scaling(
    name: str, X: Matrix, rows: NDArray[np.int64] | None = None, weights: NDArray[np.float64] | None = None
) -> Scaler:
    """Fit a scaling to `rows` of X, (n, d) dense or CSR, or to all rows.

    With `weights` (n,) > 0, means and deviations count each row that many times.

    Raises ParameterError for an unknown name. Raises DataError if there are no rows, if there are too many
    columns for memory, and if the range of a column overflows.
    """
    if name not in list(Scaling):
        raise ParameterError(f"scaling must be one of {', '.join(Scaling)}, got {name!r}.")
    scaling = Scaling(name)
    if scaling not in _FITTED:
        return Scaler(scaling, np.empty(0), np.empty(0))
    rows = np.arange(X.shape[0]) if rows is None else rows
    low, high = _column_range(X, rows)
    if scaling in (Scaling.maxabs, Scaling.maxabs_unit):
        largest = np.maximum(np.abs(low), np.abs(high))
        return Scaler(scaling, np.zeros(len(low)), np.where(largest == 0.0, 1.0, largest))
    with np.errstate(over="ignore"):
        width = high - low
    if not np.isfinite(width).all():
        column = int(np.argmin(np.isfinite(width)))
        raise DataError(
            f"scaling={scaling}: column {column} ranges from {low[column]:.3g} to {high[column]:.3g}, and "
            "the difference overflows; use scaling=maxabs."
        )
    if scaling is Scaling.minmax:
        return Scaler(scaling, low, width)
    return _fit_deviations(scaling, X, rows, low, width, weights)


def _fit_deviations(
    scaling: Scaling,
    X: Matrix,
    rows: NDArray[np.int64],
    low: NDArray[Any],
    width: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> Scaler:
    """Welford's updates on values relative to the column range, without overflow or cancellation."""
    from aucbench.data import _scaler_kernels as kernels

    n, d = float(len(rows) if weights is None else weights[rows].sum()), len(low)
    weights = np.broadcast_to(1.0, X.shape[0]) if weights is None else weights
    mean, squares = np.zeros(d), np.zeros(d)
    # A column is constant if its values differ only by rounding.
    constant = width <= 8.0 * np.finfo(np.float64).eps * np.abs(low)
    if isinstance(X, np.ndarray):
        kernels.dense_moments(X, rows, weights, low, width, mean, squares)
        deviation = np.sqrt(squares / n) * width
        return Scaler(scaling, low + mean * width, np.where(constant, 0.0, deviation))
    filled = np.zeros(d)
    kernels.sparse_moments(X.indptr, X.indices, X.data, rows, weights, low, width, filled, mean, squares)
    zero = np.divide(-low, width, out=np.zeros(d), where=width > 0.0)
    size = np.sqrt(squares / np.where(filled > 0.0, filled, 1.0) + (zero - mean) ** 2) * width
    differs = ~constant & (squares > SAME * filled)
    is_dense = differs & (filled >= DENSE_COLUMN * n) & (scaling is Scaling.auto)
    offset = np.where(is_dense, low + (zero + (mean - zero) * (filled / n)) * width, 0.0)
    squares += (zero - mean) ** 2 * filled * ((n - filled) / n)  # contribution of the zeros
    deviation = np.sqrt(squares / n) * width
    deviation[constant | (deviation == 0.0)] = 1.0
    if scaling is Scaling.auto:
        least = np.where((size > 0.0) & (size < TINY), size, 1.0)
        deviation = np.where(is_dense, deviation, np.maximum(deviation, least))
    return Scaler(scaling, offset, deviation, fitted_sparse=True)


def gather(
    X: Matrix, rows: NDArray[np.int64] | None, scaler: Scaler, dtype: DTypeLike | None = None
) -> Matrix:
    """Copy `rows` of X, in any order, or all rows for None, and scale them.

    The result is (k, d), C-contiguous or CSR, of `dtype`, by default that of X, which is not changed;
    arithmetic is in float64.

    A result that exceeds memory is written block by block to a scratch file and memory-mapped; X itself is
    returned instead if all rows are taken, scaling is ``none`` and the dtypes agree. Raises DataError if the
    number of columns differs from the fitted number, and if sparse rows must become dense and do not fit.
    """
    if scaler.scaling in _FITTED and X.shape[1] != len(scaler.divisor):
        raise DataError(f"The scaling was fitted on {len(scaler.divisor)} columns, got {X.shape[1]}.")
    dtype = X.dtype if dtype is None else np.dtype(dtype)
    count = X.shape[0] if rows is None else len(rows)
    row_bytes = _row_bytes(X, dtype)
    if fits(count * row_bytes):
        return _gathered(X, rows, scaler, dtype)
    if rows is None and scaler.scaling is Scaling.none and X.dtype == dtype:
        return X
    if not isinstance(X, np.ndarray) and scaler.makes_dense:
        _check_density(scaler.scaling, X, count, dtype)

    def block(part: slice) -> Matrix:
        if rows is None:
            return _gathered(X[part], None, scaler, dtype)
        return _gathered(X, rows[part], scaler, dtype)

    return memory.spill(memory.blocks(count, row_bytes), block, dtype)


def _row_bytes(X: Matrix, dtype: np.dtype[Any]) -> int:
    """Mean bytes per row."""
    if isinstance(X, np.ndarray):
        return int(X.shape[1]) * dtype.itemsize
    return int(X.nnz * (dtype.itemsize + X.indices.dtype.itemsize) // max(1, X.shape[0])) + 8


def _gathered(X: Any, rows: NDArray[np.int64] | None, scaler: Scaler, dtype: np.dtype[Any]) -> Matrix:
    from aucbench.data import _scaler_kernels as kernels

    scaling = scaler.scaling
    unit = scaling in _OF_ROWS
    if isinstance(X, np.ndarray):
        rows = np.arange(X.shape[0]) if rows is None else rows
        out = np.empty((len(rows), X.shape[1]), dtype)
        stretched, centred = scaling is Scaling.minmax, scaling is Scaling.centred_unit
        kernels.gather_dense(X, rows, scaler.offset, scaler.divisor, stretched, centred, unit, out)
        return out
    X = X if rows is None else X[rows]
    if scaler.makes_dense:
        _check_density(scaling, X, X.shape[0], dtype)
        out = np.empty(X.shape, dtype)
        for start in range(0, X.shape[0], EXPANDED_ROWS):
            part = slice(start, start + EXPANDED_ROWS)
            out[part] = _gathered(X[part].toarray(), None, scaler, dtype)
        return out
    if scaler.offset.any():
        columns = np.flatnonzero(scaler.offset)
        shifts = np.tile(scaler.offset[columns], X.shape[0])
        pattern = np.tile(columns, X.shape[0]), np.arange(X.shape[0] + 1) * len(columns)
        X = X - type(X)((shifts, *pattern), shape=X.shape)
    data = np.empty(X.nnz, dtype)
    kernels.scale_sparse(X.indptr, X.indices, X.data, scaler.divisor, unit, data)
    scaled = type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    scaled.has_canonical_format = X.has_canonical_format
    return scaled


def _column_range(X: Matrix, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(rows) == 0:
        raise DataError("A scaling cannot be fitted: there are no training rows.")
    check_width(X.shape[1])
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for part in memory.blocks(len(rows), _row_bytes(X, X.dtype)):
        block: Any = X[rows[part]]
        least, largest = block.min(axis=0), block.max(axis=0)  # includes zeros that CSR does not store
        if not isinstance(X, np.ndarray):
            least, largest = least.toarray().ravel(), largest.toarray().ravel()
        low, high = np.minimum(low, least), np.maximum(high, largest)
    return low, high


def _check_density(scaling: Scaling, X: Any, count: int, dtype: np.dtype[Any]) -> None:
    """Refuse to make `count` rows of X dense if X is too sparse or the rows exceed memory."""
    needed, room = count * X.shape[1] * dtype.itemsize, available()
    share = X.nnz / max(1, X.shape[0] * X.shape[1])
    if needed > room or (share < SPARSEST and needed > FEW_BYTES):
        raise DataError(
            f"scaling={scaling} makes sparse data dense: {count} x {X.shape[1]} values, {share:.2%} of which "
            f"are not zero, need {needed / 1e9:.1f} of {room / 1e9:.1f} GB; use scaling=maxabs."
        )
