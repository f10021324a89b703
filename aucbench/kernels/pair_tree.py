"""Sums of any function of the margin over all pairs, in about O(n log n): polynomials between intervals.

Scores lie in a tree of intervals, and `pair_plan` divides the pairs. The sum over the pairs of two intervals
with a polynomial needs only the moments of both. This is the fast multipole method on a line, with
polynomials of the function itself (Fong, Darve, Journal of Computational Physics 2009).

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

from aucbench.kernels.compiled_loss import CompiledLoss, call
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.pair_plan import TERMS, plan_pairs
from aucbench.kernels.sorted_pairs import Ranking

BLOCK = 256  # rows whose powers are computed together
BESIDE = 2.0**-13  # step of a numeric second derivative
FACTORIALS = np.array([float(math.factorial(q)) for q in range(TERMS)])


class Weighted(NamedTuple):
    """Weights of the rows of both classes, by rank."""

    high: np.ndarray  # (n+,)
    low: np.ndarray  # (n-,)
    high_moments: np.ndarray  # (nodes, TERMS)
    low_moments: np.ndarray  # (nodes, TERMS)


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
        self._tree, self._plan = plan_pairs(compiled, ranking, cell, scales, most_pairs)
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
