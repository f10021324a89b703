"""Operations on whole (d,) vectors: products, norms, clipping, projections."""

import numpy as np

from aucbench.kernels.jit import fast_kernel, kernel


@kernel
def clip(value, bound):
    """The number nearest to `value` in [-bound, bound]; NaN becomes -bound, so check the weights for NaN."""
    return min(max(value, -bound), bound)


@fast_kernel
def square(w):
    """The squared l2 norm of w."""
    total = 0.0
    for j in range(w.size):
        total += w[j] * w[j]
    return total


@fast_kernel
def dot(v, w):
    """The product v.w."""
    total = 0.0
    for j in range(w.size):
        total += v[j] * w[j]
    return total


@fast_kernel
def distance(v, w):
    """The squared distance |v - w|^2."""
    total = 0.0
    for j in range(w.size):
        z = v[j] - w[j]
        total += z * z
    return total


@fast_kernel
def norm1(w):
    """The l1 norm of w."""
    total = 0.0
    for j in range(w.size):
        total += abs(w[j])
    return total


@fast_kernel
def add(a, x, w):
    """Add a x to w."""
    for j in range(w.size):
        w[j] += a * x[j]


@fast_kernel
def copy(x, w):
    """Set w to x, which must have the same length.

    The length is not checked: ``w[:] = x`` takes a second more to compile, for numba's message about shapes.
    """
    for j in range(w.size):
        w[j] = x[j]


@fast_kernel
def scale(a, w):
    """Multiply w by a."""
    for j in range(w.size):
        w[j] *= a


@fast_kernel
def _above(w, threshold):
    """The sum and the number of |w_j| above a threshold."""
    total = count = 0.0
    for j in range(w.size):
        size = abs(w[j])
        inside = size > threshold
        total += size if inside else 0.0
        count += 1.0 if inside else 0.0
    return total, count


@kernel
def project_l1(w, radius):
    """Project w on the l1 ball of a radius, in place: soft-threshold it.

    The threshold theta solves sum_j max(|w_j| - theta, 0) = radius. It is computed without sorting: theta,
    computed anew from the entries above the last theta, grows until no entry is left out (Michelot 1986).
    This takes O(d) a round, and the final theta is exact. Returns the l1 norm of the result. NaN stays;
    infinities become NaN.
    """
    total, count = norm1(w), float(w.size)
    if not total > radius:
        return total
    if total == np.inf:
        w[:] = np.nan  # zeros would look like a finite model
        return np.nan
    threshold = 0.0
    while True:
        threshold = (total - radius) / count
        total, remaining = _above(w, threshold)
        if remaining >= count or remaining == 0.0:
            break
        count = remaining
    for j in range(w.size):
        size = abs(w[j]) - threshold
        w[j] = (size if w[j] > 0.0 else -size) if size > 0.0 else 0.0
    return radius


@fast_kernel
def pull(w, centre, factor):
    """Set w to centre + factor (w - centre)."""
    for j in range(w.size):
        w[j] = centre[j] + factor * (w[j] - centre[j])
