"""The two (d, k) matrices Z_s = sum of x r^T over the samples of a class, on which `opauc_r` works.

For dense x plainly; for CSR rows through the products Z'Z and Z'u, which change with each sample.
"""

import numpy as np

from aucbench.kernels import fast_kernel, kernel


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

    Parameters
    ----------
    own, across, back : (k, k) arrays
        Products of that matrix with itself, of it with the other one, and of the other one with it.
    zx_own, zx_other : (k,) arrays
        Products of both with x, before.
    r : (k,) array
    square : float
        |x|^2.
    """
    for j in range(r.size):
        for k in range(r.size):
            own[j, k] += zx_own[j] * r[k] + r[j] * (zx_own[k] + square * r[k])
            across[j, k] += r[j] * zx_other[k]
            back[j, k] += zx_other[j] * r[k]


@kernel
def fold(u, scale, Z, b, products):
    """Set u to scale (u + Z_+ b_+ + Z_- b_-), b to zero, and the products Z'u accordingly; Z is (d, 2, k)."""
    products[:] = 0.0
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
