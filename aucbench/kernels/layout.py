"""How a linear method keeps its weights: plainly, or so that one step costs the non-zeros of its row."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Matrix


class Layout(StrEnum):
    """What a step touches: all d weights (`eager`), or those of its row's non-zeros (`lazy`)."""

    eager = "eager"
    lazy = "lazy"


def layout(X: Matrix, ratio: float = 16.0) -> Layout:
    """The faster layout for the rows of X.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        The training rows.
    ratio : float
        Lazy pays when d exceeds this many times the mean number of non-zeros of a row; the cost of a lazy
        step per non-zero against that of an eager one per weight.

    Returns
    -------
    Layout
        `eager` for an ndarray.
    """
    if isinstance(X, np.ndarray):
        return Layout.eager
    nonzeros = X.nnz / max(1, X.shape[0])
    return Layout.lazy if X.shape[1] > ratio * nonzeros else Layout.eager


def two_vectors(X: Matrix) -> NDArray[np.float64]:
    """Two zero vectors (2, d) that are read and written at the columns of the rows of X.

    In the lazy layout their entries alternate in memory, so that a column costs one cache line, not two.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        The training rows.

    Returns
    -------
    ndarray
        (2, d) zeros.
    """
    d = X.shape[1]
    return np.zeros((d, 2)).T if layout(X) is Layout.lazy else np.zeros((2, d))
