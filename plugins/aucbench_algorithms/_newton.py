"""Parts of Newton's method for convex functions that several batch methods share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg, sparse

LARGEST_FACTORED = 2048  # most rows of a factored matrix
SUFFICIENT = 0.5  # largest falling slope after a step, as a share of the first slope
OVERSHOT = 0.1  # largest rising slope after a step, as a share of the first slope
TRIALS = 60  # most trials of one line search


def step_length(slope: Callable[[float], float]) -> float:
    """A step at which the slope of a convex function nearly vanishes; 0 where the function does not fall.

    Close to the minimum, differences of function values drown in rounding. The search therefore uses the
    slope only, which never falls.
    """
    start = slope(0.0)
    if not start < 0.0:
        return 0.0
    low, at_low, high, at_high = 0.0, start, np.inf, np.inf
    step, last = 1.0, 0
    for _ in range(TRIALS):
        value = slope(step)
        if SUFFICIENT * start <= value <= -OVERSHOT * start:
            return step
        # The value at an end that stays is halved (the Illinois rule), for a slope may rise all at once.
        if value < 0.0:
            low, at_low, at_high, last = step, value, at_high * (0.5 if last < 0 else 1.0), -1
        else:
            high, at_high, at_low, last = step, value, at_low * (0.5 if last > 0 else 1.0), 1
        if high == np.inf:
            step *= 2.0
        else:
            share = at_low / (at_low - at_high) if np.isfinite(at_high) else 0.5
            step = low + (high - low) * min(max(share, 0.1), 0.9)
    return low


def dense(matrix: Any) -> np.ndarray:
    """A dense or sparse matrix as a float64 array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, np.float64)


def inverse(matrix: np.ndarray, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
    """Products with the inverse of a symmetric matrix whose eigenvalues are at least `ridge`."""
    try:
        factor = linalg.cho_factor(matrix, check_finite=False)
    except linalg.LinAlgError:  # rounding outweighs the ridge
        values, vectors = linalg.eigh(matrix)
        inverted = 1.0 / np.maximum(values, ridge)
        return lambda g: vectors @ (inverted * (vectors.T @ g))
    return lambda g: linalg.cho_solve(factor, g, check_finite=False)


def conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    target: np.ndarray,
    tolerance: float,
    max_iter: int,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Solve A w = target for a symmetric positive definite A, given as the function v to A v.

    `tolerance` is that of the residual against the right-hand side.
    """
    if start is None or not start.any():
        w, residual = np.zeros_like(target), target.copy()
    else:
        w, residual = start.copy(), target - multiply(start)
    direction = residual.copy()
    square = float(residual @ residual)
    goal = tolerance**2 * float(target @ target)
    for _ in range(max_iter):
        if square <= goal:
            break
        image = multiply(direction)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            return w if curvature <= 0.0 else np.full_like(w, np.nan)
        step = square / curvature
        w += step * direction
        residual -= step * image
        last, square = square, float(residual @ residual)
        direction = residual + (square / last) * direction
    return w
