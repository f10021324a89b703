"""SVM-OR, the batch hinge over all pairs, to its exact optimum.

    P(w) = lam / 2 |w|^2 + mean over pairs of max(0, 1 - w.(x+ - x-))

The hinge is smoothed to a quadratic over margins from 1 - mu to 1 and minimised by Newton's method, with
sums over pairs from sorted scores; mu falls tenfold whenever Newton's method has settled. Soon the only pairs
left in the band are those at the kink of the solution. Once they are few, the slopes of all other pairs are
frozen and the resulting problem is solved exactly (see `kink`). With its dual variables a, P(w) - D(a) is a
sum without cancellation of what the kink pairs and the dual weights miss,

    gap = mean of [max(0, 1 - m) - a (1 - m)] + |lam w - mean of a z|^2 / (2 lam),

and |w - w*|^2 <= 2 gap / lam for the optimum w*. The method ends when the gap is below 1e-14 times
lam / 2 |w|^2, which certifies |w - w*| <= 1e-7 |w| (margins that are 1 up to rounding count as 1), or when mu
has reached 1e-9. It then returns the point of the least gap if that gap is small, else the last point, whose
error is of the order of mu. The state keeps the least gap.

Cost: O(nnz + n log n) per pass, O(n d^2) to form a Hessian; mostly 10 to 40 iterations.

Source: Joachims, Training linear SVMs in linear time, KDD 2006, for the problem; its cutting planes need
thousands of passes for six digits of w.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Batch, BatchSolver, Claims, Objective, Positive, Problem, kernels
from aucbench.kernels import loss_pieces, pair_loss
from aucbench_algorithms import _newton, _pair_newton, _svm_or_kink
from aucbench_algorithms._linear_method import total

GAP = 1e-14  # duality gap relative to lam / 2 |w|^2
SHRINK = 0.1  # ratio of mu between two levels of smoothing
CLOSE = 1e-10  # duality gap below which the best point is returned, not the last
LEVELS = 10  # most levels of smoothing, from mu = 1 to 1e-9
NEAR_LEVEL = 2  # highest level of smoothing at which the solution for another lam is the start
SETTLED = 1e-2  # a level ends at a step of this size times mu, relative to |w|
LEVEL_ITERATIONS = 30  # most iterations on a level: rounding may keep steps from shrinking
RESIDUAL = 1e-4  # residual of conjugate gradients, if the Hessian is not factored


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,) divided by the margin of the loss
    level: int  # the smoothed kink is mu = 10^-level wide
    spent: int  # iterations on this level
    best: np.ndarray  # (d,) the point of the least duality gap so far
    gap: float  # the least duality gap so far; infinite at the start
    solved: bool
    lam: float  # the weight of |w|^2 / 2
    margin: float  # margin of the loss
    loss: Any  # the loss with margin 1


@dataclass(frozen=True)
class SvmOr(BatchSolver):
    """Ordinal-regression SVM: the hinge over all pairs, to its optimum.

    Parameters
    ----------
    lam : float > 0 or None
        Weight of |w|^2 / 2. None means 1 / n for n training rows. In the form 1/2 |w|^2 + C sum over pairs,
        C = 1 / (lam n+ n-).
    """

    name = "svm_or"
    access = Access.full
    losses = ("hinge",)
    grid = {"lam": tuple(10.0**power for power in range(-8, 2))}
    claims = Claims(rate="superlinear", cost="nnz + n log n")
    regularisation = {"lam": 2}
    citation = "joachims2006training"
    deviations = (
        "Newton's method on a vanishing smoothing and an exact last step take the place of cutting planes.",
    )
    weighted = True

    lam: Positive | None = None

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        w, best = np.zeros((2, problem.n_features))
        margin = kernels.theta(problem.loss)
        return State(
            w, 0, 0, best, np.inf, False, self._lam(problem), margin, replace(problem.loss, margin=1.0)
        )

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        """Start at the solution for another lam, which is near, without wide kinks."""
        start = self.init(problem, rng)
        return start if state is None else start._replace(w=state.w, level=min(state.level, NEAR_LEVEL))

    def weights(self, state: State) -> np.ndarray:
        return state.margin * state.w

    def objective(self, problem: Problem) -> Objective:
        return Objective(problem.loss, l2=self._lam(problem))

    def _lam(self, problem: Problem) -> float:
        return problem.row_factor**2 / total(problem) if self.lam is None else self.lam

    def _iterate(self, state: State, batch: Batch) -> State:
        X, y = batch.X, batch.y
        w, lam = state.w, state.margin * state.lam  # dividing w by the margin makes the margin 1
        loss = loss_pieces.Smoothed(SHRINK**state.level, state.loss)
        scores = np.asarray(X @ w, np.float64)
        mean = pair_loss.pair_mean(loss, scores, y, batch.weights)
        gradient = lam * w + X.T @ mean.slopes
        if not np.all(np.isfinite(gradient)):
            return state._replace(w=np.full_like(w, np.nan), solved=True)
        direction = -_pair_newton.solve(X, mean.curvature, lam, 1.0, gradient, RESIDUAL)
        moved = np.asarray(X @ direction, np.float64)

        def slope(t: float) -> float:
            pull = pair_loss.pair_mean(loss, scores + t * moved, y, batch.weights).slopes
            return float(lam * (w + t * direction) @ direction + pull @ moved)

        step = _newton.step_length(slope) * direction
        w = w + step
        state = state._replace(w=w, spent=state.spent + 1)
        small = not np.linalg.norm(step) > SETTLED * loss.width * np.linalg.norm(w)
        if not small and state.spent < LEVEL_ITERATIONS:
            return state
        return self._settled(state, batch, loss.width)

    def _settled(self, state: State, batch: Batch, mu: float) -> State:
        """The end of a level: the exact solution if it can be certified, else a narrower kink."""
        lam = state.margin * state.lam
        exact = _svm_or_kink.solve(batch, state.w, mu, lam)
        if exact is not None and exact[1] < state.gap:
            state = state._replace(best=exact[0], gap=exact[1])
        certified = state.gap <= 0.5 * GAP * lam * float(state.best @ state.best)
        if certified:
            return state._replace(w=state.best, solved=True)
        if state.level + 1 == LEVELS:
            close = state.gap <= CLOSE * lam * float(state.best @ state.best)
            return state._replace(w=state.best if close else state.w, solved=True)
        return state._replace(level=state.level + 1, spent=0)
