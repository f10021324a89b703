"""Where along a run the test AUC is measured."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import ParameterError
from aucbench.evaluation import auc_of_columns

SCORE_ELEMENTS = 1 << 24  # scores held at a time while checkpoints are evaluated (128 MB)
WEIGHT_BYTES = 1 << 28  # weights held before they are scored; the clock is stopped meanwhile


def log_spaced(iterations: int, count: int) -> list[int]:
    """At most `count` distinct iterations from 1 to `iterations`, evenly spaced in the logarithm."""
    points = np.unique(np.rint(np.geomspace(1, iterations, count)).astype(np.int64))
    return [int(point) for point in points[:-1] if point < iterations] + [iterations]


class Scorer:
    """Test AUC of every checkpoint.

    Weights of linear methods are collected and scored together, one matrix product for many checkpoints;
    other methods are scored at once.

    Parameters
    ----------
    algorithm : Algorithm
        The method that is scored.
    X : (n, d) ndarray or scipy CSR
        Test rows.
    y : (n,) int8 array
        Test labels.
    """

    def __init__(self, algorithm: Any, X: Any, y: NDArray[np.int8]):
        self._algorithm, self._X, self._y = algorithm, X, y
        self._linear = hasattr(algorithm, "weights")
        self._waiting: list[NDArray[np.float64]] = []
        self._aucs: list[float] = []
        self.last_weights: NDArray[np.float64] | None = None

    def add(self, state: Any) -> None:
        """Take the model of a checkpoint; the state may change afterwards."""
        if not self._linear:
            scores = np.asarray(self._algorithm.score(state, self._X), np.float64)
            if scores.shape != (len(self._y),):
                raise ParameterError(f"score must return ({len(self._y)},) values, got shape {scores.shape}.")
            self._measure(scores[:, None])
            return
        self.last_weights = np.array(self._algorithm.weights(state), np.float64)
        self._waiting.append(self.last_weights)
        if sum(w.nbytes for w in self._waiting) >= WEIGHT_BYTES:
            self._flush()

    def aucs(self) -> NDArray[np.float64]:
        """(checkpoints,) test AUC of all models taken so far; NaN where a score is NaN."""
        self._flush()
        return np.array(self._aucs, np.float64)

    def _flush(self) -> None:
        width = max(1, SCORE_ELEMENTS // max(1, len(self._y)))
        for start in range(0, len(self._waiting), width):
            W = np.stack(self._waiting[start : start + width])
            # In the data's own type: float32 rows are not copied to float64 for every product.
            scores = self._X @ W.T.astype(self._X.dtype)
            self._measure(np.asarray(scores, np.float64))
        self._waiting.clear()

    def _measure(self, scores: NDArray[np.float64]) -> None:
        aucs = np.full(scores.shape[1], np.nan)
        known = ~np.isnan(scores).any(axis=0)
        if known.any():
            aucs[known] = auc_of_columns(np.ascontiguousarray(scores[:, known]), self._y)
        self._aucs.extend(aucs.tolist())
