"""Derivatives of a loss over all pairs for boosters, in a tenth of the time of a round.

Once a round, a booster needs the first two derivatives by the scores of all rows, but neither the value nor
ten digits. Two ways are fast enough:

- A piecewise quadratic loss with knots: the scores of negatives are sorted together with those of positives
  shifted by each knot. A negative after a shifted positive is a pair below the knot. Exact for scores
  rounded to 9 digits of their range or of the largest knot.
- Any other loss: the scores lie in cells of one width, the slope is interpolated by polynomials of degree 5
  between the ends of cells, and the sums over pairs of ends are convolutions by the fast Fourier transform.
  The error of the polynomials is measured between the ends. Cells are halved until the error of the mean
  slope of any row is at most `ACCURACY` of the mean slope of all rows. O(n), without sorting.

Where `MOST_CELLS` are too wide, as for scores far apart, `kernels.pair_loss` takes over.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from aucbench.kernels._all_pairs import least_curvature, second_derivatives
from aucbench.kernels.compiled_loss import call, compile_loss
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.loss_pieces import Knot, Piece, knots
from aucbench.kernels.pair_loss import class_shares, pair_mean

LEAST_CURVATURE = 1e-3  # least curvature of a row, as a share of its weight: bounds the values of leaves
ACCURACY = 1e-8  # largest error of a row's mean slope, relative to the mean absolute slope of all rows
ROUNDING = 1e-14  # rounding error of a convolution, relative to the largest slope
FEW_CELLS, MOST_CELLS = 32, 8192
NARROW = 2.0**-10  # width of a cell when all scores are equal
SAMPLE = 4096  # rows that estimate the mean margin

NODES = 6  # nodes of a polynomial around a cell: the ends 0 and 1 of the cell, and two on either side
# (power, node) coefficients of the polynomials that are 1 at one of the nodes -2, ..., 3 and 0 at the others.
POLYNOMIALS = np.linalg.inv(np.vander(np.arange(-2.0, 4.0), increasing=True))

_Derivatives = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], tuple[np.ndarray, np.ndarray]]


def booster_derivatives(loss: Any) -> _Derivatives:
    """First and second derivatives by the scores of n times the mean of a loss over all pairs.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.

    Returns
    -------
    callable
        Function of (scores, y, weights): (n,) float64 finite decision values; (n,) int8 labels in {-1, 1}, of
        both classes; and None or (n,) float64 weights >= 0, with a positive sum in each class. It returns two
        (n,) float32 arrays, the type that boosters store:

        - the gradient, with an error of at most `ACCURACY` times the mean absolute slope, times n and the
          row's share of its class;
        - the diagonal of the Hessian, or `LEAST_CURVATURE` n times the row's share of its class if this is
          larger; n times the share if the diagonal is 0.
    """
    last, below = knots(loss) or (None, ())

    def derivatives(
        scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        if last is not None and below:
            return _by_knots(last, below, scores, y, weights)
        result = _by_cells(loss, scores, y, weights)
        if result is not None:
            return result
        mean, shares = pair_mean(loss, scores, y, weights), class_shares(y, weights)
        diagonal = mean.curvature.diagonal
        floor = LEAST_CURVATURE * shares if diagonal.any() else shares
        result = y.size * mean.slopes, y.size * np.maximum(diagonal, floor)
        return result[0].astype(np.float32), result[1].astype(np.float32)

    return derivatives


def _by_knots(
    last: Piece, all_knots: tuple[Knot, ...], scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    low = float(scores.min())
    if last.c1 or last.c2:  # the last piece ends below a knot that no margin reaches
        beyond = float(scores.max()) - low + 1.0
        all_knots = (*all_knots, Knot(beyond, last.slope(beyond), 2.0 * last.c2))
    terms = np.array(all_knots)
    row_bits = int(scores.size).bit_length()
    bits = row_bits + len(all_knots).bit_length()
    keys = _keys(scores, y, terms[:, 0], low - max(0.0, terms[:, 0].max()), row_bits, bits)
    keys.sort()
    gradient, curvature, is_curved = _sums_of_knots(keys, terms, y, weights, row_bits, bits)
    return gradient, curvature if is_curved else curvature / np.float32(LEAST_CURVATURE)


def _by_cells(
    loss: Any, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """The derivatives by cells; None if the narrowest cells are too wide."""
    compiled = compile_loss(loss)
    least = least_curvature(loss)
    low, high = float(scores.min()), float(scores.max())
    # An estimate of the mean slope, used until the cells are computed.
    size = abs(loss.derivative(_margin(scores, y, 1 + y.size // SAMPLE), compiled.theta))
    cells = FEW_CELLS
    while cells <= MOST_CELLS:
        width, ends = (high - low) / cells or NARROW, cells + NODES
        slopes, error = _slopes(compiled.derivative, compiled.theta, width, ends)
        if not error < np.inf:
            return None
        if error <= ACCURACY * size:
            moments = _moments(scores, y, weights, low, 1.0 / width, cells + 1)
            shares, totals = _shares(moments, POLYNOMIALS)
            margins = (np.arange(slopes.size) - (ends - 1)) * width
            bends = second_derivatives(margins, np.zeros(1), compiled.derivative, compiled.theta, least)[:, 0]
            sums = _convolved(np.stack([slopes, bends]), shares)
            size = float(np.abs(sums[0, 0]) @ np.abs(shares[0]))
            if error <= ACCURACY * size:
                is_curved = np.abs(sums[0, 1]) @ np.abs(shares[0]) > ROUNDING * np.abs(bends).max()
                floor, factors = LEAST_CURVATURE if is_curved else 1.0, y.size / totals
                polynomials = _polynomials(sums, POLYNOMIALS)
                return _evaluate(scores, y, weights, low, 1.0 / width, polynomials, factors, floor)
        cells *= 2
    return None


def _convolved(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(2, 2, k) sums of values by distance (2, 2 k - 1) over the other class, at each end of a cell."""
    count = shares.shape[1]
    size = 1 << (3 * count).bit_length()  # so that no sum wraps around
    circular = np.zeros((2, size))
    circular[:, :count], circular[:, 1 - count :] = values[:, count - 1 :], values[:, : count - 1]
    of_values, of_shares = np.fft.rfft(circular), np.fft.rfft(shares, size)
    products = np.stack([of_values * of_shares[1], of_values.conj() * of_shares[0]])
    products[1, 0] *= -1.0  # the margin falls with the score of a negative
    return np.asarray(np.fft.irfft(products, size)[..., :count])


