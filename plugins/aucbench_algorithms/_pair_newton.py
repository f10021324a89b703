"""Newton systems of pairwise piecewise quadratic functions: (ridge I + weight Z^T Z) p = g.

Z holds the differences of the pairs of a `Window`, so that Z^T Z = X^T L X with the Laplacian L of the
graph of pairs. Only the rows in some pair matter, b of them. The system is factored where it fits: of size
d, or of size b by u = X p, (ridge I + weight X X^T L) u = X g, p = (g - weight X^T L u) / ridge. One step of
refinement follows, for ridge and weight may be many orders apart. Beyond that, conjugate gradients.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from aucbench_algorithms import _newton, _sorted_pairs
from aucbench_algorithms._sorted_pairs import Ranking, Window

LARGEST_DENSE = 1 << 25  # entries of rows that are made dense for a Hessian (256 MB)
LARGEST_GRAM = 4096  # rows whose products with each other are factored
MOST_PRODUCTS = 2000  # of one solution by conjugate gradients


def solve(
    X: Any,
    ranking: Ranking,
    pairs: Window,
    ridge: float,
    weight: float,
    g: np.ndarray,
    tolerance: float,
) -> np.ndarray:
    """The solution p.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        The rows.
    ranking, pairs : Ranking, Window
        The pairs of Z.
    ridge, weight : float > 0
        As above.
    g : (d,) array
        The right-hand side.
    tolerance : float
        Residual at which conjugate gradients stop, against |g|.
    """

    def multiply(v: np.ndarray) -> np.ndarray:
        scores = np.asarray(X @ v, np.float64)
        return ridge * v + weight * (X.T @ _sorted_pairs.laplacian(ranking, pairs, scores))

    involved = int(np.count_nonzero(_sorted_pairs.degrees(ranking, pairs)))
    if involved == 0:
        return g / ridge
    d = X.shape[1]
    by_columns = d <= _newton.LARGEST_FACTORED and involved * d <= LARGEST_DENSE
    by_rows = involved <= LARGEST_GRAM
    if by_columns and (d <= involved or not by_rows):
        solver = _by_columns(X, ranking, pairs, ridge, weight)
    elif by_rows:
        solver = _by_rows(X, ranking, pairs, ridge, weight)
    else:
        return _newton.conjugate_gradients(multiply, g, tolerance, MOST_PRODUCTS)
    p = solver(g)
    return p + solver(g - multiply(p))


def _by_columns(
    X: Any, ranking: Ranking, pairs: Window, ridge: float, weight: float
) -> Callable[[np.ndarray], np.ndarray]:
    matrix = weight * _sorted_pairs.scatter(X, ranking, pairs)
    matrix.flat[:: matrix.shape[0] + 1] += ridge
    return _newton.inverse(matrix, ridge)


def _by_rows(
    X: Any, ranking: Ranking, pairs: Window, ridge: float, weight: float
) -> Callable[[np.ndarray], np.ndarray]:
    degrees = _sorted_pairs.degrees(ranking, pairs)
    rows = np.flatnonzero(degrees)
    place = np.empty(degrees.size, np.intp)
    place[rows] = np.arange(rows.size)
    graph = np.diag(degrees[rows])
    for i in np.flatnonzero(pairs.stops > pairs.starts):
        left = place[ranking.positives[i]]
        right = place[ranking.negatives[pairs.starts[i] : pairs.stops[i]]]
        graph[left, right] = graph[right, left] = -1.0
    part = X[rows]
    gram = part @ part.T
    gram = np.asarray(gram if isinstance(gram, np.ndarray) else gram.toarray(), np.float64)
    matrix = weight * (gram @ graph)
    matrix.flat[:: rows.size + 1] += ridge
    factor = linalg.lu_factor(matrix, overwrite_a=True, check_finite=False)

    def solver(g: np.ndarray) -> np.ndarray:
        u = linalg.lu_solve(factor, np.asarray(part @ g, np.float64), check_finite=False)
        return (g - weight * (part.T @ (graph @ u))) / ridge

    return solver
