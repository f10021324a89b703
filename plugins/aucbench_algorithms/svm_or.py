"""SVM-OR, the batch hinge over all pairs, to its exact optimum.

    P(w) = lam / 2 |w|^2 + mean over pairs of max(0, 1 - w.(x+ - x-))

The hinge is smoothed to a quadratic over margins from 1 - mu to 1 and minimised by Newton's method, with
sums over pairs from sorted scores; mu falls tenfold whenever Newton's method has settled, so that the pairs
still in the band are soon only those that sit at the kink of the solution. Once they are few, the problem
in which every other pair has its slope frozen is solved exactly (see `kink`). With a the resulting dual
variables, every P(w) - D(a) is a sum without cancellation of what the kink pairs and the dual weights miss,

    gap = mean of [max(0, 1 - m) - a (1 - m)] + |lam w - mean of a z|^2 / (2 lam),

and |w - w*|^2 <= 2 gap / lam for the optimum w*. The method is done when the gap is below 1e-14 times
lam / 2 |w|^2, which certifies |w - w*| <= 1e-7 |w| (margins that are 1 up to rounding count as 1), or when mu
has reached 1e-9; then the point of the least gap is taken if that is small, else the last, whose error is of
the order of mu. The state keeps the least gap.

Cost: O(nnz + n log n) per pass, O(n d^2) to form a Hessian; mostly 10 to 40 iterations.

Source: Joachims, Training linear SVMs in linear time, KDD 2006, for the problem; its cutting planes need
thousands of passes for six digits of w.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields
from aucbench_algorithms import _newton, _pair_newton, _sorted_pairs, _svm_or_kink
from aucbench_algorithms._sorted_pairs import Ranking, Window

GAP = 1e-14  # of the duality gap, against lam / 2 |w|^2
SHRINK = 0.1  # of the smoothing, from level to level
CLOSE = 1e-10  # the same, from which on the point of the least gap beats the last one
LEVELS = 10  # of smoothing at most, from mu = 1 to 1e-9
NEAR_LEVEL = 2  # of smoothing at most, at which the path goes on from the solution for another lam
SETTLED = 1e-2  # step against |w|, times mu, at which a level ends
LEVEL_ITERATIONS = 30  # at most on one level: rounding may keep a step from settling
RESIDUAL = 1e-2  # of conjugate gradients, where the Hessian is not factored


class State(NamedTuple):
    """The current point."""

    w: np.ndarray  # (d,)
    level: int  # the smoothed kink is mu = 10^-level wide
    spent: int  # iterations on this level
    best: np.ndarray  # (d,) the point of the least duality gap so far
    gap: float  # that gap; inf before the first
    solved: bool


@dataclass(frozen=True)
class SvmOr:
    """Ordinal-regression SVM: the hinge over all pairs, to its optimum.

    Parameters
    ----------
    lam : float > 0 or None
        Weight of |w|^2 / 2. None is 1 / n for n training rows. As 1/2 |w|^2 + C sum over pairs,
        C = 1 / (lam n+ n-).
    """

    name: ClassVar[str] = "svm_or"
    colour: ClassVar[str] = "#00610f"
    access: ClassVar[Access] = Access.full
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"lam": tuple(10.0**power for power in range(-8, 2))}
    claims: ClassVar[Claims] = Claims(rate="superlinear", cost="nnz + n log n")
    citation: ClassVar[str] = "joachims2006training"
    deviations: ClassVar[tuple[str, ...]] = (
        "Newton's method on a vanishing smoothing and an exact last step take the place of cutting planes.",
    )

    lam: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero."""
        w, best = np.zeros((2, problem.n_features))
        return State(w, 0, 0, best, np.inf, False)

    def init_from(self, problem: Problem, rng: np.random.Generator, state: State | None) -> State:
        """The solution for another lam; no wide kinks, for it is near."""
        start = self.init(problem, rng)
        return start if state is None else start._replace(w=state.w, level=min(state.level, NEAR_LEVEL))

    def step(self, state: State, batch: Batch) -> State:
        """One Newton iteration a row, until solved."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            state = self._iterate(state, batch.X, batch.y)
        return state

    def done(self, state: State) -> bool:
        """Whether the duality gap is small enough."""
        return state.solved

    def weights(self, state: State) -> np.ndarray:
        """(d,) the current point."""
        return state.w.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ state.w

    def _lam(self, y: np.ndarray) -> float:
        return 1.0 / len(y) if self.lam is None else self.lam

    def _iterate(self, state: State, X: Any, y: np.ndarray) -> State:
        w, mu, lam = state.w, SHRINK**state.level, self._lam(y)
        scores = np.asarray(X @ w, np.float64)
        ranking = _sorted_pairs.rank(scores, y)
        total = max(1, ranking.high.size * ranking.low.size)
        pull, band = _pull(y, scores, ranking, mu)
        gradient = lam * w - X.T @ (pull / total)
        if not np.all(np.isfinite(gradient)):
            return state._replace(w=np.full_like(w, np.nan), solved=True)
        direction = -_pair_newton.solve(X, ranking, band, lam, 1.0 / (mu * total), gradient, RESIDUAL)
        moved = np.asarray(X @ direction, np.float64)

        def slope(t: float) -> float:
            here = scores + t * moved
            pull, _ = _pull(y, here, _sorted_pairs.rank(here, y), mu)
            return float(lam * (w + t * direction) @ direction - (pull / total) @ moved)

        step = _newton.step_length(slope) * direction
        w = w + step
        state = state._replace(w=w, spent=state.spent + 1)
        if np.linalg.norm(step) > SETTLED * mu * np.linalg.norm(w) and state.spent < LEVEL_ITERATIONS:
            return state
        return self._settled(state, X, y, mu)

    def _settled(self, state: State, X: Any, y: np.ndarray, mu: float) -> State:
        """The end of a level: the exact solution if it can be certified, else a narrower kink."""
        lam = self._lam(y)
        exact = _svm_or_kink.solve(X, y, state.w, mu, lam)
        if exact is not None and exact[1] < state.gap:
            state = state._replace(best=exact[0], gap=exact[1])
        certified = state.gap <= 0.5 * GAP * lam * float(state.best @ state.best)
        if certified:
            return state._replace(w=state.best, solved=True)
        if state.level + 1 == LEVELS:
            close = state.gap <= CLOSE * lam * float(state.best @ state.best)
            return state._replace(w=state.best if close else state.w, solved=True)
        return state._replace(level=state.level + 1, spent=0)


def _pull(y: np.ndarray, scores: np.ndarray, ranking: Ranking, mu: float) -> tuple[np.ndarray, Window]:
    """(n,) sums of the smoothed hinge's slopes over the pairs of each row, with the row's sign; the band."""
    full = _sorted_pairs.window(ranking, 1.0 - mu)
    band = _sorted_pairs.window(ranking, 1.0, 1.0 - mu)
    inside = y * _sorted_pairs.degrees(ranking, band) - _sorted_pairs.laplacian(ranking, band, scores)
    return y * _sorted_pairs.degrees(ranking, full) + inside / mu, band
