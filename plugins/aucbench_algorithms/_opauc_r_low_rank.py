"""The steps of `opauc_r`, for one setting or for several, which share the matrices Z.

Z_s = sum of x r^T over the samples of a class. Dense rows use Z itself; CSR rows use the
products Z'Z and Z'u, which change with each sample. Arrays have the settings along their last axis, so that
an operation on all settings at an entry of a row works on neighbours in memory.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucbench import Batch, require_memory
from aucbench.kernels import Layout, fast_helper, helper, kernel, rows, vectors
from aucbench.kernels.rows import extent
from aucbench_algorithms import _moments_together as moments

DRAWN = 4096  # samples whose random numbers are drawn at once
REFRESH = 1024  # steps between two foldings, at least
FOLDING = 128  # columns per step between two foldings, so that these cost no more than the steps
FOLDED = 512  # rows of Z that are folded at once
VECTORS = 3  # (d,) arrays of each setting
# No digit is lost while the scale is in this range: u and b are sums of steps divided by their scales.
SMALLEST_SCALE, LARGEST_SCALE = 1e-100, 1e100


def allocated(state: Any) -> Any:
    """The state with allocated matrices; `init` makes none, since the settings of a grid share them."""
    if state.Z.size:
        return state
    d, size = len(state.u), state.b.shape[1]
    return state._replace(Z=np.zeros((d, 2, size) if state.layout is Layout.lazy else (2, d, size)))


def run(X: Any, y: np.ndarray, order: np.ndarray, state: Any, exact: bool, *arrays: np.ndarray) -> None:
    """The steps along rows, with tau random numbers for each."""
    kernel_of_layout = _run_lazy if state.layout is Layout.lazy else _run
    for first in range(0, len(order), DRAWN):
        part = order[first : first + DRAWN]
        draws = state.rng.standard_normal((len(part), state.b.shape[1] - 1))
        kernel_of_layout(X, y, part, draws, exact, *arrays)


def of_rank(algorithms: Sequence[Any], states: Sequence[Any]) -> moments.MomentsTogether:
    """`Lockstep` of settings of one rank."""
    first, count = states[0], len(states)
    require_memory("opauc_r", (2 * first.b.shape[1] + VECTORS * count, len(first.u)), "lower tau")
    first = allocated(first)
    exact = algorithms[0].centring == "exact"
    copies = [np.repeat(array, count, axis=-1) for array in (first.b, first.products, first.scale, first.u)]
    numbers = [moments.column(algorithms, field) for field in ("eta", "lam")]

    def run_all(X: Any, y: np.ndarray, order: np.ndarray, *arrays: np.ndarray) -> None:
        run(X, y, order, first, exact, *arrays)

    shared = first.Z, first.sums, first.gram
    if first.layout is Layout.lazy:
        return _LazyTogether(
            run_all,
            shared,
            [*copies, *numbers],
            lambda b, products, scale, u, *_: first._replace(b=b, products=products, scale=scale, u=u),
            axis=-1,
        )
    shared, copies = (*shared, *copies[:3]), copies[3:]
    return moments.MomentsTogether(
        run_all, shared, [*copies, *numbers], lambda u, *_: first._replace(u=u), axis=-1
    )


class _LazyTogether(moments.MomentsTogether):
    """Settings that are folded together before a state is read."""

    _folded = True

    def step(self, batch: Batch) -> None:
        super().step(batch)
        self._folded = False

    def state(self, number: int) -> Any:
        if not self._folded:
            b, products, scale, u, *_ = self._arrays
            _fold(u, scale, self._shared[0], b, products)
            self._folded = True
        return super().state(number)


@kernel
def _run(X, y, order, draws, exact, Z, sums, gram, b, products, scale, w, eta, lam):
    (d, settings), size = w.shape, draws.shape[1] + 1
    r, x, s, change = np.empty(size), np.empty(d), np.empty(settings), np.empty((d, settings))
    q, out, ridge = np.empty((size, settings)), np.empty((size, settings)), 1.0 - eta * lam
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, side, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        _take(draws, k, r, sums[side])
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        _add_outer(x, r, Z[side])
        if sums[other, size - 1] > 0.0:
            np.dot(x, w, s)
            _product_of_transposed(Z[other], w, q)
            _direction(q, s, label, sums[other], eta, exact, out)
            _product(Z[other], out, change)
            _scaled_sum(w, ridge, change)
            _follow(w, x, s)


@kernel
def _run_lazy(X, y, order, draws, exact, Z, sums, gram, b, products, scale, u, eta, lam):
    size, settings = draws.shape[1] + 1, u.shape[1]
    r, zx, ridge = np.empty(size), np.empty((2, size)), 1.0 - eta * lam
    q, out = np.empty((size, settings)), np.empty((size, settings))
    ux, step, s, back = np.empty(settings), np.empty(settings), np.empty(settings), np.empty(settings)
    all_b = b.reshape(2 * size, settings)
    # settings whose u is zero except at the entries of the last row
    forgetful, last = np.flatnonzero(ridge == 0.0), -1
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, side, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        square, moves = rows.norm(X, i), sums[other, size - 1] > 0.0
        _take(draws, k, r, sums[side])
        _gather(X, i, Z, zx)
        _scatter(X, i, r, Z[:, side])
        _extend(gram, side, other, zx, r, square)
        vectors.add(square, r, zx[side])
        # corrections of u that keep w when Z changes
        np.dot(r, b[side], back)
        _multiply(X, i, u, ux)
        _follow(products[side], r, ux)
        for n in range(settings):
            back[n] = -back[n]
            step[n] = back[n]
            ux[n] += square * back[n]
        _follow(products[0], zx[0], back)
        _follow(products[1], zx[1], back)
        if moves:
            np.dot(zx.reshape(2 * size), all_b, s)
            s += ux
            s *= scale
            _product(gram[other].reshape(size, 2 * size), all_b, q)
            q += products[other]
            q *= scale
            _direction(q, s, label, sums[other], eta, exact, out)
            for m in forgetful:
                b[:, :, m] = products[:, :, m] = 0.0
                scale[m], step[m] = 1.0, 0.0
                _forget(X, last, u, m)
            last, smallest, largest = i, np.inf, 0.0
            for n in range(settings):
                scale[n] *= ridge[n] if ridge[n] != 0.0 else 1.0
                s[n] /= scale[n]
                step[n] += s[n]
                smallest, largest = min(smallest, abs(scale[n])), max(largest, abs(scale[n]))
            out /= scale
            b[other] += out
            _follow(products[0], zx[0], s)
            _follow(products[1], zx[1], s)
        _add(X, i, step, u)
        is_far = moves and not (smallest >= SMALLEST_SCALE and largest <= LARGEST_SCALE)
        count = int(sums[0, -1] + sums[1, -1])
        if is_far or count % max(REFRESH, u.shape[0] // FOLDING) == 0:
            _fold(u, scale, Z, b, products)
            last = -1


@helper
def _product(A, B, out):
    """Set out to A B; for one column the product with a vector is much faster."""
    if B.shape[1] == 1:
        np.dot(A, B.reshape(B.size), out.reshape(out.size))
    else:
        np.dot(A, B, out)


@helper
def _product_of_transposed(A, B, out):
    """Set out to A'B."""
    if B.shape[1] == 1:
        np.dot(A.T, B.reshape(B.size), out.reshape(out.size))
    else:
        np.dot(A.T, B, out)


