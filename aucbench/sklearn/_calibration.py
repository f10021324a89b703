"""Probabilities from scores: Platt's sigmoid, fitted on the scores of five-fold cross-validation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from aucbench.errors import DataError

FOLDS = 5


def calibrated(estimator: Any, X: Any, signs: NDArray[np.int8], seed: int) -> tuple[Any, Any]:
    """The estimator, fitted to all rows, and a classifier with its probabilities.

    The estimator is also fitted once for each fold. Raises DataError where a class has one row only.
    """
    rarer = min(int(np.count_nonzero(signs == label)) for label in (-1, 1))
    if rarer < 2:
        raise DataError("calibrate=True needs two rows of each class, got one class with a single row.")
    folds = StratifiedKFold(min(FOLDS, rarer), shuffle=True, random_state=seed % 2**32)
    whole = CalibratedClassifierCV(estimator, method="sigmoid", cv=folds, ensemble=False).fit(X, signs)
    return whole.calibrated_classifiers_[0].estimator, whole
