"""The objective of a pairwise method over all pairs, and a certified lower bound of its minimum.

Let F = f + r be the objective, f the mean of the loss over all pairs and r the regulariser on its ball. f is
convex, so a subgradient g of f at w bounds f, and therefore the minimum, from below:

    F* >= f(w) - g.w + min over u of (g.u + r(u))

where the last term has a closed form. The gap is F(w) minus this bound. With a ridge alone it is
|grad F(w)|^2 / (2 l2), the bound by strong convexity; with a ball alone it is the Frank-Wolfe gap.

At a kink of the loss, w does not determine the best subgradient. The slope that is used rises linearly over
a short range of margins below the kink (`kernels.loss_pieces.Smoothed`). Such a slope is a subderivative
at the kink, so its tangent through the kink bounds the loss. The gap includes the loss minus the tangents.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.contracts import MethodFacts, Norm, Objective, Problem
from aucbench.errors import ParameterError, PluginError
from aucbench.kernels import loss_pieces, pair_loss

WIDTHS = tuple(10.0**-power for power in range(1, 8))  # widths of the smoothing below a kink
ROUNDING = 1e-15  # relative rounding error of the terms in a gap
ROUNDING_AT_KINKS = 1e-7  # the same for narrow widths: slopes are differences of nearly equal sums
ONE_PAIR = np.array([1, -1], np.int8)
NEAR_ZERO = 1e-3  # smallest scale of suboptimalities, as a share of F(0)
LARGEST_FACTORED = 2048  # largest d for the Hessian bound of an unregularised quadratic


class Certificate(NamedTuple):
    """The objective at some weights, and a certified bound on its minimum."""

    value: float  # F(w); inf outside the ball
    gap: float  # upper bound of F(w) - F*; inf without a certificate
    start: float  # F(0)

    @property
    def bound(self) -> float:
        """A lower bound of the minimum."""
        return self.value - self.gap

    @property
    def relative(self) -> float:
        """An upper bound of the gap as a share of the minimum, or of F(0) / 1000 if larger."""
        return self.gap / max(self.bound, NEAR_ZERO * self.start)  # the minimum of a hinge may be 0

    @property
    def size(self) -> float:
        """Scale of relative suboptimalities: the minimum, or F(0) / 1000 if larger."""
        return max(self.value, NEAR_ZERO * self.start)


def declared_objective(algorithm: Any, problem: Problem) -> Objective:
    """The declared objective of a method; ParameterError if there is none, PluginError if it is invalid."""
    if MethodFacts(algorithm).objective is None:
        raise ParameterError(f"{algorithm.name} declares no objective (method `objective` of the contract).")
    result = algorithm.objective(problem)
    if result is None:
        raise ParameterError(f"{algorithm.name} has no objective with these hyperparameters.")
    if not isinstance(result, Objective) or not callable(getattr(result.loss, "value", None)):
        raise PluginError(
            f"{algorithm.name}: `objective` returned {result!r:.60}; expected None or an aucbench.Objective "
            "with a loss."
        )
    return result


def regulariser(objective: Objective, w: np.ndarray) -> float:
    """l2 / 2 |w|^2 + l1 |w|_1, inf instead of NaN; the ball is ignored."""
    with np.errstate(over="ignore"):
        return 0.5 * objective.l2 * float(w @ w) + objective.l1 * float(np.abs(w).sum())


def objective_value(objective: Objective, w: np.ndarray, scores: np.ndarray, y: np.ndarray) -> float:
    """The objective over all pairs, of w (d,), its scores (n,) and labels in {-1, 1}; inf on overflow.

    The ball is ignored. Raises ParameterError if the loss declares no structure, and there are more pairs
    than can be visited one by one.
    """
    if not np.all(np.isfinite(scores)):
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        value = pair_loss.pair_mean(objective.loss, scores, y).value + regulariser(objective, w)
    return value if value < math.inf else math.inf  # overflow can give inf - inf = NaN


def certificate(
    objective: Objective, w: np.ndarray, X: Any, y: np.ndarray, widths: Sequence[float] = WIDTHS
) -> Certificate:
    """The objective, of a convex loss >= 0, at weights w (d,) in the ball, and a bound on its gap.

    X is (n, d), dense or CSR; y has labels in {-1, 1} of both classes. The bound is the best over all
    `widths` of the range below a kink. Errors are those of `objective_value`.
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
            lost = max(0.0, pair_loss.pair_mean(loss_pieces.Excess(width, objective.loss), scores, y).value)
            gap = min(gap, lost + _gap(objective, w, np.asarray(X.T @ slopes), value))
        gap = max(gap, ROUNDING_AT_KINKS * value)
    elif objective.is_bounded:
        gap = _gap(objective, w, np.asarray(X.T @ mean.slopes), value)
    else:
        gap = _gap_of_quadratic(objective, mean, X)
    return Certificate(value, min(gap, value) if gap < math.inf else gap, start)  # no loss is negative


def _gap(objective: Objective, w: np.ndarray, g: np.ndarray, value: float) -> float:
    """r(w) + g.w - min over u of (g.u + r(u)), at least its rounding error."""
    product = float(g @ w)
    gap = regulariser(objective, w) + product - _least(objective, g, value)
    return max(0.0, gap) + ROUNDING * (value + abs(product))


def _least(objective: Objective, g: np.ndarray, value: float) -> float:
    """The minimum over u of g.u + r(u); -inf if unbounded."""
    l2, radius, norm = objective.l2, objective.radius, objective.norm
    pull = np.maximum(np.abs(g) - objective.l1, 0.0)  # |derivative| of each coordinate at 0
    if radius is None and l2 == 0.0 and objective.l1 > 0.0:
        radius, norm = value / objective.l1, Norm.l1  # F(u) <= F(w) implies l1 |u|_1 <= F(w)
    if not pull.any():
        return 0.0
    if radius is not None and norm is Norm.l1:
        return -radius * float(pull.max()) if l2 == 0.0 else -math.inf  # no method has a ridge in this ball
    size, limit = float(np.linalg.norm(pull)), math.inf if radius is None else radius
    length = limit if l2 == 0.0 else min(size / l2, limit)
    return -size * length + 0.5 * l2 * length * length if length < math.inf else -math.inf


def _gap_of_quadratic(objective: Objective, mean: pair_loss.PairMean, X: Any) -> float:
    """g.H^-1 g / 2 on the range of the Hessian H, which contains g; inf if the loss is not quadratic.

    Coordinates are scaled by their curvature, so that the scale of a column has no effect.
    """
    parts = loss_pieces.pieces(objective.loss)
    if parts is None or len(parts) > 1 or not parts[0].c2 > 0.0 or X.shape[1] > LARGEST_FACTORED:
        return math.inf
    hessian, g = mean.curvature.scatter(X), np.asarray(X.T @ mean.slopes)
    scale = np.sqrt(np.maximum(hessian.diagonal(), 0.0))
    used = scale > 0.0
    hessian, g = hessian[np.ix_(used, used)] / np.outer(scale[used], scale[used]), g[used] / scale[used]
    values, vectors = np.linalg.eigh(hessian)
    is_large = values > len(values) * np.finfo(np.float64).eps * values[-1:]
    parts_of_g = vectors.T @ g
    if np.linalg.norm(parts_of_g[~is_large]) > ROUNDING * math.sqrt(mean.value):
        return math.inf  # the curvature of a part of g is lost in rounding
    return float(parts_of_g[is_large] ** 2 @ (0.5 / values[is_large])) + ROUNDING * mean.value
