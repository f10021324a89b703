"""The steps of CBR (see `cbr`) for settings of a grid: diagonal for eight at once, full for one.

Rows are CSR of a piece, without zeros. With a full covariance no arithmetic is the same for two settings, but
Sigma = sigma - sum of b g g^T over the last pairs that moved mu, and the sum is taken off sigma in one pass
every 32 pairs, in registers. For z with few non-zeros, sigma z takes few rows of sigma, and those of x_i are
added once for all pairs of a row.
"""

from typing import NamedTuple

import numpy as np

from aucbench import kernels
from aucbench.kernels import pairs, rows
from aucbench.kernels.rows import THREE, TWO
from aucbench_algorithms import _cbr_confidence as confidence
from aucbench_algorithms import _kept_rows, _lanes

PENDING = 32  # pairs whose narrowing waits
NEAR = 1e-3  # |z|^2 against |x|^2 + |x_j|^2, below which sigma z is computed from z
EIGHT = np.uintp(_lanes.WIDTH)
STEP = 4 * _lanes.WIDTH  # columns that are computed at once


@kernels.kernel
def _room(X):
    every = np.arange(X.indptr.size - 1).reshape(-1, 1)
    return pairs.room(X, np.concatenate((every, every), axis=1))


@kernels.kernel
def diagonal(piece, gaussian, C, phi):
    """Consume a piece; `gaussian` (d, 2, 8) has means and variances, C and phi are (8,)."""
    X, members, seen = piece.rows, piece.members, piece.seen
    Z, size = _room(X), members.shape[1]
    C, phi = _lanes.numbers(C), _lanes.numbers(phi)
    for k in range(piece.y.size):
        i, own = _kept_rows.enter(piece, k)
        other, label = 1 - own, 1.0 - 2.0 * own
        for turn in range(max(0, seen[other] - size), seen[other]):
            pairs.subtract(X, i, members[other, turn % size], Z)
            product, v = _moments(Z, gaussian)
            a, b = _step(product * label, v, C, phi)
            if _lanes.any_moves(a):
                _move(a * label, b, Z, gaussian)


@kernels.kernel
def _step(m, v, C, phi):
    """The step a and the narrowing b, zero in lanes that do not move; NaN goes on, so that it shows in mu."""
    zero, square = _lanes.zero(), phi * phi
    zeta = 1.0 + square
    root = _lanes.root(0.25 * m * m * square * square + v * square * zeta)
    a = (root - m * (1.0 + 0.5 * square)) / (v * zeta)
    a = _lanes.where_less(a, zero, zero, a)
    a = _lanes.where_less(C, a, C, a)
    gap = phi * _lanes.root(v) - m
    a = _lanes.where_less(zero, gap, a, gap - gap)
    a = _lanes.where_less(zero, v, a, v - v)
    width = a * v * phi
    b = a * phi / (0.5 * (_lanes.root(width * width + 4.0 * v) - width) + width)
    return a, _lanes.where_less(zero, v, b, v - v)


@kernels.kernel
def _moments(Z, gaussian):
    """mu.z and the sum of sigma_k z_k^2, for z the row 0 of Z."""
    first, second = _lanes.zero(), _lanes.zero()
    for k in range(Z.indptr[1]):
        z, at = Z.data[k], _lanes.place(gaussian, Z.indices[k], 0)
        first = _lanes.add_product(first, z, _lanes.load(gaussian, at))
        second = _lanes.add_product(second, z * z, _lanes.load(gaussian, at + np.uintp(_lanes.WIDTH)))
    return first, second


