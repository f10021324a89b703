"""From a split to the arrays of a cell: scaling and features, both fitted on training rows only."""

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
    """Arrays of one split, and the seconds that fitting the feature map took."""

    X: Any
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]
    features_seconds: float

    @cached_property
    def max_norm(self) -> float | None:
        """Largest l2 norm of a training row; None when it is no finite number."""
        norm = Problem(self.X, self.y).max_norm
        return norm if np.isfinite(norm) else None


def prepare(split: Split, scaling: Scaling, features: Any, dtype: str, seed: int) -> Prepared:
    """Scale both sides by the training rows, then map them by a feature map fitted on the training rows."""
    train, test = split.train, split.test
    scaler = fit_scaling(scaling, train.X, train.rows)
    X = gather(train.X, train.rows, scaler, np.dtype(dtype))
    X_test = gather(test.X, test.rows, scaler, np.dtype(dtype))
    if scaling is Scaling.none:  # every other scaling bounds the values
        check_magnitude(X)
    started = perf_counter()
    fitted = features.fit(X, np.random.default_rng([seed, SEED_PURPOSE]))
    seconds = perf_counter() - started
    return Prepared(_mapped(fitted, X), train.y, _mapped(fitted, X_test), test.y, seconds)


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
