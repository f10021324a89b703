"""The Gaussian over weights of `cbr`: mean mu, covariance Sigma, moved along Sigma z, narrowed by rank 1."""

from typing import Any

from aucbench.kernels import fast_helper, helper, lanes
from aucbench.kernels.rows import ONE, TWO, entry, extent, for_csr_rows, for_dense_rows, for_rows


@fast_helper
def narrow_product(M, b, g, z, out):
    """Subtract b g g^T from the lower triangle M and set out, a separate array, to M z in one pass."""
    for j in range(M.shape[0]):
        a, c = z[j], b * g[j]
        total = 0.0
        for k in range(j):
            m = M[j, k] - c * g[k]
            M[j, k] = m
            total += m * z[k]
            out[k] += m * a
        m = M[j, j] - c * g[j]
        M[j, j] = m
        out[j] = total + m * a


@helper
def step(m, v, C, phi):
    """The step a and the narrowing b, both zero where nothing moves; NaN propagates to mu."""
    square = phi * phi
    zeta = 1.0 + square
    squares = 0.25 * m * m * (square * square) + v * phi * phi * zeta
    a = (lanes.root(squares) - m * (1.0 + 0.5 * phi * phi)) / (v * zeta)
    a = lanes.where_less(a, 0.0, 0.0, a)
    a = lanes.where_less(C, a, C, a)
    gap = phi * lanes.root(v) - m
    a = lanes.where_less(0.0, gap, a, gap - gap)
    a = lanes.where_less(0.0, v, a, v - v)
    width = a * v * phi
    b = a * phi / (0.5 * (lanes.root(width * width + 4.0 * v) - width) + width)
    return a, lanes.where_less(0.0, v, b, v - v)


@for_dense_rows
def moments(X: Any, mu: Any, sigma: Any) -> Any:
    """mu.z and the sum of sigma_k z_k^2, for z the row 0 of X."""
    first = second = 0.0
    for k in range(X.shape[1]):
        z = X[0, k]
        first += mu[k] * z
        second += sigma[k] * z * z
    return first, second


@for_csr_rows(moments)
def _moments_csr(X, mu, sigma):
    indices, data = X.indices, X.data
    start, stop = extent(X, 0)
    pairs_end = stop - ((stop - start) & ONE)
    # two accumulators per sum, so that additions do not wait for each other
    a0 = a1 = b0 = b1 = 0.0
    for k in range(start, pairs_end, TWO):
        c0, c1 = indices[k], indices[k + ONE]
        z0, z1 = data[k], data[k + ONE]
        a0 += mu[c0] * z0
        b0 += sigma[c0] * z0 * z0
        a1 += mu[c1] * z1
        b1 += sigma[c1] * z1 * z1
    for k in range(pairs_end, stop):
        z = data[k]
        a0 += mu[indices[k]] * z
        b0 += sigma[indices[k]] * z * z
    return a0 + a1, b0 + b1


@for_rows()
def move(a: float, b: float, X: Any, mu: Any, sigma: Any) -> None:
    """With g_k = sigma_k z_k add a g to mu and subtract b g_k^2 from sigma_k, for z the row 0 of X."""
    start, stop = extent(X, 0)
    for k in range(start, stop):
        j, z = entry(X, 0, k)
        g = sigma[j] * z
        mu[j] += a * g
        sigma[j] -= b * g * g
