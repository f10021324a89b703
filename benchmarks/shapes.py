"""Data in the shapes the kernels are measured on; made from a seed, in the shape and filling of real sets."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Shape(NamedTuple):
    """Rows, labels and an order to visit them in."""

    X: object
    y: NDArray[np.int8]
    order: NDArray[np.int64]


def _labelled(X: object, n: int, positive: float) -> Shape:
    rng = np.random.default_rng(1)
    y = np.where(rng.random(n) < positive, 1, -1).astype(np.int8)
    return Shape(X, y, rng.permutation(n))


def _unit(X: NDArray[np.float64]) -> NDArray[np.float64]:
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return X


@cache
def covtype() -> Shape:
    """387,341 x 54, dense."""
    rng = np.random.default_rng(0)
    return _labelled(_unit(rng.standard_normal((387_341, 54))), 387_341, 0.49)


@cache
def a9a() -> Shape:
    """32,561 x 123, dense, 14 ones a row."""
    rng = np.random.default_rng(0)
    X = np.zeros((32_561, 123))
    np.put_along_axis(X, rng.integers(0, 123, (32_561, 14)), 1.0, axis=1)
    return _labelled(_unit(X), 32_561, 0.24)


@cache
def ijcnn1() -> Shape:
    """49,990 x 22, dense."""
    rng = np.random.default_rng(0)
    return _labelled(_unit(rng.standard_normal((49_990, 22))), 49_990, 0.1)


@cache
def mnist() -> Shape:
    """60,000 x 780, dense, a fifth non-zero."""
    rng = np.random.default_rng(0)
    X = rng.random((60_000, 780))
    X[rng.random(X.shape) > 0.19] = 0.0
    return _labelled(_unit(X), 60_000, 0.5)


@cache
def text() -> Shape:
    """15,000 x 1,355,191, CSR, 455 non-zeros a row, frequent features first, as for words."""
    return wide(1_355_191)


@cache
def wide(d: int, n: int = 15_000, nonzeros: int = 455) -> Shape:
    """n x d, CSR, `nonzeros` a row, unit rows; features are drawn log-uniformly."""
    rng = np.random.default_rng(0)
    columns = np.empty((n, nonzeros), np.int32)
    for i in range(n):
        features = np.unique(np.exp(rng.random(2 * nonzeros) * np.log(d)).astype(np.int64) % d)
        while len(features) < nonzeros:
            features = np.unique(np.concatenate([features, rng.integers(0, d, nonzeros)]))
        columns[i] = np.sort(rng.choice(features, nonzeros, replace=False))
    values = rng.random((n, nonzeros)) + 0.1
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    indptr = np.arange(0, n * nonzeros + 1, nonzeros, dtype=np.int32)
    X = sparse.csr_matrix((values.ravel(), columns.ravel(), indptr), shape=(n, d))
    X.has_canonical_format = True
    return _labelled(X, n, 0.3)
