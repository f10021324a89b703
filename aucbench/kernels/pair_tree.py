"""Sums of any function of the margin over all pairs, in about O(n log n): polynomials between intervals.

Scores lie in a binary tree of intervals whose widths are powers of 2. For two intervals A and B of width h,
the margins s+ - s- of pairs in A x B lie in an interval of width 2 h. Where a polynomial of degree 11 is as
good as the function there, the sum over A x B needs only the moments of both intervals. Elsewhere the halves
of A and B are tried, and few pairs are visited one by one. This is the fast multipole method on a line, with
polynomials of the function itself (Fong, Darve, Journal of Computational Physics 2009).

The polynomials are Chebyshev series of 24 samples, cut after 12 terms. The sum of the coefficients left out
bounds the error. It is at most `TOLERANCE` of the function's smallest absolute value in the interval, or
`TOLERANCE` x `FLOOR` of a scale, which a caller compares with the result. A function may have kinks:
intervals around a kink are halved until they have few pairs.

A position in an interval is an exact multiple of its width, so that the precision of a margin depends
neither on the range of the scores nor on their distance from 0. For a positive at x = (s+ - centre) / h and a
negative at x = -(s- - centre) / h, the margin is D h + h (x+ + x-), where D h is the distance of the centres.
Moments are sums of w x^r / r!, and polynomials have coefficients c[q] of z^q / q!. The expansion in x+ of the
sum over negatives then has the coefficients: sum over r of c[s + r] moment[r].
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aucbench.errors import ParameterError
from aucbench.kernels.compiled_loss import CompiledLoss, call
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.sorted_pairs import Ranking, rank

TERMS = 12  # of the polynomials
SAMPLES = 24  # from which their coefficients come
TOLERANCE = 1e-12
FLOOR = 1e-4
NOISE = 2e-14  # coefficients left out, as a share of the largest value, that are rounding errors
FEW_PAIRS = 16  # so many pairs are visited one by one, wherever they lie
FEW_SUMS = 64  # and so many, where no polynomial is good enough
LEVELS = 54  # of halved intervals; float64 does not resolve more
REACH = 2048  # distance of intervals up to which a polynomial is kept
CELLS = 1024  # between the lowest and the highest score
NEAR = 8.0  # within this distance from the margin 0, wider intervals are always halved
WIDE = 0.25  # least width of the first intervals; derivatives of polynomials over narrow ones are imprecise
BLOCK = 256  # rows whose powers are computed together
BESIDE = 2.0**-13  # step of a numeric second derivative

_K = np.arange(SAMPLES)
_ENDS = np.where((_K == 0) | (_K == SAMPLES - 1), 0.5, 1.0)
POINTS = np.cos(np.pi * _K / (SAMPLES - 1))  # Chebyshev points of an interval, both ends among them
SERIES = np.cos(np.pi * np.outer(_K, _K) / (SAMPLES - 1)) * _ENDS * _ENDS[:, None] * 2.0 / (SAMPLES - 1)
# (TERMS, TERMS) coefficients of z^q / q! of the Chebyshev polynomials.
POWERS = np.array(
    [
        np.pad(np.polynomial.chebyshev.cheb2poly(np.eye(TERMS)[k]), (0, TERMS - 1))[:TERMS]
        * [math.factorial(q) for q in range(TERMS)]
        for k in range(TERMS)
    ]
)
FACTORIALS = np.array([float(math.factorial(q)) for q in range(TERMS)])


class Tree(NamedTuple):
    """Intervals of scores, parents first; each has the rows of a range of both classes, by rank."""

    top: float  # width of the intervals at level 0
    levels: np.ndarray  # (nodes,)
    cells: np.ndarray  # (nodes,) lower ends, in widths
    rows: np.ndarray  # (nodes, 4) first and last positive, first and last negative; the last ones excluded
    children: np.ndarray  # (nodes, 2) -1 where there is none


class Plan(NamedTuple):
    """How all pairs are summed."""

    far: np.ndarray  # (f, 3) interval of positives, interval of negatives, polynomial
    near: np.ndarray  # (g, 2) intervals whose pairs are visited one by one
    polynomials: np.ndarray  # (p, 2, TERMS) coefficients of the function and of its derivative


class Weighted(NamedTuple):
    """Weights of the rows of both classes, by rank."""

    high: np.ndarray  # (n+,)
    low: np.ndarray  # (n-,)
    high_moments: np.ndarray  # (nodes, TERMS)
    low_moments: np.ndarray  # (nodes, TERMS)


class UnorderedError(Exception):
    """Rows are in order of cells that are too wide."""


def in_cells(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[Ranking, float]:
    """Both classes in ascending order of cells of scores, and the width of the cells.

    This takes a quarter of the time of sorting, and most trees need no narrower intervals.
    """
    low, high = float(scores.min()), float(scores.max())
    if not high - low < math.inf:
        return rank(scores, y, weights), 0.0
    width = math.ldexp(1.0, max(math.frexp((high - low) / CELLS)[1], -1022))
    rows, ordered, own = _in_cells(scores, y, weights, float(math.floor(low / width)), width)
    positives = int(np.count_nonzero(y == 1))
    sides = slice(None, positives), slice(positives, None)
    return Ranking(*(each[side] for each in (rows, ordered, own) for side in sides)), width


class PairSums:
    """Sums over all pairs of a loss, its first and its second derivative.

    Parameters
    ----------
    compiled : CompiledLoss
        The loss.
    ranking : Ranking
        Both classes, with weights, in ascending order of their scores, or of cells of scores.
    cell : float
        Width of the cells, a power of 2; 0 if rows are in order within them.
    scales : (float, float)
        Scales of the loss and of its derivative; errors of `TOLERANCE` x `FLOOR` of them do not matter.
    most_pairs : int
        Limit of the pairs that are visited one by one.
    least : float
        Smallest second derivative; 0 of a convex loss.

    Raises
    ------
    UnorderedError
        Narrower cells are needed.
    ParameterError
        More pairs would have to be visited one by one.
    """

    def __init__(
        self,
        compiled: CompiledLoss,
        ranking: Ranking,
        cell: float,
        scales: Sequence[float],
        most_pairs: int,
        least: float = -math.inf,
    ):
        high, low, high_weights, low_weights = ranking[2:]
        assert high_weights is not None
        assert low_weights is not None
        self._compiled, self._high, self._low, self._least = compiled, high, low, least
        top = max(WIDE, cell)
        for end in (high[0], high[-1], low[0], low[-1]):
            top = max(top, math.ldexp(1.0, min(math.frexp(abs(end) + cell)[1], 1023)))  # greater than |end|
        given = (compiled.value, compiled.derivative, compiled.theta, *scales)
        *tree, far, near, polynomials, pairs = _plan(*given, high, low, top, cell, float(most_pairs))
        if pairs > most_pairs:
            raise ParameterError(f"more than {most_pairs:,} pairs would have to be visited one by one")
        if pairs < 0.0:
            raise UnorderedError
        self._tree, self._plan = Tree(top, *tree), Plan(far, near, polynomials)
        self.own = self.weighted(high_weights, low_weights)

    def weighted(self, high_weights: np.ndarray, low_weights: np.ndarray) -> Weighted:
        """Weights of the rows of both classes, with their moments."""
        return Weighted(
            high_weights,
            low_weights,
            _moments(self._tree, self._high, high_weights, 0),
            _moments(self._tree, self._low, low_weights, 1),
        )

    def value(self, weights: Weighted) -> float:
        """The weighted sum of the loss."""
        compiled, sides = self._compiled, (self._high, self._low, weights.high, weights.low)
        far = _far_value(self._plan, weights.high_moments, weights.low_moments)
        return float(far + _near_value(self._tree, self._plan, *sides, compiled.value, compiled.theta))

    def fields(self, weights: Weighted, order: int) -> tuple[np.ndarray, np.ndarray]:
        """(n+,) and (n-,) weighted sums of a derivative, of order 1 or 2, over the pairs of each row.

        The weights are those of the other row of a pair.
        """
        tree, plan, compiled = self._tree, self._plan, self._compiled
        expansions = _far_fields(tree, plan, weights.high_moments, weights.low_moments, order)
        found = np.empty(self._high.size), np.empty(self._low.size)
        for side, scores in enumerate((self._high, self._low)):
            _evaluate(tree, scores, expansions[side], side, found[side])
        sides = (self._high, self._low, weights.high, weights.low)
        _near_fields(tree, plan, *sides, compiled.derivative, compiled.theta, order, self._least, *found)
        return found


@kernel
def _fit(value, slope, theta, scale, slope_scale, middle, half, found):
    """Fill the coefficients of the loss and of its derivative near a margin; whether they are good enough."""
    if half > 0.5 * NEAR and abs(middle) < half + NEAR:
        return False
    samples, kept = np.empty(SAMPLES), np.empty(TERMS)
    for which in range(2):
        address, size = (value, scale) if which == 0 else (slope, slope_scale)
        least, most = np.inf, 0.0
        for j in range(SAMPLES):
            samples[j] = call(address, middle + half * POINTS[j], theta)
            least, most = min(least, abs(samples[j])), max(most, abs(samples[j]))
        lost = 0.0
        for k in range(SAMPLES):
            total = 0.0
            for j in range(SAMPLES):
                total += SERIES[k, j] * samples[j]
            if k < TERMS:
                kept[k] = total
            else:
                lost += abs(total)
        good = lost <= TOLERANCE * max(least, FLOOR * size)
        if not good and not (lost <= NOISE * most and lost <= TOLERANCE * size):  # NaN is not good
            return False
        found[which] = 0.0
        for k in range(TERMS):
            for q in range(k + 1):
                found[which, q] += kept[k] * POWERS[k, q]
    return True


@kernel
def _polynomial(value, slope, theta, scale, slope_scale, top, level, distance, kept, polynomials, count):
    """The number of a polynomial, -1 if none is good enough; all polynomials and their count."""
    place = -1
    if abs(distance) <= REACH:
        place = int(distance) + REACH
        if kept[level, place] != 0:
            number = kept[level, place]
            return (number - 1 if number > 0 else -1), polynomials, count
    if count == len(polynomials):
        longer = np.empty((2 * count, 2, TERMS))
        longer[:count] = polynomials
        polynomials = longer
    width = top * 2.0**-level
    number = -1
    if _fit(value, slope, theta, scale, slope_scale, distance * width, width, polynomials[count]):
        number = count
        count += 1
    if place >= 0:
        kept[level, place] = number + 1 if number >= 0 else -1
    return number, polynomials, count


@kernel
def _in_cells(scores, y, weights, first, width):
    """Rows, scores and weights by class and cell."""
    # Unsigned numbers of 32 bits spare tests of negative ones, and each loop but the last two is vectorised.
    per_width, cells = 1.0 / width, np.empty(scores.size, np.uint32)
    for i in range(scores.size):
        is_negative = np.int32(y[i] != 1)
        cells[i] = np.int32(np.floor(scores[i] * per_width) - first) + np.int32(CELLS + 2) * is_negative
    counts = np.zeros(2 * (CELLS + 2), np.uint32)
    for i in range(scores.size):
        counts[cells[i]] += np.uint32(1)
    total = np.uint32(0)
    for k in range(counts.size):
        size = counts[k]
        counts[k] = total
        total += size
    rows, ordered, own = np.empty(scores.size, np.uint32), np.empty(scores.size), np.empty(scores.size)
    for i in range(scores.size):
        place = counts[cells[i]]
        counts[cells[i]] = place + np.uint32(1)
        rows[place] = i
    for k in range(scores.size):
        ordered[k], own[k] = scores[rows[k]], weights[rows[k]]
    return rows, ordered, own


@kernel
def _below(scores, start, stop, limit):
    """The first place in a range of ascending scores with a score of `limit` or more."""
    while start < stop:
        middle = (start + stop) // 2
        if scores[middle] < limit:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def _halve(high, low, width, node, count, levels, cells, rows, children):
    """Append the halves of an interval that have rows; returns their number."""
    middle = (cells[node] + 0.5) * width
    pos = _below(high, rows[node, 0], rows[node, 1], middle)
    neg = _below(low, rows[node, 2], rows[node, 3], middle)
    found = 0
    for half in range(2):
        new = count + found
        rows[new] = rows[node]
        rows[new, 1 - half], rows[new, 3 - half] = pos, neg
        if rows[new, 1] > rows[new, 0] or rows[new, 3] > rows[new, 2]:
            levels[new], cells[new] = levels[node] + 1, 2.0 * cells[node] + half
            children[new] = -1
            children[node, half] = new
            found += 1
    return found


@kernel
def _plan(value, slope, theta, scale, slope_scale, high, low, top, cell, most):
    """The arrays of a `Tree` and of a `Plan`, and the number of pairs that are visited one by one.

    The number is negative when rows are not in order within the narrowest intervals.
    """
    levels, cells = np.zeros(64, np.int64), np.zeros(64)
    rows, children = np.zeros((64, 4), np.int64), np.full((64, 2), -1, np.int64)
    cells[0], nodes = -1.0, 2
    rows[0, 1] = rows[1, 0] = _below(high, 0, high.size, 0.0)
    rows[0, 3] = rows[1, 2] = _below(low, 0, low.size, 0.0)
    rows[1, 1], rows[1, 3] = high.size, low.size
    far, fars, near, nears, pairs = np.empty((64, 3), np.int64), 0, np.empty((64, 2), np.int64), 0, 0.0
    kept, polynomials, count = np.zeros((LEVELS, 2 * REACH + 1), np.int32), np.empty((64, 2, TERMS)), 0
    stack, depth = np.empty((4 * LEVELS + 4, 2), np.int64), 4
    for k in range(4):
        stack[k, 0], stack[k, 1] = k // 2, k % 2
    while depth > 0 and pairs <= most:
        depth -= 1
        a, b = stack[depth]
        product = float(rows[a, 1] - rows[a, 0]) * float(rows[b, 3] - rows[b, 2])
        if product == 0.0:
            continue
        level, number = levels[a], -1
        if product > FEW_PAIRS:
            number, polynomials, count = _polynomial(
                value, slope, theta, scale, slope_scale, top, level, cells[a] - cells[b], kept, polynomials,
                count,
            )  # fmt: skip
        if number >= 0:
            if fars == len(far):
                far = np.append(far, np.empty_like(far)).reshape(-1, 3)
            far[fars, 0], far[fars, 1], far[fars, 2] = a, b, number
            fars += 1
        elif product <= FEW_SUMS or level == LEVELS - 1:
            if nears == len(near):
                near = np.append(near, np.empty_like(near)).reshape(-1, 2)
            near[nears, 0], near[nears, 1] = a, b
            nears += 1
            pairs += product
        else:
            for node in (a, b):
                if children[node, 0] >= 0 or children[node, 1] >= 0:
                    continue
                if nodes + 2 > levels.size:
                    levels, cells = np.append(levels, levels), np.append(cells, cells)
                    rows = np.append(rows, rows).reshape(-1, 4)
                    children = np.append(children, children).reshape(-1, 2)
                if top * 2.0 ** -(level + 1) < cell:
                    pairs = -1.0
                    depth = 0
                    break
                nodes += _halve(high, low, top * 2.0**-level, node, nodes, levels, cells, rows, children)
            for i in children[a]:
                for j in children[b]:
                    if i >= 0 and j >= 0 and pairs >= 0.0:
                        stack[depth, 0], stack[depth, 1] = i, j
                        depth += 1
    return (
        levels[:nodes], cells[:nodes], rows[:nodes], children[:nodes], far[:fars], near[:nears],
        polynomials[:count], pairs,
    )  # fmt: skip


@fast_kernel
def _moments(tree, scores, weights, side):
    """(nodes, TERMS) moments of the rows of one class: sums of w x^r / r!."""
    moments = np.zeros((tree.cells.size, TERMS))
    sign = 1.0 if side == 0 else -1.0
    x, power = np.empty(BLOCK), np.empty(BLOCK)
    for node in range(tree.cells.size - 1, -1, -1):
        per_width = 2.0 ** tree.levels[node] / tree.top
        if tree.children[node, 0] < 0 and tree.children[node, 1] < 0:
            start, stop = tree.rows[node, 2 * side], tree.rows[node, 2 * side + 1]
            for first in range(start, stop, BLOCK):
                size = min(BLOCK, stop - first)
                for i in range(size):
                    x[i] = sign * ((scores[first + i] * per_width - tree.cells[node]) - 0.5)
                    power[i] = weights[first + i]
                for r in range(TERMS):
                    total = 0.0
                    for i in range(size):
                        total += power[i]
                        power[i] *= x[i]
                    moments[node, r] += total
            for r in range(TERMS):
                moments[node, r] /= FACTORIALS[r]
        for half in range(2):
            child = tree.children[node, half]
            if child >= 0:
                offset = sign * (half - 0.5)
                for k in range(TERMS):
                    term = moments[child, k]
                    for r in range(k, TERMS):
                        moments[node, r] += term * 2.0**-r
                        term *= offset / (r - k + 1)
    return moments


@kernel
def _far_value(plan, positives, negatives):
    """The sum of the loss over the pairs of intervals that have a polynomial."""
    total = 0.0
    for k in range(len(plan.far)):
        a, b, number = plan.far[k]
        for s in range(TERMS):
            inner = 0.0
            for r in range(TERMS - s):
                inner += plan.polynomials[number, 0, s + r] * negatives[b, r]
            total += positives[a, s] * inner
    return total


@kernel
def _far_fields(tree, plan, positives, negatives, order):
    """(2, nodes, TERMS) expansions of a derivative's sums in both classes, passed down to the leaves."""
    found = np.zeros((2, tree.cells.size, TERMS))
    for k in range(len(plan.far)):
        a, b, number = plan.far[k]
        factor = 1.0 if order == 1 else 2.0 ** tree.levels[a] / tree.top
        for q in range(order - 1, TERMS):
            coefficient = factor * plan.polynomials[number, 1, q]
            q -= order - 1
            for s in range(q + 1):
                found[0, a, s] += coefficient * negatives[b, q - s]
                found[1, b, s] += coefficient * positives[a, q - s]
    for node in range(tree.cells.size):
        for half in range(2):
            child = tree.children[node, half]
            if child < 0:
                continue
            for side in range(2):
                offset = half - 0.5 if side == 0 else 0.5 - half
                for k in range(TERMS):
                    factor = 1.0
                    for s in range(k, TERMS):
                        found[side, child, k] += found[side, node, s] * 2.0**-s * factor
                        factor *= offset / (s - k + 1)
    return found


