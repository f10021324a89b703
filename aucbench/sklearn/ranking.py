"""What a fitted classifier of two classes says about rows: scores, classes, probabilities, weights."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from aucbench.errors import ParameterError
from aucbench.sklearn.fitted import Fitted

ROWS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}  # as users may give them


class RankingMixin(ClassifierMixin):  # type: ignore[misc]  # scikit-learn ships no types
    """The half of an estimator that follows `fit`."""

    calibrate: bool
    classes_: NDArray[Any]
    _fitted: Fitted
    _calibrator: Any  # of scores; None without calibrate=True

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores that rank rows; positive where `predict` gives the second class.

        Parameters
        ----------
        X : (n_samples, n_features) array, data frame or sparse matrix
            Rows.

        Returns
        -------
        (n_samples,) array
            The higher, the more likely is the second class.
        """
        check_is_fitted(self)
        return self._fitted.scores(validate_data(self, X, reset=False, **ROWS))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Classes, cut where the balanced accuracy of the training rows was best.

        Parameters
        ----------
        X : (n_samples, n_features) array, data frame or sparse matrix
            Rows.

        Returns
        -------
        (n_samples,) array
            Members of `classes_`.
        """
        positive = self.decision_function(X) > 0.0
        return self.classes_[positive.astype(np.intp)]

    def _is_calibrated(self) -> bool:
        return bool(self.calibrate)

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Calibrated probabilities; with ``calibrate=True`` only.

        Parameters
        ----------
        X : (n_samples, n_features) array, data frame or sparse matrix
            Rows.

        Returns
        -------
        (n_samples, 2) array
            Of each class, in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if self._calibrator is None:
            raise ParameterError("There are no probabilities: call fit after setting calibrate=True.")
        return self._calibrator.predict_proba(scores[:, None])

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : (n_samples, n_features) array, data frame or sparse matrix
            Rows.

        Returns
        -------
        (n_samples, 2) array
            Of each class, in the order of `classes_`.
        """
        return np.log(self.predict_proba(X))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """(1, n_features_in_) weights for the features as they came."""
        return self._affine()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """(1,) what is added to the weighted sum."""
        return self._affine()[1]

    @property
    def n_iter_(self) -> int:
        """Iterations so far."""
        check_is_fitted(self)
        return self._fitted.iterations

    def _affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        why = self._why_no_coef()
        if why is not None:
            raise AttributeError(why)
        return self._fitted.affine()

    def _why_no_coef(self) -> str | None:
        check_is_fitted(self)
        return self._fitted.why_no_coef
