"""From a split to the arrays of a cell: scaling and features, both fitted on training rows only."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.data.scaling import Scaling, fit_scaling, gather
from aucbench.protocols import Side, Split

SEED_PURPOSE = 3  # keeps the feature map's generator apart from the split's, the order's and the method's


class Prepared(NamedTuple):
    """Arrays of one split, and the seconds that fitting the feature map took."""

    X: Any
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]
    features_seconds: float


def prepare(split: Split, scaling: Scaling, features: Any, dtype: str, seed: int) -> Prepared:
    """Scale both sides by the training rows, then map them by a feature map fitted on the training rows."""
    train, test = split.train, split.test
    scaler = fit_scaling(scaling, train.X, _rows(train))
    X = gather(train.X, _rows(train), scaler, np.dtype(dtype))
    X_test = gather(test.X, _rows(test), scaler, np.dtype(dtype))
    started = perf_counter()
    fitted = features.fit(X, np.random.default_rng([seed, SEED_PURPOSE]))
    seconds = perf_counter() - started
    return Prepared(fitted.transform(X), train.y, fitted.transform(X_test), test.y, seconds)


def _rows(side: Side) -> NDArray[np.int64]:
    return np.arange(len(side.y)) if side.rows is None else side.rows
