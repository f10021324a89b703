"""The input of one call of `step`: the data, the labels and the row numbers of a chunk."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Matrix = Any  # (n, d) C-contiguous ndarray of float64 or float32, or scipy CSR


class Access(StrEnum):
    """The rows that one iteration of a method consumes, which determine the shape of `Batch.rows`.

    ``stream``: rows (k,), one example per iteration. ``pairs``: rows (k, 2), a positive and a negative, drawn
    uniformly with replacement. ``minibatch``: rows (k, m), m rows drawn without replacement. ``balanced``:
    rows (k, m) with m even, m / 2 positives before m / 2 negatives; each class is visited in a random order,
    reshuffled whenever it is used up. ``full``: rows (k, 0), k passes over all rows.
    """

    stream = "stream"
    pairs = "pairs"
    minibatch = "minibatch"
    balanced = "balanced"
    full = "full"


class CsrRows(NamedTuple):
    """Compressed sparse rows in the form that kernels take; columns ascend within a row."""

    indptr: NDArray[Any]  # (n + 1,) int32 or int64
    indices: NDArray[np.uint32]  # (nnz,)
    data: NDArray[Any]  # (nnz,) float64 or float32


class Batch:
    """A chunk of a run.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        All rows of the data, not only the chunk; the same object throughout a run.
    y : (n,) int8 array
        Labels in {-1, 1}.
    rows : (k,), (k, 2), (k, m) or (k, 0) int64 array
        Row numbers that the chunk consumes, in order; `access` determines the shape.
    access : Access or str, optional
        Inferred from the shape of `rows` by default.
    weights : (n,) float64 array, optional
        Weights > 0 of all rows, for a method that declares `weighted`: a row of weight k counts as k rows.

    Iterating yields one item per iteration: ``(x, label)`` for stream, ``(x_pos, x_neg)`` for pairs,
    ``(X, y)`` for minibatch, balanced and full. Rows of a CSR matrix become new dense vectors.
    """

    __slots__ = ("X", "_view", "access", "rows", "weights", "y")

    def __init__(
        self,
        X: Matrix,
        y: NDArray[np.int8],
        rows: NDArray[np.int64],
        access: Access | str | None = None,
        weights: NDArray[np.float64] | None = None,
    ):
        self.X = canonical(X)
        self.y = y
        self.rows = rows
        self.access = _infer(rows) if access is None else Access(access)
        self.weights = weights
        self._view: Any = None

    def take(self, rows: NDArray[np.int64]) -> "Batch":
        """A batch of other rows of the same data; `rows_view` is shared."""
        batch = object.__new__(Batch)
        batch.X, batch.y, batch.rows, batch.access = self.X, self.y, rows, self.access
        batch.weights = self.weights
        batch._view = self.rows_view
        return batch

    @property
    def rows_view(self) -> Any:
        """`X` in the form that kernels take: a read-only view of the array, or `CsrRows` of such views."""
        if self._view is None:
            self._view = csr_rows(self.X) if sparse.issparse(self.X) else _read_only(self.X)
        return self._view

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        if self.access is Access.full:
            return ((self.X, self.y) for _ in range(len(self.rows)))
        row = self._dense_row if sparse.issparse(self.X) else self.X.__getitem__
        if self.access is Access.stream:
            return ((row(i), int(self.y[i])) for i in self.rows)
        if self.access is Access.pairs:
            return ((row(i), row(j)) for i, j in self.rows)
        return ((self._dense_block(block), self.y[block]) for block in self.rows)

    def sparse(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[Any], int]]:
        """The rows of a `stream` chunk as sparse (indices, values, label).

        Raises
        ------
        TypeError
            When the rows are not CSR, or the access is not stream.
        """
        if self.access is not Access.stream or not sparse.issparse(self.X):
            raise TypeError("Batch.sparse() needs CSR rows and the access 'stream'.")
        indptr, indices, data = self.rows_view
        for i in self.rows:
            part = slice(indptr[i], indptr[i + 1])
            yield indices[part], data[part], int(self.y[i])

    def _dense_row(self, i: int) -> NDArray[Any]:
        indptr, indices, data = self.rows_view
        part = slice(indptr[i], indptr[i + 1])
        dense = np.zeros(self.X.shape[1], data.dtype)
        dense[indices[part]] = data[part]
        return dense

    def _dense_block(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        block: Any = self.X[rows]
        dense: NDArray[Any] = block.toarray() if sparse.issparse(block) else block
        return dense


def csr_rows(X: sparse.csr_matrix | sparse.csr_array) -> CsrRows:
    """The arrays of a CSR matrix, with column numbers viewed as uint32 (copied if they are int64)."""
    indices = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
    return CsrRows(*map(_read_only, (X.indptr, indices, X.data)))


def _read_only(array: Any) -> NDArray[Any]:
    """A read-only view as a plain ndarray, also of a memory map.

    Kernels are compiled for this type alone, and run the same code on rows in memory and on disk: code
    compiled twice may differ in the last bits of its sums. A call with a plain ndarray is also twice as fast.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def canonical(X: Matrix) -> Matrix:
    """Sparse rows with ascending, distinct columns, as kernels merge rows; others are copied and sorted."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _infer(rows: NDArray[np.int64]) -> Access:
    if rows.ndim == 1:
        return Access.stream
    return {0: Access.full, 2: Access.pairs}.get(rows.shape[1], Access.minibatch)