@fast_kernel
def _evaluate(tree, scores, expansions, side, found):
    """Set the sums of the rows of one class."""
    sign = 1.0 if side == 0 else -1.0
    x, total = np.empty(BLOCK), np.empty(BLOCK)
    for node in range(tree.cells.size):
        if tree.children[node, 0] >= 0 or tree.children[node, 1] >= 0:
            continue
        per_width = 2.0 ** tree.levels[node] / tree.top
        start, stop = tree.rows[node, 2 * side], tree.rows[node, 2 * side + 1]
        for first in range(start, stop, BLOCK):
            size = min(BLOCK, stop - first)
            for i in range(size):
                x[i] = sign * ((scores[first + i] * per_width - tree.cells[node]) - 0.5)
                total[i] = 0.0
            for s in range(TERMS - 1, -1, -1):
                term = expansions[node, s] / FACTORIALS[s]
                for i in range(size):
                    total[i] = total[i] * x[i] + term
            for i in range(size):
                found[first + i] = total[i]


@kernel
def _near_value(tree, plan, high, low, high_weights, low_weights, address, theta):
    """The sum of the loss over the pairs that are visited one by one."""
    total = 0.0
    for k in range(len(plan.near)):
        a, b = plan.near[k]
        for i in range(tree.rows[a, 0], tree.rows[a, 1]):
            inner = 0.0
            for j in range(tree.rows[b, 2], tree.rows[b, 3]):
                inner += low_weights[j] * call(address, high[i] - low[j], theta)
            total += high_weights[i] * inner
    return total


@kernel
def _near_fields(tree, plan, high, low, high_weights, low_weights, address, theta, order, least, pos, neg):
    """Add a derivative's sums over the pairs that are visited one by one."""
    for k in range(len(plan.near)):
        a, b = plan.near[k]
        for i in range(tree.rows[a, 0], tree.rows[a, 1]):
            total = 0.0
            for j in range(tree.rows[b, 2], tree.rows[b, 3]):
                m = high[i] - low[j]
                slope = call(address, m, theta) if order == 1 else second(address, m, theta, least)
                total += low_weights[j] * slope
                neg[j] += high_weights[i] * slope
            pos[i] += total


@kernel
def second(address, m, theta, least):
    """A second derivative, at least `least`, from first derivatives beside the margin."""
    once = call(address, m + BESIDE, theta) - call(address, m - BESIDE, theta)
    twice = call(address, m + 2.0 * BESIDE, theta) - call(address, m - 2.0 * BESIDE, theta)
    return max(least, (8.0 * once - twice) / (12.0 * BESIDE))
