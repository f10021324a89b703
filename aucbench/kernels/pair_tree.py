"""Sums of any function of the margin over all pairs, in about O(n log n): polynomials between intervals.

Scores lie in a tree of intervals, and `pair_plan` divides the pairs. The sum over the pairs of two intervals
with a polynomial needs only the moments of both intervals. This is the fast multipole method on a line, with
polynomials of the function itself (Fong, Darve, Journal of Computational Physics 2009).

A position in an interval is an exact multiple of its width, so that the precision of a margin depends
neither on the range of the scores nor on their distance from 0. For a positive at x = (s+ - centre) / h and a
negative at x = -(s- - centre) / h, the margin is D h + h (x+ + x-), where D h is the distance of the centres.
Moments are sums of w x^r / r!, and polynomials have coefficients c[q] of z^q / q!. The expansion in x+ of the
sum over negatives then has the coefficients: sum over r of c[s + r] moment[r].
"""

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from aucbench.errors import ParameterError
from aucbench.kernels._all_pairs import ByPairs, PairMean, least_curvature, second, slope_sums
from aucbench.kernels.compiled_loss import call, compile_loss
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.pair_plan import FLOOR, TERMS, TOLERANCE, UnorderedError, in_cells, plan_pairs
from aucbench.kernels.sorted_pairs import near_zero, rank

MOST_PAIRS = 200_000_000  # limit of pairs near undeclared kinks: one sum takes seconds
ACCURACY = 1e-10  # largest relative error of a mean, and of slopes relative to the mean slope
REFINEMENTS = 3  # most times that a scale is lowered to reach `ACCURACY`
CHECKED_ACCURACY = 1e-6  # largest relative error of slopes checked pair by pair
BLOCK = 256  # rows whose powers are computed together
FACTORIALS = np.array([float(math.factorial(q)) for q in range(TERMS)])


class Weighted(NamedTuple):
    """Weights of the rows of both classes, by rank."""

    high: np.ndarray  # (n+,)
    low: np.ndarray  # (n-,)
    high_moments: np.ndarray  # (nodes, TERMS)
    low_moments: np.ndarray  # (nodes, TERMS)


