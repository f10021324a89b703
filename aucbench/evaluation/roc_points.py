"""The ROC curve of scores as counts, and measures computed from it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.kernels import kernel

ROUNDING = 1e-9  # tolerance, in rows, for a share to be a whole number of rows


class RocPoints(NamedTuple):
    """The ROC curve as counts, from the highest score to the lowest; equal scores are one step.

    The curve is linear between two points, so that ties count one half. With row weights, the counts are sums
    of weights.
    """

    fp: NDArray[np.float64]  # (k + 1,) negatives at or above the score of a step, first 0
    tp: NDArray[np.float64]  # (k + 1,) positives, likewise
    auc: float

    def average_precision(self) -> float:
        """The mean precision over the positives; all positives of a step share one precision."""
        return float(_average_precision(self.fp, self.tp))

    def area(self, max_fpr: float, min_tpr: float = 0.0) -> float:
        """The area under the curve for f <= `max_fpr` and above r = `min_tpr`."""
        return float(_area(self.fp, self.tp, max_fpr, min_tpr))

    def precision_at(self, share: float) -> float:
        """The share of positives among a share of the rows, those with the highest scores."""
        return float(_precision_at(self.fp, self.tp, share))

    def recall_at(self, max_fpr: float) -> float:
        """The largest true positive rate of a threshold with a false positive rate <= `max_fpr`."""
        return float(_recall_at(self.fp, self.tp, max_fpr))


@kernel
def _average_precision(fp, tp):
    total = 0.0
    for k in range(1, tp.size):
        if tp[k] > tp[k - 1]:  # the weights of this and all earlier steps may be 0
            total += (tp[k] - tp[k - 1]) * tp[k] / (tp[k] + fp[k])
    return total / tp[-1]


@kernel
def _area(fp, tp, max_fpr, min_tpr):
    """The area under the curve for f <= max_fpr and above r = min_tpr."""
    limit, floor = max_fpr * fp[-1], min_tpr * tp[-1]
    total = 0.0
    for k in range(1, fp.size):
        left, right = fp[k - 1], fp[k]
        if left >= limit:
            break
        low, high = tp[k - 1] - floor, tp[k] - floor
        if right == left or high <= 0.0:
            continue
        if right > limit:
            high = low + (high - low) * (limit - left) / (right - left)
            right = limit
        if high > 0.0 and low < 0.0:  # the curve crosses r = min_tpr
            left += (right - left) * -low / (high - low)
            low = 0.0
        if high > 0.0:
            total += (right - left) * (low + high) / 2.0
    return total / (fp[-1] * tp[-1])


@kernel
def _precision_at(fp, tp, share):
    rows = max(1.0, np.ceil(share * (fp[-1] + tp[-1]) - ROUNDING))
    k = 1
    while fp[k] + tp[k] < rows:
        k += 1
    before = fp[k - 1] + tp[k - 1]
    part = (rows - before) / (fp[k] + tp[k] - before)
    return (tp[k - 1] + part * (tp[k] - tp[k - 1])) / rows


@kernel
def _recall_at(fp, tp, max_fpr):
    limit = max_fpr * fp[-1] + ROUNDING
    k = 0
    while k + 1 < fp.size and fp[k + 1] <= limit:
        k += 1
    return tp[k] / tp[-1]