@kernels.kernel
def _move(a, b, Z, gaussian):
    """With g_k = sigma_k z_k add a g to mu and subtract b g_k^2 from sigma_k, for z the row 0 of Z."""
    for k in range(Z.indptr[1]):
        at = _lanes.place(gaussian, Z.indices[k], 0)
        mu = _lanes.load(gaussian, at)
        sigma = _lanes.load(gaussian, at + np.uintp(_lanes.WIDTH))
        g = sigma * Z.data[k]
        _lanes.store(mu + a * g, gaussian, at)
        _lanes.store(sigma - b * g * g, gaussian, at + np.uintp(_lanes.WIDTH))


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
    parts = -(-d // STEP) * STEP // _lanes.WIDTH
    w, zeros = parts * _lanes.WIDTH, _lanes.zeros
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
    X, members, seen = piece.rows, piece.members, piece.seen
    mu, sigma, pending = gaussian
    Z, size, mean, moved = _room(X), members.shape[1], mu.ravel(), 0
    flat, columns = pending.G.reshape(PENDING, mean.size), pending.columns.reshape(mean.size, PENDING)
    every, one, squares = np.arange(PENDING), np.ones(PENDING), _squares(X)
    for k in range(piece.y.size):
        i, own = _kept_rows.enter(piece, k)
        other, label = 1 - own, 2.0 * own - 1.0
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
    for part in range(0, M.shape[1], 4):
        at = _lanes.place(out, row, part)
        a, b = _lanes.load(out, at), _lanes.load(out, at + EIGHT)
        c, d = _lanes.load(out, at + TWO * EIGHT), _lanes.load(out, at + THREE * EIGHT)
        for k in range(np.uintp(start), np.uintp(stop)):
            factor, source = factors[k], _lanes.place(M, indices[k], part)
            a = _lanes.add_product(a, factor, _lanes.load(M, source))
            b = _lanes.add_product(b, factor, _lanes.load(M, source + EIGHT))
            c = _lanes.add_product(c, factor, _lanes.load(M, source + TWO * EIGHT))
            d = _lanes.add_product(d, factor, _lanes.load(M, source + THREE * EIGHT))
        _lanes.store(a, out, at)
        _lanes.store(b, out, at + EIGHT)
        _lanes.store(c, out, at + TWO * EIGHT)
        _lanes.store(d, out, at + THREE * EIGHT)


@kernels.kernel
def _narrow(sigma, pending, moved):
    """Subtract the sum of b g g^T over the first rows of G from both triangles of sigma."""
    w = sigma.shape[0]
    factors = pending.columns.reshape(w, PENDING)
    for i in range(w):
        for q in range(moved):
            factors[i, q] *= -pending.b[q]
    for i in range(0, w, 4):
        for part in range(0, i // _lanes.WIDTH + 1, 2):
            _narrow_tile(sigma, pending.G, factors, moved, i, part)
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
def _narrow_tile(sigma, G, factors, moved, i, part):
    """Four rows and two registers of columns, which stay in registers over all rows of G."""
    p0, p1 = _lanes.place(sigma, i, part), _lanes.place(sigma, i + 1, part)
    p2, p3 = _lanes.place(sigma, i + 2, part), _lanes.place(sigma, i + 3, part)
    a0, b0 = _lanes.load(sigma, p0), _lanes.load(sigma, p0 + EIGHT)
    a1, b1 = _lanes.load(sigma, p1), _lanes.load(sigma, p1 + EIGHT)
    a2, b2 = _lanes.load(sigma, p2), _lanes.load(sigma, p2 + EIGHT)
    a3, b3 = _lanes.load(sigma, p3), _lanes.load(sigma, p3 + EIGHT)
    for q in range(moved):
        at = _lanes.place(G, q, part)
        g, h = _lanes.load(G, at), _lanes.load(G, at + EIGHT)
        f0, f1, f2, f3 = factors[i, q], factors[i + 1, q], factors[i + 2, q], factors[i + 3, q]
        a0, b0 = _lanes.add_product(a0, f0, g), _lanes.add_product(b0, f0, h)
        a1, b1 = _lanes.add_product(a1, f1, g), _lanes.add_product(b1, f1, h)
        a2, b2 = _lanes.add_product(a2, f2, g), _lanes.add_product(b2, f2, h)
        a3, b3 = _lanes.add_product(a3, f3, g), _lanes.add_product(b3, f3, h)
    _lanes.store(a0, sigma, p0), _lanes.store(b0, sigma, p0 + EIGHT)
    _lanes.store(a1, sigma, p1), _lanes.store(b1, sigma, p1 + EIGHT)
    _lanes.store(a2, sigma, p2), _lanes.store(b2, sigma, p2 + EIGHT)
    _lanes.store(a3, sigma, p3), _lanes.store(b3, sigma, p3 + EIGHT)
