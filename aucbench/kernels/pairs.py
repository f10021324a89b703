"""Operations on the difference z = x_i - x_j of two rows, written once for dense and CSR rows.

To be called inside compiled code, as `rows`. CSR rows are merged by their ascending columns, so that
entries the two rows share are subtracted exactly, and z = 0 is found as such.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from aucbench.kernels.forms import CSR, DENSE, ONLY_COMPILED, is_csr, is_dense
from aucbench.kernels.prefetching import prefetch as prefetch_row
from aucbench.kernels.rows import extent


def dot(X: Any, i: int, j: int, w: Any) -> float:
    """The product w.(x_i - x_j)."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.dot"))


def dot_norm(X: Any, i: int, j: int, w: Any) -> tuple[float, float]:
    """w.(x_i - x_j) and |x_i - x_j|^2 in one pass."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.dot_norm"))


def axpy(a: float, X: Any, i: int, j: int, w: Any) -> None:
    """Add a (x_i - x_j) to w."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.axpy"))


def axpy2(a: float, X: Any, i: int, j: int, u: Any, b: float, v: Any) -> None:
    """Add a (x_i - x_j) to u and b (x_i - x_j) to v in one pass."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.axpy2"))


def prefetch(X: Any, i: int, j: int) -> None:
    """Ask for both rows ahead of their use."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.prefetch"))


@overload(dot, jit_options=DENSE)
def _dot_dense(X, i, j, w):
    if not is_dense(X):
        return None

    def implementation(X, i, j, w):
        total = 0.0
        for k in range(X.shape[1]):
            total += (np.float64(X[i, k]) - X[j, k]) * w[k]
        return total

    return implementation


@overload(dot, jit_options=CSR)
def _dot_csr(X, i, j, w):
    if not is_csr(X):
        return None

    def implementation(X, i, j, w):
        return dot_norm(X, i, j, w)[0]

    return implementation


@overload(dot_norm, jit_options=DENSE)
def _dot_norm_dense(X, i, j, w):
    if not is_dense(X):
        return None

    def implementation(X, i, j, w):
        product = square = 0.0
        for k in range(X.shape[1]):
            z = np.float64(X[i, k]) - X[j, k]
            product += z * w[k]
            square += z * z
        return product, square

    return implementation


@overload(dot_norm, jit_options=CSR)
def _dot_norm_csr(X, i, j, w):
    if not is_csr(X):
        return None

    def implementation(X, i, j, w):
        product = square = 0.0
        p, p_stop = extent(X, i)
        q, q_stop = extent(X, j)
        while p < p_stop and q < q_stop:  # without branches inside: they would be guessed wrongly
            left, right = X.indices[p], X.indices[q]
            take_left, take_right = left <= right, right <= left
            z = np.float64(X.data[p]) * take_left - np.float64(X.data[q]) * take_right
            product += z * w[min(left, right)]
            square += z * z
            p += np.uintp(take_left)
            q += np.uintp(take_right)
        for k in range(p, p_stop):
            z = np.float64(X.data[k])
            product += z * w[X.indices[k]]
            square += z * z
        for k in range(q, q_stop):
            z = np.float64(X.data[k])
            product -= z * w[X.indices[k]]
            square += z * z
        return product, square

    return implementation


@overload(axpy, jit_options=DENSE)
def _axpy_dense(a, X, i, j, w):
    if not is_dense(X):
        return None

    def implementation(a, X, i, j, w):
        for k in range(X.shape[1]):
            w[k] += a * (np.float64(X[i, k]) - X[j, k])

    return implementation


@overload(axpy, jit_options=CSR)
def _axpy_csr(a, X, i, j, w):
    if not is_csr(X):
        return None

    def implementation(a, X, i, j, w):
        p, p_stop = extent(X, i)
        q, q_stop = extent(X, j)
        while p < p_stop and q < q_stop:
            left, right = X.indices[p], X.indices[q]
            take_left, take_right = left <= right, right <= left
            z = np.float64(X.data[p]) * take_left - np.float64(X.data[q]) * take_right
            w[min(left, right)] += a * z
            p += np.uintp(take_left)
            q += np.uintp(take_right)
        for k in range(p, p_stop):
            w[X.indices[k]] += a * X.data[k]
        for k in range(q, q_stop):
            w[X.indices[k]] -= a * X.data[k]

    return implementation


@overload(axpy2, jit_options=DENSE)
def _axpy2_dense(a, X, i, j, u, b, v):
    if not is_dense(X):
        return None

    def implementation(a, X, i, j, u, b, v):
        for k in range(X.shape[1]):
            z = np.float64(X[i, k]) - X[j, k]
            u[k] += a * z
            v[k] += b * z

    return implementation


@overload(axpy2, jit_options=CSR)
def _axpy2_csr(a, X, i, j, u, b, v):
    if not is_csr(X):
        return None

    def implementation(a, X, i, j, u, b, v):
        p, p_stop = extent(X, i)
        q, q_stop = extent(X, j)
        while p < p_stop and q < q_stop:
            left, right = X.indices[p], X.indices[q]
            take_left, take_right = left <= right, right <= left
            column = min(left, right)
            z = np.float64(X.data[p]) * take_left - np.float64(X.data[q]) * take_right
            u[column] += a * z
            v[column] += b * z
            p += np.uintp(take_left)
            q += np.uintp(take_right)
        for k in range(p, p_stop):
            column, z = X.indices[k], np.float64(X.data[k])
            u[column] += a * z
            v[column] += b * z
        for k in range(q, q_stop):
            column, z = X.indices[k], np.float64(X.data[k])
            u[column] -= a * z
            v[column] -= b * z

    return implementation


@overload(prefetch, jit_options=CSR)
def _prefetch(X, i, j):
    def implementation(X, i, j):
        prefetch_row(X, i)
        prefetch_row(X, j)

    return implementation
