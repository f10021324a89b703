"""The difference z = x_i - x_j of two rows, made once and then used as a row, dense or CSR.

To be called inside compiled code: ``Z = pairs.room(X, order)`` before the loop, in it
``pairs.subtract(X, i, j, Z)``, and then `rows` on row 0 of Z. CSR rows are merged by their ascending
columns, so that entries the two rows share are subtracted exactly.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from aucbench.contracts import CsrRows
from aucbench.kernels.rows import CSR, DENSE, ONE, ONLY_COMPILED, extent, is_csr, is_dense
from aucbench.kernels.rows import prefetch as prefetch_row


def room(X: Any, order: Any) -> Any:
    """Room for the difference of any of the pairs (k, 2) of rows: one float64 row of the form of X."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.room"))


def subtract(X: Any, i: int, j: int, Z: Any) -> None:
    """Make row 0 of Z the difference x_i - x_j."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.subtract"))


def prefetch(X: Any, i: int, j: int) -> None:
    """Ask for both rows ahead of their use."""
    raise NotImplementedError(ONLY_COMPILED.format("pairs.prefetch"))


@overload(room, jit_options=DENSE)
def _room_dense(X, order):
    if not is_dense(X):
        return None

    def implementation(X, order):
        return np.empty((1, X.shape[1]))

    return implementation


@overload(room, jit_options=CSR)
def _room_csr(X, order):
    if not is_csr(X):
        return None

    def implementation(X, order):
        longest = 0
        for k in range(order.shape[0]):
            length = 0
            for i in order[k]:
                length += X.indptr[i + 1] - X.indptr[i]
            longest = max(longest, length)
        return CsrRows(np.zeros(2, np.int64), np.empty(longest, np.uint32), np.empty(longest))

    return implementation


@overload(subtract, jit_options=DENSE)
def _subtract_dense(X, i, j, Z):
    if not is_dense(X):
        return None

    def implementation(X, i, j, Z):
        for k in range(X.shape[1]):
            Z[0, k] = np.float64(X[i, k]) - X[j, k]

    return implementation


@overload(subtract, jit_options=CSR)
def _subtract_csr(X, i, j, Z):
    if not is_csr(X):
        return None

    def implementation(X, i, j, Z):
        indices, data = X.indices, X.data
        columns, values = Z.indices, Z.data
        p, p_stop = extent(X, i)
        q, q_stop = extent(X, j)
        count = p - p
        while p < p_stop and q < q_stop:  # without branches inside: they would be guessed wrongly
            left, right = indices[p], indices[q]
            take_left, take_right = left <= right, right <= left
            columns[count] = min(left, right)
            values[count] = np.float64(data[p]) * take_left - np.float64(data[q]) * take_right
            count += ONE
            p += np.uintp(take_left)
            q += np.uintp(take_right)
        for k in range(p, p_stop):
            columns[count] = indices[k]
            values[count] = data[k]
            count += ONE
        for k in range(q, q_stop):
            columns[count] = indices[k]
            values[count] = -data[k]
            count += ONE
        Z.indptr[1] = count

    return implementation


@overload(prefetch, jit_options=CSR)
def _prefetch(X, i, j):
    def implementation(X, i, j):
        prefetch_row(X, i)
        prefetch_row(X, j)

    return implementation
