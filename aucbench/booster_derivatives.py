"""Derivatives of a loss over all pairs as a booster takes them, in a tenth of the time of a round.

A booster asks once a round for the first two derivatives by the scores of all rows, and neither for the value
nor for ten digits. Two ways are fast enough:

- A piecewise quadratic loss with knots: rows are sorted once, and for each knot two pointers move over both
  classes. Exact for scores rounded to 10 digits of their range or more.
- Any other loss: the scores lie in cells of one width, the slope is interpolated by a cubic polynomial
  between the ends of cells, and the sums over pairs of ends are convolutions by the fast Fourier transform.
  The error of the polynomials is measured between the ends. Cells are halved until the error of the mean
  slope of any row is at most `ACCURACY` of the mean slope of all rows. O(n), without sorting.

Where `MOST_CELLS` are too wide, as for scores far apart, `kernels.pair_loss` takes over.
"""

from typing import Any

import numpy as np

from aucbench.contracts import LossFacts
from aucbench.kernels.compiled_loss import call, compile_loss
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.loss_pieces import Knot, Piece, knots
from aucbench.kernels.pair_loss import class_shares, pair_mean
from aucbench.kernels.pair_tree import second

LEAST_CURVATURE = 1e-3  # of a row, as a share of its weight: bounds the values of leaves
ACCURACY = 1e-8  # largest error of a row's mean slope, relative to the mean absolute slope of all rows
ROUNDING = 1e-14  # of a convolution, relative to the largest slope
FEW_CELLS, MOST_CELLS = 32, 8192
NARROW = 2.0**-10  # width of a cell when all scores are equal

# (power, node) coefficients of the cubics that are 1 at one of the nodes -1, 0, 1, 2 and 0 at the others.
CUBICS = np.array([[0, 6, 0, 0], [-2, -3, 6, -1], [3, -6, 3, 0], [-1, 3, -3, 1]]) / 6.0


