"""TopPush and tau-FPL: positives are pushed above the top of the negatives, by their dual.

    P(w) = lam / 2 |w|^2 + mean over positives of max(0, 1 + T - w.x_i)^2

with T the mean of the K largest scores of negatives: K = 1 for `toppush`, K = min(floor(tau n-) + 1, n-) for
`tau_fpl`. The dual has a variable a_i >= 0 for each positive and q_j >= 0 for each negative, and maximises

    D(a, q) = mean of (a_i - a_i^2 / 4) - |v|^2 / (2 lam n+^2),   v = sum a_i x_i - sum q_j x_j

over sum q = sum a, q_j <= sum a / K, with w = v / (lam n+). The authors' accelerated projected gradient
needs tens of thousands of passes for six digits of P. Here the dual is solved by proximal points,

    max over a, q of D(a, q) - nu / (2 n+) |q - z|^2,   z the last q

Each of these is the minimum over w of a smooth function. Its gradient lam w - X^T c / n+, with c the a of
positives and -q of negatives, needs one projection on the constraints (see `_top_projection`). Newton's
method finds the minimum: conjugate gradients with the derivative of the projection, and a search along the
step for the slope's zero. The point z moves on, and nu falls, when the gradient g is a small part of the gap

    P(w) - D(a, q) = |g|^2 / (2 lam)
                     + mean of [max(0, 1 + T - s)^2 - a (1 + T - s) + a^2 / 4] + sum q (T - s) / n+

The method stops when the gap is at most eps P(w); lam / 2 |w - w*|^2 is below the gap.

If the mean of the positives is a convex combination of negatives (for K > 1, one with no weight above 1 / K),
zero is the optimum whatever lam is, as the duals a = 2 show, and P = 1. This is common on noisy data. The
scores then show only from which direction the method came to zero. Each setting of a grid therefore starts
from zero duals: from the solution of its neighbour, it would come from another direction.

Both methods maximise the top of the ranking, not the AUC. In the mean over the 75 families of the reference
study, the AUC with the defaults is 0.038 (`toppush`) and 0.022 (`tau_fpl`) below that of `log_reg`.

Cost: O(d + nnz + n) for the gradient and each product of conjugate gradients, and O(n log n) more where some
q_j is capped; mostly 20 to 70 iterations.

Source: Li, Jin, Zhou, Top rank optimization in linear time, NIPS 2014; Zhang et al., tau-FPL:
tolerance-constrained learning in linear time, AAAI 2018.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Batch, BatchSolver, Claims, OpenUnit, Positive, Problem, kernels
from aucbench.kernels import rows
from aucbench_algorithms import _newton
from aucbench_algorithms._top_projection import project

SOFTEST, STIFFEST = 1.0, 1e-4  # first and least nu n+
SHRINK = 0.3  # factor of nu from point to point
INEXACT = 0.1  # z moves on when the gradient is this share of the gap
RESIDUAL = 1e-10  # relative residual of conjugate gradients; dense and sparse rows differ if larger
PRODUCTS = 500  # most products in one Newton step


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,)
    centre: np.ndarray  # (n,) z, 0 at positives
    nu: float  # 0 before the first iteration
    gap: float  # P(w) - D(a, q), against P(w)
    solved: bool


class Duals(NamedTuple):
    """The best a and q for given scores, and where they may move."""

    values: np.ndarray  # (n,) a of positives, q of negatives
    free: np.ndarray  # (n,) bool: neither at zero nor capped
    capped: np.ndarray  # (n,) bool


@dataclass(frozen=True, kw_only=True)
class _Top(BatchSolver):
    """Base class of both methods.

    Parameters
    ----------
    lam : float > 0
        Weight of |w|^2 / 2.
    eps : float > 0
        Duality gap, relative to the objective, at which the method stops.
    """

    access = Access.full
    losses = ("squared_hinge",)
    regularisation = {"lam": 2}
    grid = {"lam": tuple(10.0**power for power in range(-3, 4))}
    claims = Claims(rate="superlinear", cost="d + nnz + n")

    lam: Positive = 1e-2
    eps: Positive = 1e-8

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return State(np.zeros(problem.n_features), np.zeros(problem.n_samples), 0.0, 1.0, False)

    def _top(self, n_neg: int) -> int:
        """K, for at least one negative."""
        raise NotImplementedError

    def _iterate(self, state: State, batch: Batch) -> State:
        X, positive = batch.rows_view, batch.y == 1
        n_pos = int(np.count_nonzero(positive))
        if n_pos in (0, positive.size):  # without pairs the optimum is zero
            return state._replace(solved=True)
        w, centre, lam, K = state.w, state.centre, self.lam, self._top(positive.size - n_pos)
        nu, sign = state.nu or SOFTEST / n_pos, np.where(positive, 1.0, -1.0)
        scores = _scores(X, w)
        if not np.all(np.isfinite(scores)):
            return state._replace(w=np.full_like(w, np.nan), solved=True)
        duals = _best_duals(scores, centre, positive, K, nu)
        gradient = lam * w - _combination(X, sign * duals.values, w.size) / n_pos
        primal, slackness = _primal_and_rest(scores, duals.values, positive, K)
        primal += 0.5 * lam * float(w @ w)
        inexact = float(gradient @ gradient) / (2.0 * lam)
        gap = (inexact + slackness) / primal
        if gap <= self.eps:
            return state._replace(gap=gap, solved=True)
        if inexact <= INEXACT * slackness:
            centre, nu = np.where(positive, 0.0, duals.values), max(SHRINK * nu, STIFFEST / n_pos)
            duals = _best_duals(scores, centre, positive, K, nu)
            gradient = lam * w - _combination(X, sign * duals.values, w.size) / n_pos

        def multiply(p: np.ndarray) -> np.ndarray:
            change = _change_of_duals(duals, _scores(X, p), positive, K, nu)
            return lam * p - _combination(X, sign * change, p.size) / n_pos

        direction = _newton.conjugate_gradients(multiply, -gradient, RESIDUAL, PRODUCTS)
        moved = _scores(X, direction)

        def slope(t: float) -> float:
            values = _best_duals(scores + t * moved, centre, positive, K, nu).values
            return float(lam * (w + t * direction) @ direction - (sign * values) @ moved / n_pos)

        return State(w + _newton.step_length(slope) * direction, centre, nu, gap, False)


@dataclass(frozen=True)
class TopPush(_Top):
    """TopPush: every positive above the highest negative, by a squared hinge."""

    name = "toppush"
    citation = "li2014top"
    exempt = {"auc": "it ranks positives above the highest negative, on noisy data at the cost of the AUC"}
    deviations = (
        "Newton's method on proximal points of the dual takes the place of accelerated projected gradients.",
        "It stops at a duality gap; the authors' code stops at a relative change of 1e-4.",
    )

    def _top(self, n_neg: int) -> int:
        return 1


@dataclass(frozen=True, kw_only=True)
class TauFpl(_Top):
    """tau-FPL: every positive above the mean of the highest share tau of the negatives, by a squared hinge.

    Parameters
    ----------
    tau : float in (0, 1)
        Share of the negatives that counts as the top: floor(tau n-) + 1 of them, at most n-.
    """

    name = "tau_fpl"
    citation = "zhang2018tau"
    deviations = (
        "The top has floor(tau n-) + 1 negatives, as in public code; the rounding of the paper is not known.",
        "Newton's method on proximal points of the dual takes the place of accelerated projected gradients.",
    )

    tau: OpenUnit = 0.05

    def _top(self, n_neg: int) -> int:
        return min(int(self.tau * n_neg) + 1, n_neg)


def _best_duals(scores: np.ndarray, centre: np.ndarray, positive: np.ndarray, K: int, nu: float) -> Duals:
    """The maximum over a, q of sum a (1 - s) - a^2 / 4 + sum q s - nu / 2 |q - z|^2: a projection."""
    a, q = 2.0 * (1.0 - scores[positive]), (centre + scores / nu)[~positive]
    top = q.copy()
    limit = project(a, q, K, 0.5 / nu)
    capped = np.zeros(positive.size, np.bool_)
    capped[~positive] = (top >= limit) if q.size > K else q > 0.0
    values = np.empty(positive.size)
    values[positive], values[~positive] = a, q
    return Duals(values, (values > 0.0) & ~capped, capped)


def _change_of_duals(duals: Duals, u: np.ndarray, positive: np.ndarray, K: int, nu: float) -> np.ndarray:
    """(n,) derivative of the best duals where the scores change by u.

    With the threshold t, the cap c and B of the projection, sum a = K c and sum q = K c give dt and dc.
    """
    free_pos, free_neg, capped = duals.free & positive, duals.free & ~positive, duals.capped
    alpha, r = 0.5 / nu, u / nu
    n_free, n_capped = np.count_nonzero(free_neg), np.count_nonzero(capped)
    share = np.count_nonzero(free_pos) / alpha
    matrix = np.array([[-n_free, n_capped - K], [share * (1.0 - n_capped / K), -share * n_capped / K - K]])
    target = np.array([-r[free_neg].sum(), 2.0 * u[free_pos].sum() - share * r[capped].sum() / K])
    (dt, dc), *_ = np.linalg.lstsq(matrix, target)  # singular where the top K are capped and no others left
    dB = r[capped].sum() - n_capped * (dt + dc)
    change = np.zeros(u.size)
    change[free_pos] = (dt + dB / K) / alpha - 2.0 * u[free_pos]
    change[free_neg] = r[free_neg] - dt
    change[capped] = dc
    return change


def _primal_and_rest(
    scores: np.ndarray, duals: np.ndarray, positive: np.ndarray, K: int
) -> tuple[float, float]:
    """The mean loss, and the part of the duality gap that remains where the gradient is zero."""
    high, low, a, q = scores[positive], scores[~positive], duals[positive], duals[~positive]
    top = float(np.partition(low, low.size - K)[low.size - K :].mean())
    slack = 1.0 + top - high
    missed = np.maximum(slack, 0.0)
    slackness = float((missed**2 - a * slack + 0.25 * a**2).sum()) + float(q @ (top - low))
    return float(missed @ missed) / high.size, slackness / high.size


def _scores(X: Any, w: np.ndarray) -> np.ndarray:
    out = np.empty(X.shape[0] if isinstance(X, np.ndarray) else X.indptr.size - 1)
    _multiply(X, w, out)
    return out


def _combination(X: Any, c: np.ndarray, d: int) -> np.ndarray:
    """(d,) X^T c."""
    out = np.zeros(d)
    _combine(X, c, out)
    return out


@kernels.kernel
def _multiply(X, w, out):
    for i in range(out.size):
        out[i] = rows.dot(X, i, w)


@kernels.kernel
def _combine(X, c, out):
    for i in range(c.size):
        if c[i] != 0.0:
            rows.axpy(c[i], X, i, out)
