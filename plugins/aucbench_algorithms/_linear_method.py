"""Base classes of methods whose model is a vector of weights, and of those that iterate to a solution."""

from typing import Any

import numpy as np

from aucbench import Batch, Problem, check_fields


def class_totals(of: Problem | Batch) -> tuple[float, float]:
    """The number of positives and that of negatives, at least 1; with weights their sums."""
    positive = of.y == 1
    if of.weights is not None:
        own = float(of.weights[positive].sum()), float(of.weights[~positive].sum())
        return own[0] or 1.0, own[1] or 1.0
    n_pos = int(np.count_nonzero(positive))
    return float(max(1, n_pos)), float(max(1, len(of.y) - n_pos))


def class_shares(of: Problem | Batch) -> np.ndarray:
    """(n,) 1 / n_y of every row; with weights its part of the weight of its class."""
    n_pos, n_neg = class_totals(of)
    shares = np.where(of.y == 1, 1.0 / n_pos, 1.0 / n_neg)
    return shares if of.weights is None else of.weights * shares


def total(of: Problem | Batch) -> float:
    """The number of rows; with weights their sum."""
    return float(len(of.y) if of.weights is None else of.weights.sum())


class LinearMethod:
    """Checks the hyperparameters, and scores by its weights: `w` of the state, if it defines no others."""

    def __post_init__(self) -> None:
        check_fields(self)

    def weights(self, state: Any) -> np.ndarray:
        """(d,) the current weights."""
        w: np.ndarray = state.w.copy()
        return w

    def score(self, state: Any, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        scores: np.ndarray = X @ self.weights(state)
        return scores


class Solver(LinearMethod):
    """A batch method with one iteration a row; `solved` of its state tells that there is no more to do."""

    def step(self, state: Any, batch: Batch) -> Any:
        """One iteration a row, until solved."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            state = self._iterate(state, batch)
        return state

    def done(self, state: Any) -> bool:
        """Whether the solution is found."""
        solved: bool = state.solved
        return solved

    def _iterate(self, state: Any, batch: Batch) -> Any:
        raise NotImplementedError
