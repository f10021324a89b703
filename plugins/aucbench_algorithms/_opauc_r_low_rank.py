"""The two (d, k) matrices Z_s = sum of x r^T over the samples of a class, on which `opauc_r` works.

For dense x plainly; for CSR rows through the products Z'Z and Z'u, which change with each sample.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from aucbench.kernels import Layout, fast_kernel, kernel, rows, vectors

DRAWN = 4096  # samples whose random numbers are drawn at once
REFRESH = 1024  # steps between two foldings, at least
FOLDING = 128  # and columns per step between them, so that the foldings cost no more than the steps
# No digit is lost while the scale is within: u and b are sums of what each step adds, divided by its scale.
SMALLEST_SCALE, LARGEST_SCALE = 1e-100, 1e100


def allocated(state: Any) -> Any:
    """The state with its matrices, which many settings share in a grid: `init` makes none."""
    if state.Z.size:
        return state
    d, size = state.u.size, state.b.shape[1]
    return state._replace(Z=np.zeros((d, 2, size) if state.layout is Layout.lazy else (2, d, size)))


def drawn(order: np.ndarray, tau: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows of a chunk in parts, with `tau` random numbers for each row."""
    for first in range(0, len(order), DRAWN):
        part = order[first : first + DRAWN]
        yield part, rng.standard_normal((len(part), tau))


@kernel
def take(draws, k, r, sums):
    """Set r to the numbers of a sample, the last being one, and add them to the sums of its class."""
    tau = draws.shape[1]
    for j in range(tau):
        r[j] = draws[k, j] / np.sqrt(tau)
        sums[j] += r[j]
    r[tau] = 1.0
    sums[tau] += 1.0


@kernel
def direction(q, s, label, sums, eta, exact, out):
    """Set out to what Z_o is multiplied with in the step; returns what x is multiplied with.

    q is Z_o'w, the last being T_o c_o.w; s is w.x.
    """
    tau = q.size - 1
    count = sums[tau]
    centre = q[tau] / count
    square = product = 0.0
    for j in range(tau):
        square += sums[j] * sums[j]
        product += sums[j] * q[j]
        out[j] = -eta * q[j] / count
        if exact:
            out[j] += eta * sums[j] / count * centre
    square /= count * count
    e = -eta * (s - centre - label)
    if exact:
        out[tau] = (-e + eta * (product / count - count * square * centre)) / count
    else:
        out[tau] = (-e + eta * square * centre) / count
    return e


@fast_kernel
def add_outer(x, r, Z):
    """Add x r^T to Z."""
    for j in range(x.size):
        a = x[j]
        if a != 0.0:
            for k in range(r.size):
                Z[j, k] += a * r[k]


@fast_kernel
def products(x, w, Z, q):
    """Set q to Z'w; returns w.x."""
    q[:] = 0.0
    s = 0.0
    for j in range(w.size):
        a = w[j]
        s += a * x[j]
        for k in range(q.size):
            q[k] += a * Z[j, k]
    return s


@fast_kernel
def move(w, ridge, e, x, Z, b):
    """Set w to ridge w + e x + Z b."""
    for j in range(w.size):
        total = ridge * w[j] + e * x[j]
        for k in range(b.size):
            total += Z[j, k] * b[k]
        w[j] = total


@fast_kernel
def gather(X, i, Z, zx):
    """Set zx (2, k) to the products of both matrices, side by side in Z (d, 2, k), with the CSR row i."""
    zx[:] = 0.0
    for p in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, a = X.indices[p], np.float64(X.data[p])
        for k in range(zx.shape[1]):
            zx[0, k] += a * Z[j, 0, k]
            zx[1, k] += a * Z[j, 1, k]


@fast_kernel
def scatter(X, i, r, Z):
    """Add x_i r^T to Z, the row i being CSR."""
    for p in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, a = X.indices[p], np.float64(X.data[p])
        for k in range(r.size):
            Z[j, k] += a * r[k]


@fast_kernel
def extend(own, across, back, zx_own, zx_other, r, square):
    """Bring Z'Z up to date after x r^T was added to one matrix.

    own, across and back are the products of that matrix with itself, of it with the other one, and of the
    other one with it; zx_own and zx_other are those of both with x, before; square is |x|^2.
    """
    for j in range(r.size):
        for k in range(r.size):
            own[j, k] += zx_own[j] * r[k] + r[j] * (zx_own[k] + square * r[k])
            across[j, k] += r[j] * zx_other[k]
            back[j, k] += zx_other[j] * r[k]


@kernel
def add_row(X, i, own, other, r, square, Z, gram, zx):
    """Add x_i r^T to Z of the own class; sets zx (2, k) to the new Z'x of both."""
    gather(X, i, Z, zx)
    scatter(X, i, r, Z[:, own])
    extend(gram[own, own], gram[own, other], gram[other, own], zx[own], zx[other], r, square)
    for j in range(r.size):
        zx[own, j] += square * r[j]


@kernel
def folds(sums, d):
    """Whether everything is folded into u after this sample."""
    return int(sums[0, -1] + sums[1, -1]) % max(REFRESH, d // FOLDING) == 0


@kernel
def step_lazy(
    X, i, label, own, other, ux, square, r, zx, q, sums, folded,
    u, Z, b, products, scale, eta, lam, exact, out,
):  # fmt: skip
    """Step of one setting after `add_row`; q is Z_o'(Z_+ b_+ + Z_- b_-), then Z_o'w. Returns the scale."""
    # Z b must not change with Z
    back = -vectors.dot(r, b[own])
    for j in range(r.size):
        products[own, j] += ux * r[j]
    ux += back * square
    vectors.add(back, zx[0], products[0])
    vectors.add(back, zx[1], products[1])
    step = back
    if sums[other, r.size - 1] > 0.0:
        for j in range(r.size):
            q[j] = scale * (products[other, j] + q[j])
        s = scale * (ux + vectors.dot(zx[0], b[0]) + vectors.dot(zx[1], b[1]))
        e = direction(q, s, label, sums[other], eta, exact, out)
        ridge = 1.0 - eta * lam
        if folded or not SMALLEST_SCALE <= abs(scale * ridge) <= LARGEST_SCALE:
            rows.axpy(back, X, i, u)
            fold(u, scale * ridge, Z, b, products)
            scale, step, folded = 1.0, e, False
        else:
            scale *= ridge
            e /= scale
            step += e
            for j in range(r.size):
                out[j] /= scale
        vectors.add(1.0, out, b[other])
        vectors.add(e, zx[0], products[0])
        vectors.add(e, zx[1], products[1])
    rows.axpy(step, X, i, u)
    if folded:
        fold(u, scale, Z, b, products)
        scale = 1.0
    return scale


@kernel
def fold(u, scale, Z, b, products):
    """Set u to scale (u + Z_+ b_+ + Z_- b_-), b to zero, and the products Z'u accordingly; Z is (d, 2, k)."""
    products[:] = 0.0
    if scale == 0.0:
        u[:] = b[:] = 0.0
        return
    for j in range(u.size):
        u[j] = _fold_one(u[j], scale, Z[j, 0], Z[j, 1], b[0], b[1], products[0], products[1])
    b[:] = 0.0


@fast_kernel
def _fold_one(value, scale, z_pos, z_neg, b_pos, b_neg, products_pos, products_neg):
    for k in range(b_pos.size):
        value += z_pos[k] * b_pos[k] + z_neg[k] * b_neg[k]
    value *= scale
    if value != 0.0:
        for k in range(b_pos.size):
            products_pos[k] += value * z_pos[k]
            products_neg[k] += value * z_neg[k]
    return value
