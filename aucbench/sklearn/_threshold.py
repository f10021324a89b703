"""From scores to classes: the threshold between the classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.errors import ParameterError

KEPT_ROWS = 1_000  # largest number of kept rows per class
KEPT_BYTES = 1 << 25  # largest memory of the kept rows per class


def best_threshold(
    name: str, scores: NDArray[np.float64], y: NDArray[np.int8], weights: NDArray[np.float64] | None = None
) -> float:
    """The threshold with the largest balanced accuracy; rows above it are classified as positive.

    The threshold lies midway between two neighbouring scores, the lowest pair in case of ties, or at the
    largest score if no threshold is better than chance. Raises ParameterError if a score is not finite.
    """
    if not np.all(np.isfinite(scores)):
        raise ParameterError(f"{name}: scores of training rows are NaN or infinite: it diverges.")
    ranked = np.argsort(scores, kind="stable")
    scores, positive = scores[ranked], y[ranked] > 0
    # share of the negatives at or below each row, minus the share of the positives
    counted = np.ones(len(y)) if weights is None else weights[ranked]
    of_neg, of_pos = np.cumsum(counted * ~positive), np.cumsum(counted * positive)
    gain = of_neg / of_neg[-1] - of_pos / of_pos[-1]
    cuts = np.flatnonzero(scores[1:] > scores[:-1])
    best = cuts[np.argmax(gain[cuts])] if len(cuts) else -1
    if best < 0 or gain[best] <= 0.0:
        return float(scores[-1])
    low, high = float(scores[best]), float(scores[best + 1])
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


class LatestRows:
    """The latest rows of each class, which give the threshold of a training in parts."""

    def __init__(self) -> None:
        self._kept: dict[int, Any] = {}  # rows per label

    def add(self, X: Any, y: NDArray[np.int8]) -> None:
        """Add rows."""
        size = X.nnz if sparse.issparse(X) else X.size
        room = max(2, min(KEPT_ROWS, KEPT_BYTES // max(1, X.dtype.itemsize * size // len(y))))
        for label in np.unique(y).tolist():
            rows = X[y == label]
            if label in self._kept:
                parts = [self._kept[label], rows]
                rows = sparse.vstack(parts, "csr") if sparse.issparse(X) else np.vstack(parts)
            self._kept[label] = rows[-room:].copy()

    @property
    def complete(self) -> bool:
        """Whether there are rows of both classes."""
        return len(self._kept) == 2

    def threshold(self, name: str, model: Any) -> float:
        """The best threshold for these rows, scored by `model`."""
        y = np.repeat(np.array([*self._kept], np.int8), [rows.shape[0] for rows in self._kept.values()])
        return best_threshold(name, np.concatenate([*map(model.scores, self._kept.values())]), y)
