"""Probabilities from scores: Platt's sigmoid on scores of rows that were not trained on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from aucbench.errors import DataError

FOLDS = 5


class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A classifier of rows that are scores already."""

    def fit(self, X: Any, y: Any) -> "Scores":
        """Nothing to learn."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        """The scores."""
        return X[:, 0]

    def predict(self, X: Any) -> Any:
        """Part of what scikit-learn takes for a classifier; not asked for."""
        return self.classes_[(X[:, 0] > 0.0).astype(np.intp)]


def calibrated(estimator: Any, X: Any, signs: NDArray[np.int8], seed: int) -> CalibratedClassifierCV:
    """A calibrator of (n, 1) scores, fitted on the scores of five-fold cross-validation.

    Parameters
    ----------
    estimator : AUCClassifier
        With calibrate=False; fitted once for each fold.
    X : (n, d) ndarray or scipy CSR
        Training rows.
    signs : (n,) int8 array
        Labels in {-1, 1}.
    seed : int
        Of the folds.

    Raises
    ------
    DataError
        A class has one row only.
    """
    rarer = min(int(np.count_nonzero(signs == label)) for label in (-1, 1))
    if rarer < 2:
        raise DataError("calibrate=True needs two rows of each class, got one class with a single row.")
    folds = StratifiedKFold(min(FOLDS, rarer), shuffle=True, random_state=seed % 2**32)
    scores = cross_val_predict(estimator, X, signs, cv=folds, method="decision_function")[:, None]
    everything = np.arange(len(scores))
    one = CalibratedClassifierCV(
        Scores(), method="sigmoid", cv=[(everything, everything)], ensemble=False
    )  # the scores are held out already
    return one.fit(scores, signs)
