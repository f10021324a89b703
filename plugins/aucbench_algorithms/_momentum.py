"""Weights that a momentum moves at every step, at the cost of the columns that change.

    m = mu q,   w = scale (u - b q),   sum of the averaged w = weight u - pull q - v

A step decays m by theta, which changes mu only, and adds a row z to m; then w moves by -r m. The row is added
to q as c z, c = (1 - theta) l' / mu; adding b c z to u keeps w unchanged, and moving w changes b only, by
r mu / scale. Adding (weight b - pull) c z to v keeps the sum unchanged; weight += scale and pull += scale b
add w to the sum. Projecting on a ball changes the scale.

q grows as 1 / mu, and so does the cancellation in u - b q. When mu has left the range from `SMALLEST` to 1, q
is therefore folded: b becomes 0 and mu becomes 1. Folding visits the columns where q is not zero, which are
listed. A column leaves the list when no later step could change a digit of its weight: the steps r do not
grow, so the weight moves by at most r theta / (1 - theta) m more. A step thus costs the non-zeros of its row,
whatever the number of columns. For dense rows, all columns always stay in the list.

For the ball, the products |w|^2, w.m and |m|^2 are updated by differences and sometimes computed exactly.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench import kernels
from aucbench.kernels import rows, weights
from aucbench.kernels.rows import extent, for_csr_rows, for_dense_rows
from aucbench.kernels.weights import into_ball

SMALLEST = 1e-4  # q is folded when mu is smaller, since a small mu costs digits
INVISIBLE = 1e-18  # change relative to a weight that is too small to change its digits
REFRESH = 1024  # fewest pairs between exact computations of the products
CANCELLED = 1e-4  # |w|^2 is computed exactly when this much smaller than its terms


class Scalars(NamedTuple):
    """The numbers that change."""

    t: int = 0  # examples
    pairs: int = 0
    v: float = 0.0  # sum of |g|^2
    mu: float = 1.0
    scale: float = 1.0
    b: float = 0.0
    weight: float = 0.0
    pull: float = 0.0
    size: float = 0.0  # |w|^2, for a ball only
    along: float = 0.0  # w.m
    momentum: float = 0.0  # |m|^2
    listed: int = 0  # columns in the list


class Vectors(NamedTuple):
    """The vectors, and the list of the columns where q is not zero."""

    uqv: np.ndarray  # (3, d)
    columns: np.ndarray  # (d,) uint32, the list and unused space after it
    is_listed: np.ndarray  # (d,) bool


class Params(NamedTuple):
    """Constant parameters of the kernel."""

    eta: float
    decreases: bool
    average: bool
    radius: float  # infinite without a ball
    theta: float
    margin: float  # the parameter of the loss


def mean(vectors: Vectors, scalars: Scalars) -> np.ndarray:
    """(d,) the mean of w over all examples; zero before the first."""
    u, q, v = vectors.uqv
    total: np.ndarray = scalars.weight * u - scalars.pull * q - v
    return total / max(1, scalars.t)


def current(vectors: Vectors, scalars: Scalars) -> np.ndarray:
    """(d,) w itself."""
    w: np.ndarray = scalars.scale * (vectors.uqv[0] - scalars.b * vectors.uqv[1])
    return w


@for_dense_rows
def _list(X: Any, i: int, vectors: Vectors, count: int) -> int:
    """Put the columns of row i in the list; returns the length of the list."""
    if count < vectors.columns.size:
        for j in range(vectors.columns.size):
            vectors.columns[j] = j
            vectors.is_listed[j] = True
    return vectors.columns.size


@for_csr_rows(_list)
def _list_csr(X, i, vectors, count):
    columns, is_listed = vectors.columns, vectors.is_listed
    if count < columns.size:
        start, stop = extent(X, i)
        for p in range(start, stop):
            j = X.indices[p]
            if not is_listed[j]:
                is_listed[j] = True
                columns[count] = j
                count += 1
    return count


@kernels.kernel
def run(Z, order, vectors, scalars, loss, params):
    """Consume examples, each with a row of Z; row 0 stands for none."""
    refresh = max(REFRESH, vectors.columns.size)
    for k in range(order.size):
        t = scalars.t + 1
        if order[k] > 0:
            eta = params.eta / np.sqrt(t) if params.decreases else params.eta
            scalars = _step(Z, order[k], vectors, scalars, eta, loss, params, refresh)
        weight, pull = scalars.weight, scalars.pull
        if params.average:
            weight += scalars.scale
            pull += scalars.scale * scalars.b
        products = scalars.size, scalars.along, scalars.momentum
        scalars = Scalars(
            t, scalars.pairs, scalars.v, scalars.mu, scalars.scale, scalars.b, weight, pull, *products,
            scalars.listed,
        )  # fmt: skip
    return scalars


@kernels.helper
def _step(Z, z, vectors, scalars, eta, loss, params, refresh):
    u, q, v = vectors.uqv[0], vectors.uqv[1], vectors.uqv[2]
    t, pairs, squares, mu, scale, b, weight, pull, size, along, momentum, listed = scalars
    theta, new = params.theta, 1.0 - params.theta
    pairs += 1
    product = rows.dot(Z, z, q)
    ux, square = rows.dot_norm(Z, z, u)
    s = scale * (ux - b * product)
    slope = kernels.call(loss, s, params.margin)
    squares += slope * slope * square
    r = 0.0 if squares == 0.0 else eta / np.sqrt(squares)
    momentum *= theta * theta
    momentum += new * slope * (2.0 * theta * mu * product + new * slope * square)
    along = theta * along + new * slope * s
    mu *= theta
    if mu < SMALLEST:
        listed = _fold(vectors, scalars, mu, r / new / scale)
        mu, b, pull = 1.0, 0.0, 0.0
    c = new * slope / mu
    if c != 0.0:
        listed = _list(Z, z, vectors, listed)
        rows.axpy2(b * c, Z, z, u, c, q)
        change = (weight * b - pull) * c
        if change != 0.0:
            rows.axpy(change, Z, z, v)
    b += r * mu / scale
    if params.radius < np.inf:
        terms = size + r * (2.0 * abs(along) + r * momentum)
        size -= r * (2.0 * along - r * momentum)
        along -= r * momentum
        if pairs % refresh == 0 or (terms > 0.0 and size <= CANCELLED * terms):
            size, along, momentum = _products(vectors, scale, b, mu)
        shrink, size = into_ball(size, params.radius)
        along *= shrink
        scale *= shrink
        if scale < weights.SMALLEST_SCALE:
            _fold_scale(vectors, scale, b, weight, pull)
            scale, b, weight, pull = 1.0, 0.0, 0.0, 0.0
    return Scalars(t, pairs, squares, mu, scale, b, weight, pull, size, along, momentum, listed)


@kernels.helper
def _fold(vectors, scalars, mu, reach):
    """Make b zero and mu one, where m = mu q; `reach` m is the furthest that m can still move u."""
    u, q, v = vectors.uqv[0], vectors.uqv[1], vectors.uqv[2]
    columns, is_listed = vectors.columns, vectors.is_listed
    change = scalars.pull - scalars.weight * scalars.b
    listed = 0
    for slot in range(scalars.listed):
        j = columns[slot]
        v[j] += change * q[j]
        u[j] -= scalars.b * q[j]
        m = mu * q[j]
        if abs(reach * m) <= INVISIBLE * abs(u[j]):
            q[j] = 0.0
            is_listed[j] = False
        else:
            q[j] = m
            columns[listed] = j
            listed += 1
    return listed


@kernels.helper
def _fold_scale(vectors, scale, b, weight, pull):
    """Make the scale one, and b, weight and pull zero, in all columns."""
    u, q, v = vectors.uqv[0], vectors.uqv[1], vectors.uqv[2]
    for j in range(u.size):
        v[j] -= weight * u[j] - pull * q[j]
        u[j] = scale * (u[j] - b * q[j])


@kernels.helper
def _products(vectors, scale, b, mu):
    """|w|^2, w.m and |m|^2."""
    u, q = vectors.uqv[0], vectors.uqv[1]
    size = along = momentum = 0.0
    for j in range(u.size):
        w, m = scale * (u[j] - b * q[j]), mu * q[j]
        size += w * w
        along += w * m
        momentum += m * m
    return size, along, momentum
