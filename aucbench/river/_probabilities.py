"""Class probabilities: an increasing sigmoid of the scores."""

import math

import numpy as np
from numpy.typing import NDArray

MEMORY = 1000  # rows per class after which the weight of an older row has fallen to 1 / e


class Sigmoid:
    """Log-odds linear in the score, by the formula in the notes of `AUCClassifier`.

    Means and variances forget old rows, because an older model scored them; the counts include all rows. The
    log-odds equal the score until the positive rows have the larger mean.
    """

    def __init__(self) -> None:
        self._slope, self._offset = 1.0, 0.0
        self._counts, self._means, self._variances = [0, 0], [0.0, 0.0], [0.0, 0.0]  # negatives, positives

    def add(self, scores: NDArray[np.float64], y: NDArray[np.int8]) -> None:
        """Add scores (n,) and labels of rows that the scoring model has not learnt."""
        for c, members in enumerate((y < 0, y > 0)):
            deviations = scores[members] - self._means[c]
            count = len(deviations)
            if count == 0:
                continue
            self._counts[c] += count
            share = max(count / self._counts[c], 1.0 - math.exp(-count / MEMORY))
            change = float(deviations.mean())
            spread = float(np.square(deviations).mean()) - share * change * change  # around the new mean
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
