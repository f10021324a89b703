"""The Gaussian over weights of `cbr`: mean mu, covariance Sigma, moved along Sigma z, narrowed by rank 1."""

from typing import Any

from numba.extending import overload

from aucbench.kernels import fast_kernel, kernel, lanes
from aucbench.kernels.rows import CSR, DENSE, ONE, TWO, extent, is_csr, is_dense


@fast_kernel
def narrow_product(M, b, g, z, out):
    """Subtract b g g^T from the lower triangle M, and set out, none of the others, to M z in one pass."""
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


@kernel
def step(m, v, C, phi):
    """The step a and the narrowing b, zero where nothing moves; NaN goes on, so that it shows in mu."""
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


def moments(Z: Any, mu: Any, sigma: Any) -> tuple[float, float]:
    """mu.z and the sum of sigma_k z_k^2, for z the row 0 of Z."""
    raise NotImplementedError("only compiled code can call this")


def move(a: float, b: float, Z: Any, mu: Any, sigma: Any) -> None:
    """With g_k = sigma_k z_k add a g to mu and subtract b g_k^2 from sigma_k, for z the row 0 of Z."""
    raise NotImplementedError("only compiled code can call this")


@overload(moments, jit_options=DENSE)
def _moments_dense(Z, mu, sigma):
    if not is_dense(Z):
        return None

    def implementation(Z, mu, sigma):
        first = second = 0.0
        for k in range(Z.shape[1]):
            z = Z[0, k]
            first += mu[k] * z
            second += sigma[k] * z * z
        return first, second

    return implementation


@overload(moments, jit_options=CSR)
def _moments_csr(Z, mu, sigma):
    if not is_csr(Z):
        return None

    def implementation(Z, mu, sigma):
        indices, data = Z.indices, Z.data
        start, stop = extent(Z, 0)
        whole = stop - ((stop - start) & ONE)
        # two sums each, or every addition waits for the one before
        a0 = a1 = b0 = b1 = 0.0
        for k in range(start, whole, TWO):
            c0, c1 = indices[k], indices[k + ONE]
            z0, z1 = data[k], data[k + ONE]
            a0 += mu[c0] * z0
            b0 += sigma[c0] * z0 * z0
            a1 += mu[c1] * z1
            b1 += sigma[c1] * z1 * z1
        for k in range(whole, stop):
            z = data[k]
            a0 += mu[indices[k]] * z
            b0 += sigma[indices[k]] * z * z
        return a0 + a1, b0 + b1

    return implementation


@overload(move, jit_options=DENSE)
def _move_dense(a, b, Z, mu, sigma):
    if not is_dense(Z):
        return None

    def implementation(a, b, Z, mu, sigma):
        for k in range(Z.shape[1]):
            g = sigma[k] * Z[0, k]
            mu[k] += a * g
            sigma[k] -= b * g * g

    return implementation


@overload(move, jit_options=CSR)
def _move_csr(a, b, Z, mu, sigma):
    if not is_csr(Z):
        return None

    def implementation(a, b, Z, mu, sigma):
        start, stop = extent(Z, 0)
        for k in range(start, stop):
            j = Z.indices[k]
            g = sigma[j] * Z.data[k]
            mu[j] += a * g
            sigma[j] -= b * g * g

    return implementation
