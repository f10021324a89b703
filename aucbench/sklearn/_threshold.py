"""From scores to classes and probabilities: the threshold between the classes, and the calibration."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.errors import DataError, ParameterError

FOLDS = 5  # folds of the cross-validation for calibration
KEPT_ROWS = 1_000  # largest number of sampled rows per class
KEPT_BYTES = 1 << 25  # largest memory of the sampled rows per class


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


class Sample:
    """A uniform random sample of the rows seen so far, per class.

    Every row gets a random key; the rows with the smallest keys are kept.
    """

    def __init__(self, seed: int):
        self._rng = generator(seed, RandomStream.threshold_sample)
        self._kept: dict[int, tuple[Any, NDArray[np.float64]]] = {}  # rows and keys per label

    def add(self, X: Any, y: NDArray[np.int8]) -> None:
        """Add rows."""
        nonzeros = X.nnz if sparse.issparse(X) else X.size
        row_bytes = max(1, X.dtype.itemsize * nonzeros // len(y))
        room = max(2, min(KEPT_ROWS, KEPT_BYTES // row_bytes))
        for label in (-1, 1):
            rows = np.flatnonzero(y == label)
            keys = self._rng.random(len(rows))
            old, old_keys = self._kept.get(label, (X[:0], np.empty(0)))
            cut = np.sort(np.concatenate([old_keys, keys]))[:room]
            if len(cut) == 0:
                continue
            stays, comes = old_keys <= cut[-1], keys <= cut[-1]
            if np.any(comes):
                parts = [old[stays], X[rows[comes]]]
                joined = sparse.vstack(parts, "csr") if sparse.issparse(X) else np.vstack(parts)
                self._kept[label] = joined, np.concatenate([old_keys[stays], keys[comes]])

    @property
    def complete(self) -> bool:
        """Whether the sample has rows of both classes."""
        return len(self._kept) == 2

    def threshold(self, name: str, model: Any) -> float:
        """The best threshold for the sample, scored by `model`."""
        parts = [
            (model.scores(X), np.full(X.shape[0], label, np.int8)) for label, (X, _) in self._kept.items()
        ]
        scores, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        return best_threshold(name, scores, y)


def calibrator(estimator: Any, X: Any, signs: NDArray[np.int8], seed: int, **of_rows: Any) -> Any:
    """Fit an estimator to all rows, and Platt's sigmoid to its cross-validation scores."""
    groups = of_rows["groups"]
    units = np.arange(len(signs)) if groups is None else groups
    rarer = min(len(np.unique(units[signs == label])) for label in (-1, 1))
    if rarer < 2:
        what = "row" if groups is None else "group"
        raise DataError(f"calibrate=True needs two {what}s of each class, got a class with a single {what}.")
    settings = {"n_splits": min(FOLDS, rarer), "shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        folds: Any = StratifiedKFold(**settings)
    else:
        folds = list(StratifiedGroupKFold(**settings).split(X, signs, groups))
    calibrated = CalibratedClassifierCV(estimator, method="sigmoid", cv=folds, ensemble=False)
    return calibrated.fit(X, signs, **{name: each for name, each in of_rows.items() if each is not None})
