"""The weights of `fsauc`, kept in an l1 ball and in a ball around the first point of a stage, and their sum.

Dense rows: u is w, the sum is weight u - v, and projections are skipped, exactly, while the triangle
inequality bounds |w|_1. Sparse rows: w is a thresholded vector (see `aucbench.kernels.thresholded`), and the
l1 projection raises its threshold, so a step costs O(nnz log d). The compiler keeps only the branch for the
type of w: a thresholded vector has `uv`.
"""

import numpy as np

from aucbench.kernels import kernel, rows, thresholded, vectors, weights


@kernel
def score(X, i, w):
    """w.x, |x|^2 and, where it is needed, |x|_1 of row i."""
    if hasattr(w, "uv"):
        return thresholded.score(X, i, w), rows.norm(X, i), 0.0
    return rows.dot_norms(X, i, w[0])


@kernel
def accumulate(w, weight):
    """Add w to the running sum; returns the new weight of u."""
    if hasattr(w, "uv"):
        thresholded.accumulate(w, 1.0)
        return 0.0
    return weight + 1.0


@kernel
def step(X, i, a, absolute, w, weight, bound, radius):
    """Add a x to w and project it on the l1 ball; returns the new weight and a bound on |w|_1."""
    if hasattr(w, "uv"):
        if a != 0.0:
            thresholded.step(a, X, i, w)
            thresholded.project(w, radius)
        return 0.0, 0.0
    u, v = w[0], w[1]
    bound += abs(a) * absolute
    if bound <= radius:
        rows.axpy2(a, X, i, u, weight * a, v)
        return weight, bound
    # Fold before the step, which may be far larger than its projection.
    weights.fold(u, 1.0, v, weight)
    rows.axpy(a, X, i, u)
    return 0.0, vectors.project_l1(u, radius)


@kernel
def distance(w, start):
    """The squared distance |w - start|^2."""
    if hasattr(w, "uv"):
        thresholded.fold(w)
        return vectors.distance(w.uv[0], start)
    return vectors.distance(w[0], start)


@kernel
def pull(w, weight, start, factor):
    """Set w to start + factor (w - start); returns the new weight."""
    if hasattr(w, "uv"):
        thresholded.fold(w)
        pulled = w.uv[0].copy()
        vectors.pull(pulled, start, factor)
        thresholded.replace(w, pulled)
    else:
        weights.fold(w[0], 1.0, w[1], weight)
        vectors.pull(w[0], start, factor)
    return 0.0


@kernel
def restart(w, weight, start, count):
    """Set w and start to the mean of the `count` points in the sum, and empty the sum."""
    if hasattr(w, "uv"):
        thresholded.fold(w)
        for j in range(start.size):
            start[j] = -w.uv[1, j] / count
            w.uv[1, j] = 0.0
        thresholded.replace(w, start)
    else:
        weights.average(w[0], w[1], weight, count)
        vectors.copy(w[0], start)
        w[1] = 0.0


def mean(w: np.ndarray | thresholded.Thresholded, weight: float, count: int) -> np.ndarray:
    """(d,) the mean of the `count` points in the sum; w itself if `count` is 0."""
    if isinstance(w, np.ndarray):
        return weights.mean(w[0], w[1], weight, count) if count else w[0].copy()
    return thresholded.accumulated(w) / count if count else thresholded.current(w)
