"""Numba kernels of scaling: column moments, and gathering of scaled rows."""

import numpy as np
from numba import njit

from aucbench.kernels.rows import prefetch

AHEAD = 16  # prefetch distance in rows, which hides memory latency in random order
_SAFE_LOW, _SAFE_HIGH = 1e-280, 1e280  # range in which a sum of squares keeps all digits


@njit(cache=True, nogil=True, error_model="numpy")
def dense_moments(X, rows, weights, low, width, mean, squares):
    """Mean and summed squared deviations (d,) of (x - low) / width over rows of X; 0 where width is 0."""
    total = 0.0
    for i in rows:
        row, weight = X[i], weights[i]
        total += weight
        for j in range(len(low)):
            if width[j] > 0.0:
                value = (row[j] - low[j]) / width[j]
                delta = value - mean[j]
                mean[j] += weight * delta / total
                squares[j] += weight * delta * (value - mean[j])


@njit(cache=True, nogil=True, error_model="numpy")
def sparse_moments(indptr, indices, data, rows, weights, low, width, filled, mean, squares):
    """`dense_moments` over the values of CSR rows other than 0; `filled` (d,) sums their weights."""
    for i in rows:
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if width[j] > 0.0 and data[k] != 0.0:
                filled[j] += weights[i]
                value = (data[k] - low[j]) / width[j]
                delta = value - mean[j]
                mean[j] += weights[i] * delta / filled[j]
                squares[j] += weights[i] * delta * (value - mean[j])


@njit(cache=True, nogil=True, error_model="numpy")
def row_norm(row):
    """The l2 norm of a row, without overflow or underflow."""
    total = 0.0
    for value in row:
        total += value * value
    if _SAFE_LOW < total < _SAFE_HIGH:
        return float(np.sqrt(total))
    largest = 0.0
    for value in row:
        largest = max(largest, abs(value))
    if largest == 0.0:
        return 0.0
    total = 0.0
    for value in row:
        total += (value / largest) * (value / largest)
    return float(largest * np.sqrt(total))


@njit(cache=True, nogil=True, error_model="numpy")
def _centre(row):
    """Subtract the row's mean; a constant row becomes exactly zero."""
    low = high = row[0]
    total = 0.0
    for value in row:
        total += value
        low = min(low, value)
        high = max(high, value)
    mean = low if low == high else total / len(row)
    for j in range(len(row)):
        row[j] -= mean


@njit(cache=True, nogil=True, error_model="numpy")
def gather_dense(X, rows, offset, divisor, stretched, centred, unit, out):
    """Write row rows[i] of X, scaled by column and then by row, to row i of `out` (k, d).

    An empty `divisor` skips the column scaling; `stretched` maps [0, 1] to [-1, 1].
    """
    d = X.shape[1]
    row = np.empty(d)
    for i in range(len(rows)):
        if i + AHEAD < len(rows):
            prefetch(X, rows[i + AHEAD])
        source = X[rows[i]]
        if len(divisor) == 0:
            for j in range(d):
                row[j] = source[j]
        elif stretched:
            for j in range(d):
                row[j] = 2.0 * ((source[j] - offset[j]) / divisor[j]) - 1.0 if divisor[j] > 0.0 else 0.0
        else:
            for j in range(d):
                row[j] = (source[j] - offset[j]) / divisor[j] if divisor[j] > 0.0 else 0.0
        if centred:
            _centre(row)
        if unit:
            norm = row_norm(row)
            if norm > 0.0:
                for j in range(d):
                    row[j] /= norm
        target = out[i]
        for j in range(d):
            target[j] = row[j]


@njit(cache=True, nogil=True, error_model="numpy")
def scale_sparse(indptr, indices, data, divisor, unit, out):
    """Write the scaled stored values of CSR rows to `out` (nnz,)."""
    for i in range(len(indptr) - 1):
        begin, end = indptr[i], indptr[i + 1]
        row = np.empty(end - begin)
        for k in range(begin, end):
            row[k - begin] = data[k] / divisor[indices[k]] if len(divisor) else data[k]
        norm = row_norm(row) if unit else 1.0
        for k in range(begin, end):
            out[k] = row[k - begin] / norm if norm > 0.0 else row[k - begin]
