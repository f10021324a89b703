"""SOLAM on an l1 ball for sparse rows: the lazy form of `solam` with norm l1.

The projection lowers every weight by a threshold, so w is kept as a thresholded vector (see
`aucbench.kernels.thresholded`): a step changes the entries of its row, and of the others only those that
become zero, found on top of a heap. Exact; cost per example O(nnz log d).
"""

from typing import NamedTuple

import numpy as np

from aucbench.kernels import kernel, rows, saddle, thresholded, vectors

AHEAD = 8  # rows prefetched before their use


class State(NamedTuple):
    """Weights as a thresholded vector, the saddle point's other variables, counts."""

    vector: thresholded.Thresholded
    saddle: np.ndarray  # (3,) a, b, alpha
    total: np.ndarray  # (1,) sum of g_t
    counts: np.ndarray  # (2,) steps t, positives among them
    kappa: float  # bound on |x|


def init(d: int, value: float, a: float, b: float, alpha: float, kappa: float) -> State:
    """The first point, every weight being `value` >= 0."""
    vector = thresholded.thresholded(d)
    if value > 0.0:
        thresholded.start(vector, value)
    return State(vector, np.array([a, b, alpha]), np.zeros(1), np.zeros(2, np.int64), kappa)


def weights(state: State) -> np.ndarray:
    """(d,) weighted mean of the points so far; zero before the first step."""
    total = state.total[0]
    return thresholded.accumulated(state.vector) / (total if total > 0.0 else 1.0)


@kernel
def run(X, y, order, vector, point, total, counts, kappa, zeta, radius, before, one_sided):
    """Consume the CSR rows `order`."""
    t, positives = counts
    a, b, alpha = point
    bound = radius * kappa
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        t += 1
        positive = y[i] > 0
        positives += positive
        g = zeta / np.sqrt(t)
        s = thresholded.dot(X, i, vector)
        ds, da, db, dalpha = saddle.gradients(s, a, b, alpha, positives / t, positive)
        a = min(a - g * da, bound) if one_sided else vectors.clip(a - g * da, bound)
        b = min(b - g * db, bound) if one_sided else vectors.clip(b - g * db, bound)
        alpha = vectors.clip(alpha + g * dalpha, 2.0 * bound)
        if before:
            thresholded.weigh(vector, g)
        if ds != 0.0:
            thresholded.axpy(-g * ds, X, i, vector)
        thresholded.project(vector, radius)  # always: the first point may lie outside
        if not before:
            thresholded.weigh(vector, g)
        total[0] += g
    counts[0], counts[1] = t, positives
    point[0], point[1], point[2] = a, b, alpha
