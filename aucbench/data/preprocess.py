"""Preprocessing of a split: scaling, feature map and rescaling, fitted on training rows only.

Rescaling comes last. It centres dense rows on the mean c of the training rows, and multiplies all rows by one
factor f, so that mean |x|^2 is 1. The ranking problem stays the same: a shift of all rows shifts all scores
alike, and weights w for the rows f (x - c) are weights f w for the rows x. But step sizes and radii then mean
the same for any data set, scaling and feature map, because the theory of the methods states them relative to
|x|^2: a step size of 1 is 1 / mean |x|^2, a radius of 1 is 1 / sqrt(mean |x|^2). Regularisation that a method
declares refers to the columns before the factor. Methods that step along single rows also waste no steps on
the mean row, which cancels in every pair. Sparse rows are not centred, because they would become dense.

The mean of |x|^2 is used instead of the maximum, which depends on a single row: on real data the mean brings
the defaults closer to the optimum. Only if the maximum exceeds a hundred times the mean, a hundredth of the
maximum replaces the mean; otherwise the outlying row would make the first steps far too long.
"""

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Problem
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data import memory
from aucbench.data.equal_rows import Repeats
from aucbench.data.scaler import BY_DEVIATION, Scaling, fit_scaling, gather
from aucbench.data.splits.protocols import Split
from aucbench.errors import DataError

WIDE = 4096  # mapped features; if rows of this width fit into memory, the width is not checked
OUTLYING = 100.0  # largest |x|^2, relative to the mean, that leaves the factor unchanged


@dataclass(frozen=True)
class Prepared:
    """Arrays of one split, the seconds spent on fitting the feature map, and facts about the rows."""

    X: Any
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]
    features_seconds: float
    rescaling: "Rescaling | None" = None
    repeats: Repeats | None = None  # None if not counted
    blocks: NDArray[np.uint8] | None = None  # (n_test,) of the test rows; None for an inner split
    groups: NDArray[Any] | None = None  # (n,) training rows that stay together in further splits

    @cached_property
    def max_norm(self) -> float | None:
        """Largest l2 norm of a training row; None if it is not finite."""
        norm = Problem(self.X, self.y).max_norm
        return norm if np.isfinite(norm) else None


def prepare(
    split: Split, scaling: Scaling, features: Any, dtype: str, seed: int, rescale: bool = False
) -> Prepared:
    """Scale, map and rescale both sides of a split; all three steps are fitted on the training rows.

    The rows of the split are not changed. `seed` is the seed of the feature map.
    """
    train, test = split.train, split.test
    steps = Preprocessing(scaling, features, rescale)
    Z = steps.fit_transform(train.X, seed, rows=train.rows, dtype=np.dtype(dtype))
    Z_test = steps.transform(test.X, test.rows, np.dtype(dtype))
    return Prepared(Z, train.y, Z_test, test.y, steps.features_seconds, steps.rescaling, groups=train.groups)


