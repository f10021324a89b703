"""A mean over all pairs with a curvature of all pairs: as a product of two means, and pair by pair."""

import math
from functools import cached_property
from typing import Any, Self

import numpy as np

from aucbench.contracts import LossFacts
from aucbench.kernels import sorted_pairs
from aucbench.kernels.compiled_loss import call, compile_loss
from aucbench.kernels.jit import helper, kernel

BESIDE = 2.0**-13  # distance of margins in a numeric second derivative
LARGEST_EXPONENT = 700.0  # largest exponent of a multiplicative loss: products of larger powers overflow


class PairMean:
    """The mean of a loss over all pairs, computed on demand, and its curvature.

    The curvature is the Hessian by the scores: the Laplacian of a graph of pairs with weights. In this base
    class all pairs have a weight. Subclasses give the sums over the pairs of each row.
    """

    def __init__(self, positives: np.ndarray, negatives: np.ndarray):
        self._sides = positives, negatives

    def _by_row(self, positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
        """(n, ...) numbers of both classes in the order of the rows."""
        total = np.empty((len(positives) + len(negatives), *positives.shape[1:]))
        for rows, numbers in zip(self._sides, (positives, negatives), strict=True):
            _place(rows, numbers, total)
        return total

    @property
    def value(self) -> float:
        """The mean."""
        raise NotImplementedError

    @property
    def slopes(self) -> np.ndarray:
        """(n,) derivatives by the scores; at a kink a subderivative."""
        raise NotImplementedError

    @property
    def curvature(self) -> Self:
        """Second derivatives by the scores; undefined at kinks."""
        return self

    @property
    def rows(self) -> np.ndarray:
        """Numbers of the rows in pairs of positive weight."""
        return np.arange(sum(map(len, self._sides)))

    @property
    def diagonal(self) -> np.ndarray:
        """(n,) diagonal of the Hessian."""
        raise NotImplementedError

    def _across(self, v_pos: np.ndarray, v_neg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of `v_neg` (n-, ...) over the pairs of each positive, of `v_pos` (n+, ...) for negatives."""
        raise NotImplementedError

    @property
    def _graph(self) -> np.ndarray:
        """(n+, n-) second derivatives."""
        raise NotImplementedError

    def product(self, v: np.ndarray) -> np.ndarray:
        """(n,) product of the Hessian with a vector (n,)."""
        v_pos, v_neg = (v[side] for side in self._sides)
        total: np.ndarray = (self.diagonal * v.T).T - self._by_row(*self._across(v_pos, v_neg))
        return total

    def scatter(self, X: Any) -> np.ndarray:
        """(d, d) Hessian by the weights, X^T L X; takes dense copies of the rows."""
        rows = sorted_pairs.dense(X, self.rows)
        return np.asarray(rows.T @ self.product(rows))

    def dense(self) -> np.ndarray:
        """(rows, rows) Hessian by the scores of the rows in `rows`."""
        (pos, neg), weights, size = self._sides, self._graph, self.rows.size
        graph = np.zeros((size, size))
        graph[np.ix_(pos, neg)], graph[np.ix_(neg, pos)] = -weights, -weights.T
        graph.flat[:: size + 1] = -graph.sum(axis=1)
        return graph


class ByProduct(PairMean):
    """The mean of e^(rate m): the product of the means of e^(rate s+) and e^(-rate s-)."""

    def __init__(self, rate: float, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None):
        super().__init__(np.flatnonzero(y == 1), np.flatnonzero(y == -1))
        self._rate, self._shares, self.largest = rate, [], 0.0  # largest exponent of a pair
        for side, sign in zip(self._sides, (1.0, -1.0), strict=True):
            exponents, row_weights = (
                sign * rate * scores[side],
                np.ones(side.size) if weights is None else weights[side],
            )
            shift = float(exponents.max(initial=-np.inf, where=row_weights > 0.0))
            self.largest += shift
            self._shares.append(row_weights * np.exp(np.minimum(exponents - shift, 0.0)) / row_weights.sum())
        self._scale = math.exp(min(self.largest, LARGEST_EXPONENT))
        self._sums = [share.sum() for share in self._shares]

    @property
    def value(self) -> float:
        return float(self._scale * self._sums[0] * self._sums[1])

    @cached_property
    def slopes(self) -> np.ndarray:
        factor, (pos, neg) = self._rate * self._scale, self._shares
        return self._by_row(factor * self._sums[1] * pos, -factor * self._sums[0] * neg)

    @property
    def diagonal(self) -> np.ndarray:
        return np.abs(self._rate * self.slopes)

    def _across(self, v_pos: np.ndarray, v_neg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        factor, (pos, neg) = self._rate**2 * self._scale, self._shares
        return np.multiply.outer(pos, factor * (neg @ v_neg)), np.multiply.outer(neg, factor * (pos @ v_pos))

    def scatter(self, X: Any) -> np.ndarray:
        rows, (pos, neg) = sorted_pairs.dense(X, self.rows), self._shares
        means = [self._by_row(pos, 0.0 * neg) @ rows, self._by_row(0.0 * pos, neg) @ rows]
        crossed = self._rate**2 * self._scale * np.outer(*means)
        return np.asarray((rows.T * self.diagonal) @ rows - crossed - crossed.T)

    @property
    def _graph(self) -> np.ndarray:
        return self._rate**2 * self._scale * np.outer(*self._shares)


class ByPairs(PairMean):
    """The mean pair by pair; second derivatives are differences of first derivatives."""

    def __init__(self, loss: Any, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None):
        super().__init__(np.flatnonzero(y == 1), np.flatnonzero(y == -1))
        self._compiled, self._least = compile_loss(loss), least_curvature(loss)
        self._scores = [scores[side] for side in self._sides]
        self._weights = [np.ones(side.size) if weights is None else weights[side] for side in self._sides]
        self._pairs = float(self._weights[0].sum() * self._weights[1].sum()) or 1.0

    @property
    def value(self) -> float:
        sums = _value_sums(*self._scores, *self._weights, self._compiled.value, self._compiled.theta)
        return math.fsum(sums) / self._pairs

    @cached_property
    def slopes(self) -> np.ndarray:
        compiled = self._compiled
        pos, neg = slope_sums(*self._scores, *self._weights, compiled.derivative, compiled.theta)
        return self._by_row(pos / self._pairs, -neg / self._pairs)

    @cached_property
    def _graph(self) -> np.ndarray:
        compiled = self._compiled
        curvatures = second_derivatives(*self._scores, compiled.derivative, compiled.theta, self._least)
        return np.asarray(curvatures * (self._weights[0][:, None] * self._weights[1]) / self._pairs)

    @property
    def diagonal(self) -> np.ndarray:
        return self._by_row(self._graph.sum(axis=1), self._graph.sum(axis=0))

    def _across(self, v_pos: np.ndarray, v_neg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._graph @ v_neg, self._graph.T @ v_pos


def least_curvature(loss: Any) -> float:
    """The least second derivative: rounding must not make a convex loss concave."""
    return -math.inf if LossFacts(loss).convex is False else 0.0


@kernel
def _place(rows, numbers, total):
    """Set some rows of an array, in half the time that NumPy takes."""
    for k in range(rows.size):
        total[rows[k]] = numbers[k]


@kernel
def _value_sums(high, low, high_weights, low_weights, address, parameter):
    """(n+,) sums of the loss over the pairs of each positive."""
    sums = np.zeros(high.size)
    for i in range(high.size):
        total = 0.0
        for j in range(low.size):
            total += low_weights[j] * call(address, high[i] - low[j], parameter)
        sums[i] = high_weights[i] * total
    return sums


@kernel
def slope_sums(high, low, high_weights, low_weights, address, parameter):
    """(n+,) and (n-,) sums of the derivative over the pairs of each row."""
    pos, neg = np.zeros(high.size), np.zeros(low.size)
    for i in range(high.size):
        total = 0.0
        for j in range(low.size):
            slope = call(address, high[i] - low[j], parameter)
            total += low_weights[j] * slope
            neg[j] += high_weights[i] * slope
        pos[i] = high_weights[i] * total
    for j in range(low.size):
        neg[j] *= low_weights[j]
    return pos, neg


@kernel
def second_derivatives(high, low, address, parameter, least):
    """(n+, n-) second derivatives, at least `least`."""
    curvatures = np.empty((high.size, low.size))
    for i in range(high.size):
        for j in range(low.size):
            curvatures[i, j] = second(address, high[i] - low[j], parameter, least)
    return curvatures


@helper
def second(address, m, theta, least):
    """A second derivative, at least `least`, from first derivatives near the margin."""
    once = call(address, m + BESIDE, theta) - call(address, m - BESIDE, theta)
    twice = call(address, m + 2.0 * BESIDE, theta) - call(address, m - 2.0 * BESIDE, theta)
    return max(least, (8.0 * once - twice) / (12.0 * BESIDE))
