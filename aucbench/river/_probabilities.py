"""Probabilities of scores, from a sigmoid that keeps their order."""

import math

import numpy as np
from numpy.typing import NDArray

from aucbench.kernels import kernel

MEMORY = 1000  # rows of a class after which an older one weighs 1 / e


class Sigmoid:
    """Log-odds that are linear in the score.

    If the scores of both classes are normal with a common variance v, the log-odds of the positive class at
    the score s are

        (m+ - m-) / v * (s - (m+ + m-) / 2) + log(n+ / n-).

    The means m and v of each class forget old rows, whose scores are those of an older model; n+ and n- count
    all rows. Until the positive rows have the larger mean, the log-odds are s itself.
    """

    def __init__(self) -> None:
        self._slope, self._offset = 1.0, 0.0
        self._counts, self._means, self._variances = [0, 0], [0.0, 0.0], [0.0, 0.0]  # negatives, positives

    def add(self, scores: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Take in scores (n,) of rows that the model had not seen, and their labels."""
        for c, (count, change, square) in enumerate(_deviations(scores, y, *self._means)):
            if count == 0:
                continue
            self._counts[c] += count
            share = max(count / self._counts[c], 1.0 - math.exp(-count / MEMORY))
            spread = square - share * change * change  # around the new mean
            if not math.isfinite(spread):
                continue
            self._variances[c] += share * (spread - self._variances[c])
            self._means[c] += share * change
        (n, p), (low, high) = self._counts, self._means
        variance = (n * self._variances[0] + p * self._variances[1]) / (n + p)
        if n > 0 and p > 0 and high > low and variance > 0.0:
            self._slope = (high - low) / variance
            self._offset = math.log(p / n) - 0.5 * self._slope * (low + high)
        else:
            self._slope, self._offset = 1.0, 0.0

    def one(self, score: float) -> float:
        """The probability of the positive class."""
        return 0.5 + 0.5 * math.tanh(0.5 * (self._slope * score + self._offset))

    def many(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) probabilities of the positive class."""
        return 0.5 + 0.5 * np.tanh(0.5 * (self._slope * scores + self._offset))


@kernel
def _deviations(
    scores: NDArray[np.float64], y: NDArray[np.int8], low: float, high: float
) -> tuple[tuple[int, float, float], tuple[int, float, float]]:
    """Of each class: the number of its scores, and the means of the deviations and of their squares.

    Negatives deviate from `low`, positives from `high`.
    """
    positives = 0
    first = second = first_square = second_square = 0.0
    for k in range(len(y)):  # selected, not branched on: labels in random order cannot be predicted
        is_positive = y[k] > 0
        a = 0.0 if is_positive else scores[k] - low
        b = scores[k] - high if is_positive else 0.0
        positives += is_positive
        first += a
        second += b
        first_square += a * a
        second_square += b * b
    n, p = len(y) - positives, positives
    return (n, first / max(n, 1), first_square / max(n, 1)), (
        p,
        second / max(p, 1),
        second_square / max(p, 1),
    )
