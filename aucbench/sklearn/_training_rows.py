"""Preparation of training rows for the estimator: classes, sample weights and preprocessing."""

from typing import Any

import numpy as np
import pandas
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from aucbench.contracts import MethodFacts
from aucbench.contracts.batch import canonical
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.contracts.validation import Family
from aucbench.data.preprocess import Rescaling, check_magnitude
from aucbench.data.scaler import BY_DEVIATION, Scaling, fit_scaling
from aucbench.errors import DataError, ParameterError
from aucbench.registry import catalog

MOST_COPIES = 10  # largest mean of whole weights that are expanded to copies of rows


def two_classes(y: Any) -> NDArray[Any]:
    """The two classes, sorted, the second being positive; raises DataError for another number of classes."""
    classes = np.unique(y)
    if len(classes) > 2:
        raise DataError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}: "
            f"expected two classes, got {len(classes)}; sklearn.multiclass.OneVsRestClassifier takes more."
        )
    if len(classes) < 2:
        raise DataError(f"Expected rows of two classes, got one class only: {shown(classes)}.")
    return classes


def signs_of(y: Any, classes: NDArray[Any]) -> NDArray[np.int8]:
    """(n,) 1 for the second class, -1 for the first; raises DataError for any other label."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise DataError(f"The labels {shown(unknown)} are not among the classes {shown(classes)}.")
    return np.where(y == classes[1], 1, -1).astype(np.int8)


def shown(labels: NDArray[Any]) -> str:
    """Labels as text for messages."""
    return ", ".join(map(repr, labels.tolist()))


def group_numbers(groups: Any, y: Any) -> NDArray[np.int64]:
    """(n,) the group of each row as a number; raises DataError if a row has no group."""
    found, n = np.asarray(groups), len(y)
    if found.shape != (n,):
        raise DataError(f"groups must have shape ({n},), one group per row, got {found.shape}.")
    numbers, _ = pandas.factorize(found)
    if (numbers < 0).any():
        raise DataError(f"The group of row {np.argmin(numbers)} is missing.")
    return np.asarray(numbers, np.int64)


def weighted_rows(
    X: Any, y: Any, weights: Any, algorithm: Any, groups: Any = None
) -> tuple[Any, Any, Any, NDArray[np.float64] | None]:
    """Rows, labels, groups and weights without rows of weight zero; without weights, all rows and None.

    For a method that does not declare `weighted`, whole weights, such as the weights of scikit-learn's
    bagging, become copies of the rows; other weights raise ParameterError. Invalid weights raise DataError.
    """
    if weights is None:
        return X, y, groups, None
    n = len(y)
    try:
        found = np.array(weights, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"sample_weight must be {n} numbers, got {weights!r:.60}.") from None
    if found.shape != (n,):
        raise DataError(f"sample_weight must have shape ({n},), one weight per row, got {found.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0.0)))
    if len(wrong):
        raise DataError(f"sample_weight of row {wrong[0]} is {found[wrong[0]]}: weights are finite and >= 0.")
    if not found.any():
        raise DataError("Every sample_weight is zero: a positive weight on rows of both classes is needed.")
    if MethodFacts(algorithm).weighted:
        kept = slice(None) if found.all() else found > 0.0
        return X[kept], y[kept], None if groups is None else groups[kept], found[kept]
    if found.sum() > MOST_COPIES * n or not np.array_equal(found, np.rint(found)):
        known = catalog().plugins[Family.algorithms].values()
        names = ", ".join(each.name for each in known if MethodFacts(each.cls).weighted)
        raise ParameterError(
            f"{algorithm.name} takes only whole numbers as sample_weight, as copies of rows, with a mean of "
            f"at most {MOST_COPIES}; these methods take any weights: {names}."
        )
    copies = np.repeat(np.arange(n), found.astype(np.int64))
    return X[copies], y[copies], None if groups is None else groups[copies], None


class Representation:
    """Scaling, feature map and rescaling, fitted to training rows like in a run."""

    def __init__(self, scaling: str, features: Any, rescale: bool):
        self._settings = scaling, features, rescale

    def fit_transform(self, X: Any, seed: int, weights: NDArray[np.float64] | None = None) -> Any:
        """Fit all steps to the training rows and return the preprocessed rows.

        Means and deviations are weighted; a feature map ignores the weights.
        """
        X, (scaling, features, rescale) = canonical(X), self._settings
        self._scaler = fit_scaling(scaling, X, weights=weights)
        scaled = self._scaler.apply(X)
        if self._scaler.scaling is Scaling.none:  # every other scaling bounds the values
            check_magnitude(scaled)
        self._map = features.fit(scaled, generator(seed, RandomStream.features))
        Z = self._map.transform(scaled)
        self._is_mapped = Z is not scaled
        self._rescaling = Rescaling.fit(Z, weights) if rescale else None
        return self._rescaled(Z, scaled, X)

    def transform(self, X: Any) -> Any:
        """Preprocess rows."""
        X = canonical(X)
        scaled = self._scaler.apply(X)
        return self._rescaled(self._map.transform(scaled), scaled, X)

    @property
    def row_factor(self) -> float:
        """The factor by which the rows were multiplied; 1 if they were not rescaled."""
        return 1.0 if self._rescaling is None else self._rescaling.factor

    def _rescaled(self, Z: Any, scaled: Any, X: Any) -> Any:
        if self._rescaling is None:
            return Z
        return self._rescaling.apply(Z, in_place=Z is scaled and scaled is not X)

    @property
    def why_not_affine(self) -> str | None:
        """The reason why a linear model is not affine in the raw features; None if it is affine."""
        if self._is_mapped:
            return "the model is linear in the mapped features only"
        if self._scaler.scaling in BY_DEVIATION | {Scaling.none, Scaling.maxabs, Scaling.minmax}:
            return None
        return f"scaling={self._scaler.scaling} divides each row by its own norm"

    def raw(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights and offset that score raw rows as w scores the preprocessed rows; affine steps only."""
        w, constant = (w.copy(), 0.0) if self._rescaling is None else self._rescaling.raw(w)
        scaling, offset, divisor = self._scaler.scaling, self._scaler.offset, self._scaler.divisor
        if scaling is Scaling.none:
            return w, constant
        varies = divisor > 0.0  # a constant column is always scaled to 0
        coef = np.where(varies, w / np.where(varies, divisor, 1.0), 0.0)
        if scaling is Scaling.minmax:
            coef, constant = 2.0 * coef, constant - float(w[varies].sum())
        return coef, constant - float(coef @ offset)
