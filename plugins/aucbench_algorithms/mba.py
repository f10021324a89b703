"""MBA, mini-batch AUC optimisation: the pairwise least squares from moments of sampled blocks.

    w = (M + lam I)^-1 m

where m is the average over blocks of the mean of z over all pairs of a block, and M that of z z^T.

A block of rows has the class means m+ and m- and the class covariances S+ and S-. The moments over its pairs
z = x+ - x- are therefore m+ - m- and S+ + S- + (m+ - m-)(m+ - m-)^T, found without forming pairs. With one
block of all rows this is the closed form of `ls_svm` for the same lam. Blocks of one class are skipped.

Cost: O(d^2) per row, and O(d^3) once.

Source: Gultekin, Saha, Ratnaparkhi, Paisley, MBA: mini-batch AUC optimization, 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from aucbench import Access, Batch, Claims, Count, LinearMethod, Objective, Positive, Problem, require_memory


class State(NamedTuple):
    """Sums over blocks, and the solution once `finalize` was called."""

    first: np.ndarray  # (d,) sum of the blocks' means of z
    second: np.ndarray  # (d, d) sum of the blocks' means of z z^T
    blocks: np.ndarray  # (1,) blocks with both classes
    w: np.ndarray | None  # (d,)
    lam: float


@dataclass(frozen=True)
class Mba(LinearMethod):
    """Pairwise least squares from the moments of mini-batches.

    Parameters
    ----------
    lam : float > 0 or None
        Weight of |w|^2 / 2. None means 1 / n for n rescaled training rows.
    block : int >= 1
        Number of rows of a block; all rows if there are fewer.
    """

    name = "mba"
    access = Access.minibatch
    losses = ("square",)
    grid = {"lam": tuple(10.0**power for power in range(-8, 2))}
    claims = Claims(rate="1/sqrt(t)", cost="block d^2")
    regularisation = {"lam": 2}
    citation = "gultekin2018mba"
    deviations = ("All pairs inside a block are used, not a sample of them: their moments cost no more.",)

    lam: Positive | None = None
    block: Count = 100

    def batch_size(self, n_samples: int) -> int:
        return min(self.block, n_samples)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero moments.

        Raises `ParameterError` when two d x d matrices, the sum and a block's, exceed the available
        memory.
        """
        d = problem.n_features
        require_memory("mba", (2, d, d), "use features=projection, or algo=ls_svm")
        return State(np.zeros(d), np.zeros((d, d)), np.zeros(1, np.int64), None, self._lam(problem))

    def objective(self, problem: Problem) -> Objective:
        """The moments approach the moments of all pairs; the solution halves their mean."""
        return Objective(problem.loss, l2=2.0 * self._lam(problem))

    def _lam(self, problem: Problem) -> float:
        return 1.0 / problem.n_samples if self.lam is None else self.lam

    @classmethod
    def together(cls, algorithms: Sequence["Mba"], states: Sequence[State]) -> "_Together":
        """Lockstep of settings with blocks of one size: their moments are the same."""
        return _Together(algorithms[0], states)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        for rows in batch.rows:
            _add(batch.X[rows], batch.y[rows], state)
        return state._replace(w=None)

    def finalize(self, state: State) -> State:
        return state._replace(w=self._solution(state))

    def weights(self, state: State) -> np.ndarray:
        """(d,) the solution; solved for here when `finalize` was not called."""
        return self._solution(state) if state.w is None else state.w.copy()

    def _solution(self, state: State) -> np.ndarray:
        blocks = max(1, int(state.blocks[0]))
        if not np.all(np.isfinite(state.first)):
            return np.full_like(state.first, np.nan)
        matrix = state.second / blocks
        matrix.flat[:: matrix.shape[0] + 1] += state.lam
        return linalg.solve(
            matrix, state.first / blocks, assume_a="pos", overwrite_a=True, check_finite=False
        )


class _Together:
    """Settings that differ in `lam`, which the moments do not depend on."""

    def __init__(self, algorithm: Mba, states: Sequence[State]):
        self._algorithm, self._state = algorithm, states[0]
        self._lam = [state.lam for state in states]

    def step(self, batch: Batch) -> None:
        self._state = self._algorithm.step(self._state, batch)

    def state(self, number: int) -> State:
        """The shared moments with the `lam` of a setting."""
        return self._state._replace(lam=self._lam[number])

    def drop(self, number: int) -> None:
        """Change nothing: the remaining settings share the work as before."""


def _add(X: Any, y: np.ndarray, state: State) -> None:
    """Add the moments of a block."""
    positive = y == 1
    n_pos = int(np.count_nonzero(positive))
    if n_pos in (0, y.size):
        return
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, np.float64)
    P, N = dense[positive], dense[~positive]
    mean_pos, mean_neg = P.mean(axis=0), N.mean(axis=0)
    difference = mean_pos - mean_neg
    centred = [(P - mean_pos) / np.sqrt(len(P)), (N - mean_neg) / np.sqrt(len(N))]
    Z = np.vstack([*centred, difference[None]])
    np.add(state.second, Z.T @ Z, out=state.second)
    np.add(state.first, difference, out=state.first)
    state.blocks[0] += 1
