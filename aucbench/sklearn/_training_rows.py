"""Preparation of training rows for the estimator: classes, groups and sample weights."""

from typing import Any

import numpy as np
import pandas
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight

from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
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
    values, n = np.asarray(groups), len(y)
    if values.shape != (n,):
        raise DataError(f"groups must have shape ({n},), one group per row, got {values.shape}.")
    numbers, _ = pandas.factorize(values)
    if (numbers < 0).any():
        raise DataError(f"The group of row {np.argmin(numbers)} is missing.")
    return np.asarray(numbers, np.int64)


def weighted_rows(
    X: Any, y: Any, weights: Any, algorithm: Any, groups: Any = None
) -> tuple[Any, Any, Any, NDArray[np.float64] | None]:
    """Rows, labels, groups and weights without rows of weight zero; without weights, all rows and None.

    For a method that does not declare `weighted`, whole weights, such as the weights of scikit-learn's
    bagging, become copies of the rows; other weights raise ParameterError.
    """
    if weights is None:
        return X, y, groups, None
    n, row_weights = len(y), _check_sample_weight(weights, X, dtype=np.float64, ensure_non_negative=True)
    if MethodFacts(algorithm).weighted:
        mask = slice(None) if row_weights.all() else row_weights > 0.0
        return X[mask], y[mask], None if groups is None else groups[mask], row_weights[mask]
    if row_weights.sum() > MOST_COPIES * n or not np.array_equal(row_weights, np.rint(row_weights)):
        methods = catalog().plugins[Family.algorithms].values()
        names = ", ".join(method.name for method in methods if MethodFacts(method.cls).weighted)
        raise ParameterError(
            f"{algorithm.name} takes only whole numbers as sample_weight, as copies of rows, with a mean of "
            f"at most {MOST_COPIES}; these methods take any weights: {names}."
        )
    copies = np.repeat(np.arange(n), row_weights.astype(np.int64))
    return X[copies], y[copies], None if groups is None else groups[copies], None
