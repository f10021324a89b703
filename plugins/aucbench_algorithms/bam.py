"""BAM, the batch squared hinge over all pairs, by Newton's method.

    1/2 |w|^2 + C sum over pairs of max(0, 1 - w.(x+ - x-))^2

With Z_A the differences of the pairs of margin below 1, the gradient is w - 2 C Z_A^T (1 - Z_A w) and the
Hessian I + 2 C Z_A^T Z_A. Both are computed from sorted scores, never from pairs: with the number c_i of
active pairs of row i and the sums L v of v_i - v_j over these pairs, Z_A^T (1 - Z_A w) = X^T (y c - L X w),
Z_A^T Z_A v = X^T L X v. Each iteration solves the Newton system and searches along the step for the zero of
the slope.

The method stops after the step from a point with |g| <= eps |g_0|, or when a step no longer changes w. If the
systems can be factored (see `pair_newton`), the weights are then exact to about 1e-10. Conjugate gradients
solve larger systems to a residual from 1e-3 |g| down to 1e-4 |g|; the weights are then exact to about 1e-8.

Cost: O(nnz + n log n) per gradient, trial of the line search and product with the Hessian; O(n d^2) to form
a Hessian.

Source: Chapelle, Keerthi, Efficient algorithms for ranking with SVMs, 2010; Lee, Lin, Large-scale linear
RankSVM, Neural Computation 2014.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Batch, BatchSolver, Claims, Objective, ParameterError, Positive, Problem
from aucbench.kernels import loss_pieces, pair_loss
from aucbench_algorithms import _newton, _pair_newton
from aucbench_algorithms._linear_method import class_totals, total

INNER, INNER_LEAST = 1e-3, 1e-4  # residual of conjugate gradients against |g|, first and last
SMALLEST_STEP = 1e-14  # against |w|


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,)
    first: float  # |g_0| / C, the same for all C; 0 before the first iteration
    solved: bool
    loss: Any


@dataclass(frozen=True)
class Bam(BatchSolver):
    """Batch maximisation of the AUC: the squared hinge over all pairs, to its optimum.

    Parameters
    ----------
    C : float > 0 or None
        Weight of the sum over pairs of squared hinges. None means n / (2 n+ n-); the objective is then n
        times 1 / n |w|^2 / 2 + half the mean over pairs.
    eps : float > 0
        Norm of the gradient, relative to the norm at zero, at which the method stops.
    """

    name = "bam"
    access = Access.full
    losses = ("squared_hinge", "*")
    grid = {"C": tuple(10.0**power for power in range(-10, 2))}
    claims = Claims(rate="superlinear", cost="nnz + n log n")
    regularisation = {"C": -2}
    citation = "lee2014ranksvm"
    deviations = (
        "A line search on the slope takes the place of the trust region, and Newton systems are factored "
        "where they fit: conjugate gradients to 0.1 |g| stall at large C on separable data.",
    )
    weighted = True

    C: Positive | None = None
    eps: Positive = 1e-12

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero.

        Raises `ParameterError` when the loss has a kink, or more pairs would have to be visited one
        by one than can be.
        """
        loss = problem.loss
        for kink in loss_pieces.kinks(loss):
            raise ParameterError(
                f"bam: the loss must be differentiable; {loss.name} has a kink at the margin {kink:g} "
                "(use algo=svm_or for the hinge)."
            )
        return State(np.zeros(problem.n_features), 0.0, False, loss)

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        start = self.init(problem, rng)
        return start if state is None else start._replace(w=state.w, first=state.first)

    def objective(self, problem: Problem) -> Objective:
        """The sum over pairs as a mean: l2 is 1 / (C n+ n-)."""
        return Objective(problem.loss, l2=1.0 / (self._weight(problem) * _pairs(problem)))

    @classmethod
    def minimises(cls, objective: Objective, problem: Problem) -> "Bam | None":
        """Any differentiable loss with a ridge."""
        if objective.l1 or objective.radius or not objective.l2 or loss_pieces.kinks(objective.loss):
            return None
        return cls(C=1.0 / (objective.l2 * _pairs(problem)))

    def _weight(self, of: Problem | Batch) -> float:
        return total(of) / (2.0 * _pairs(of)) if self.C is None else self.C

    def _iterate(self, state: State, batch: Batch) -> State:
        X, y = batch.X, batch.y
        w, C = state.w, self._weight(batch) * _pairs(batch)  # weight of the mean, not of the sum
        scores = np.asarray(X @ w, np.float64)
        mean = pair_loss.pair_mean(state.loss, scores, y, batch.weights)
        gradient = w + C * (X.T @ mean.slopes)
        size = float(np.linalg.norm(gradient))
        if not np.isfinite(size):
            return state._replace(w=np.full_like(w, np.nan), solved=True)
        first = state.first or size / C
        tolerance = min(INNER, max(INNER_LEAST, (size / (C * first)) ** 0.5)) if size else INNER
        direction = -_pair_newton.solve(X, mean.curvature, 1.0, C, gradient, tolerance)
        moved = np.asarray(X @ direction, np.float64)

        def slope(t: float) -> float:
            pull = pair_loss.pair_mean(state.loss, scores + t * moved, y, batch.weights).slopes
            return float((w + t * direction) @ direction + C * (pull @ moved))

        step = _newton.step_length(slope) * direction
        w = w + step
        small = not np.linalg.norm(step) > SMALLEST_STEP * np.linalg.norm(w)
        return state._replace(w=w, first=first, solved=size <= self.eps * C * first or small)


def _pairs(of: Problem | Batch) -> float:
    """The number of pairs, at least 1; with weights, the sum of the pairs' weights."""
    n_pos, n_neg = class_totals(of)
    return n_pos * n_neg