def booster_derivatives(
    loss: Any, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives by the scores of n times the mean of a loss over all pairs.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.
    scores : (n,) float64 array
        Finite decision values.
    y : (n,) int8 array
        Labels in {-1, 1}, of both classes.
    weights : (n,) float64 array, optional
        Weights >= 0 of the rows, with a positive sum in each class; 1 by default.

    Returns
    -------
    gradient : (n,) float32 array
        The type in which boosters keep it. The error is at most `ACCURACY` times the mean absolute slope,
        times n and the row's share of its class.
    curvature : (n,) float32 array
        The diagonal of the Hessian, or `LEAST_CURVATURE` n times the row's share of its class if that is
        larger; n times the share if the diagonal is 0.
    """
    structure = knots(loss)
    if structure is not None and structure[1]:
        return _by_knots(*structure, scores, y, weights)
    found = _by_cells(loss, scores, y, weights)
    if found is not None:
        return found
    mean, shares = pair_mean(loss, scores, y, weights), class_shares(y, weights)
    diagonal = mean.curvature.diagonal
    floor = LEAST_CURVATURE * shares if diagonal.any() else shares
    found = y.size * mean.slopes, y.size * np.maximum(diagonal, floor)
    return found[0].astype(np.float32), found[1].astype(np.float32)


def _by_knots(
    last: Piece, found: tuple[Knot, ...], scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    bits, positives = 1 + int(scores.size).bit_length(), int(np.count_nonzero(y == 1))
    keys = _keys(scores, y, float(scores.min()), bits)
    keys.sort()
    rows, ascending = _split(keys, bits, positives)
    own = np.ones(1) if weights is None else weights[rows]
    pieces = last.c1, 2.0 * last.c2, np.array(found)
    gradient, curvature, is_curved = _sums_of_pieces(*pieces, rows, ascending, own, positives)
    return gradient, curvature if is_curved else curvature / np.float32(LEAST_CURVATURE)


def _by_cells(
    loss: Any, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """The derivatives by cells; None if the narrowest are too wide."""
    compiled = compile_loss(loss)
    least = -np.inf if LossFacts(loss).convex is False else 0.0
    low, high, margin = _range(scores, y)
    size = abs(loss.derivative(margin, compiled.theta))  # an estimate of the mean, until cells give it
    cells = FEW_CELLS
    while cells <= MOST_CELLS:
        width, ends = (high - low) / cells or NARROW, cells + 4
        slopes, error = _slopes(compiled.derivative, compiled.theta, width, ends)
        if not error < np.inf:
            return None
        if error <= ACCURACY * size:
            moments = _moments(scores, y, weights, low, 1.0 / width, cells + 1)
            totals = moments[:, :, 0].sum(axis=1)
            shares = np.zeros((2, ends))
            for k in range(4):
                shares[:, k : k + cells + 1] += moments @ CUBICS[:, k] / totals[:, None]
            first = _convolved(slopes, shares)
            size = float(np.abs(first[0]) @ np.abs(shares[0]))
            if error <= ACCURACY * size:
                bends = _bends(compiled.derivative, compiled.theta, width, ends, least)
                second_sums = _convolved(bends, shares)
                sums = np.stack([first * [[1.0], [-1.0]], second_sums], axis=1)
                around = np.lib.stride_tricks.sliding_window_view(sums, 4, axis=2).swapaxes(1, 2)
                is_curved = np.abs(second_sums[0]) @ np.abs(shares[0]) > ROUNDING * np.abs(bends).max()
                cubics, floor = np.ascontiguousarray(around @ CUBICS.T), LEAST_CURVATURE if is_curved else 1.0
                return _evaluate(scores, y, weights, low, 1.0 / width, cubics, y.size / totals, floor)
        cells *= 2
    return None


def _convolved(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(2, k) sums of values by distance (2 k - 1,) over the other class, at each end of a cell."""
    count = shares.shape[1]
    size = 4 * count  # more than 3 `count`, so that no sum wraps around
    circular = np.zeros(size)
    circular[:count], circular[1 - count :] = values[count - 1 :], values[: count - 1]
    of_values, of_shares = np.fft.rfft(circular), np.fft.rfft(shares, size)
    products = np.stack([of_values * of_shares[1], of_values.conj() * of_shares[0]])
    return np.asarray(np.fft.irfft(products, size)[:, :count])


@kernel
def _keys(scores, y, least, bits):
    """Integers in the order of the scores above the least one, with row and class in their last bits."""
    keys = (scores - least).view(np.int64)  # the bits of numbers >= 0 are in their order
    for i in range(keys.size):
        keys[i] = ((keys[i] >> bits) << bits) | (i << 1) | (y[i] > 0)
    return keys


@kernel
def _split(keys, bits, positives):
    """Rows and scores from sorted keys, positives first."""
    rows, ascending = np.empty(keys.size, np.uint32), np.empty(keys.size)
    scores = ascending.view(np.int64)
    pos, neg, mask = 0, positives, (1 << bits) - 1
    for k in range(keys.size):
        key = keys[k]
        is_positive = key & 1
        place = pos if is_positive else neg
        pos += is_positive
        neg += 1 - is_positive
        rows[place], scores[place] = (key & mask) >> 1, (key >> bits) << bits
    return rows, ascending


@fast_kernel
def _sums_of_pieces(slope, bend, found, rows, ascending, weights, positives):
    """Both derivatives for a last piece and the knots below it; whether any second derivative is not 0."""
    high, low = ascending[:positives], ascending[positives:]
    step = 0 if weights.size == 1 else 1
    high_weight, high_sum, low_weight, low_sum = 0.0, 0.0, 0.0, 0.0
    for i in range(high.size):
        high_weight += weights[step * i]
        high_sum += weights[step * i] * high[i]
    for j in range(low.size):
        low_weight += weights[step * (positives + j)]
        low_sum += weights[step * (positives + j)] * low[j]
    factor, is_curved = rows.size / (high_weight * low_weight), False
    gradient, curvature = np.empty(rows.size, np.float32), np.empty(rows.size, np.float32)
    # A knot adds jump + more (m - at) for margins m below `at`: weights and weighted scores of such partners.
    weight, total, reached = (
        np.full(len(found), low_weight),
        np.full(len(found), low_sum),
        np.zeros(len(found), np.uint32),
    )
    for i in range(high.size):
        first = slope * low_weight + bend * (high[i] * low_weight - low_sum)
        second = bend * low_weight
        for k in range(len(found)):
            at, jump, more = found[k]
            j = reached[k]
            while j < low.size and high[i] - low[j] >= at:
                weight[k] -= weights[step * (positives + j)]
                total[k] -= weights[step * (positives + j)] * low[j]
                j += 1
            reached[k] = j
            first += jump * weight[k] + more * ((high[i] - at) * weight[k] - total[k])
            second += more * weight[k]
        own, row = factor * weights[step * i], rows[i]
        is_curved |= second > 0.0
        gradient[row], curvature[row] = own * first, own * max(second, LEAST_CURVATURE * low_weight)
    weight[:], total[:] = 0.0, 0.0
    reached[:] = 0
    for j in range(low.size):
        first = slope * high_weight + bend * (high_sum - low[j] * high_weight)
        second = bend * high_weight
        for k in range(len(found)):
            at, jump, more = found[k]
            i = reached[k]
            while i < high.size and high[i] - low[j] < at:
                weight[k] += weights[step * i]
                total[k] += weights[step * i] * high[i]
                i += 1
            reached[k] = i
            first += jump * weight[k] + more * (total[k] - (low[j] + at) * weight[k])
            second += more * weight[k]
        own, row = factor * weights[step * (positives + j)], rows[positives + j]
        is_curved |= second > 0.0
        gradient[row], curvature[row] = -own * first, own * max(second, LEAST_CURVATURE * high_weight)
    return gradient, curvature, is_curved


@fast_kernel
def _range(scores, y):
    """The lowest and the highest score, and the difference of the means of both classes."""
    low, high, total, of_positives, positives = scores[0], scores[0], 0.0, 0.0, 0
    for i in range(scores.size):
        low, high = min(low, scores[i]), max(high, scores[i])
        total += scores[i]
        of_positives += scores[i] * (y[i] > 0)
        positives += y[i] > 0
    return low, high, of_positives / positives - (total - of_positives) / (scores.size - positives)


@kernel
def _slopes(derivative, theta, width, ends):
    """Slopes at the margins of all pairs of ends of cells, and the error of mean slopes.

    A cubic through four ends is worst in their middle. Both scores of a pair are interpolated, and the second
    cubic enlarges the error of the first one 1.25 times at most.
    """
    slopes, error, largest = np.empty(2 * ends - 1), 0.0, 0.0
    for k in range(slopes.size):
        slopes[k] = call(derivative, (k - (ends - 1)) * width, theta)
        largest = max(largest, abs(slopes[k]))
        if not largest < np.inf:
            return slopes, np.inf
    for k in range(1, slopes.size - 2):
        between = (9.0 * (slopes[k] + slopes[k + 1]) - slopes[k - 1] - slopes[k + 2]) / 16.0
        error = max(error, abs(call(derivative, (k + 0.5 - (ends - 1)) * width, theta) - between))
    return slopes, 2.25 * error + ROUNDING * largest


@kernel
def _bends(derivative, theta, width, ends, least):
    """Second derivatives at the margins of all pairs of ends of cells, at least `least`."""
    found = np.empty(2 * ends - 1)
    for k in range(found.size):
        found[k] = second(derivative, (k - (ends - 1)) * width, theta, least)
    return found


@fast_kernel
def _moments(scores, y, weights, low, per_width, cells):
    """(2, cells, 4) sums of w u^r of both classes, with u the position in a cell, from 0 to 1."""
    found = np.zeros((2 * cells, 4))
    for i in range(scores.size):
        t = (scores[i] - low) * per_width
        k = np.uint32(t)
        u = t - k
        own = 1.0 if weights is None else weights[i]
        sums = found[k + np.uint32(cells) * np.uint32(y[i] != 1)]
        sums[0] += own
        sums[1] += own * u
        sums[2] += own * (u * u)
        sums[3] += own * (u * u * u)
    return found.reshape(2, cells, 4)


@fast_kernel
def _evaluate(scores, y, weights, low, per_width, cubics, factors, floor):
    """Both derivatives at each row's score by cubics (2, cells, order, 4), times its weight and a factor.

    The second one is at least `floor` times both.
    """
    cells = cubics.shape[1]
    flat = cubics.reshape(2 * cells, 8)
    gradient, curvature = np.empty(scores.size, np.float32), np.empty(scores.size, np.float32)
    for i in range(scores.size):
        t = (scores[i] - low) * per_width
        k = np.uint32(t)
        u = t - k
        own = factors[np.uint32(y[i] != 1)]
        if weights is not None:
            own *= weights[i]
        c = flat[k + np.uint32(cells) * np.uint32(y[i] != 1)]
        gradient[i] = own * (c[0] + u * (c[1] + u * (c[2] + u * c[3])))
        curvature[i] = own * max(floor, c[4] + u * (c[5] + u * (c[6] + u * c[7])))
    return gradient, curvature
