"""Pairs of each example of a stream with one earlier example of the other class.

The differences z = x+ - x- of a few thousand examples are computed at once and then treated as rows: a method
trains on pairs as on single rows, alone or with many settings in lockstep. The values of examples that wait
for a partner are stored, so training may continue on other data.
"""

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from aucbench import Batch, CsrRows, kernels
from aucbench.kernels import pairs, rows
from aucbench.kernels.rows import CSR, is_dense

ROOM = 2**17  # entries of the differences made at once: one megabyte
MOST = 4096  # most examples at once
LABELS = np.where(np.arange(MOST + 1), 1, -1).astype(np.int8)
Partner = StrEnum("Partner", "previous opposite")


class Seen(NamedTuple):
    """The classes seen so far."""

    last: int  # label of the last example, 0 before the first
    positive: bool
    negative: bool


class Waiting(NamedTuple):
    """The last example of each class: matrices of one row, dense or CSR with room for longer rows."""

    positive: Any
    negative: Any
    seen: Seen


class Pairs(NamedTuple):
    """Examples in the form of a `Batch` of their differences."""

    X: Any  # the data of the examples, for its number of columns
    rows_view: Any  # the differences, dense or CSR; row 0 is zero
    y: np.ndarray  # 1 for a difference, -1 for row 0; may have more entries
    rows: np.ndarray  # (k,) the difference of each example, 0 where it has no partner
    weights: None = None  # pairs have no weights

    def take(self, rows: np.ndarray) -> "Pairs":
        """A copy with other rows."""
        return self._replace(rows=rows)


def nobody() -> Waiting:
    """The state before the first example."""
    return Waiting(_one_row(), _one_row(), Seen(0, False, False))


def pair_up(batch: Batch, start: int, waiting: Waiting, partner: Partner) -> tuple[Any, Waiting]:
    """Pair the examples of a batch from number `start` on with their partners, as many as fit.

    Returns the `Pairs`, in the role of a batch, and the examples that wait after them.
    """
    X, part = batch.rows_view, batch.rows[start : start + MOST]
    positive: Any
    negative: Any
    if isinstance(X, np.ndarray):
        d = X.shape[1]
        Z: Any = np.zeros((1 + min(len(part), max(1, ROOM // d)), d))
        positive, negative = _dense(waiting.positive, d), _dense(waiting.negative, d)
    else:
        longest = int((X.indptr[part + 1] - X.indptr[part]).max())
        positive, negative = _csr(waiting.positive, longest), _csr(waiting.negative, longest)
        longest = max(longest, len(positive.data), len(negative.data))
        size = min(2 * longest * len(part), max(ROOM, 2 * longest))
        Z = CsrRows(np.zeros(len(part) + 2, np.int64), np.empty(size, np.uint32), np.empty(size))
    chosen, opposite = np.empty(len(part), np.int64), partner is Partner.opposite
    count, seen = _pair(X, batch.y, part, positive, negative, waiting.seen, opposite, Z, chosen)
    if count < len(part):
        chosen = chosen[:count]
    return Pairs(batch.X, Z, LABELS, chosen), Waiting(positive, negative, seen)


def _one_row(room: int = 0) -> CsrRows:
    """An empty row, with room for some entries."""
    return CsrRows(np.zeros(2, np.int64), np.empty(room, np.uint32), np.empty(room))


def _dense(row: Any, d: int) -> np.ndarray:
    """A kept row as a dense matrix (1, d)."""
    if isinstance(row, np.ndarray):
        return row
    dense, count = np.zeros((1, d)), row.indptr[1]
    dense[0, row.indices[:count]] = row.data[:count]
    return dense


def _csr(row: Any, room: int) -> CsrRows:
    """A kept row as a CSR matrix with room for some entries."""
    if isinstance(row, CsrRows) and len(row.data) >= room:
        return row
    count = row.shape[1] if isinstance(row, np.ndarray) else int(row.indptr[1])
    longer = _one_row(max(room, count))
    longer.indptr[1] = count
    longer.indices[:count] = np.arange(count) if isinstance(row, np.ndarray) else row.indices[:count]
    longer.data[:count] = row[0] if isinstance(row, np.ndarray) else row.data[:count]
    return longer


def _fits(X: Any, i: int, row: Any, Z: Any, count: int) -> bool:
    """Whether there is room for the difference of row i and a kept row after the first rows of Z."""
    raise NotImplementedError


def _store(X: Any, i: int, row: Any) -> None:
    """Store a copy of row i."""
    raise NotImplementedError


@overload(_fits, jit_options=CSR)
def _fits_either(X, i, row, Z, count):
    if is_dense(X):
        return lambda X, i, row, Z, count: count < Z.shape[0]
    return lambda X, i, row, Z, count: (
        Z.indptr[count] + X.indptr[i + 1] - X.indptr[i] + row.indptr[1] <= Z.data.size
    )


@overload(_store, jit_options=CSR)
def _store_either(X, i, row):
    def dense(X, i, row):
        for j in range(X.shape[1]):
            row[0, j] = X[i, j]

    def csr(X, i, row):
        start, stop = X.indptr[i], X.indptr[i + 1]
        for p in range(start, stop):
            row.indices[p - start] = X.indices[p]
            row.data[p - start] = X.data[p]
        row.indptr[1] = stop - start

    return dense if is_dense(X) else csr


@kernels.kernel
def _pair(X, y, order, positive, negative, seen, opposite, Z, chosen):
    last, any_positive, any_negative = seen
    count = 1  # rows of Z
    for k in range(order.size):
        i = rows.visit(X, order, k)
        if y[i] > 0:
            has_partner = any_negative if opposite else last < 0
            if has_partner:
                if not _fits(X, i, negative, Z, count):
                    return k, Seen(last, any_positive, any_negative)
                pairs.difference(X, i, negative, 0, Z, count)
            _store(X, i, positive)
            last, any_positive = 1, True
        else:
            has_partner = any_positive if opposite else last > 0
            if has_partner:
                if not _fits(X, i, positive, Z, count):
                    return k, Seen(last, any_positive, any_negative)
                pairs.difference(positive, 0, X, i, Z, count)
            _store(X, i, negative)
            last, any_negative = -1, True
        chosen[k] = count if has_partner else 0
        count += has_partner
    return order.size, Seen(last, any_positive, any_negative)
