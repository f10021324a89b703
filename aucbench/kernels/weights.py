"""Weights of a linear method, stored plainly or so that a step costs the non-zeros of its row.

In the lazy layout w = scale u, and the sum of the averaged w is W = weight u - v. Shrinking w changes the
scale only; a step along a row x adds a x / scale to u and weight a x / scale to v (`rows.axpy2`); w enters
the sum by weight += scale. u grows as 1 / scale, and with it the cancellation in W, so u and v are folded
when the scale has left the range from `SMALLEST_SCALE` to `LARGEST_SCALE`.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Matrix
from aucbench.kernels import lanes
from aucbench.kernels.jit import fast_kernel, kernel, scalar

SMALLEST_SCALE, LARGEST_SCALE = 1e-3, 1e3
ROUNDING = 1e-13  # a difference below this share of its term is rounding
SMALLEST_SCALE_ALONE = 1e-60  # smallest scale while nothing is averaged: a larger scale loses no digits


class Layout(StrEnum):
    """The weights that a step changes: all d (`eager`), or those at the non-zeros of its row (`lazy`)."""

    eager = "eager"
    lazy = "lazy"


def layout(X: Matrix, ratio: float = 16.0) -> Layout:
    """The faster layout for the rows of X.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        The training rows.
    ratio : float
        Cost of a lazy step per non-zero, relative to the cost of an eager step per weight: the lazy layout
        pays if d exceeds `ratio` times the mean number of non-zeros of a row.

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

    In the lazy layout their entries alternate in memory, so a column costs one cache line, not two.

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


@scalar
def into_ball(size, radius):
    """The factor that projects w on |w| <= radius, given |w|^2, and |w|^2 after the projection."""
    if not size <= radius * radius:
        # Do not scale an infinite |w| to zero: it would look like a finite model.
        return (radius / np.sqrt(size) if size < np.inf else np.nan), radius * radius
    return 1.0, size


@scalar
def is_out_of_range(scale, weight):
    """Whether u must be folded (see `fold`): later without a sum, which would lose digits.

    A scale of NaN is never folded.
    """
    smallest = SMALLEST_SCALE_ALONE if weight == 0.0 else SMALLEST_SCALE
    return (abs(scale) < smallest) | (abs(scale) > LARGEST_SCALE)


@scalar
def _less(a, b):
    """a - b, or 0 if only rounding is left of a.

    An entry of w that was zero at all averaged points leaves weight u - v = 0, and the scores of rows without
    other entries tie; the signs of what rounding leaves would order them.
    """
    difference = a - b
    return lanes.where_less(abs(difference), ROUNDING * abs(a), 0.0, difference)


@fast_kernel
def fold(u, scale, v, weight):
    """Turn w = scale u and W = weight u - v into w = u and W = -v, in one pass.

    A shrinking vector kept as scale u must be folded now and then: u grows as 1 / scale, and with it the
    cancellation in W.
    """
    for j in range(u.size):
        v[j] = -_less(weight * u[j], v[j])
        u[j] *= scale


@kernel
def mean(u, v, weight, count):
    """The mean (weight u - v) / count as a new vector, in one pass."""
    out = np.empty(u.size)
    for j in range(u.size):
        out[j] = _less(weight * u[j], v[j]) / count
    return out


@fast_kernel
def average(u, v, weight, count):
    """Set u to the mean (weight u - v) / count."""
    for j in range(u.size):
        u[j] = _less(weight * u[j], v[j]) / count
