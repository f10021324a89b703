"""From scores to classes and probabilities: the threshold between the classes, and the calibration."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from aucbench.errors import DataError, ParameterError

ROUNDING = 1e-9  # tolerance of shares of rows
FOLDS = 5  # folds of the cross-validation for calibration
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
    order = np.argsort(scores)
    scores, shares = scores[order], np.ones(len(y)) if weights is None else weights[order]
    positive = y[order] > 0
    # The share of the negatives up to each row minus that of the positives, below the last of equal scores.
    gains = np.cumsum(np.where(positive, -shares / shares[positive].sum(), shares / shares[~positive].sum()))
    gains = np.where(scores[:-1] < scores[1:], gains[:-1], 0.0)
    if not gains.max(initial=0.0) > ROUNDING:
        return float(scores[-1])
    best = int(np.argmax(gains > gains.max() - ROUNDING))
    low, high = map(float, scores[best : best + 2])
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


def calibrator(estimator: Any, X: Any, signs: NDArray[np.int8], seed: int, **of_rows: Any) -> Any:
    """Fit an estimator to all rows, and Platt's sigmoid to its cross-validation scores."""
    groups = of_rows["groups"]
    units = np.arange(len(signs)) if groups is None else groups
    rarer = min(len(np.unique(units[signs == label])) for label in (-1, 1))
    if rarer < 2:
        unit = "row" if groups is None else "group"
        raise DataError(f"calibrate=True needs two {unit}s of each class, got a class with a single {unit}.")
    settings = {"n_splits": min(FOLDS, rarer), "shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        folds: Any = StratifiedKFold(**settings)
    else:
        folds = list(StratifiedGroupKFold(**settings).split(X, signs, groups))
    calibrated = CalibratedClassifierCV(estimator, method="sigmoid", cv=folds, ensemble=False)
    return calibrated.fit(X, signs, **{name: value for name, value in of_rows.items() if value is not None})
