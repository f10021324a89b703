"""Rows of a stream: the columns of their named features, and a buffer for rows until the next step."""

import warnings
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch

LAYOUTS = 64  # cached combinations of names
VALUES = 16  # values allocated per row at first


@lru_cache(1 << 16, typed=True)
def hashed_column(name: Any, count: int) -> int:
    """The column of a name, the same in each process."""
    text = name if isinstance(name, str) else repr(name)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % count


class RowLayout(NamedTuple):
    """The columns of one combination of names, and how values are arranged into these columns."""

    columns: "array[int]"  # ascending and distinct
    arrange: Callable[[Sequence[Any]], Iterable[Any]] | None  # None if values are in order


class Columns:
    """The columns of features: numbered in order of first appearance until closed, or hashed."""

    def __init__(self, hashed: int | None = None) -> None:
        self.numbers: dict[Any, int] = {}  # column by name, unless names are hashed
        self.layouts: dict[tuple[Any, ...], RowLayout] = {}  # cached, by names
        self._hashed = hashed  # number of columns into which names are hashed
        self._is_closed = self._has_warned = False

    @property
    def count(self) -> int:
        """Number of columns so far."""
        return len(self.numbers) if self._hashed is None else self._hashed

    def known(self, name: Any) -> int | None:
        """The column of a feature; None for a new feature, unless names are hashed."""
        return self.numbers.get(name) if self._hashed is None else hashed_column(name, self._hashed)

    def close(self) -> None:
        """Assign no new columns from now on; a warning names the first new name that is ignored."""
        self._is_closed = True

    def layout(self, names: tuple[Any, ...]) -> RowLayout:
        """The layout of a combination of names; new names get new columns unless they are closed."""
        layout = self.layouts.get(names)
        if layout is None:
            if len(self.layouts) == LAYOUTS:
                self.layouts.clear()
            layout = self.layouts[names] = self._new_layout(names)
        return layout

    def _new_layout(self, names: tuple[Any, ...]) -> RowLayout:
        if self._hashed is None and not self._is_closed:
            for name in names:
                self.numbers.setdefault(name, len(self.numbers))
        indices = [self.known(name) for name in names]
        if None in indices and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"Features that first appear after the warm-up are ignored, such as "
                f"{names[indices.index(None)]!r}; set n_features, so that features are hashed into a fixed "
                f"number of columns, or a longer warmup.",
                stacklevel=2,
            )
        members: dict[int, list[int]] = {}  # positions of the names of each column
        for position, column in enumerate(indices):
            if column is not None:
                members.setdefault(column, []).append(position)
        columns = sorted(members)
        groups = [members[column] for column in columns]
        arrange: Callable[[Sequence[Any]], Iterable[Any]] | None = None
        if len(columns) < len(names):
            arrange = partial(_sums, groups)
        elif columns != indices:
            arrange = itemgetter(*(position for (position,) in groups))
        return RowLayout(array("i", columns), arrange)


def _sums(groups: list[list[int]], values: Sequence[Any]) -> list[Any]:
    """Add the values that share a column."""
    return [sum(values[position] for position in group) for group in groups]


class RowBuffer:
    """At most `capacity` rows, numbered from 0, as CSR in reused arrays.

    Single rows are written through memory views, ten times faster than through NumPy for a few numbers;
    methods read the same memory.
    """

    def __init__(self, capacity: int):
        self.capacity, self.count = capacity, 0
        self.y = np.zeros(capacity, np.int8)
        self._indptr, self._used = np.zeros(capacity + 1, np.int32), 0  # number of stored values
        self._data, self._indices = np.zeros(VALUES * capacity), np.zeros(VALUES * capacity, np.int32)
        self._make_views()

    def _make_views(self) -> None:
        arrays: list[Any] = [self._data, self._indices, self._indptr, self.y]  # NumPy's types know no buffers
        self._values, self._columns, self._ends, self._labels = [memoryview(buffer) for buffer in arrays]
        self._batch: Batch | None = None

    def __getstate__(self) -> dict[str, Any]:
        views = {"_values", "_columns", "_ends", "_labels", "_batch"}
        return {name: value for name, value in vars(self).items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_views()

    def _make_room(self, end: int) -> None:
        if end > len(self._data):
            more = 2 * end - len(self._data)
            self._data, self._indices = np.pad(self._data, (0, more)), np.pad(self._indices, (0, more))
            self._make_views()

    def add(self, columns: "array[int]", values: "array[float]", label: int) -> None:
        """Add a row with ascending columns."""
        begin = self._used
        end = begin + len(columns)
        if end > len(self._values):
            self._make_room(end)
        self._values[begin:end] = values
        self._columns[begin:end] = columns
        self._labels[self.count] = label
        self.count += 1
        self._ends[self.count] = self._used = end

    def extend(self, columns: "array[int]", X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Add dense rows with ascending columns."""
        (n, k), first, begin = X.shape, self.count, self._used
        self.count, self._used = first + n, begin + n * k
        self._make_room(self._used)
        self._data[begin : self._used].reshape(n, k)[:] = X
        self._indices[begin : self._used].reshape(n, k)[:] = columns
        self._indptr[first + 1 : self.count + 1] = begin + k * np.arange(1, n + 1)
        self.y[first : self.count] = y

    def clear(self) -> None:
        """Remove all rows."""
        self.count = self._used = 0

    def batch(self, begin: int, end: int, d: int, factor: float) -> Batch:
        """Rows `begin` to `end`, multiplied in place, as a batch with d columns, without a copy."""
        if factor != 1.0:
            self._data[self._ends[begin] : self._ends[end]] *= factor
        if self._batch is None or self._batch.X.shape[1] != d:
            X = sparse.csr_array((self.capacity, d))
            X.indptr, X.indices, X.data = self._indptr, self._indices, self._data
            X.has_canonical_format = True
            self._order = np.arange(self.capacity)
            self._batch = Batch(X, self.y, self._order, Access.stream)
        return self._batch.take(self._order[begin:end])

    def matrix(self, begin: int, d: int) -> sparse.csr_array:
        """A copy of the rows from `begin` on, with d columns."""
        part, ends = slice(self._ends[begin], self._used), self._indptr[begin : self.count + 1]
        parts = self._data[part], self._indices[part], ends - ends[0]
        return sparse.csr_array(parts, (self.count - begin, d), copy=True)