class Preprocessing:
    """Scaling, feature map and rescaling, fitted on training rows; rows (n, d) are dense or CSR."""

    def __init__(self, scaling: str, features: Any, rescale: bool):
        self._settings = scaling, features, rescale
        self.features_seconds = 0.0  # spent on fitting the feature map
        self.rescaling: Rescaling | None = None

    def fit_transform(
        self, X: Any, seed: int, weights: Any = None, rows: Any = None, dtype: Any = None
    ) -> Any:
        """Fit all steps to X, or to some of its rows, and return these rows preprocessed.

        Means and deviations are weighted; a feature map ignores the weights.
        """
        scaling, features, rescale = self._settings
        self._scaler = fit_scaling(scaling, X, rows, weights)
        scaled = gather(X, rows, self._scaler, dtype)
        if self._scaler.scaling is Scaling.none:  # every other scaling bounds the values
            check_magnitude(scaled)
        started = perf_counter()
        self._map = features.fit(scaled, generator(seed, RandomStream.features))
        self.features_seconds = perf_counter() - started
        Z = _mapped(self._map, scaled)
        self._is_mapped = Z is not scaled
        self.rescaling = Rescaling.fit(Z, weights) if rescale else None
        return self._rescaled(Z, scaled, X)

    def transform(self, X: Any, rows: Any = None, dtype: Any = None) -> Any:
        """The preprocessed rows."""
        scaled = gather(X, rows, self._scaler, dtype)
        return self._rescaled(_mapped(self._map, scaled), scaled, X)

    def _rescaled(self, Z: Any, scaled: Any, X: Any) -> Any:
        if self.rescaling is None:
            return Z
        # Rows made by the scaling are changed in place; rows of the data set or of a feature map are copied.
        return self.rescaling.apply(Z, in_place=Z is scaled and scaled is not X)

    @property
    def row_factor(self) -> float:
        """The factor by which the rows were multiplied; 1 if they were not rescaled."""
        return 1.0 if self.rescaling is None else self.rescaling.factor

    @property
    def why_not_affine(self) -> str | None:
        """The reason why a linear model is not affine in the raw features; None if it is affine."""
        if self._is_mapped:
            return "the model is linear in the mapped features only"
        if self._scaler.scaling in BY_DEVIATION | {Scaling.none, Scaling.maxabs, Scaling.minmax}:
            return None
        return f"scaling={self._scaler.scaling} divides each row by its own norm"

    def raw(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights and offset that score raw rows as w scores the preprocessed rows; affine steps only."""
        w, constant = (w.copy(), 0.0) if self.rescaling is None else self.rescaling.raw(w)
        scaling, offset, divisor = self._scaler.scaling, self._scaler.offset, self._scaler.divisor
        if scaling is Scaling.none:
            return w, constant
        varies = divisor > 0.0  # a constant column is always scaled to 0
        coef = np.where(varies, w / np.where(varies, divisor, 1.0), 0.0)
        if scaling is Scaling.minmax:
            coef, constant = 2.0 * coef, constant - float(w[varies].sum())
        return coef, constant - float(coef @ offset)


@dataclass(frozen=True)
class Rescaling:
    """The map from rows x to factor * (x - centre); made by `fit`."""

    centre: NDArray[np.float64] | None  # (d,) mean of dense training rows; None for sparse rows
    # 1 / sqrt(max(mean |x - c|^2, largest |x - c|^2 / 100)); 1 if the maximum is 0 or infinite
    factor: float

    @classmethod
    def fit(cls, X: Any, weights: NDArray[np.float64] | None = None) -> "Rescaling":
        """Fit to training rows, dense or CSR, with row weights (n,) > 0."""
        n = max(1, X.shape[0]) if weights is None else float(weights.sum())
        parts = memory.blocks(X.shape[0], 8 * X.shape[1])
        centre: NDArray[np.float64] | None = None
        total = largest = 0.0
        if sparse.issparse(X) and weights is None:
            values = (X.data[part] for part in memory.blocks(X.nnz, 8))
            total = sum(float(np.sum(np.square(chunk, dtype=np.float64))) for chunk in values)
            largest, parts = Problem(X, np.empty(0, np.int8)).max_norm ** 2, []
        elif weights is None:
            centre = np.sum([np.sum(X[part], axis=0, dtype=np.float64) for part in parts], axis=0) / n
        elif not sparse.issparse(X):
            centre = np.asarray(weights @ X, np.float64) / n
        for part in parts:
            squares = _squares(X[part], centre)
            total += float(squares.sum() if weights is None else weights[part] @ squares)
            largest = max(largest, float(squares.max()))
        size = max(total / n, largest / OUTLYING)
        return cls(centre, 1.0 / float(np.sqrt(size)) if 0.0 < size < np.inf else 1.0)

    def apply(self, X: Any, in_place: bool = False) -> Any:
        """The rescaled rows, of the same type and format; memory-mapped if they exceed memory."""
        if in_place:
            return self._changed(X)
        size = X.data.nbytes if sparse.issparse(X) else X.nbytes
        if memory.fits(size):
            return self._changed(X.copy())
        parts = memory.blocks(X.shape[0], max(1, size // max(1, X.shape[0])))
        return memory.spill(parts, lambda part: self._changed(X[part].copy()), X.dtype)

    def _changed(self, X: Any) -> Any:
        values = X.data if sparse.issparse(X) else X
        if self.centre is not None and not sparse.issparse(X):
            values -= self.centre.astype(X.dtype)
        values *= X.dtype.type(self.factor)
        return X

    def raw(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights and offset that score the original rows as w scores the rescaled rows."""
        w = self.factor * w
        return w, 0.0 if self.centre is None else -float(w @ self.centre)


def _squares(X: Any, centre: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """(n,) |x - c|^2 per row."""
    if centre is None:
        return np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    return np.einsum("ij,ij->i", *[X - centre] * 2)


def check_magnitude(X: Any) -> None:
    """Refuse rows X, (n, d) dense or CSR, if a squared norm may overflow."""
    values = X.data if sparse.issparse(X) else X
    parts = memory.blocks(len(values), values[:1].nbytes)
    largest = max((float(np.abs(values[part]).max(initial=0.0)) for part in parts), default=0.0)
    if largest > np.sqrt(np.finfo(values.dtype).max / max(1, X.shape[1])):
        raise DataError(
            f"The features reach {largest:.3g}, and squares of rows that large overflow: use scaling=maxabs."
        )


def _mapped(fitted: Any, X: Any) -> Any:
    """The mapped features of all rows, memory-mapped if they exceed memory."""
    # The number of mapped features is known only after a row has been mapped.
    size = X.shape[0] * X.dtype.itemsize * WIDE
    if size > memory.FEW_BYTES and size > memory.available():
        sample = fitted.transform(X[:1])
        identity = isinstance(X, np.ndarray) and np.shares_memory(sample, X)  # a view of X
        if not sparse.issparse(sample) and not memory.fits(X.shape[0] * sample.nbytes) and not identity:
            parts = memory.blocks(X.shape[0], max(sample.nbytes, X.shape[1] * X.dtype.itemsize))
            return memory.spill(parts, lambda part: fitted.transform(X[part]), X.dtype)
    return fitted.transform(X)
