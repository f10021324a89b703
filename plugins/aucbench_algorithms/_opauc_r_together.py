"""Settings of `opauc_r` in training that share the matrices Z, which do not depend on the weights.

Everything has the settings along its last axis, so that what is done to all of them at an entry of a row is
one operation on neighbours in memory. The products with Z'Z, and the foldings, are matrix products.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from aucbench import Batch, require_memory
from aucbench.kernels import Layout, fast_kernel, kernel, rows
from aucbench.kernels.rows import extent
from aucbench_algorithms import _moments_together as moments
from aucbench_algorithms import _opauc_r_low_rank as low_rank

VECTORS = 3  # (d,) arrays of each setting
FOLDED = 512  # rows of Z whose products with all settings are computed at once


def of_rank(algorithms: Sequence[Any], states: Sequence[Any]) -> moments.MomentsTogether:
    """Settings of one rank, which share Z."""
    tau, count = algorithms[0].tau, len(states)
    require_memory("opauc_r", (2 * (tau + 1) + VECTORS * count, states[0].u.size), "lower tau")
    first = low_rank.allocated(states[0])
    lazy, exact = first.layout is Layout.lazy, algorithms[0].centring == "exact"
    kernel_of_layout = _run_lazy if lazy else _run
    eta, lam = (moments.column(algorithms, field) for field in ("eta", "lam"))

    def run(X: Any, y: np.ndarray, order: np.ndarray, *arrays: np.ndarray) -> None:
        for part, draws in low_rank.drawn(order, tau, first.rng):
            kernel_of_layout(X, y, part, draws, exact, *arrays)

    u, b, products = (np.zeros((*vector.shape, count)) for vector in (first.u, first.b, first.products))
    shared = first.Z, first.sums, first.gram
    if lazy:
        own = [b, products, np.ones(count), u, eta, lam]
        return _LazyTogether(run, shared, own, partial(_lazy_state, first), axis=-1)
    state = partial(_state, first)
    return moments.MomentsTogether(run, shared, [u, eta, lam], state, axis=-1)


def _state(first: Any, w: Any, *parameters: Any) -> Any:
    return first._replace(u=w)


def _lazy_state(first: Any, b: Any, products: Any, scale: Any, u: Any, *parameters: Any) -> Any:
    return first._replace(u=u, b=b, products=products, scale=float(scale))


class _LazyTogether(moments.MomentsTogether):
    """Settings that are folded together before one of them is looked at."""

    _folded = True

    def step(self, batch: Batch) -> None:
        super().step(batch)
        self._folded = False

    def state(self, number: int) -> Any:
        if not self._folded:
            b, products, scale, u, *_ = self._own
            fold(u, scale, self._shared[0], b, products)
            self._folded = True
        return super().state(number)


@kernel
def _run(X, y, order, draws, exact, Z, sums, gram, W, eta, lam):
    (d, settings), size = W.shape, draws.shape[1] + 1
    r, x, s, G = np.empty(size), np.empty(d), np.empty(settings), np.empty((d, settings))
    q, out = np.empty((size, settings)), np.empty((size, settings))
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, own, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        low_rank.take(draws, k, r, sums[own])
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        low_rank.add_outer(x, r, Z[own])
        if sums[other, size - 1] > 0.0:
            np.dot(x, W, s)
            np.dot(Z[other].T, W, q)
            directions(q, s, label, sums[other], eta, exact, out)
            np.dot(Z[other], out, G)
            _move(W, eta, lam, s, x, G)


@kernel
def _run_lazy(X, y, order, draws, exact, Z, sums, gram, b, products, scale, u, eta, lam):
    size, settings = draws.shape[1] + 1, u.shape[1]
    r, zx, ridge = np.empty(size), np.empty((2, size)), 1.0 - eta * lam
    out, images = np.empty((size, settings)), np.empty((size + 2, settings))
    ux, step, A = np.empty(settings), np.empty(settings), np.zeros((size + 2, 2, size))
    forgetful, last = (
        np.flatnonzero(ridge == 0.0),
        -1,
    )  # whose u is zero but for the entries of the last row
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, own, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        square, moves = rows.norm(X, i), sums[other, size - 1] > 0.0
        low_rank.take(draws, k, r, sums[own])
        low_rank.add_row(X, i, own, other, r, square, Z, gram, zx)
        # Z_o'(Z b), x'(Z b), and what keeps Z b as it is though Z has changed
        A[:size, 0], A[:size, 1] = gram[0, other].T, gram[1, other].T
        A[size], A[size + 1, own], A[size + 1, other] = zx, -r, 0.0
        np.dot(A.reshape(size + 2, 2 * size), b.reshape(2 * size, settings), images)
        q, back = images[:size], images[size + 1]
        multiply(X, i, u, ux)
        _follow(products[own], r, ux)
        ux += square * back
        _follow(products[0], zx[0], back)
        _follow(products[1], zx[1], back)
        step[:] = back
        if moves:
            s = scale * (ux + images[size])
            _scaled_sum(q, products[other], scale)
            directions(q, s, label, sums[other], eta, exact, out)
            for m in forgetful:
                b[:, :, m] = products[:, :, m] = 0.0
                scale[m], step[m] = 1.0, 0.0
                forget(X, last, u, m)
            last, smallest, largest = i, np.inf, 0.0
            for n in range(settings):
                scale[n] *= ridge[n] if ridge[n] != 0.0 else 1.0
                s[n] /= scale[n]
                step[n] += s[n]
                smallest, largest = min(smallest, abs(scale[n])), max(largest, abs(scale[n]))
            _divided_sum(b[other], out, scale)
            _follow(products[0], zx[0], s)
            _follow(products[1], zx[1], s)
        add(X, i, step, u)
        is_far = moves and not (smallest >= low_rank.SMALLEST_SCALE and largest <= low_rank.LARGEST_SCALE)
        if is_far or low_rank.folds(sums, u.shape[0]):
            fold(u, scale, Z, b, products)
            last = -1


@fast_kernel
def directions(q, s, label, sums, eta, exact, out):
    """`low_rank.direction` of every setting; s becomes what x is multiplied with."""
    tau = q.shape[0] - 1
    count, square = sums[tau], 0.0
    product, out[tau] = np.zeros(s.size), 0.0
    for j in range(tau):
        square += sums[j] * sums[j]
        for n in range(s.size):
            product[n] += sums[j] * q[j, n]
            out[j, n] = -eta[n] * q[j, n] / count
            if exact:
                out[j, n] += eta[n] * sums[j] / count * (q[tau, n] / count)
    square /= count * count
    for n in range(s.size):
        centre = q[tau, n] / count
        s[n] = -eta[n] * (s[n] - centre - label)
        if exact:
            out[tau, n] = (-s[n] + eta[n] * (product[n] / count - count * square * centre)) / count
        else:
            out[tau, n] = (-s[n] + eta[n] * square * centre) / count


@fast_kernel
def _move(W, eta, lam, s, x, G):
    for j in range(W.shape[0]):
        for n in range(W.shape[1]):
            W[j, n] = (1.0 - eta[n] * lam[n]) * W[j, n] + s[n] * x[j] + G[j, n]


@fast_kernel
def _follow(products, z, step):
    """Add z step' to the products."""
    for j in range(z.size):
        for n in range(step.size):
            products[j, n] += z[j] * step[n]


