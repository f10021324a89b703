"""Groups of equal rows, and the number of test rows that equal a training row.

Rows are equal if all features are equal, as read and before scaling; labels do not count. -0.0 equals 0.0, a
stored zero of a sparse row equals an implicit zero, and NaN equals NaN.
"""

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.data import memory

if TYPE_CHECKING:
    from aucbench.data.splits.protocols import Side

KINDS = np.uint64(3)  # bits of a key: a test row, and a positive label
AT_ONCE = 1 << 20  # sorted keys compared at a time

_known: dict[int, NDArray[np.int64]] = {}  # numbers of the rows of matrices that are still in use, by id


class Repeats(NamedTuple):
    """Shares of the rows of a split that occur more than once."""

    duplicates: float  # share of the test rows that equal a training row
    mixed_labels: float  # share of all rows whose equal rows have both labels


def equal_rows(X: Any) -> NDArray[np.int64]:
    """A number for each row of a matrix: rows are equal if and only if their numbers are equal.

    The numbers are hashes of 64 bits, which can be compared between matrices, dense or CSR; two different
    rows share a number with probability 2^-64. A matrix is read once, as long as it is in use, and must not
    be changed afterwards; it may have infinite numbers and NaN.
    """
    from aucbench.data import _equal_rows_kernels as kernels

    if id(X) not in _known:
        numbers = np.zeros(X.shape[0], np.uint64)
        if sparse.issparse(X):
            kernels.hash_sparse(X.indptr, X.indices, _bits(X.data), numbers)
        else:
            kernels.hash_dense(_bits(X), numbers)
        _known[id(X)] = numbers.view(np.int64)
        weakref.finalize(X, _known.pop, id(X), None)
    return _known[id(X)]


def repeats(train: "Side", test: "Side") -> Repeats:
    """The shares of repeated rows on the two sides of a split, by 62 bits of the numbers of rows."""
    # The lowest bits of a key hold side and label, so that a sort in place brings equal rows together.
    keys, begin = np.empty(len(train.y) + len(test.y), np.uint64), 0
    for is_test, side in enumerate((train, test)):
        for block in memory.blocks(len(side.y), 8):
            signs = np.uint64(2 * is_test) + (side.y[block] == 1).astype(np.uint64)
            numbers = _numbers(side, block).view(np.uint64)
            keys[begin : begin + len(numbers)] = numbers & ~KINDS | signs
            begin += len(numbers)
    keys.sort()
    begin = duplicates = contradicted = 0
    while begin < len(keys):
        last = keys[min(begin + AT_ONCE, len(keys)) - 1] | KINDS
        end = int(np.searchsorted(keys, last, "right"))
        part, kinds = keys[begin:end] & ~KINDS, (keys[begin:end] & KINDS).astype(np.uint8)
        starts = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
        present = np.bitwise_or.reduceat(np.uint8(1) << kinds, starts)
        sizes, tested = np.diff(starts, append=len(part)), np.add.reduceat(kinds >> 1, starts, dtype=np.int64)
        duplicates += int(tested[(present & 0b0011) > 0].sum())
        contradicted += int(sizes[((present & 0b1010) > 0) & ((present & 0b0101) > 0)].sum())
        begin = end
    return Repeats(duplicates / len(test.y), contradicted / len(keys))


def blocks_of(side: "Side") -> NDArray[np.uint8]:
    """The block of each row of a side, 0 to 31, drawn by the bits of its number.

    Equal rows share a block. So do the rows of a group of the protocol, whose numbers are added up.
    """
    from aucbench.data.splits.grouped import joined  # imported here, since the splits import this module

    numbers = _numbers(side).view(np.uint64)
    if side.groups is not None:
        groups = joined(numbers, side.groups)
        pairs = np.unique(np.stack([groups.astype(np.uint64), numbers]), axis=1)
        totals = np.zeros(int(groups.max()) + 1, np.uint64)
        np.add.at(totals, pairs[0].astype(np.int64), pairs[1])
        numbers = totals[groups]
    return (numbers >> np.uint64(59)).astype(np.uint8)


def _numbers(side: "Side", part: slice = slice(None)) -> NDArray[np.int64]:
    numbers = equal_rows(side.X)
    return numbers[part] if side.rows is None else numbers[side.rows[part]]


def _bits(values: Any) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values, np.float64).view(np.uint64)
