"""Symmetric matrices stored as their lower triangle: rank-one updates and products."""

from typing import Any

from aucbench.kernels.jit import fast_kernel
from aucbench.kernels.rows import ONE, entry, extent, for_rows


@for_rows()
def rank_one(X: Any, i: int, M: Any) -> None:
    """Add x_i x_i^T to the lower triangle of the (d, d) matrix M."""
    start, stop = extent(X, i)
    for p in range(start, stop):
        j, a = entry(X, i, p)
        if a == 0.0:  # common in dense copies of sparse data
            continue
        for q in range(start, p + ONE):
            k, x = entry(X, i, q)
            M[j, k] += a * x


@fast_kernel
def product(M, w, out):
    """Set out to M w for a symmetric M, stored as its lower triangle.

    Parameters
    ----------
    M : (d, d) array
        Only the lower triangle is read.
    w, out : (d,) arrays
        They must not be the same array.
    """
    for j in range(M.shape[0]):
        a = w[j]
        total = M[j, j] * a
        for k in range(j):
            m = M[j, k]
            total += m * w[k]
            out[k] += m * a
        out[j] = total
