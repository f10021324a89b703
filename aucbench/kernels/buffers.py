"""Products of one row with many stored rows: the row is scattered over a vector once.

Call in compiled code: ``buffers.scatter(X, i, x)``, then `products` with every other row, then
``buffers.clear(X, i, x)``, since x must be zero between rows.
"""

from typing import Any

import numpy as np

from aucbench.kernels.rows import ONE, TWO, entry, extent, for_csr_rows, for_dense_rows, for_rows


@for_rows()
def scatter(X: Any, i: int, x: Any) -> None:
    """Set the zero vector x to the row x_i."""
    start, stop = extent(X, i)
    for k in range(start, stop):
        j, value = entry(X, i, k)
        x[j] = value


@for_dense_rows
def clear(X: Any, i: int, x: Any) -> None:
    """Set x to zero after x_i was scattered into it."""
    return  # the next row overwrites x


@for_csr_rows(clear)
def _clear_csr(X, i, x):
    start, stop = extent(X, i)
    for k in range(start, stop):
        x[X.indices[k]] = 0.0


@for_dense_rows
def products(X: Any, j: int, u: Any, x: Any) -> Any:
    """u.x_j and x.x_j in one pass; for sparse rows u and x should alternate in memory."""
    first = second = 0.0
    for k in range(X.shape[1]):
        value = np.float64(X[j, k])
        first += value * u[k]
        second += value * x[k]
    return first, second


@for_csr_rows(products)
def _products_csr(X, j, u, x):
    indices, data = X.indices, X.data
    start, stop = extent(X, j)
    main_stop = stop - ((stop - start) & ONE)
    # two partial sums per product: additions need not wait for each other
    a0 = a1 = b0 = b1 = 0.0
    for k in range(start, main_stop, TWO):
        c0, c1 = indices[k], indices[k + ONE]
        d0, d1 = data[k], data[k + ONE]
        a0 += d0 * u[c0]
        b0 += d0 * x[c0]
        a1 += d1 * u[c1]
        b1 += d1 * x[c1]
    for k in range(main_stop, stop):
        a0 += data[k] * u[indices[k]]
        b0 += data[k] * x[indices[k]]
    return a0 + a1, b0 + b1


@for_dense_rows
def difference(X: Any, i: int, j: int, u: Any) -> Any:
    """u.z, x_i.z and |z|^2 for z = x_i - x_j, subtracted entry by entry: exact if the rows nearly agree."""
    product = x_product = square = 0.0
    for k in range(X.shape[1]):
        left = np.float64(X[i, k])
        z = left - X[j, k]
        product += z * u[k]
        x_product += z * left
        square += z * z
    return product, x_product, square


@for_csr_rows(difference)
def _difference_csr(X, i, j, u):
    product = x_product = square = 0.0
    p, p_stop = extent(X, i)
    q, q_stop = extent(X, j)
    while p < p_stop or q < q_stop:
        left = right = 0.0
        take_left = q == q_stop or (p < p_stop and X.indices[p] <= X.indices[q])
        take_right = p == p_stop or (q < q_stop and X.indices[q] <= X.indices[p])
        column = X.indices[p] if take_left else X.indices[q]
        if take_left:
            left = np.float64(X.data[p])
            p += ONE
        if take_right:
            right = np.float64(X.data[q])
            q += ONE
        z = left - right
        product += z * u[column]
        x_product += z * left
        square += z * z
    return product, x_product, square


@for_dense_rows
def longest(X: Any, order: Any, members: Any) -> int:
    """The row with the most entries among the rows of `order` (k,) and `members` (2, B)."""
    return order[0]


@for_csr_rows(longest)
def _longest_csr(X, order, members):
    row, max_length = order[0], X.indptr[0]
    for rows in (order, members.ravel()):
        for i in rows:
            length = X.indptr[i + 1] - X.indptr[i]
            if length > max_length:
                row, max_length = i, length
    return row