@fast_kernel
def _keys(scores, y, shifts, least, row_bits, bits):
    """Integers in the order of the scores above `least`: negatives, and positives minus each of the shifts.

    The last bits hold the row and, for positives, the number of the shift, from 1 on. A negative therefore
    comes before an equal positive.
    """
    n = scores.size
    keys = np.empty(n + np.count_nonzero(y == 1) * (shifts.size - 1) + 1, np.int64)
    shifted = keys.view(np.float64)
    for i in range(n):
        shifted[i] = (scores[i] - shifts[0] * (y[i] == 1)) - least
    for i in range(n):  # the bits of numbers >= 0 have the same order as the numbers
        keys[i] = ((keys[i] >> bits) << bits) | ((y[i] == 1) << row_bits) | i
    end = n
    for k in range(1, shifts.size):
        for i in range(n):
            shifted[end] = (scores[i] - shifts[k]) - least
            keys[end] = ((keys[end] >> bits) << bits) | ((k + 1) << row_bits) | i
            end += y[i] == 1
    return keys[:end]


@fast_kernel
def _sums_of_knots(keys, knots, y, weights, row_bits, bits):
    """Both derivatives from sorted keys, and whether any second derivative is not 0.

    A knot adds jump + bend (m - at) to the slope at margins m < at. Knots ascend.
    """
    n, several = y.size, len(knots) > 1
    shifted, codes = keys.view(np.float64), np.empty(keys.size, np.uint32)
    low_weight, low_total, high_weight = 0.0, 0.0, 0.0
    for e in range(keys.size):
        codes[e], keys[e] = keys[e] & ((1 << bits) - 1), (keys[e] >> bits) << bits
    for e in range(keys.size):
        if codes[e] < (1 << row_bits):
            weight = 1.0 if weights is None else weights[codes[e]]
            low_weight += weight
            low_total += weight * shifted[e]
    for i in range(n):
        high_weight += (y[i] == 1) * (1.0 if weights is None else weights[i])
    factor, is_curved = n / (low_weight * high_weight), False
    gradient, curvature = np.empty(n, np.float32), np.empty(n, np.float32)
    sums = np.zeros((n if several else 0, 2))  # sums of positives at all knots but the last
    above, total = low_weight, low_total  # sums over the negatives that are not below
    jumps, bends, bent = 0.0, 0.0, 0.0  # weighted sums over the positives below; `bent` times the score
    for e in range(keys.size):
        at, k, row = shifted[e], codes[e] >> row_bits, codes[e] & ((1 << row_bits) - 1)
        weight = 1.0 if weights is None else weights[row]
        if k == 0:
            sign, other_weight, first, second = -1.0, high_weight, jumps + (bent - at * bends), bends
            above -= weight
            total -= weight * at
        else:
            _, jump, bend = knots[k - 1]
            sign, other_weight = 1.0, low_weight
            first, second = jump * above + bend * (at * above - total), bend * above
            jumps += jump * weight
            bends += bend * weight
            bent += bend * weight * at
            if several:
                row_sums = sums[row]
                row_sums[0] += first
                row_sums[1] += second
                first, second = row_sums[0], row_sums[1]
        if k <= 1:  # the lowest knot of a positive comes last
            is_curved |= second > ROUNDING * other_weight
            gradient[row] = sign * factor * weight * first
            curvature[row] = factor * weight * max(second, LEAST_CURVATURE * other_weight)
    return gradient, curvature, is_curved