@helper
def _take(draws, k, r, sums):
    """Set r to the numbers of a sample, the last being one, and add them to the sums of its class."""
    tau = draws.shape[1]
    for j in range(tau):
        r[j] = draws[k, j] / np.sqrt(tau)
        sums[j] += r[j]
    r[tau] = 1.0
    sums[tau] += 1.0


@fast_helper
def _direction(q, s, label, sums, eta, exact, out):
    """Set out to the factor of Z_o in the step, and s to the factor of x.

    q is Z_o'w, whose last entry is T_o c_o.w; s is w.x.
    """
    tau = q.shape[0] - 1
    count, share, square = sums[tau], 1.0 / sums[tau], 0.0
    out[tau] = 0.0  # holds the product of the sums with q at first
    for j in range(tau):
        square += sums[j] * sums[j]
        shift = sums[j] * share * share if exact else 0.0
        for n in range(s.size):
            out[tau, n] += sums[j] * q[j, n]
            out[j, n] = eta[n] * (shift * q[tau, n] - share * q[j, n])
    square /= count * count
    for n in range(s.size):
        centre = q[tau, n] / count
        s[n] = -eta[n] * (s[n] - centre - label)
        if exact:
            out[tau, n] = (-s[n] + eta[n] * (out[tau, n] / count - count * square * centre)) / count
        else:
            out[tau, n] = (-s[n] + eta[n] * square * centre) / count


