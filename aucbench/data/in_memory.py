"""Checking the arrays that the `load()` of a data-set plugin returns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Matrix
from aucbench.errors import DataError


def checked(name: str, samples: Any) -> tuple[Matrix, NDArray[np.float64]]:
    """Features as C-contiguous float64 rows (CSR stays CSR, columns ascending) and labels as float64.

    Parameters
    ----------
    name : str
        The data set's name, for messages.
    samples : Samples
        What ``load()`` returned; left as it is.

    Raises
    ------
    DataError
        Not numbers, shapes that do not fit, no rows, or values that are NaN or infinite (with their count).
    """
    try:
        features, given = samples
        X = _matrix(features)
        labels = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: load() must return Samples of numbers ({error}).") from None
    if X.ndim != 2 or labels.shape != X.shape[:1] or 0 in X.shape:
        raise DataError(
            f"{name}: load() must return (n, d) features and (n,) labels, got {X.shape} and {labels.shape}."
        )
    stored = X if isinstance(X, np.ndarray) else X.data
    for what, values in (("features", stored), ("labels", labels)):
        bad = values.size - int(np.count_nonzero(np.isfinite(values)))
        if bad:
            raise DataError(f"{name}: {bad} {what} are NaN or infinite, expected finite numbers.")
    return X, labels


def content(X: Matrix) -> list[Any]:
    """The buffers that a hash of X is taken over."""
    return [X] if isinstance(X, np.ndarray) else [X.indptr, X.indices, X.data]


def _matrix(X: Any) -> Matrix:
    if isinstance(X, np.ndarray) or not sparse.issparse(X):
        return np.ascontiguousarray(X, np.float64)
    given: Any = X  # SciPy's types do not follow issparse()
    csr = sparse.csr_matrix(given, dtype=np.float64, copy=True)  # the plugin's own is left alone
    csr.sum_duplicates()
    return csr
