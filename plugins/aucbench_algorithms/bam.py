"""BAM, the batch squared hinge over all pairs, by Newton's method.

    1/2 |w|^2 + C sum over pairs of max(0, 1 - w.(x+ - x-))^2

Over the pairs of margin below 1, Z_A their differences: gradient w - 2 C Z_A^T (1 - Z_A w), Hessian
I + 2 C Z_A^T Z_A. Both are found from sorted scores, never from pairs: with the number c_i of active pairs
of row i and L v the sums of v_i - v_j over them, Z_A^T (1 - Z_A w) = X^T (y c - L X w), Z_A^T Z_A v =
X^T L X v. Each
iteration solves the Newton system and searches along the step for the zero of the slope.

The method stops after the step from a point with |g| <= eps |g_0|, or when a step no longer changes w. With
systems that can be factored (see `pair_newton`) the weights are then exact to about 1e-10; beyond, where
conjugate gradients solve to a residual from 0.1 |g| down to 1e-4 |g|, to about 1e-8.

Cost: O(nnz + n log n) per gradient, trial of the line search and product with the Hessian; O(n d^2) to form
a Hessian.

Source: Chapelle, Keerthi, Efficient algorithms for ranking with SVMs, 2010; Lee, Lin, Large-scale linear
RankSVM, Neural Computation 2014.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields
from aucbench_algorithms import _newton, _pair_newton, _sorted_pairs
from aucbench_algorithms._sorted_pairs import Ranking, Window

INNER, INNER_LEAST = 0.1, 1e-4  # residual of conjugate gradients against |g|, first and last
SMALLEST_STEP = 1e-14  # against |w|


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,)
    first: float  # |g_0| / C, the same for all C; 0 before the first iteration
    solved: bool


@dataclass(frozen=True)
class Bam:
    """Batch maximisation of the AUC: the squared hinge over all pairs, to its optimum.

    Parameters
    ----------
    C : float > 0 or None
        Weight of the sum over pairs of squared hinges. None is n / (2 n+ n-), with which the objective is n
        times 1 / n |w|^2 / 2 + half the mean over pairs.
    eps : float > 0
        Norm of the gradient, against that at zero, at which the method stops.
    """

    name: ClassVar[str] = "bam"
    colour: ClassVar[str] = "#471e8d"
    access: ClassVar[Access] = Access.full
    losses: ClassVar[tuple[str, ...]] = ("squared_hinge",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"C": tuple(10.0**power for power in range(-10, 2))}
    claims: ClassVar[Claims] = Claims(rate="superlinear", cost="nnz + n log n")
    citation: ClassVar[str] = "lee2014ranksvm"
    deviations: ClassVar[tuple[str, ...]] = (
        "A line search on the slope takes the place of the trust region, and Newton systems are factored "
        "where they fit: conjugate gradients to 0.1 |g| stall at large C on separable data.",
    )

    C: Positive | None = None
    eps: Positive = 1e-12

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero."""
        return State(np.zeros(problem.n_features), 0.0, False)

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        """The solution for another C."""
        return self.init(problem, rng) if state is None else state._replace(solved=False)

    def step(self, state: State, batch: Batch) -> State:
        """One Newton iteration a row, until solved."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            state = self._iterate(state, batch.X, batch.y)
        return state

    def done(self, state: State) -> bool:
        """Whether the gradient is small enough."""
        return state.solved

    def weights(self, state: State) -> np.ndarray:
        """(d,) the current point."""
        return state.w.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ state.w

    def _weight(self, y: np.ndarray) -> float:
        if self.C is not None:
            return self.C
        n_pos = int(np.count_nonzero(y == 1))
        return len(y) / (2.0 * max(1, n_pos) * max(1, len(y) - n_pos))

    def _iterate(self, state: State, X: Any, y: np.ndarray) -> State:
        w, C = state.w, self._weight(y)
        scores = np.asarray(X @ w, np.float64)
        ranking = _sorted_pairs.rank(scores, y)
        active = _sorted_pairs.window(ranking, 1.0)
        gradient = w - 2.0 * C * (X.T @ _pull(y, scores, ranking, active))
        size = float(np.linalg.norm(gradient))
        if not np.isfinite(size):
            return State(np.full_like(w, np.nan), size, True)
        first = state.first or size / C
        tolerance = min(INNER, max(INNER_LEAST, (size / (C * first)) ** 0.5)) if size else INNER
        direction = -_pair_newton.solve(X, ranking, active, 1.0, 2.0 * C, gradient, tolerance)
        moved = np.asarray(X @ direction, np.float64)

        def slope(t: float) -> float:
            here = scores + t * moved
            ranking = _sorted_pairs.rank(here, y)
            pull = _pull(y, here, ranking, _sorted_pairs.window(ranking, 1.0))
            return float((w + t * direction) @ direction - 2.0 * C * (pull @ moved))

        step = _newton.step_length(slope) * direction
        w = w + step
        small = not np.linalg.norm(step) > SMALLEST_STEP * np.linalg.norm(w)
        return State(w, first, size <= self.eps * C * first or small)


def _pull(y: np.ndarray, scores: np.ndarray, ranking: Ranking, active: Window) -> np.ndarray:
    """(n,) sums of (1 - m) over the active pairs of each row, with the row's sign."""
    return y * _sorted_pairs.degrees(ranking, active) - _sorted_pairs.laplacian(ranking, active, scores)