@kernel
def _margin(scores, y, step):
    """The difference of the means of both classes in every `step`-th row; 0 if a class has no such row."""
    total, count = np.zeros(2), np.zeros(2)
    for i in range(0, scores.size, step):
        total[np.uint32(y[i] != 1)] += scores[i]
        count[np.uint32(y[i] != 1)] += 1.0
    return total[0] / count[0] - total[1] / count[1] if count.all() else 0.0


@kernel
def _slopes(derivative, theta, width, ends):
    """Slopes at the margins of all pairs of ends of cells, and the error of mean slopes.

    A polynomial through six ends is worst in their middle. Both scores of a pair are interpolated, and the
    second polynomial enlarges the error of the first one 1.4 times at most.
    """
    slopes, error, largest = np.empty(2 * ends - 1), 0.0, 0.0
    for k in range(slopes.size):
        slopes[k] = call(derivative, (k - (ends - 1)) * width, theta)
        largest = max(largest, abs(slopes[k]))
        if not largest < np.inf:
            return slopes, np.inf
    for k in range(2, slopes.size - 3):
        inner, outer = slopes[k] + slopes[k + 1], slopes[k - 1] + slopes[k + 2]
        between = (150.0 * inner - 25.0 * outer + 3.0 * (slopes[k - 2] + slopes[k + 3])) / 256.0
        error = max(error, abs(call(derivative, (k + 0.5 - (ends - 1)) * width, theta) - between))
    return slopes, 2.4 * error + ROUNDING * largest


@fast_kernel
def _moments(scores, y, weights, low, per_width, cells):
    """(2, cells, nodes) sums of w u^r of both classes, with u the position in a cell, from 0 to 1."""
    moments = np.zeros((2 * cells, NODES))
    for i in range(scores.size):
        t = (scores[i] - low) * per_width
        k = np.uint32(t)
        u, term = t - k, 1.0 if weights is None else weights[i]
        sums = moments[k + np.uint32(cells) * np.uint32(y[i] != 1)]
        for power in range(NODES):
            sums[power] += term
            term *= u
    return moments.reshape(2, cells, NODES)


@fast_kernel
def _shares(moments, polynomials):
    """(2, ends) shares of both classes at the ends of cells, and (2,) the sums of their weights."""
    cells = moments.shape[1]
    shares, totals = np.zeros((2, cells + NODES - 1)), np.zeros(2)
    for c in range(2):
        for k in range(cells):
            totals[c] += moments[c, k, 0]
        for k in range(cells):
            for node in range(NODES):
                for power in range(NODES):
                    shares[c, k + node] += polynomials[power, node] * moments[c, k, power] / totals[c]
    return shares, totals


@fast_kernel
def _polynomials(sums, polynomials):
    """(2, cells, nodes, 2) coefficients of the polynomials through sums (2, 2, ends) at the ends of cells."""
    cells = sums.shape[2] - NODES + 1
    coeffs = np.zeros((2, cells, NODES, 2))
    for c in range(2):
        for k in range(cells):
            for order in range(2):
                for power in range(NODES):
                    for node in range(NODES):
                        coeffs[c, k, power, order] += polynomials[power, node] * sums[c, order, k + node]
    return coeffs


@fast_kernel
def _evaluate(scores, y, weights, low, per_width, polynomials, factors, floor):
    """Both derivatives at each row's score by polynomials (2, cells, nodes, 2), times weight and factor.

    The second derivative is at least `floor` times weight and factor.
    """
    cells = polynomials.shape[1]
    flat = polynomials.reshape(2 * cells, NODES, 2)
    gradient, curvature = np.empty(scores.size, np.float32), np.empty(scores.size, np.float32)
    for i in range(scores.size):
        t = (scores[i] - low) * per_width
        k = np.uint32(t)
        u, factor = t - k, factors[np.uint32(y[i] != 1)]
        if weights is not None:
            factor *= weights[i]
        c = flat[k + np.uint32(cells) * np.uint32(y[i] != 1)]
        first, second = c[NODES - 1, 0], c[NODES - 1, 1]
        for power in range(NODES - 2, -1, -1):
            first, second = c[power, 0] + u * first, c[power, 1] + u * second
        gradient[i], curvature[i] = factor * first, factor * max(floor, second)
    return gradient, curvature
