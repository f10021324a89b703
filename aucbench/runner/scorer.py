"""Decision values of many models at once, and their measures on the test rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import wrong_scores
from aucbench.errors import PluginError
from aucbench.evaluation.auc import measure_columns
from aucbench.evaluation.measures import AUC, Measure
from aucbench.kernels import kernel

LANES = 64  # rows multiplied at a time
DEPTH = 128  # features multiplied at a time: LANES x DEPTH numbers stay in the cache
SCORE_ELEMENTS = 1 << 22  # scores held at a time while checkpoints are evaluated (32 MB)
WEIGHT_BYTES = 1 << 28  # weights held before they are scored; the clock is stopped meanwhile


def linear_scores(W: NDArray[np.float64], X: Any) -> NDArray[np.float64]:
    """(c, n) decision values of c models with the weights W (c, d).

    Values are sums in the order of the features, in the type of X, and do not depend on other models. BLAS
    rounds a single column differently from several columns, so that rows might tie in one case only.
    """
    W = W.astype(X.dtype)
    if sparse.issparse(X):
        return np.ascontiguousarray((X @ W.T).T, np.float64)
    scores = np.zeros((len(W), X.shape[0]), X.dtype)
    if len(W) == 1:
        _add_product(np.asarray(X), W[0], scores[0])
    else:
        _add_products(np.asarray(X), W, scores, np.empty((DEPTH, LANES), X.dtype))
    return scores.astype(np.float64, copy=False)


@kernel
def _add_products(X: Any, W: Any, scores: Any, part: Any) -> None:
    """Add W X' to the scores; `part` is a buffer of rows, transposed so that they are multiplied abreast."""
    n, d = X.shape
    for start in range(0, n, LANES):
        count = min(LANES, n - start)
        for first in range(0, d, DEPTH):
            depth = min(DEPTH, d - first)
            for r in range(count):
                for k in range(depth):
                    part[k, r] = X[start + r, first + k]
            for j in range(W.shape[0]):
                sums = scores[j, start : start + count]
                for k in range(0, depth - 3, 4):
                    a, b = W[j, first + k], W[j, first + k + 1]
                    c, e = W[j, first + k + 2], W[j, first + k + 3]
                    for r in range(count):
                        sums[r] = (
                            sums[r]
                            + a * part[k, r]
                            + b * part[k + 1, r]
                            + c * part[k + 2, r]
                            + e * part[k + 3, r]
                        )
                for k in range(depth - depth % 4, depth):
                    for r in range(count):
                        sums[r] += W[j, first + k] * part[k, r]


@kernel
def _add_product(X: Any, w: Any, scores: Any) -> None:
    """Add X w to the scores, eight rows abreast: each sum waits for its last term."""
    n, d = X.shape
    for i in range(0, n - 7, 8):
        s0, s1, s2, s3 = scores[i], scores[i + 1], scores[i + 2], scores[i + 3]
        s4, s5, s6, s7 = scores[i + 4], scores[i + 5], scores[i + 6], scores[i + 7]
        for k in range(d):
            s0, s1 = s0 + w[k] * X[i, k], s1 + w[k] * X[i + 1, k]
            s2, s3 = s2 + w[k] * X[i + 2, k], s3 + w[k] * X[i + 3, k]
            s4, s5 = s4 + w[k] * X[i + 4, k], s5 + w[k] * X[i + 5, k]
            s6, s7 = s6 + w[k] * X[i + 6, k], s7 + w[k] * X[i + 7, k]
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = s0, s1, s2, s3
        scores[i + 4], scores[i + 5], scores[i + 6], scores[i + 7] = s4, s5, s6, s7
    for i in range(n - n % 8, n):
        for k in range(d):
            scores[i] += w[k] * X[i, k]


class Scorer:
    """Measures of models on the test rows, of one run or of many.

    Weights of linear methods are collected and scored together, one matrix product for many models; models of
    other methods are scored at once. `X` (n, d) are the test rows, `y` (n,) their labels; `measures` are
    computed beside the AUC.
    """

    def __init__(self, X: Any, y: NDArray[np.int8], measures: Sequence[Measure] = ()):
        self._X, self._y, self._measures = X, y, (AUC(), *measures)
        self._waiting: list[NDArray[np.float64]] = []  # the weights of the models from len(_values) on
        self._values: list[NDArray[np.float64]] = []  # values of each model, the AUC first
        self._last = np.full(1, np.nan)  # (n,) scores of the latest model

    def add(self, algorithm: Any, state: Any) -> tuple[int, NDArray[np.float64] | None]:
        """Register a snapshot of the model; return its number, and its weights if it is linear.

        Raises a `PluginError` unless there is one score per test row.
        """
        if MethodFacts(algorithm).weights is None:
            scores = algorithm.score(state, self._X)
            if wrong := wrong_scores(scores, len(self._y)):
                raise PluginError(f"{algorithm.name}: `score` of {len(self._y)} rows {wrong}")
            return self.add_scores(np.asarray(scores, np.float64)), None
        weights = np.array(algorithm.weights(state), np.float64)
        return self.add_weights(weights), weights

    def add_weights(self, weights: NDArray[np.float64]) -> int:
        """Register the weights (d,) of a linear model, which must not change later; return its number."""
        self._waiting.append(weights)
        number = len(self._values) + len(self._waiting) - 1
        if len(self._waiting) * weights.nbytes >= WEIGHT_BYTES:
            self._flush()
        return number

    def add_scores(self, scores: NDArray[np.float64]) -> int:
        """Register a model by its decision values (n,); return its number."""
        self._flush()
        self._measure(scores[None])
        return len(self._values) - 1

    def values(self, number: int) -> NDArray[np.float64]:
        """The AUC and other measures of a registered model, (1 + m,); NaN if any score is NaN."""
        if number >= len(self._values):
            self._flush()
        return self._values[number]

    def scores(self) -> NDArray[np.float64]:
        """(n,) decision values of the latest model."""
        self._flush()
        return self._last

    def _flush(self) -> None:
        width = max(1, SCORE_ELEMENTS // max(1, len(self._y)))
        for start in range(0, len(self._waiting), width):
            W = np.stack(self._waiting[start : start + width])
            self._measure(linear_scores(W, self._X))
        self._waiting.clear()

    def _measure(self, scores: NDArray[np.float64]) -> None:
        values = np.full((len(scores), len(self._measures)), np.nan)
        is_valid = ~np.isnan(scores).any(axis=1)
        if is_valid.any():
            valid_scores = (scores if is_valid.all() else scores[is_valid]).T
            values[is_valid] = measure_columns(valid_scores, self._y, self._measures)
        self._last = scores[-1].copy()
        self._values.extend(values)
