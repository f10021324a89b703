"""The steps of `cbr` for settings of a grid, on sparse rows.

Rows are CSR of a piece, without zeros. With a full covariance no arithmetic is the same for two settings, but
Sigma = sigma - sum of b g g^T over the last pairs that moved mu, and the sum is taken off sigma in one pass
every 32 pairs, in registers: the lanes are columns of sigma here. For z with few non-zeros, sigma z takes few
rows of sigma, and those of x_i are added once for all pairs of a row.
"""

from typing import NamedTuple

import numpy as np

from aucbench import kernels
from aucbench.kernels import lanes, pairs, rows
from aucbench_algorithms import _cbr_confidence as confidence

PENDING = 32  # most pairs with a pending narrowing
NEAR = 1e-3  # |z|^2 against |x|^2 + |x_j|^2, below which sigma z is computed from z
ONE, TWO, THREE = map(np.uintp, (1, 2, 3))
STEP = 4 * lanes.WIDTH  # columns computed at once


class Pending(NamedTuple):
    """The last pairs that moved mu, which sigma does not know of yet."""

    G: np.ndarray  # (PENDING, w / 8, 8) a g in each row
    columns: np.ndarray  # (w, PENDING / 8, 8) the same, a g in each column
    b: np.ndarray  # (PENDING,)
    factors: np.ndarray  # (1, PENDING / 8, 8) room for numbers of the pairs
    product: np.ndarray  # (1, w / 8, 8) room for sigma x of a row


class Gaussian(NamedTuple):
    """One setting of `cbr`; rows are padded with zeros to whole registers, columns alike."""

    mu: np.ndarray  # (1, w / 8, 8)
    sigma: np.ndarray  # (w, w / 8, 8) both triangles; Sigma = sigma - sum of b g g^T over the pending pairs
    pending: Pending  # none between two pieces


