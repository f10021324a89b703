"""Symmetric matrices of which only the lower triangle is kept: rank-one updates and products."""

from typing import Any

import numpy as np

from aucbench.kernels.jit import fast_kernel
from aucbench.kernels.rows import ONE, ONLY_COMPILED, _for_csr_rows, _for_dense_rows, extent


def rank_one(X: Any, i: int, M: Any) -> None:
    """Add x_i x_i^T to the lower triangle of the (d, d) matrix M."""
    raise NotImplementedError(ONLY_COMPILED.format("symmetric.rank_one"))


@_for_dense_rows(rank_one)
def _rank_one_dense(X, i, M):
    for j in range(X.shape[1]):
        a = np.float64(X[i, j])
        if a == 0.0:  # common in dense copies of sparse data
            continue
        for k in range(j + 1):
            M[j, k] += a * X[i, k]


@_for_csr_rows(rank_one)
def _rank_one_csr(X, i, M):
    start, stop = extent(X, i)
    for p in range(start, stop):
        j, a = X.indices[p], np.float64(X.data[p])
        for q in range(start, p + ONE):
            M[j, X.indices[q]] += a * X.data[q]


@fast_kernel
def product(M, w, out):
    """Set out to M w, M symmetric and given by its lower triangle.

    Parameters
    ----------
    M : (d, d) array
        Only the lower triangle is read.
    w, out : (d,) arrays
        Must not be the same.
    """
    for j in range(M.shape[0]):
        a = w[j]
        total = M[j, j] * a
        for k in range(j):
            m = M[j, k]
            total += m * w[k]
            out[k] += m * a
        out[j] = total
