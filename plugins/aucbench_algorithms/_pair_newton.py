"""Newton systems of means over pairs: (ridge I + weight X^T L X) p = g.

L is the Laplacian of a graph of pairs, the curvature of the mean (`kernels.pair_loss`). Only the b rows that
are in some pair matter. The system is factored if it fits: with size d, or with size b by u = X p,
(ridge I + weight X X^T L) u = X g, p = (g - weight X^T L u) / ridge. A refinement step follows, as ridge and
weight may be many orders apart. Conjugate gradients solve larger systems, and are tried first if b is large.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from aucbench.kernels.pair_loss import PairMean
from aucbench_algorithms import _newton

LARGEST_DENSE = 1 << 25  # entries of rows that are made dense for a Hessian (256 MB)
LARGEST_GRAM = 4096  # most rows of a factored Gram matrix
FEW_ROWS, FEW_PRODUCTS = 1000, 500  # above FEW_ROWS rows, FEW_PRODUCTS products are tried before factoring
MOST_PRODUCTS = 2000  # most products in one solution by conjugate gradients


def solve(
    X: Any, curvature: PairMean, ridge: float, weight: float, g: np.ndarray, tolerance: float
) -> np.ndarray:
    """The solution p; conjugate gradients stop at a residual of `tolerance` |g|."""

    def multiply(v: np.ndarray) -> np.ndarray:
        scores = np.asarray(X @ v, np.float64)
        return ridge * v + weight * (X.T @ curvature.product(scores))

    involved = curvature.rows.size
    if involved == 0:
        return g / ridge
    d = X.shape[1]
    by_columns = d <= _newton.LARGEST_FACTORED and involved * d <= LARGEST_DENSE
    by_rows = involved <= LARGEST_GRAM
    if by_columns and (d <= involved or not by_rows):
        matrix = weight * curvature.scatter(X)
        matrix.flat[:: d + 1] += ridge
        solver = _newton.inverse(matrix, ridge)
    elif by_rows:
        if involved > FEW_ROWS:  # a factor takes seconds, and most systems need few products
            p = _newton.conjugate_gradients(multiply, g, tolerance, FEW_PRODUCTS)
            if np.linalg.norm(g - multiply(p)) <= 2.0 * tolerance * np.linalg.norm(g):
                return p
        solver = _by_rows(X, curvature, ridge, weight)
    else:
        return _newton.conjugate_gradients(multiply, g, tolerance, MOST_PRODUCTS)
    p = solver(g)
    return p + solver(g - multiply(p))


def _by_rows(X: Any, curvature: PairMean, ridge: float, weight: float) -> Callable[[np.ndarray], np.ndarray]:
    rows, graph = curvature.rows, curvature.dense()
    part = X[rows]
    matrix = weight * (_newton.dense(part @ part.T) @ graph)
    matrix.flat[:: rows.size + 1] += ridge
    factor = linalg.lu_factor(matrix, overwrite_a=True, check_finite=False)

    def solver(g: np.ndarray) -> np.ndarray:
        u = linalg.lu_solve(factor, np.asarray(part @ g, np.float64), check_finite=False)
        return (g - weight * (part.T @ (graph @ u))) / ridge

    return solver
