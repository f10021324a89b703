"""A mean over all pairs with a curvature of all pairs: as a product of two means, and pair by pair."""

import math
from functools import cached_property
from typing import Any, Self

import numpy as np

from aucbench.contracts import LossFacts
from aucbench.kernels import pair_tree, sorted_pairs
from aucbench.kernels.compiled_loss import call, compile_loss
from aucbench.kernels.jit import kernel

BLOCK_PAIRS = 1 << 22  # second derivatives held at a time (32 MB)
LARGEST_EXPONENT = 700.0  # of a multiplicative loss; products of larger powers overflow


class AllPairs:
    """A mean with a curvature of all pairs."""

    def __init__(self, y: np.ndarray, weights: np.ndarray | None):
        self._size, self._sides = y.size, [np.flatnonzero(y == 1), np.flatnonzero(y == -1)]
        self._weighted, own = weights is not None, np.ones(y.size) if weights is None else weights
        self._own = [own[side] for side in self._sides]

    @property
    def curvature(self) -> Self:
        return self

    @property
    def rows(self) -> np.ndarray:
        return np.arange(self._size)


class ByProduct(AllPairs):
    """The mean of e^(rate m): the product of the means of e^(rate s+) and e^(-rate s-)."""

    def __init__(self, rate: float, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None):
        super().__init__(y, weights)
        self._rate = rate
        exponents = [rate * scores[self._sides[0]], -rate * scores[self._sides[1]]]
        shifts = [
            float(each.max(initial=-np.inf, where=own > 0.0))
            for own, each in zip(self._own, exponents, strict=True)
        ]
        self.largest = sum(shifts)  # exponent of any pair
        self._shares = [
            own * np.exp(np.minimum(each - shift, 0.0)) / own.sum()
            for own, each, shift in zip(self._own, exponents, shifts, strict=True)
        ]
        self._scale = math.exp(min(self.largest, LARGEST_EXPONENT))

    @property
    def value(self) -> float:
        return float(self._scale * self._shares[0].sum() * self._shares[1].sum())

    @cached_property
    def slopes(self) -> np.ndarray:
        total = np.empty(self._size)
        for own, sign in ((0, 1.0), (1, -1.0)):
            factor = sign * self._rate * self._scale * self._shares[1 - own].sum()
            total[self._sides[own]] = factor * self._shares[own]
        return total

    @property
    def diagonal(self) -> np.ndarray:
        return np.abs(self._rate * self.slopes)

    def product(self, v: np.ndarray) -> np.ndarray:
        total = np.empty(self._size)
        for own in (0, 1):
            mine, others = self._shares[own], self._shares[1 - own]
            here, there = v[self._sides[own]], v[self._sides[1 - own]]
            total[self._sides[own]] = mine * (others.sum() * here - others @ there)
        return self._rate**2 * self._scale * total

    def scatter(self, X: Any) -> np.ndarray:
        sums, means, total = [], [], np.zeros((X.shape[1], X.shape[1]))
        for own in (0, 1):
            rows, share = sorted_pairs.dense(X, self._sides[own]), self._shares[own]
            sums.append(share.sum())
            means.append(share @ rows)
            total += self._shares[1 - own].sum() * ((rows.T * share) @ rows)
        crossed = np.outer(means[0], means[1])
        return self._rate**2 * self._scale * (total - crossed - crossed.T)

    def dense(self) -> np.ndarray:
        weights = self._rate**2 * self._scale * np.outer(self._shares[0], self._shares[1])
        return _graph(self._size, self._sides[0], self._sides[1], weights)


class ByPairs(AllPairs):
    """The mean pair by pair; second derivatives are differences of first derivatives."""

    def __init__(self, loss: Any, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None):
        super().__init__(y, weights)
        self._compiled, self._least = compile_loss(loss), least_curvature(loss)
        self._high, self._low = scores[self._sides[0]], scores[self._sides[1]]
        self._pairs = float(self._own[0].sum() * self._own[1].sum()) or 1.0

    @property
    def value(self) -> float:
        sums = _value_sums(self._high, self._low, *self._own, self._compiled.value, self._compiled.theta)
        return math.fsum(sums) / self._pairs

    @cached_property
    def slopes(self) -> np.ndarray:
        pos, neg = slope_sums(
            self._high, self._low, *self._own, self._compiled.derivative, self._compiled.theta
        )
        total = np.empty(self._size)
        total[self._sides[0]], total[self._sides[1]] = pos / self._pairs, -neg / self._pairs
        return total

    def _weights(self, part: slice) -> np.ndarray:
        compiled = self._compiled
        found = _second(self._high[part], self._low, compiled.derivative, compiled.theta, self._least)
        if self._weighted:
            found *= self._own[0][part, None] * self._own[1]
        return found / self._pairs

    def _blocks(self) -> list[slice]:
        size = max(1, BLOCK_PAIRS // max(1, self._low.size))
        return [slice(start, start + size) for start in range(0, self._high.size, size)]

    @property
    def diagonal(self) -> np.ndarray:
        total = np.zeros(self._size)
        for part in self._blocks():
            weights = self._weights(part)
            total[self._sides[0][part]] = weights.sum(axis=1)
            total[self._sides[1]] += weights.sum(axis=0)
        return total

    def product(self, v: np.ndarray) -> np.ndarray:
        here, there = v[self._sides[0]], v[self._sides[1]]
        total, own, other = np.empty(self._size), np.empty_like(here), np.zeros_like(there)
        for part in self._blocks():
            weights = self._weights(part)
            own[part] = weights.sum(axis=1) * here[part] - weights @ there
            other += weights.sum(axis=0) * there - here[part] @ weights
        total[self._sides[0]], total[self._sides[1]] = own, other
        return total

    def scatter(self, X: Any) -> np.ndarray:
        P, N = (sorted_pairs.dense(X, side) for side in self._sides)
        total, degrees = np.zeros((X.shape[1], X.shape[1])), np.zeros(len(N))
        for part in self._blocks():
            weights = self._weights(part)
            degrees += weights.sum(axis=0)
            crossed = P[part].T @ (weights @ N)
            total += (P[part].T * weights.sum(axis=1)) @ P[part] - crossed - crossed.T
        return total + (N.T * degrees) @ N

    def dense(self) -> np.ndarray:
        return _graph(self._size, self._sides[0], self._sides[1], self._weights(slice(None)))


def least_curvature(loss: Any) -> float:
    """The least second derivative: rounding must not make a convex loss concave."""
    return -math.inf if LossFacts(loss).convex is False else 0.0


def _graph(size: int, positives: np.ndarray, negatives: np.ndarray, weights: np.ndarray) -> np.ndarray:
    graph = np.zeros((size, size))
    graph[np.ix_(positives, negatives)] = -weights
    graph[np.ix_(negatives, positives)] = -weights.T
    graph.flat[:: size + 1] = -graph.sum(axis=1)
    return graph


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
def _second(high, low, address, parameter, least):
    """(n+, n-) second derivatives, at least `least`."""
    found = np.empty((high.size, low.size))
    for i in range(high.size):
        for j in range(low.size):
            found[i, j] = pair_tree.second(address, high[i] - low[j], parameter, least)
    return found