@fast_kernel
def _scaled_sum(q, products, scale):
    for j in range(q.shape[0]):
        for n in range(scale.size):
            q[j, n] = scale[n] * (products[j, n] + q[j, n])


@fast_kernel
def _divided_sum(b, out, scale):
    for j in range(b.shape[0]):
        for n in range(scale.size):
            b[j, n] += out[j, n] / scale[n]


@fast_kernel
def multiply(X, i, u, ux):
    """Set ux to the products of the CSR row i with the columns of u."""
    ux[:] = 0.0
    start, stop = extent(X, i)
    for p in range(start, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for n in range(ux.size):
            ux[n] += x * u[j, n]


@fast_kernel
def add(X, i, step, u):
    """Add the CSR row i times step to the columns of u."""
    start, stop = extent(X, i)
    for p in range(start, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for n in range(step.size):
            u[j, n] += x * step[n]


@kernel
def forget(X, last, u, n):
    """Set column n of u to zero, which has no other entries than the CSR row `last`, or all if that is -1."""
    if last < 0:
        u[:, n] = 0.0
        return
    start, stop = extent(X, last)
    for p in range(start, stop):
        u[X.indices[p], n] = 0.0


@kernel
def fold(u, scale, Z, b, products):
    """Fold every setting as `low_rank.fold` does one, some rows of Z at a time."""
    d, settings = u.shape
    flat, B = Z.reshape(d, b.shape[0] * b.shape[1]), b.reshape(b.shape[0] * b.shape[1], settings)
    P, change = products.reshape(B.shape), np.empty((min(d, FOLDED), settings))
    total = np.zeros(B.shape)
    for start in range(0, d, FOLDED):
        part, rows_of_z = u[start : start + FOLDED], flat[start : start + FOLDED]
        image = change[: part.shape[0]]
        np.dot(rows_of_z, B, image)
        for j in range(part.shape[0]):
            for n in range(settings):
                part[j, n] = scale[n] * (part[j, n] + image[j, n])
        np.dot(rows_of_z.T, part, P)
        total += P
    P[:] = total
    b[:] = 0.0
    scale[:] = 1.0