class _ByTree(PairMean):
    """The mean by polynomials between intervals of scores."""

    def __init__(self, loss: Any, scores: np.ndarray, y: np.ndarray, shares: np.ndarray):
        self._loss, self._compiled = loss, compile_loss(loss)
        self._inputs = near_zero(scores), y, shares
        self._ranking, self._cell = in_cells(*self._inputs)
        sample = [side[(np.arange(8) * 2 + 1) * side.size // 16] for side in self._ranking[2:4]]
        margins = np.subtract.outer(*sample).ravel()
        self._scales = [
            float(min(np.mean(np.abs(_values(margins, address, self._compiled.theta))), np.finfo(float).max))
            for address in (self._compiled.value, self._compiled.derivative)
        ]
        self._divide()

    def _divide(self) -> None:
        """Divide the pairs for errors of `TOLERANCE` x `FLOOR` of the scales."""
        positives, negatives, self._high, self._low, *weights = self._ranking
        super().__init__(positives, negatives)
        try:
            self._tree, self._plan = plan_pairs(
                self._compiled, self._high, self._low, self._cell, self._scales, MOST_PAIRS
            )
        except UnorderedError:
            self._ranking, self._cell = rank(*self._inputs), 0.0
            self._divide()
        except ParameterError as error:
            pairs = positives.size * negatives.size
            raise ParameterError(
                f"{self._loss.name}: the mean over {pairs:,} pairs is not computed, as the loss declares "
                f"neither `pieces` nor `multiplicative` and is not smooth: {error}."
            ) from error
        else:
            self._weights = self._weighted(*weights)

    def _weighted(self, high_weights: Any, low_weights: Any) -> Weighted:
        """Weights of the rows of both classes, with their moments."""
        return Weighted(
            high_weights,
            low_weights,
            _moments(self._tree, self._high, high_weights, 0),
            _moments(self._tree, self._low, low_weights, 1),
        )

    def _is_accurate(self, which: int, size: float) -> bool:
        """Whether a mean of this size is accurate; else the scale is lowered to the size."""
        scale = self._scales[which]
        if TOLERANCE * FLOOR * scale <= ACCURACY * size:
            return True
        self._scales[which] = size
        self._divide()
        return False

    @cached_property
    def value(self) -> float:
        for _ in range(REFINEMENTS):
            compiled, weights = self._compiled, self._weights
            total = _far_value(self._plan, weights.high_moments, weights.low_moments) + _near_value(
                self._tree, self._plan, self._high, self._low, *weights[:2], compiled.value, compiled.theta
            )
            if self._is_accurate(0, abs(total)):
                break
        return float(total)

    def _fields(self, weights: Weighted, order: int) -> tuple[np.ndarray, np.ndarray]:
        """(n+,) and (n-,) weighted sums of a derivative, of order 1 or 2, over the pairs of each row.

        The weights are those of the other row of a pair.
        """
        tree, plan, compiled = self._tree, self._plan, self._compiled
        expansions = _far_fields(tree, plan, weights.high_moments, weights.low_moments, order)
        fields = np.empty(self._high.size), np.empty(self._low.size)
        for side, scores in enumerate((self._high, self._low)):
            _evaluate(tree, scores, expansions[side], side, fields[side])
        sides = (self._high, self._low, weights.high, weights.low)
        least = least_curvature(self._loss)
        _near_fields(tree, plan, *sides, compiled.derivative, compiled.theta, order, least, *fields)
        return fields

    @cached_property
    def slopes(self) -> np.ndarray:
        for _ in range(REFINEMENTS):
            fields = self._fields(self._weights, 1)
            if self._is_accurate(1, float(np.sum(self._weights.high * np.abs(fields[0])))):
                break
        self._check(fields)
        return self._by_row(self._weights.high * fields[0], -self._weights.low * fields[1])

    def _check(self, fields: tuple[np.ndarray, np.ndarray]) -> None:
        """Compare a row of each class with its pairs: samples may miss how a loss changes between them."""
        high, low, weights, (_, address, _, theta) = self._high, self._low, self._weights, self._compiled
        i, j = high.size // 2, low.size // 2
        exact = (
            slope_sums(high[i : i + 1], low, np.ones(1), weights.low, address, theta)[0][0],
            slope_sums(high, low[j : j + 1], weights.high, np.ones(1), address, theta)[1][0],
        )
        size = max(float(np.sum(weights.high * np.abs(fields[0]))), *map(abs, exact))
        if max(abs(exact[0] - fields[0][i]), abs(exact[1] - fields[1][j])) > CHECKED_ACCURACY * size:
            raise ParameterError(
                f"{self._loss.name}: the mean over {high.size * low.size:,} pairs is not computed, as the "
                "loss changes within too narrow margins. Declare its `pieces` if it has any."
            )

    @cached_property
    def diagonal(self) -> np.ndarray:
        pos, neg = self._fields(self._weights, 2)
        curvature = self._by_row(self._weights.high * pos, self._weights.low * neg)
        return np.maximum(curvature, least_curvature(self._loss))

    def _across(self, v_pos: np.ndarray, v_neg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if v_pos.ndim > 1:
            columns = [self._across(*column) for column in zip(v_pos.T, v_neg.T, strict=True)]
            return np.column_stack([pos for pos, _ in columns]), np.column_stack([neg for _, neg in columns])
        weights = self._weights
        pos, neg = self._fields(self._weighted(weights.high * v_pos, weights.low * v_neg), 2)
        return weights.high * pos, weights.low * neg

    def dense(self) -> np.ndarray:
        return ByPairs(self._loss, *self._inputs).dense()


@kernel
def _values(margins, address, parameter):
    """The values of a function at some margins."""
    values = np.empty(margins.size)
    for k in range(margins.size):
        values[k] = call(address, margins[k], parameter)
    return values


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
    expansions = np.zeros((2, tree.cells.size, TERMS))
    for k in range(len(plan.far)):
        a, b, number = plan.far[k]
        factor = 1.0 if order == 1 else 2.0 ** tree.levels[a] / tree.top
        for q in range(order - 1, TERMS):
            coefficient = factor * plan.polynomials[number, 1, q]
            q -= order - 1
            for s in range(q + 1):
                expansions[0, a, s] += coefficient * negatives[b, q - s]
                expansions[1, b, s] += coefficient * positives[a, q - s]
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
                        expansions[side, child, k] += expansions[side, node, s] * 2.0**-s * factor
                        factor *= offset / (s - k + 1)
    return expansions


@fast_kernel
def _evaluate(tree, scores, expansions, side, sums):
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
                sums[first + i] = total[i]


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
