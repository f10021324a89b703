"""The vectors of `spdam` on sparse rows, as combinations of a few that change at the entries of rows only.

    w  = S g + e U + f+ m+ + f- m-             u = U + a+ m+ + a- m-
    wb = Sb g + eb U + db D + fb+ m+ + fb- m-

g and U are sums of multiples of rows, D is the last sum of (beta_i' - beta_i) x_i / sqrt(p_i). An
iteration multiplies S, which is folded into g when it has become small. The numbers g, U, D of a column
and the iteration in which D was written lie side by side; an older D counts as zero. The products of g,
U and D with m+ and m- are kept too, and computed anew at each folding.
"""

import numpy as np

from aucbench.kernels import kernel
from aucbench.kernels.weights import SMALLEST_SCALE

REFRESH = 1024  # iterations between two foldings, at most
BASE, EXTRA, F, AHEAD_BASE, AHEAD_EXTRA, AHEAD_LAST, AHEAD_F, A, G_M, U_M, D_M, TIME = (
    0, 1, 2, 4, 5, 6, 7, 9, 11, 13, 15, 17,
)  # fmt: skip  # S, e, f (2), Sb, eb, db, fb (2), a (2), g.m (2), U.m (2), D.m (2), iterations


def cells(d: int) -> np.ndarray:
    """(d, 4) zero g, U and D and the iteration in which D was written."""
    return np.zeros((d, 4))


def numbers() -> np.ndarray:
    """(18,) the coefficients of zero vectors."""
    start = np.zeros(18)
    start[BASE] = 1.0
    return start


def weights(cells: np.ndarray, numbers: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(d,) the vector w."""
    sums: np.ndarray = cells[:, :2] @ numbers[[BASE, EXTRA]]
    return sums + numbers[F : F + 2] @ means[:2]


@kernel
def ahead_product(numbers, gram, side):
    """The product of wb with m+ (side 0) or m- (side 1)."""
    total = numbers[AHEAD_BASE] * numbers[G_M + side] + numbers[AHEAD_EXTRA] * numbers[U_M + side]
    total += numbers[AHEAD_LAST] * numbers[D_M + side]
    return total + numbers[AHEAD_F] * gram[0, side] + numbers[AHEAD_F + 1] * gram[1, side]


@kernel
def ahead_dot(X, i, cells, numbers, products):
    """The product of wb with the CSR row i, given its products with m+ and m-."""
    time = numbers[TIME]
    g = u = last = 0.0
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, x = X.indices[k], np.float64(X.data[k])
        g += x * cells[j, 0]
        u += x * cells[j, 1]
        last += x * cells[j, 2] * (cells[j, 3] == time)  # not a branch: it would be guessed wrongly
    total = numbers[AHEAD_BASE] * g + numbers[AHEAD_EXTRA] * u + numbers[AHEAD_LAST] * last
    return total + numbers[AHEAD_F] * products[i, 0] + numbers[AHEAD_F + 1] * products[i, 1]


@kernel
def advance(numbers, gram, change, across, lam, tau, theta, n, m):
    """Make the step of w, u and wb, up to adding the rows: returns the multiple of D that g gets.

    Parameters
    ----------
    numbers, gram : arrays
        The coefficients, and the products of m+, m- and b = m- - m+.
    change, across : (2,) arrays
        Sums of (beta_i' - beta_i) / sqrt(p_i) by class, and products of D with m+ and m-.
    lam, tau, theta : float
        Weight of |w|^2 / 2, primal step, extrapolation.
    n, m : int
        Rows of all data and of the minibatch.
    """
    c = lam + 1.0 / tau
    keep, extra = 1.0 / (tau * c), 1.0 / m - 1.0 / n
    S, e = numbers[BASE], numbers[EXTRA]
    for side in range(2):
        numbers[A + side] -= change[side] / n
    bq = 0.0
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        q = (S * numbers[G_M + side] + e * numbers[U_M + side]) / tau
        q -= numbers[U_M + side] + across[side] / m
        for other in range(2):
            mixed = numbers[F + other] / tau - (numbers[A + other] - extra * change[other])
            q += mixed * gram[other, side]
        bq += sign * (q - gram[2, side])
    pull = bq / (c * (c + gram[2, 2])) + 1.0 / c  # multiple of b taken from w, that of q included
    share = (-keep * e / n - extra / c) / (keep * S)
    numbers[BASE], numbers[EXTRA] = keep * S, keep * e - 1.0 / c
    numbers[AHEAD_BASE] = (1.0 + theta) * numbers[BASE] - theta * S
    numbers[AHEAD_EXTRA] = (1.0 + theta) * numbers[EXTRA] - theta * e
    numbers[AHEAD_LAST] = -theta * extra * tau
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        f = numbers[F + side]
        new = keep * f - (numbers[A + side] - extra * change[side]) / c - sign * pull
        numbers[F + side] = new
        numbers[AHEAD_F + side] = (1.0 + theta) * new - theta * f
        numbers[G_M + side] += share * across[side]
        numbers[U_M + side] += across[side] / n
        numbers[D_M + side] = across[side]
    numbers[TIME] += 1.0
    return share


@kernel
def add(X, i, rise, share, n, cells, numbers):
    """Add a multiple of the CSR row i to D, and its shares to g and U."""
    time = numbers[TIME]
    to_g, to_u = share * rise, rise / n
    for k in range(np.uintp(X.indptr[i]), np.uintp(X.indptr[i + 1])):
        j, x = X.indices[k], np.float64(X.data[k])
        cells[j, 0] += to_g * x
        cells[j, 1] += to_u * x
        cells[j, 2] = cells[j, 2] * (cells[j, 3] == time) + rise * x
        cells[j, 3] = time


@kernel
def tidy(cells, numbers, means):
    """Fold S g + e U into g when S is small, and every so many iterations."""
    S, e = numbers[BASE], numbers[EXTRA]
    d = cells.shape[0]
    if S >= SMALLEST_SCALE and numbers[TIME] % max(REFRESH, d) != 0.0:
        return
    numbers[AHEAD_BASE] /= S
    numbers[AHEAD_EXTRA] -= numbers[AHEAD_BASE] * e
    numbers[BASE], numbers[EXTRA] = 1.0, 0.0
    numbers[G_M : G_M + 4] = 0.0
    for j in range(d):
        g, u = S * cells[j, 0] + e * cells[j, 1], cells[j, 1]
        cells[j, 0] = g
        for side in range(2):
            numbers[G_M + side] += g * means[side, j]
            numbers[U_M + side] += u * means[side, j]
