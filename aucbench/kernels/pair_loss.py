"""The mean of a loss over all pairs: its value, its derivatives by the scores, and its curvature.

There are four ways: sums over sorted scores in O(n log n) for a piecewise quadratic loss (`pieces`), a
product of two means in O(n) for a multiplicative loss and pair by pair for few pairs (both in `_all_pairs`),
and polynomials between intervals of scores for any other loss (`pair_tree`, in about O(n log n), with a
relative error of at most `ACCURACY`). The declarations of the loss, never its name, select the way. The mean
over no pairs is 0.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from aucbench.kernels import sorted_pairs
from aucbench.kernels._all_pairs import LARGEST_EXPONENT, ByPairs, ByProduct, PairMean
from aucbench.kernels.jit import kernel
from aucbench.kernels.loss_pieces import Piece, pieces, rate
from aucbench.kernels.pair_tree import _ByTree
from aucbench.kernels.sorted_pairs import Window

__all__ = ["PairMean", "class_shares", "pair_mean"]

FEW_PAIRS = 1 << 14  # up to this number, visiting pairs one by one is faster than a tree


def pair_mean(loss: Any, scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> PairMean:
    """The mean of a loss over all pairs.

    Parameters
    ----------
    loss : Loss
        An instance of a loss plugin.
    scores : (n,) float64 array
        Decision values.
    y : (n,) int8 array
        Labels in {-1, 1}, of both classes.
    weights : (n,) float64 array, optional
        Weights > 0 of the rows; the weight of a pair is their product.

    Returns
    -------
    PairMean
        With `value`, `slopes` and `curvature`.

    Raises
    ------
    ParameterError
        The loss is neither smooth nor declares its pieces, and more pairs are near its kinks than can be
        visited one by one; or, when slopes are computed, the loss changes within too narrow margins.
    """
    scores = np.ascontiguousarray(scores, np.float64)
    parts = pieces(loss)
    if parts is not None:
        return _ByPieces(parts, scores, y, weights)
    exponent = rate(loss)
    if exponent is not None:
        product = ByProduct(exponent, scores, y, weights)
        if product.largest <= LARGEST_EXPONENT:
            return product
    positives = int(np.count_nonzero(y == 1))
    if positives * (len(y) - positives) <= FEW_PAIRS:
        return ByPairs(loss, scores, y, weights)
    return _ByTree(loss, scores, y, class_shares(y, weights))


def class_shares(y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The weight of each row as a share of its class; 0 if all weights of the class are 0.

    Parameters
    ----------
    y : (n,) int8 array
        Labels in {-1, 1}.
    weights : (n,) float64 array, optional
        Weights of the rows; 1 by default.

    Returns
    -------
    (n,) array
    """
    return np.asarray(_class_shares(y, np.ones(y.size) if weights is None else weights))


class _ByPieces(PairMean):
    """The mean by sums over sorted scores; its curvature has one weight for all pairs of a piece."""

    def __init__(
        self, parts: tuple[Piece, ...], scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None
    ):
        self._ranking = sorted_pairs.rank(scores, y, weights)
        super().__init__(self._ranking.positives, self._ranking.negatives)
        self._parts = [
            (part, sorted_pairs.window(self._ranking, part.upper, part.lower))
            for part in parts
            if part[2:] != (0.0, 0.0, 0.0)
        ]
        self._size, self._pairs = scores.size, self._ranking.total

    @property
    def value(self) -> float:
        total = 0.0
        for part, pairs in self._parts:
            total += math.fsum(sorted_pairs.value_sums(self._ranking, pairs, *part[2:]))
        return total / self._pairs

    @cached_property
    def slopes(self) -> np.ndarray:
        total = np.zeros(self._size)
        for part, pairs in self._parts:
            if part.c1 or part.c2:
                total += sorted_pairs.slope_sums(self._ranking, pairs, part.c1, part.c2)
        return total / self._pairs

    @property
    def _curved(self) -> list[tuple[float, Window]]:
        return [(2.0 * part.c2 / self._pairs, pairs) for part, pairs in self._parts if part.c2]

    def _sum(self, shape: Any, function: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
        """The weighted sum of a function of a window."""
        total = np.zeros(shape)
        for weight, pairs in self._curved:
            total += weight * function(self._ranking, pairs, *arguments)
        return total

    @cached_property
    def rows(self) -> np.ndarray:
        involved = [sorted_pairs.degrees(self._ranking, pairs) > 0.0 for _, pairs in self._curved]
        return np.flatnonzero(np.any(involved, axis=0))

    @property
    def diagonal(self) -> np.ndarray:
        return self._sum(self._size, sorted_pairs.degrees)

    def product(self, v: np.ndarray) -> np.ndarray:
        return self._sum(self._size, sorted_pairs.laplacian, v)

    def scatter(self, X: Any) -> np.ndarray:
        return self._sum((X.shape[1], X.shape[1]), sorted_pairs.scatter, X)

    def dense(self) -> np.ndarray:
        positions, size = np.zeros(self._size, np.intp), self.rows.size
        positions[self.rows] = np.arange(size)
        sides, graph = [positions[side] for side in self._ranking[:2]], np.zeros((size, size))
        for weight, pairs in self._curved:
            _subtract(graph, pairs.starts, pairs.stops, *sides, *self._ranking[4:], weight)
        graph += graph.T
        graph.flat[:: size + 1] = self.diagonal[self.rows]
        return graph


@kernel
def _subtract(graph, starts, stops, positives, negatives, high_weights, low_weights, weight):
    """Subtract the weights of the pairs of a window from the entries of a graph."""
    for i in range(starts.size):
        high_weight = weight if high_weights is None else weight * high_weights[i]
        for j in range(starts[i], stops[i]):
            low_weight = 1.0 if low_weights is None else low_weights[j]
            graph[positives[i], negatives[j]] -= high_weight * low_weight


@kernel
def _class_shares(y, weights):
    positives = negatives = 0.0
    for i in range(y.size):
        positives += weights[i] * (y[i] == 1)
        negatives += weights[i] * (y[i] == -1)
    shares = np.empty(y.size)
    for i in range(y.size):
        shares[i] = weights[i] / ((positives if y[i] == 1 else negatives) or 1.0)
    return shares