def gaussian(mu: np.ndarray, sigma: np.ndarray) -> Gaussian:
    """The mean (d,) and the covariance (d, d), of which the lower triangle is given, padded."""
    d = len(mu)
    parts = -(-d // STEP) * STEP // lanes.WIDTH
    w, zeros = parts * lanes.WIDTH, lanes.zeros
    pending = Pending(
        zeros(PENDING, parts, 8),
        zeros(w, PENDING // 8, 8),
        np.zeros(PENDING),
        zeros(1, PENDING // 8, 8),
        zeros(1, parts, 8),
    )
    padded = Gaussian(zeros(1, parts, 8), zeros(w, parts, 8), pending)
    padded.mu.ravel()[:d] = mu
    square = padded.sigma.reshape(len(padded.sigma), -1)
    square[:d, :d] = np.tril(sigma)
    square[:d, :d] += np.tril(sigma, -1).T
    return padded


@kernels.kernel
def full(piece, gaussian, C, phi):
    """Consume a piece; z is x_j - x_i here, so that labels have the other sign."""
    X, y, order, slots, members, _, seen = piece
    mu, sigma, pending = gaussian
    size, mean, moved = members.shape[1], mu.ravel(), 0
    all_rows = np.arange(X.indptr.size - 1).reshape(-1, 1)
    Z = pairs.room(X, np.concatenate((all_rows, all_rows), axis=1))
    flat, columns = pending.G.reshape(PENDING, mean.size), pending.columns.reshape(mean.size, PENDING)
    every, one, squares = np.arange(PENDING), np.ones(PENDING), _squares(X)
    for k in range(order.size):
        i = order[k]
        own = 0 if y[i] > 0 else 1
        other, label = 1 - own, 2.0 * own - 1.0
        members[own, slots[k]] = i
        seen[own] += 1
        _start(X, i, sigma, pending)
        for turn in range(max(0, seen[other] - size), seen[other]):
            j, product = members[other, turn % size], flat[moved]
            pairs.subtract(X, j, i, Z)
            near = rows.norm(Z, 0) < NEAR * (squares[i] + squares[j])
            _product(X, j, Z, near, sigma, pending, moved, every)
            v, m = rows.dot(Z, 0, product), label * rows.dot(Z, 0, mean)
            if v <= 0.0 or phi * np.sqrt(v) - m <= 0.0:
                continue
            a, pending.b[moved] = confidence.step(m, v, C, phi)
            one[moved] = a * label
            _add_rows(every, one, moved, moved + 1, pending.G, mu, 0)
            columns[:, moved] = product
            moved += 1
            if moved == PENDING:
                _narrow(sigma, pending, moved)
                _start(X, i, sigma, pending)
                moved = 0
    _narrow(sigma, pending, moved)


@kernels.kernel
def _squares(X):
    found = np.empty(X.indptr.size - 1)
    for j in range(found.size):
        found[j] = rows.norm(X, j)
    return found


@kernels.kernel
def _start(X, i, sigma, pending):
    """Keep - sigma x_i, which all pairs of the row need."""
    product = pending.product.ravel()
    product[:] = 0.0
    _add_rows(X.indices, X.data, X.indptr[i], X.indptr[i + 1], sigma, pending.product, 0)
    for c in range(product.size):
        product[c] = -product[c]


@kernels.kernel
def _product(X, j, Z, near, sigma, pending, moved, every):
    """Set a row of G to Sigma z, from sigma x_i where the two rows are not nearly the same."""
    G, factors, flat = pending.G, pending.factors, pending.factors.ravel()
    if near:
        G[moved] = 0.0
        _add_rows(Z.indices, Z.data, 0, Z.indptr[1], sigma, G, moved)
    else:
        G[moved] = pending.product[0]
        _add_rows(X.indices, X.data, X.indptr[j], X.indptr[j + 1], sigma, G, moved)
    if moved > 0:
        flat[:] = 0.0
        _add_rows(Z.indices, Z.data, 0, Z.indptr[1], pending.columns, factors, 0)
        for q in range(moved):
            flat[q] *= -pending.b[q]
        _add_rows(every, flat, 0, moved, G, G, moved)


@kernels.kernel
def _add_rows(indices, factors, start, stop, M, out, row):
    """Add rows of M, each times its factor, to a row of `out`; four registers of columns at once."""
    M, sums = lanes.array(M), lanes.array(out)[row]
    for part in range(np.uintp(0), np.uintp(sums.size), np.uintp(4)):
        a, b, c, d = sums[part], sums[part + ONE], sums[part + TWO], sums[part + THREE]
        for k in range(np.uintp(start), np.uintp(stop)):
            factor, source = factors[k], M[np.uintp(indices[k])]
            a += factor * source[part]
            b += factor * source[part + ONE]
            c += factor * source[part + TWO]
            d += factor * source[part + THREE]
        sums[part], sums[part + ONE], sums[part + TWO], sums[part + THREE] = a, b, c, d


@kernels.kernel
def _narrow(sigma, pending, moved):
    """Subtract the sum of b g g^T over the first rows of G from both triangles of sigma."""
    w, columns, G = sigma.shape[0], lanes.array(sigma), lanes.array(pending.G)
    factors = pending.columns.reshape(w, PENDING)
    for i in range(w):
        for q in range(moved):
            factors[i, q] *= -pending.b[q]
    for i in range(np.uintp(0), np.uintp(w), np.uintp(4)):
        for part in range(np.uintp(0), i // np.uintp(lanes.WIDTH) + ONE, TWO):
            _narrow_tile(columns, G, factors, moved, i, part)
    square = sigma.reshape(w, w)
    for top in range(0, w, STEP):
        for left in range(0, top + 1, STEP):
            _mirror(square, np.uintp(top), np.uintp(left))


@kernels.kernel
def _mirror(square, top, left):
    """Copy a tile of the lower triangle to the upper one."""
    for i in range(top, top + np.uintp(STEP)):
        for j in range(left, left + np.uintp(STEP)):
            if j < i:
                square[j, i] = square[i, j]


@kernels.kernel
def _narrow_tile(sigma, G, factors, moved, i, p):
    """Four rows and two registers of columns, which stay in registers over all rows of G."""
    j, k, m, r = i + ONE, i + TWO, i + THREE, p + ONE
    a, b, c, d = sigma[i, p], sigma[j, p], sigma[k, p], sigma[m, p]
    e, f, g, h = sigma[i, r], sigma[j, r], sigma[k, r], sigma[m, r]
    for q in range(np.uintp(moved)):
        left, right = G[q, p], G[q, r]
        one, two, three, four = factors[i, q], factors[j, q], factors[k, q], factors[m, q]
        a, b, c, d = a + one * left, b + two * left, c + three * left, d + four * left
        e, f, g, h = e + one * right, f + two * right, g + three * right, h + four * right
    sigma[i, p], sigma[j, p], sigma[k, p], sigma[m, p] = a, b, c, d
    sigma[i, r], sigma[j, r], sigma[k, r], sigma[m, r] = e, f, g, h
