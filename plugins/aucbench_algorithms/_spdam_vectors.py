"""The vectors of `spdam` on sparse rows, as combinations of a few that change at the entries of rows only.

    w  = S g + e U + f+ m+ + f- m-             u = U + a+ m+ + a- m-
    wb = Sb g + eb U + db D + fb+ m+ + fb- m-

g and U are sums of multiples of rows, D is the last sum of (beta_i' - beta_i) x_i / sqrt(p_i). An
iteration multiplies S, which is folded into g when it has become small. The numbers g, U, D of a column
and the iteration in which D was written lie side by side; an older D counts as zero. The products of g,
U and D with m+ and m- are kept too, and computed anew at each folding.
"""

import numpy as np

from aucbench.kernels import helper
from aucbench.kernels.weights import SMALLEST_SCALE

REFRESH = 1024  # most iterations between two foldings
NUMBERS = np.dtype(
    [
        ("S", "f8"), ("e", "f8"), ("f", "f8", 2),  # w; pairs of numbers belong to m+ and m-
        ("Sb", "f8"), ("eb", "f8"), ("db", "f8"), ("fb", "f8", 2),  # wb
        ("a", "f8", 2),  # u
        ("gm", "f8", 2), ("Um", "f8", 2), ("Dm", "f8", 2),  # products of g, U and D with m+ and m-
        ("time", "i8"),  # iterations
    ]
)  # fmt: skip


def cells(d: int) -> np.ndarray:
    """(d, 4) zero g, U and D and the iteration in which D was written."""
    return np.zeros((d, 4))


def numbers() -> np.ndarray:
    """(1,) NUMBERS of zero vectors."""
    start = np.zeros(1, NUMBERS)
    start["S"] = 1.0
    return start


def weights(cells: np.ndarray, numbers: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(d,) the vector w."""
    first = numbers[0]
    w: np.ndarray = first["S"] * cells[:, 0] + first["e"] * cells[:, 1] + first["f"] @ means[:2]
    return w


@helper
def ahead_mean_score(numbers, gram, side):
    """The product of wb with m+ (side 0) or m- (side 1)."""
    total = numbers.Sb * numbers.gm[side] + numbers.eb * numbers.Um[side]
    total += numbers.db * numbers.Dm[side]
    return total + numbers.fb[0] * gram[0, side] + numbers.fb[1] * gram[1, side]


@helper
def ahead_score(X, i, cells, numbers, products):
    """The product of wb with the CSR row i, given its products with m+ and m-."""
    time = numbers.time
    g = u = last = 0.0
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, x = X.indices[k], np.float64(X.data[k])
        g += x * cells[j, 0]
        u += x * cells[j, 1]
        last += x * cells[j, 2] * (cells[j, 3] == time)  # a product, because a branch would be mispredicted
    total = numbers.Sb * g + numbers.eb * u + numbers.db * last
    return total + numbers.fb[0] * products[i, 0] + numbers.fb[1] * products[i, 1]


@helper
def advance(numbers, gram, change, across, lam, tau, theta, n, m):
    """Make the step of w, u and wb, up to adding the rows; returns the multiple of D to add to g.

    `change` (2,) has the sums of (beta_i' - beta_i) / sqrt(p_i) by class, `across` (2,) the products of D
    with m+ and m-; n and m are the rows of all data and of the minibatch.
    """
    c = lam + 1.0 / tau
    keep, extra = 1.0 / (tau * c), 1.0 / m - 1.0 / n
    S, e = numbers.S, numbers.e
    for side in range(2):
        numbers.a[side] -= change[side] / n
    bq = 0.0
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        q = (S * numbers.gm[side] + e * numbers.Um[side]) / tau
        q -= numbers.Um[side] + across[side] / m
        for k in range(2):
            mixed = numbers.f[k] / tau - (numbers.a[k] - extra * change[k])
            q += mixed * gram[k, side]
        bq += sign * (q - gram[2, side])
    pull = bq / (c * (c + gram[2, 2])) + 1.0 / c  # multiple of b subtracted from w, including the b in q
    share = (-keep * e / n - extra / c) / (keep * S)
    numbers.S, numbers.e = keep * S, keep * e - 1.0 / c
    numbers.Sb = (1.0 + theta) * numbers.S - theta * S
    numbers.eb = (1.0 + theta) * numbers.e - theta * e
    numbers.db = -theta * extra * tau
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        f = numbers.f[side]
        new = keep * f - (numbers.a[side] - extra * change[side]) / c - sign * pull
        numbers.f[side] = new
        numbers.fb[side] = (1.0 + theta) * new - theta * f
        numbers.gm[side] += share * across[side]
        numbers.Um[side] += across[side] / n
        numbers.Dm[side] = across[side]
    numbers.time += 1
    return share


@helper
def step(X, i, rise, share, n, cells, numbers):
    """Add a multiple of the CSR row i to D, and its shares to g and U."""
    time = numbers.time
    to_g, to_u = share * rise, rise / n
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, x = X.indices[k], np.float64(X.data[k])
        cells[j, 0] += to_g * x
        cells[j, 1] += to_u * x
        cells[j, 2] = cells[j, 2] * (cells[j, 3] == time) + rise * x
        cells[j, 3] = time


@helper
def fold(cells, numbers, means):
    """Fold S g + e U into g when S is small, and at regular intervals."""
    S, e = numbers.S, numbers.e
    d = cells.shape[0]
    if S >= SMALLEST_SCALE and numbers.time % max(REFRESH, d) != 0:
        return
    numbers.Sb /= S
    numbers.eb -= numbers.Sb * e
    numbers.S, numbers.e = 1.0, 0.0
    numbers.gm[:] = 0.0
    numbers.Um[:] = 0.0
    for j in range(d):
        g, u = S * cells[j, 0] + e * cells[j, 1], cells[j, 1]
        cells[j, 0] = g
        for side in range(2):
            numbers.gm[side] += g * means[side, j]
            numbers.Um[side] += u * means[side, j]
