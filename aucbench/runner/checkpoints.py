"""Where along a run the test AUC is measured."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import PluginError
from aucbench.evaluation import auc_of_columns
from aucbench.places import line_of
from aucbench.runner.returns import wrong_scores
from aucbench.runner.scoring import linear_scores

SCORE_ELEMENTS = 1 << 24  # scores held at a time while checkpoints are evaluated (128 MB)
WEIGHT_BYTES = 1 << 28  # weights held before they are scored; the clock is stopped meanwhile


def log_spaced(iterations: int, count: int) -> list[int]:
    """At most `count` distinct iterations from 1 to `iterations`, evenly spaced in the logarithm."""
    points = np.unique(np.rint(np.geomspace(1, iterations, count)).astype(np.int64))
    return [int(point) for point in points[:-1] if point < iterations] + [iterations]


class Scorer:
    """Test AUC of models, of one run or of many.

    Weights of linear methods are collected and scored together, one matrix product for many models; other
    methods are scored at once.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        Test rows.
    y : (n,) int8 array
        Test labels.
    """

    def __init__(self, X: Any, y: NDArray[np.int8]):
        self._X, self._y = X, y
        self._waiting: list[NDArray[np.float64]] = []  # the weights of the models from len(_aucs) on
        self._waiting_bytes = 0
        self._aucs: list[float] = []

    def add(self, algorithm: Any, state: Any) -> tuple[int, NDArray[np.float64] | None]:
        """Take a model, whose state may change afterwards; gives its number and the weights if it has some.

        Raises
        ------
        PluginError
            The method's scores are not one for each test row.
        """
        if not hasattr(algorithm, "weights"):
            found = algorithm.score(state, self._X)
            if wrong := wrong_scores(found, len(self._y)):
                where = line_of(type(algorithm), "score")
                raise PluginError(f"{algorithm.name}: `score` of {len(self._y)} rows {wrong}{where}")
            scores = np.asarray(found, np.float64)
            self._flush()
            self._measure(scores[None])
            return len(self._aucs) - 1, None
        weights = np.array(algorithm.weights(state), np.float64)
        self._waiting.append(weights)
        self._waiting_bytes += weights.nbytes
        number = len(self._aucs) + len(self._waiting) - 1
        if self._waiting_bytes >= WEIGHT_BYTES:
            self._flush()
        return number, weights

    def auc(self, number: int) -> float:
        """Test AUC of a model taken; NaN where a score is NaN."""
        if number >= len(self._aucs):
            self._flush()
        return self._aucs[number]

    def _flush(self) -> None:
        width = max(1, SCORE_ELEMENTS // max(1, len(self._y)))
        for start in range(0, len(self._waiting), width):
            W = np.stack(self._waiting[start : start + width])
            self._measure(linear_scores(W, self._X))
        self._waiting.clear()
        self._waiting_bytes = 0

    def _measure(self, scores: NDArray[np.float64]) -> None:
        aucs = np.full(len(scores), np.nan)
        known = ~np.isnan(scores).any(axis=1)
        if known.any():
            aucs[known] = auc_of_columns((scores if known.all() else scores[known]).T, self._y)
        self._aucs.extend(aucs.tolist())