@fast_helper
def _add_outer(x, r, Z):
    """Add x r^T to Z."""
    for j in range(x.size):
        a = x[j]
        if a != 0.0:
            for k in range(r.size):
                Z[j, k] += a * r[k]


@fast_helper
def _gather(X, i, Z, zx):
    """Set zx (2, k) to the products of both matrices, side by side in Z (d, 2, k), with the CSR row i."""
    zx[:] = 0.0
    for p in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, a = X.indices[p], np.float64(X.data[p])
        for k in range(zx.shape[1]):
            zx[0, k] += a * Z[j, 0, k]
            zx[1, k] += a * Z[j, 1, k]


@fast_helper
def _scatter(X, i, r, Z):
    """Add x_i r^T to Z, the row i being CSR."""
    for p in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, a = X.indices[p], np.float64(X.data[p])
        for k in range(r.size):
            Z[j, k] += a * r[k]


@helper
def _extend(gram, side, other, zx, r, square):
    """Update Z'Z after x r^T was added to the matrix of class `side`; zx is Z'x before."""
    for j in range(r.size):
        _add_two(zx[side, j] + square * r[j], r, r[j], zx[side], gram[side, j, side])
        vectors.add(r[j], zx[other], gram[side, j, other])
        vectors.add(zx[other, j], r, gram[other, j, side])


@fast_helper
def _add_two(a, x, b, y, out):
    """Add a x + b y."""
    for k in range(out.size):
        out[k] += a * x[k] + b * y[k]


@fast_helper
def _follow(products, z, step):
    """Add z step' to the products."""
    if step.size == 1:
        vectors.add(step[0], z, products.reshape(products.size))
        return
    for j in range(z.size):
        for n in range(step.size):
            products[j, n] += z[j] * step[n]


@fast_helper
def _scaled_sum(u, scale, change):
    """Set u to scale u + change, with one scale for each setting."""
    if scale.size == 1:
        a, v, w = scale[0], u.reshape(u.size), change.reshape(u.size)
        for j in range(u.size):
            v[j] = a * v[j] + w[j]
        return
    for j in range(u.shape[0]):
        for n in range(scale.size):
            u[j, n] = scale[n] * u[j, n] + change[j, n]


@fast_helper
def _multiply(X, i, u, ux):
    """Set ux to the products of the CSR row i with the columns of u."""
    ux[:] = 0.0
    start, stop = extent(X, i)
    for p in range(start, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for n in range(ux.size):
            ux[n] += x * u[j, n]


@fast_helper
def _add(X, i, step, u):
    """Add the CSR row i times step to the columns of u."""
    start, stop = extent(X, i)
    for p in range(start, stop):
        x, j = np.float64(X.data[p]), X.indices[p]
        for n in range(step.size):
            u[j, n] += x * step[n]


@helper
def _forget(X, last, u, n):
    """Set column n of u to zero: at the entries of the CSR row `last`, or everywhere if `last` is -1."""
    if last < 0:
        u[:, n] = 0.0
        return
    start, stop = extent(X, last)
    for p in range(start, stop):
        u[X.indices[p], n] = 0.0


@kernel
def _fold(u, scale, Z, b, products):
    """Set u to scale (u + Z_+ b_+ + Z_- b_-), b to zero, and the products Z'u accordingly."""
    d, settings = u.shape
    flat, B = Z.reshape(d, b.shape[0] * b.shape[1]), b.reshape(b.shape[0] * b.shape[1], settings)
    P, change = products.reshape(B.shape), np.empty((min(d, FOLDED), settings))
    total = np.zeros(B.shape)
    for start in range(0, d, FOLDED):
        part, rows_of_z = u[start : start + FOLDED], flat[start : start + FOLDED]
        image = change[: part.shape[0]]
        _product(rows_of_z, B, image)
        for j in range(part.shape[0]):
            for n in range(settings):
                part[j, n] = scale[n] * (part[j, n] + image[j, n])
        _product_of_transposed(rows_of_z, part, P)
        total += P
    P[:] = total
    b[:] = 0.0
    scale[:] = 1.0
