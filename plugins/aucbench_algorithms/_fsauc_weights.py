"""The weights of `fsauc`, kept in an l1 ball and in a ball around the first point of a stage, and their sum.

Dense rows: u is w, the sum is weight u - v, and projections are skipped, exactly, while the triangle
inequality bounds |w|_1. Sparse rows: w is a thresholded vector (see `aucbench.kernels.thresholded`), whose
threshold the l1 projection raises, so that a step costs O(nnz log d). The functions are for compiled code.
"""

from typing import Any

import numpy as np
from numba import types

from aucbench.kernels import overloaded, rows, thresholded, vectors, weights


def _is_dense(w: Any) -> bool:
    return isinstance(w, types.Array)


@overloaded()
def score(X: Any, i: int, w: Any) -> Any:
    """w.x, |x|^2 and, where it is needed, |x|_1 of row i."""
    if _is_dense(w):
        return lambda X, i, w: rows.dot_norms(X, i, w[0])
    return lambda X, i, w: (thresholded.score(X, i, w), rows.norm(X, i), 0.0)


@overloaded()
def accumulate(w: Any, weight: float) -> Any:
    """Add w to the running sum; returns the new weight of u."""
    if _is_dense(w):
        return lambda w, weight: weight + 1.0

    def lazy(w, weight):
        thresholded.accumulate(w, 1.0)
        return 0.0

    return lazy


@overloaded()
def step(
    X: Any, i: int, a: float, absolute: float, w: Any, weight: float, bound: float, radius: float
) -> Any:
    """Add a x to w and project it on the l1 ball; returns the new weight and a bound on |w|_1."""

    def dense(X, i, a, absolute, w, weight, bound, radius):
        u, v = w[0], w[1]
        bound += abs(a) * absolute
        if bound <= radius:
            rows.axpy2(a, X, i, u, weight * a, v)
            return weight, bound
        # Folded before the step, which may be far larger than what the projection leaves of it.
        weights.fold(u, 1.0, v, weight)
        rows.axpy(a, X, i, u)
        return 0.0, vectors.project_l1(u, radius)

    def lazy(X, i, a, absolute, w, weight, bound, radius):
        if a != 0.0:
            thresholded.step(a, X, i, w)
            thresholded.project(w, radius)
        return 0.0, 0.0

    return dense if _is_dense(w) else lazy


@overloaded()
def distance(w: Any, start: Any) -> Any:
    """The squared distance |w - start|^2."""
    if _is_dense(w):
        return lambda w, start: vectors.distance(w[0], start)

    def lazy(w, start):
        thresholded.fold(w)
        return vectors.distance(w.uv[0], start)

    return lazy


@overloaded()
def pull(w: Any, weight: float, start: Any, factor: float) -> Any:
    """Set w to start + factor (w - start); returns the new weight."""

    def dense(w, weight, start, factor):
        weights.fold(w[0], 1.0, w[1], weight)
        vectors.pull(w[0], start, factor)
        return 0.0

    def lazy(w, weight, start, factor):
        thresholded.fold(w)
        pulled = w.uv[0].copy()
        vectors.pull(pulled, start, factor)
        thresholded.replace(w, pulled)
        return 0.0

    return dense if _is_dense(w) else lazy


@overloaded()
def restart(w: Any, weight: float, start: Any, count: int) -> Any:
    """Set w and start to the mean of the `count` points in the sum, and empty the sum."""

    def dense(w, weight, start, count):
        weights.average(w[0], w[1], weight, count)
        start[:] = w[0]
        w[1] = 0.0

    def lazy(w, weight, start, count):
        thresholded.fold(w)
        for j in range(start.size):
            start[j] = -w.uv[1, j] / count
            w.uv[1, j] = 0.0
        thresholded.replace(w, start)

    return dense if _is_dense(w) else lazy


def mean(w: np.ndarray | thresholded.Thresholded, weight: float, count: int) -> np.ndarray:
    """(d,) the mean of the `count` points in the sum; w itself where there is none."""
    if isinstance(w, np.ndarray):
        return weights.mean(w[0], w[1], weight, count) if count else w[0].copy()
    return thresholded.accumulated(w) / count if count else thresholded.current(w)
