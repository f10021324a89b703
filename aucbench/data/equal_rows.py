"""Groups of equal rows, and the number of test rows that equal a training row.

Rows are equal if all features are, as read and before scaling; labels do not count. -0.0 equals 0.0, a stored
zero of a sparse row one that is not stored, and NaN equals NaN.
"""

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from aucbench.data.splits.protocols import Side

_known: dict[int, NDArray[np.int64]] = {}  # numbers of the rows of matrices that are still in use, by id


class Repeats(NamedTuple):
    """Shares of the rows of a split that occur more than once."""

    duplicates: float  # of the test rows: those that equal a training row
    mixed_labels: float  # of the training and test rows: those whose equal rows have both labels


def equal_rows(X: Any) -> NDArray[np.int64]:
    """A number for each row of a matrix: rows are equal if and only if their numbers are.

    The numbers are hashes of 64 bits, so that they can be compared between matrices, dense or CSR; different
    rows share one with probability 2^-64 a pair. A matrix is read once, as long as it is in use.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
        Finite or infinite numbers, or NaN; it must not be changed afterwards.

    Returns
    -------
    (n,) int64 array
    """
    if id(X) not in _known:
        from aucbench.data import _equal_rows_kernels as kernels

        numbers = np.zeros(X.shape[0], np.uint64)
        if sparse.issparse(X):
            kernels.hash_sparse(X.indptr, X.indices, _bits(X.data), numbers)
        else:
            kernels.hash_dense(_bits(X), numbers)
        _known[id(X)] = numbers.view(np.int64)
        weakref.finalize(X, _known.pop, id(X), None)
    return _known[id(X)]


def repeats(train: "Side", test: "Side") -> Repeats:
    """The shares of repeated rows on the two sides of a split."""
    numbers = np.concatenate([_numbers(train), _numbers(test)])
    positive = np.concatenate([train.y, test.y]) == 1
    _, group = np.unique(numbers, return_inverse=True)
    rows, positives, trained = (
        np.bincount(each, minlength=len(group)) for each in (group, group[positive], group[: len(train.y)])
    )
    mixed = (positives > 0) & (positives < rows)
    duplicates, contradicted = trained[group[len(train.y) :]] > 0, mixed[group]
    return Repeats(float(duplicates.mean()), float(contradicted.mean()))


def blocks_of(side: "Side") -> NDArray[np.uint8]:
    """The block of each row of a side, 0 to 31, drawn by the bits of its number: equal rows share a block."""
    return (_numbers(side).view(np.uint64) >> np.uint64(59)).astype(np.uint8)


def _numbers(side: "Side") -> NDArray[np.int64]:
    numbers = equal_rows(side.X)
    return numbers if side.rows is None else numbers[side.rows]


def _bits(values: Any) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values, np.float64).view(np.uint64)
