"""Buffer for rows of a stream until the next step of the method, as CSR in reused arrays."""

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch

VALUES = 16  # values allocated per row at first
WIDE = 64  # zeros of dense rows are dropped beyond this number of columns


class RowBuffer:
    """At most `capacity` rows, numbered from 0.

    Single rows are written through memory views, ten times faster than through NumPy for a few numbers;
    methods read the same memory.
    """

    def __init__(self, capacity: int):
        self.capacity, self.count = capacity, 0
        self.y = np.zeros(capacity, np.int8)
        self._indptr = np.zeros(capacity + 1, np.int32)
        self._used = 0  # number of stored values
        self._data, self._indices = np.zeros(0), np.zeros(0, np.int32)
        self._make_room(VALUES * capacity)

    def _make_room(self, size: int) -> None:
        used, data, indices = self._used, np.zeros(size), np.zeros(size, np.int32)
        data[:used], indices[:used] = self._data[:used], self._indices[:used]
        self._data, self._indices = data, indices
        self._make_views()

    def _make_views(self) -> None:
        arrays: list[Any] = [self._data, self._indices, self._indptr, self.y]  # NumPy's types know no buffers
        self._values, self._columns, self._ends, self._labels = [memoryview(each) for each in arrays]
        self._batch: Batch | None = None

    def __getstate__(self) -> dict[str, Any]:
        views = {"_values", "_columns", "_ends", "_labels", "_batch"}
        return {name: value for name, value in vars(self).items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_views()

    def add(self, columns: "array[int]", values: "array[float]", label: int) -> None:
        """Add a row with ascending columns."""
        begin = self._used
        end = begin + len(columns)
        if end > len(self._values):
            self._make_room(2 * end)
        self._values[begin:end] = values
        self._columns[begin:end] = columns
        self._labels[self.count] = label
        self.count += 1
        self._ends[self.count] = self._used = end

    def extend(self, columns: "array[int]", X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Add dense rows with ascending columns."""
        (n, k), begin, first = X.shape, self._used, self.count
        ends, numbers = begin + k * np.arange(1, n + 1), np.frombuffer(columns, np.int32)
        if k > WIDE:
            stored = X != 0.0
            ends = begin + np.cumsum(stored.sum(axis=1))
            X, numbers = X[stored], np.broadcast_to(numbers, X.shape)[stored]
        end = begin + X.size
        if end > len(self._values):
            self._make_room(2 * end)
        self._data[begin:end].reshape(X.shape)[:] = X
        self._indices[begin:end].reshape(X.shape)[:] = numbers
        self._used, self.count = end, first + n
        self._indptr[first + 1 : first + n + 1] = ends
        self.y[first : first + n] = y

    def clear(self) -> None:
        """Remove all rows."""
        self.count = self._used = 0

    def multiply(self, factor: float, begin: int, end: int) -> None:
        """Multiply the values of rows `begin` to `end`."""
        if factor != 1.0:
            self._data[self._ends[begin] : self._ends[end]] *= factor

    def batch(self, begin: int, end: int, d: int) -> Batch:
        """Rows `begin` to `end` as a batch with d columns, without a copy."""
        if self._batch is None or self._batch.X.shape[1] != d:
            X = sparse.csr_array((self.capacity, d))
            X.indptr, X.indices, X.data = self._indptr, self._indices, self._data
            X.has_canonical_format = True
            self._order = np.arange(self.capacity)
            self._batch = Batch(X, self.y, self._order, Access.stream)
        return self._batch.take(self._order[begin:end])

    def matrix(self, begin: int, d: int) -> sparse.csr_array:
        """A copy of the rows from `begin` on, with d columns."""
        first = self._ends[begin]
        ends, part = self._indptr[begin : self.count + 1] - first, slice(first, self._used)
        parts = self._data[part], self._indices[part], ends
        return sparse.csr_array(parts, (self.count - begin, d), copy=True)
