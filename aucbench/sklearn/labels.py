"""Two classes of any type, and the signs that methods take in their place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from aucbench.errors import DataError


def two_classes(y: Any) -> NDArray[Any]:
    """The two classes among labels, sorted; the second is the positive one.

    Raises
    ------
    DataError
        There are more, or there is one only.
    """
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
    """(n,) 1 for the second class, -1 for the first.

    Raises
    ------
    DataError
        There are other labels.
    """
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise DataError(f"The labels {shown(unknown)} are not among the classes {shown(classes)}.")
    return np.where(y == classes[1], 1, -1).astype(np.int8)


def shown(labels: NDArray[Any]) -> str:
    """Labels as a sentence shows them."""
    return ", ".join(map(repr, labels.tolist()))
