"""Weights of training rows, as `AUCClassifier.fit` takes them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import DataError, ParameterError
from aucbench.registry import catalog

MOST_COPIES = 10  # times the rows, which copies may add up to


def weighted_rows(
    X: Any, y: Any, weights: Any, algorithm: Any
) -> tuple[Any, Any, NDArray[np.float64] | None]:
    """Rows, labels and weights without rows of weight zero; all rows, and None, for None.

    For a method that does not declare `weighted`, whole weights, such as those of scikit-learn's bagging,
    become copies of the rows. A ParameterError where weights are none of these, a DataError where they
    cannot be used.
    """
    if weights is None:
        return X, y, None
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
        return X[kept], y[kept], found[kept]
    if found.sum() > MOST_COPIES * n or not np.array_equal(found, np.rint(found)):
        known = catalog().plugins[Family.algorithms].values()
        names = ", ".join(each.name for each in known if MethodFacts(each.cls).weighted)
        raise ParameterError(
            f"{algorithm.name} takes no sample_weight but whole numbers, as copies of rows, whose mean is at "
            f"most {MOST_COPIES}; methods whose training rows have weights are {names}."
        )
    copies = np.repeat(np.arange(n), found.astype(np.int64))
    return X[copies], y[copies], None
