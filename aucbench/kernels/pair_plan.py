"""The division of all pairs into intervals of scores with a polynomial, and single pairs.

Scores lie in a binary tree of intervals whose widths are powers of 2. For two intervals A and B of width h,
the margins s+ - s- of pairs in A x B lie in an interval of width 2 h. If a polynomial of degree 11 is as good
as the function on this interval, the polynomial serves all pairs of A x B. Otherwise the halves of A and B
are tried, and few pairs are visited one by one.

The polynomials are Chebyshev series of 24 samples, cut after 12 terms. The error is at most the
sum of the omitted coefficients. This sum is at most `TOLERANCE` of the function's smallest absolute value in
the interval, or `TOLERANCE` x `FLOOR` of a scale, which a caller compares with the result. A function may
have kinks: intervals around a kink are halved until they have few pairs.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aucbench.errors import ParameterError
from aucbench.kernels.compiled_loss import CompiledLoss, call
from aucbench.kernels.jit import helper, kernel
from aucbench.kernels.sorted_pairs import Ranking, rank

TERMS = 12  # terms of the polynomials
SAMPLES = 24  # samples that determine the coefficients
TOLERANCE = 1e-12
FLOOR = 1e-4
NOISE = 2e-14  # a smaller sum of coefficients left out, as a share of the largest value, is rounding
FEW_PAIRS = 16  # up to this number, pairs are visited one by one
FEW_SUMS = 64  # the same limit where no polynomial is good enough
LEVELS = 54  # most halvings of an interval; float64 resolves no more
REACH = 2048  # distance of intervals up to which a polynomial is cached
CELLS = 1024  # cells between the lowest and the highest score
NEAR = 8.0  # distance from margin 0 within which wide intervals are always halved
WIDE = 0.25  # least width of the first intervals; derivatives of polynomials over narrow ones are imprecise

_K = np.arange(SAMPLES)
_ENDS = np.where((_K == 0) | (_K == SAMPLES - 1), 0.5, 1.0)
POINTS = np.cos(np.pi * _K / (SAMPLES - 1))  # Chebyshev points of an interval, including both ends
SERIES = np.cos(np.pi * np.outer(_K, _K) / (SAMPLES - 1)) * _ENDS * _ENDS[:, None] * 2.0 / (SAMPLES - 1)
# (TERMS, TERMS) coefficients of z^q / q! of the Chebyshev polynomials.
POWERS = np.array(
    [
        np.pad(np.polynomial.chebyshev.cheb2poly(np.eye(TERMS)[k]), (0, TERMS - 1))[:TERMS]
        * [math.factorial(q) for q in range(TERMS)]
        for k in range(TERMS)
    ]
)


class Tree(NamedTuple):
    """Intervals of scores, parents first; each has the rows of a range of both classes, by rank."""

    top: float  # width of the intervals at level 0
    levels: np.ndarray  # (nodes,)
    cells: np.ndarray  # (nodes,) lower ends, in widths
    rows: np.ndarray  # (nodes, 4) first and last positive, first and last negative; the last is excluded
    children: np.ndarray  # (nodes, 2) -1 without a child


class Plan(NamedTuple):
    """The pairs of intervals and the single pairs that cover all pairs."""

    far: np.ndarray  # (f, 3) interval of positives, interval of negatives, polynomial
    near: np.ndarray  # (g, 2) intervals whose pairs are visited one by one
    polynomials: np.ndarray  # (p, 2, TERMS) coefficients of the function and of its derivative


class UnorderedError(Exception):
    """The cells by which rows are ordered are too wide."""


def in_cells(scores: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[Ranking, float]:
    """Both classes in ascending order of cells of scores, and the width of the cells.

    This takes a quarter of the time of sorting, and most trees need no narrower intervals.
    """
    low, high = float(scores.min()), float(scores.max())
    if not high - low < math.inf:
        return rank(scores, y, weights), 0.0
    width = math.ldexp(1.0, max(math.frexp((high - low) / CELLS)[1], -1022))
    rows, ordered, shares = _in_cells(scores, y, weights, float(math.floor(low / width)), width)
    positives = int(np.count_nonzero(y == 1))
    sides = slice(None, positives), slice(positives, None)
    return Ranking(*(array[side] for array in (rows, ordered, shares) for side in sides)), width


def plan_pairs(
    compiled: CompiledLoss,
    high: np.ndarray,
    low: np.ndarray,
    cell: float,
    scales: Sequence[float],
    most_pairs: int,
) -> tuple[Tree, Plan]:
    """Divide all pairs into pairs of intervals with a polynomial and pairs that are visited one by one.

    The scores of both classes ascend if `cell` is 0, else are in the order of cells of this width, a power
    of 2. Errors of `TOLERANCE` x `FLOOR` of the scales, of the loss and of its derivative, do not matter.
    """
    top = max(WIDE, cell)
    for end in (high[0], high[-1], low[0], low[-1]):
        top = max(top, math.ldexp(1.0, min(math.frexp(abs(end) + cell)[1], 1023)))  # greater than |end|
    arguments = (compiled.value, compiled.derivative, compiled.theta, *scales)
    *tree, far, near, polynomials, pairs = _plan(*arguments, high, low, top, cell, float(most_pairs))
    if pairs > most_pairs:
        raise ParameterError(f"more than {most_pairs:,} pairs would have to be visited one by one")
    if pairs < 0.0:
        raise UnorderedError
    return Tree(top, *tree), Plan(far, near, polynomials)


@helper
def _fit(value, slope, theta, scale, slope_scale, middle, half, coefficients):
    """Fill the coefficients of the loss and its derivative near a margin; returns whether both are good."""
    if half > 0.5 * NEAR and abs(middle) < half + NEAR:
        return False
    samples, series = np.empty(SAMPLES), np.empty(TERMS)
    for order in range(2):
        address, size = (value, scale) if order == 0 else (slope, slope_scale)
        least, largest = np.inf, 0.0
        for j in range(SAMPLES):
            samples[j] = call(address, middle + half * POINTS[j], theta)
            least, largest = min(least, abs(samples[j])), max(largest, abs(samples[j]))
        tail = 0.0
        for k in range(SAMPLES):
            total = 0.0
            for j in range(SAMPLES):
                total += SERIES[k, j] * samples[j]
            if k < TERMS:
                series[k] = total
            else:
                tail += abs(total)
        is_accurate = tail <= TOLERANCE * max(least, FLOOR * size)
        if not is_accurate and not (tail <= NOISE * largest and tail <= TOLERANCE * size):  # NaN is not good
            return False
        coefficients[order] = 0.0
        for k in range(TERMS):
            for q in range(k + 1):
                coefficients[order, q] += series[k] * POWERS[k, q]
    return True


@helper
def _polynomial(value, slope, theta, scale, slope_scale, top, level, distance, cache, polynomials, count):
    """The number of a polynomial, -1 if it is not accurate; all polynomials and their count."""
    column = -1
    if abs(distance) <= REACH:
        column = int(distance) + REACH
        if cache[level, column] != 0:
            number = cache[level, column]
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
    if column >= 0:
        cache[level, column] = number + 1 if number >= 0 else -1
    return number, polynomials, count


@kernel
def _in_cells(scores, y, weights, first, width):
    """Rows, scores and weights by class and cell."""
    # Unsigned 32-bit indices need no test for negative values; all loops but the last two are vectorised.
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
    rows, ordered, shares = np.empty(scores.size, np.uint32), np.empty(scores.size), np.empty(scores.size)
    for i in range(scores.size):
        slot = counts[cells[i]]
        counts[cells[i]] = slot + np.uint32(1)
        rows[slot] = i
    for k in range(scores.size):
        ordered[k], shares[k] = scores[rows[k]], weights[rows[k]]
    return rows, ordered, shares


@helper
def _halve(high, low, width, node, count, levels, cells, rows, children):
    """Append the halves of an interval that have rows; returns their number."""
    middle = (cells[node] + 0.5) * width
    pos = rows[node, 0] + np.searchsorted(high[rows[node, 0] : rows[node, 1]], middle)
    neg = rows[node, 2] + np.searchsorted(low[rows[node, 2] : rows[node, 3]], middle)
    halves = 0
    for half in range(2):
        new = count + halves
        rows[new] = rows[node]
        rows[new, 1 - half], rows[new, 3 - half] = pos, neg
        if rows[new, 1] > rows[new, 0] or rows[new, 3] > rows[new, 2]:
            levels[new], cells[new] = levels[node] + 1, 2.0 * cells[node] + half
            children[new] = -1
            children[node, half] = new
            halves += 1
    return halves


@kernel
def _plan(value, slope, theta, scale, slope_scale, high, low, top, cell, most_pairs):
    """The arrays of a `Tree` and of a `Plan`, and the number of pairs that are visited one by one.

    The number is negative when rows are not in order within the narrowest intervals.
    """
    levels, cells = np.zeros(64, np.int64), np.zeros(64)
    rows, children = np.zeros((64, 4), np.int64), np.full((64, 2), -1, np.int64)
    cells[0], nodes = -1.0, 2
    rows[0, 1] = rows[1, 0] = np.searchsorted(high, 0.0)
    rows[0, 3] = rows[1, 2] = np.searchsorted(low, 0.0)
    rows[1, 1], rows[1, 3] = high.size, low.size
    far, fars, near, nears, pairs = np.empty((64, 3), np.int64), 0, np.empty((64, 2), np.int64), 0, 0.0
    cache, polynomials, count = np.zeros((LEVELS, 2 * REACH + 1), np.int32), np.empty((64, 2, TERMS)), 0
    stack, depth = np.empty((4 * LEVELS + 4, 2), np.int64), 4
    for k in range(4):
        stack[k, 0], stack[k, 1] = k // 2, k % 2
    while depth > 0 and pairs <= most_pairs:
        depth -= 1
        a, b = stack[depth]
        product = float(rows[a, 1] - rows[a, 0]) * float(rows[b, 3] - rows[b, 2])
        if product == 0.0:
            continue
        level, number = levels[a], -1
        if product > FEW_PAIRS:
            number, polynomials, count = _polynomial(
                value, slope, theta, scale, slope_scale, top, level, cells[a] - cells[b], cache, polynomials,
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
