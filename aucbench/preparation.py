"""From a split to the arrays of a cell: scaling, features and row factor, all fitted on training rows only.

The row factor is one number by which all rows are multiplied at the end, so that the mean of |x|^2 over the
training rows is 1. It changes no ranking problem: weights w of the rows x are weights w / factor of the rows
factor * x. But step sizes, radii and regularisation then mean the same on any data set, scaling and feature
map, as the theory of the methods has them relative to |x|^2: a step size of 1 is 1 / mean |x|^2, a radius
of 1 is 1 / sqrt(mean |x|^2), a ridge of 1 is mean |x|^2. It is the mean and not the largest |x|^2, which a
single row decides: on real data it brings the defaults closer to the optimum.
"""

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Problem
from aucbench.data import memory, streaming
from aucbench.data.magnitude import check_magnitude
from aucbench.data.scaling import Scaling, fit_scaling, gather
from aucbench.protocols import Split

WIDE = 4096  # features; fewer are not feared to go beyond memory where this many do not
SEED_PURPOSE = 3  # keeps the feature map's generator apart from the split's, the order's and the method's


@dataclass(frozen=True)
class Prepared:
    """Arrays of one split, the seconds that fitting the feature map took, and the row factor."""

    X: Any
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]
    features_seconds: float
    row_factor: float = 1.0

    @cached_property
    def max_norm(self) -> float | None:
        """Largest l2 norm of a training row; None when it is no finite number."""
        norm = Problem(self.X, self.y).max_norm
        return norm if np.isfinite(norm) else None


def prepare(
    split: Split, scaling: Scaling, features: Any, dtype: str, seed: int, rescale: bool = False
) -> Prepared:
    """Scale both sides by the training rows, map them by a feature map fitted on these, and rescale them.

    Parameters
    ----------
    split : Split
        Training and test rows; left as they are.
    scaling : Scaling
        Of the raw features.
    features : FeatureMap
        An instance.
    dtype : str
        Of the values.
    seed : int
        Of the feature map's generator.
    rescale : bool
        Whether all rows are multiplied by the row factor.
    """
    train, test = split.train, split.test
    scaler = fit_scaling(scaling, train.X, train.rows)
    X = gather(train.X, train.rows, scaler, np.dtype(dtype))
    X_test = gather(test.X, test.rows, scaler, np.dtype(dtype))
    if scaling is Scaling.none:  # every other scaling bounds the values
        check_magnitude(X)
    started = perf_counter()
    fitted = features.fit(X, np.random.default_rng([seed, SEED_PURPOSE]))
    seconds = perf_counter() - started
    Z, Z_test = _mapped(fitted, X), _mapped(fitted, X_test)
    factor = row_factor(Z) if rescale else 1.0
    # Rows that the scaling made are changed in place; the data set's own and those of a feature map are not.
    Z = multiplied(Z, factor, in_place=Z is X and X is not train.X)
    Z_test = multiplied(Z_test, factor, in_place=Z_test is X_test and X_test is not test.X)
    return Prepared(Z, train.y, Z_test, test.y, seconds, factor)


def row_factor(X: Any) -> float:
    """1 / sqrt(mean of |x|^2 over the rows of X); 1 where that mean is 0 or no finite number."""
    total = 0.0
    for part in streaming.blocks(X.shape[0], max(1, X.shape[1]) * 8):
        block = X[part]
        values = np.asarray(block.data if sparse.issparse(block) else block, np.float64).ravel()
        total += float(values @ values)
    mean = total / max(1, X.shape[0])
    return 1.0 / float(np.sqrt(mean)) if 0.0 < mean < np.inf else 1.0


def multiplied(X: Any, factor: float, in_place: bool = False) -> Any:
    """The rows of X times a number, of the same type and format; over a file where they exceed memory."""
    if factor == 1.0:
        return X
    if in_place:
        values = X.data if sparse.issparse(X) else X
        values *= X.dtype.type(factor)
        return X
    size = X.data.nbytes if sparse.issparse(X) else X.nbytes
    if memory.fits(size):
        return X * X.dtype.type(factor)
    parts = streaming.blocks(X.shape[0], max(1, size // max(1, X.shape[0])))
    return streaming.spill(parts, lambda part: X[part] * X.dtype.type(factor), X.dtype)


def _mapped(fitted: Any, X: Any) -> Any:
    """The features of all rows, over a file where they do not fit into memory."""
    # How many features there are shows only on a row; the look costs a map of it.
    if X.shape[0] * X.dtype.itemsize * WIDE > memory.available():
        few = fitted.transform(X[:1])
        if not sparse.issparse(few) and not memory.fits(X.shape[0] * few.nbytes) and not _is_identity(few, X):
            parts = streaming.blocks(X.shape[0], max(few.nbytes, X.shape[1] * X.dtype.itemsize))
            return streaming.spill(parts, lambda part: fitted.transform(X[part]), X.dtype)
    return fitted.transform(X)


def _is_identity(few: Any, X: Any) -> bool:
    """Whether the map gave back what it got, a view of X."""
    return isinstance(X, np.ndarray) and np.shares_memory(few, X)
