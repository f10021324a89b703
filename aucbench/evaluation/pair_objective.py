"""The objective of a pairwise method over all pairs, and a certified lower bound of its minimum.

Let F = f + r be the objective, f the mean of the loss over all pairs and r the regulariser on its ball. The
mean is convex, so that a subgradient g of it at w bounds it from below, and with it the minimum:

    F* >= f(w) - g.w + min over u of (g.u + r(u))

where the last term has a closed form. The gap, F(w) minus that bound, is |grad F(w)|^2 / (2 l2) with a ridge
alone, which is the bound by strong convexity; with a ball alone it is the gap of Frank and Wolfe.

At a kink of the loss the right subgradient is not known from w. There a slope is taken that rises linearly
over a short range of margins below the kink (`kernels.loss_pieces.Smoothed`): it is a subderivative at the
kink, so that a tangent through the kink bounds the loss, and what the tangents lose at w is part of the gap.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.contracts import MethodFacts, Norm, Objective, Problem
from aucbench.errors import ParameterError
from aucbench.kernels import loss_pieces, pair_loss

WIDTHS = tuple(10.0**-power for power in range(1, 8))  # widths tried for smoothing below a kink
ROUNDING = 1e-15  # relative rounding error of the terms of a gap
ROUNDING_AT_KINKS = 1e-7  # likewise for narrow widths: slopes are differences of nearly equal sums
ONE_PAIR = np.array([1, -1], np.int8)
NEAR_ZERO = 1e-3  # a minimum below this share of F(0) is too small as a scale
LARGEST_FACTORED = 2048  # most columns for bounding an unregularised quadratic by its Hessian


class Certificate(NamedTuple):
    """The objective at some weights, and what is certain about its minimum."""

    value: float  # F(w); inf outside the ball
    gap: float  # F(w) - F* is at most this; inf where nothing is certain
    start: float  # F(0)

    @property
    def bound(self) -> float:
        """A number that the minimum is not below."""
        return self.value - self.gap

    @property
    def relative(self) -> float:
        """The gap as a share of the minimum, at most, or of F(0) / 1000 where that is more."""
        return self.gap / max(self.bound, NEAR_ZERO * self.start)  # the minimum of a hinge may be 0

    @property
    def size(self) -> float:
        """Scale of relative suboptimalities: the minimum, or F(0) / 1000 where that is more."""
        return max(self.value, NEAR_ZERO * self.start)


def declared_objective(algorithm: Any, problem: Problem) -> Objective:
    """The objective that a method declares; a `ParameterError` if it declares none."""
    if MethodFacts(algorithm).objective is None:
        raise ParameterError(f"{algorithm.name} declares no objective (method `objective` of the contract).")
    found = algorithm.objective(problem)
    if found is None:
        raise ParameterError(f"{algorithm.name} has no objective with these hyperparameters.")
    assert isinstance(found, Objective)
    return found


def regulariser(objective: Objective, w: np.ndarray) -> float:
    """l2 / 2 |w|^2 + l1 |w|_1, inf where that is no number; the ball is not looked at."""
    with np.errstate(over="ignore"):
        return 0.5 * objective.l2 * float(w @ w) + objective.l1 * float(np.abs(w).sum())


def objective_value(objective: Objective, w: np.ndarray, scores: np.ndarray, y: np.ndarray) -> float:
    """The objective over all pairs.

    Parameters
    ----------
    objective : Objective
        As a method declares it; the ball is not looked at.
    w : (d,) array
        Weights.
    scores : (n,) array
        X w.
    y : (n,) int8 array
        Labels in {-1, 1}, of both classes.

    Returns
    -------
    float
        inf where it is larger than any number.

    Raises
    ------
    ParameterError
        The loss declares no structure, and there are more pairs than can be visited one by one.
    """
    if not np.all(np.isfinite(scores)):
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        value = pair_loss.pair_mean(objective.loss, scores, y).value + regulariser(objective, w)
    return value if value < math.inf else math.inf  # differences of sums that overflow are NaN


def certificate(
    objective: Objective, w: np.ndarray, X: Any, y: np.ndarray, widths: Sequence[float] = WIDTHS
) -> Certificate:
    """The objective at some weights, and a bound of its distance from the minimum.

    Parameters
    ----------
    objective : Objective
        With a convex, non-negative loss.
    w : (d,) array
        Weights, inside the ball.
    X : (n, d) ndarray or scipy CSR
        Rows.
    y : (n,) int8 array
        Labels in {-1, 1}, of both classes.
    widths : sequence of float
        Widths of the range below a kink, of which the best bound counts; of no use for a loss without kinks.

    Returns
    -------
    Certificate

    Raises
    ------
    ParameterError
        As `objective_value`.
    """
    scores, gap = np.asarray(X @ w, np.float64), math.inf
    start = pair_loss.pair_mean(objective.loss, np.zeros(2), ONE_PAIR).value
    value = objective_value(objective, w, scores, y)
    if not value < math.inf:
        return Certificate(math.inf, math.inf, start)
    mean = pair_loss.pair_mean(objective.loss, scores, y)
    if loss_pieces.kinks(objective.loss):
        for width in widths:
            smoothed = loss_pieces.Smoothed(width, objective.loss)
            slopes = pair_loss.pair_mean(smoothed, scores, y).slopes
            lost = max(0.0, pair_loss.mean_of_pieces(smoothed.excess(), scores, y))
            gap = min(gap, lost + _gap(objective, w, np.asarray(X.T @ slopes), value))
        gap = max(gap, ROUNDING_AT_KINKS * value)
    elif objective.is_bounded:
        gap = _gap(objective, w, np.asarray(X.T @ mean.slopes), value)
    else:
        gap = _gap_of_quadratic(objective, mean, X)
    return Certificate(value, min(gap, value) if gap < math.inf else gap, start)  # no loss is negative


def _gap(objective: Objective, w: np.ndarray, g: np.ndarray, value: float) -> float:
    """r(w) + g.w - min over u of (g.u + r(u)), at least what rounding leaves uncertain."""
    product = float(g @ w)
    gap = regulariser(objective, w) + product - _least(objective, g, value)
    return max(0.0, gap) + ROUNDING * (value + abs(product))


def _least(objective: Objective, g: np.ndarray, value: float) -> float:
    """The minimum over u of g.u + r(u); -inf where there is none."""
    l2, radius, norm = objective.l2, objective.radius, objective.norm
    pull = np.maximum(np.abs(g) - objective.l1, 0.0)  # of each coordinate, at 0
    if radius is None and l2 == 0.0 and objective.l1 > 0.0:
        radius, norm = value / objective.l1, Norm.l1  # as F(u) >= l1 |u|_1 wherever F(u) <= F(w)
    if not pull.any():
        return 0.0
    if radius is not None and norm is Norm.l1:
        if l2 == 0.0:
            return -radius * float(pull.max())
        u = _in_l1_ball(pull / l2, radius)
        return -float(pull @ u) + 0.5 * l2 * float(u @ u)
    size, limit = float(np.linalg.norm(pull)), math.inf if radius is None else radius
    length = limit if l2 == 0.0 else min(size / l2, limit)
    return -size * length + 0.5 * l2 * length * length if length < math.inf else -math.inf


def _in_l1_ball(v: np.ndarray, radius: float) -> np.ndarray:
    """The nearest point to non-negative numbers v whose sum is at most the radius."""
    if v.sum() <= radius:
        return v
    ordered = np.sort(v)[::-1]
    cuts = (np.cumsum(ordered) - radius) / np.arange(1, v.size + 1)
    cut = cuts[np.flatnonzero(ordered > cuts)[-1]]
    return np.maximum(v - cut, 0.0)


def _gap_of_quadratic(objective: Objective, mean: pair_loss.PairMean, X: Any) -> float:
    """g.H^-1 g / 2 on the range of the Hessian H, in which g lies; inf where the loss is no quadratic.

    Coordinates are measured by the curvature along them, so that the scale of a column changes nothing.
    """
    parts = loss_pieces.pieces(objective.loss)
    if parts is None or len(parts) > 1 or not parts[0].c2 > 0.0 or X.shape[1] > LARGEST_FACTORED:
        return math.inf
    hessian, g = mean.curvature.scatter(X), np.asarray(X.T @ mean.slopes)
    scale = np.sqrt(np.maximum(hessian.diagonal(), 0.0))
    used = scale > 0.0
    hessian, g = hessian[np.ix_(used, used)] / np.outer(scale[used], scale[used]), g[used] / scale[used]
    values, vectors = np.linalg.eigh(hessian)
    kept = values > len(values) * np.finfo(np.float64).eps * values[-1:]
    parts_of_g = vectors.T @ g
    if np.linalg.norm(parts_of_g[~kept]) > ROUNDING * math.sqrt(mean.value):
        return math.inf  # the curvature along them is not known, and what a step there gains
    return float(parts_of_g[kept] ** 2 @ (0.5 / values[kept])) + ROUNDING * mean.value
