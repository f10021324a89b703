"""The difference z = x_i - x_j of two rows, computed once and used as a row, dense or CSR.

Call in compiled code: ``Z = pairs.room(X, order)`` before the loop, ``pairs.subtract(X, i, j, Z)`` in the
loop, then functions of `rows` on row 0 of Z. CSR rows are merged by their ascending columns, so shared
entries are subtracted exactly. `pairs.difference` takes rows of two matrices and fills any row of Z.
"""

from typing import Any

import numpy as np

from aucbench.contracts import CsrRows
from aucbench.kernels.jit import scalar
from aucbench.kernels.rows import AHEAD, ONE, extent, for_csr_rows, for_dense_rows
from aucbench.kernels.rows import prefetch as prefetch_row


@for_dense_rows
def room(X: Any, order: Any) -> Any:
    """Room for the difference of any of the pairs `order` (k, 2): a float64 row, two if rows are dense."""
    return np.empty((2, X.shape[1]))


@for_csr_rows(room)
def _room_csr(X, order):
    longest = 0
    for k in range(order.shape[0]):
        length = 0
        for i in order[k]:
            length += X.indptr[i + 1] - X.indptr[i]
        longest = max(longest, length)
    return CsrRows(np.zeros(2, np.int64), np.empty(longest, np.uint32), np.empty(longest))


@for_dense_rows
def difference(X: Any, i: int, Y: Any, j: int, Z: Any, row: int) -> None:
    """Set a row of Z to the difference x_i - y_j of rows of two matrices; CSR rows are filled in order."""
    for k in range(X.shape[1]):
        Z[row, k] = np.float64(X[i, k]) - Y[j, k]


@for_csr_rows(difference)
def _difference_csr(X, i, Y, j, Z, row):
    columns, values = Z.indices, Z.data
    count = np.uintp(Z.indptr[row])
    p, p_stop = extent(X, i)
    q, q_stop = extent(Y, j)
    while p < p_stop and q < q_stop:  # without branches, which would be mispredicted
        left, right = X.indices[p], Y.indices[q]
        take_left, take_right = left <= right, right <= left
        columns[count] = min(left, right)
        values[count] = np.float64(X.data[p]) * take_left - np.float64(Y.data[q]) * take_right
        count += ONE
        p += np.uintp(take_left)
        q += np.uintp(take_right)
    for k in range(p, p_stop):
        columns[count] = X.indices[k]
        values[count] = X.data[k]
        count += ONE
    for k in range(q, q_stop):
        columns[count] = Y.indices[k]
        values[count] = -Y.data[k]
        count += ONE
    Z.indptr[row + 1] = count


@scalar
def subtract(X, i, j, Z, row=0):
    """Set a row of Z to the difference x_i - x_j."""
    difference(X, i, X, j, Z, row)


@scalar
def prefetch(X, i, j):
    """Prefetch both rows."""
    prefetch_row(X, i)
    prefetch_row(X, j)


@scalar
def visit(X, order, k):
    """The pair ``order[k]``; prefetches the rows that a loop over the order will visit a few pairs later."""
    if k + AHEAD < order.shape[0]:
        prefetch(X, order[k + AHEAD, 0], order[k + AHEAD, 1])
    return order[k, 0], order[k, 1]
