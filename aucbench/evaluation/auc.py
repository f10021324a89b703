"""The ROC curve of scores as counts, and the exact area under it, ties one half, in integer pair counts.

    AUC = (#pairs s+ > s-  +  1/2 #ties) / (n+ n-)

A radix sort of two passes sorts the scores into 2^22 equal intervals of their range; the scores within an
interval are then sorted as float64.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError
from aucbench.kernels import kernel

if TYPE_CHECKING:
    from aucbench.evaluation.measures import Measure

RADIX_BITS = 11  # bits sorted in one radix pass
BUCKETS = 1 << RADIX_BITS
DIGIT = np.uint64(BUCKETS - 1)
COARSE, FINEST = np.uint64(32), np.uint64(43)  # first bit of the lower and of the upper digit of the interval
INTERVALS = BUCKETS * BUCKETS - 1.0
POSITIVE = np.uint64(1 << 31)  # label bit of an item
NUMBER = np.uint64((1 << 31) - 1)  # score-number bits of an item
SMALL = 32  # largest number of items sorted by insertion


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
        limit = max_fpr * self.fp[-1]
        stop = int(np.searchsorted(self.fp, limit))
        f = np.append(self.fp[:stop], limit)
        r = np.append(self.tp[:stop], _crossing(limit, self.fp, self.tp, stop)) - min_tpr * self.tp[-1]
        if r[-1] <= 0.0:
            return 0.0
        start = int(np.searchsorted(r, 0.0, side="right"))
        f, r = np.append(_crossing(0.0, r, f, start), f[start:]), np.append(0.0, r[start:])
        return float(np.diff(f) @ (r[1:] + r[:-1]) / (2.0 * self.fp[-1] * self.tp[-1]))


def _crossing(x: float, xs: NDArray[np.float64], ys: NDArray[np.float64], k: int) -> float:
    """The y where the segment from point k - 1 to point k reaches x."""
    return float(ys[k - 1] + (ys[k] - ys[k - 1]) * ((x - xs[k - 1]) / (xs[k] - xs[k - 1])))


def exact_auc(scores: Any, y: Any, weights: Any = None) -> float:
    """The exact AUC of scores.

    Parameters
    ----------
    scores : (n,) array
        Decision values; infinities are allowed, -0.0 ties with 0.0.
    y : (n,) array
        Labels in {-1, 1}, or {0, 1}.
    weights : (n,) array, optional
        Weights >= 0 of the rows; a pair has the product of its two weights.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    DataError
        A score is NaN, only one class is present, labels are invalid, the lengths differ, or a value is no
        real number.

    Examples
    --------
    >>> import numpy as np
    >>> exact_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([-1, -1, 1, 1]))
    0.875
    """
    return roc_points(scores, y, weights).auc


def roc_points(scores: Any, y: Any, weights: Any = None) -> RocPoints:
    """The ROC curve of scores, the basis of all measures; parameters and errors as `exact_auc`."""
    if weights is not None:
        return _weighted_points(scores, y, weights)
    (points,) = points_of_columns(_real("scores", scores).reshape(-1, 1), y)
    return points


def points_of_columns(scores: Any, y: Any) -> Iterator[RocPoints]:
    """The ROC curve of each column of scores (n, c); its arrays are overwritten by the next curve.

    Labels and errors are as for `exact_auc`; columns in Fortran order are not copied.
    """
    scores = _real("scores", scores)
    positive = _positive(scores.shape[0], y)
    n, n_pos = positive.size, int(np.count_nonzero(positive))
    work, fp, tp = np.empty((2, n), np.uint64), np.empty(n + 1), np.empty(n + 1)
    for column in range(scores.shape[1]):
        values = np.ascontiguousarray(scores[:, column], np.float64)
        found = _count(values, positive, work, fp, tp)
        if found.points < 0:
            _refuse_nan(values)
        area = found.doubled_wins / (2 * n_pos * (n - n_pos))
        yield RocPoints(fp[: found.points], tp[: found.points], area)


def measure_columns(scores: Any, y: Any, measures: "Sequence[Measure]") -> NDArray[np.float64]:
    """Measures of each column, (c, len(measures)); parameters and errors as `points_of_columns`."""
    return np.array(
        [[measure.value(points) for measure in measures] for points in points_of_columns(scores, y)]
    ).reshape(np.shape(scores)[1], len(measures))


def checked(scores: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (n,) as float64 and the mask of the positive rows; errors as `exact_auc`."""
    values = _real("scores", scores).astype(np.float64).ravel()
    positive = _positive(len(values), y)
    _refuse_nan(values)
    return values, positive


def _real(what: str, given: Any) -> NDArray[Any]:
    """An array of real numbers; a DataError for anything else."""
    array = np.asarray(given)
    if array.dtype.kind == "O":
        array = np.array(array.tolist())
    if array.dtype.kind not in "biuf":
        raise DataError(f"AUC: {what} must be real numbers, got {given!r:.60}.")
    return array


def _positive(n: int, y: Any) -> NDArray[np.bool_]:
    """Mask of the positive rows; a DataError unless both classes are present."""
    labels = _real("labels", y).ravel()
    if n != labels.size:
        raise DataError(f"AUC: {n} scores for {labels.size} labels.")
    positive: NDArray[np.bool_] = labels == 1
    n_pos = int(np.count_nonzero(positive))
    if not any(n_pos + np.count_nonzero(labels == negative) == n for negative in (-1, 0)):
        raise DataError(f"AUC: labels must be -1 and 1, or 0 and 1, got {np.unique(labels)[:5]}.")
    if n_pos in (0, n):
        raise DataError(f"AUC needs both classes, got {n_pos} positives and {n - n_pos} negatives.")
    return positive


def _refuse_nan(scores: NDArray[np.float64]) -> None:
    where = np.flatnonzero(np.isnan(scores))
    if len(where):
        raise DataError(f"AUC: score {where[0]} is NaN; the model has diverged.")


def _weighted_points(scores: Any, y: Any, weights: Any) -> RocPoints:
    values, positive = checked(scores, y)
    weights = _real("weights", weights).astype(np.float64).ravel()
    if len(weights) != len(values):
        raise DataError(f"AUC: {len(weights)} weights for {len(values)} scores.")
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(wrong):
        raise DataError(f"AUC: weights must be finite and >= 0, got {wrong[0]}.")
    weights /= weights.max() or 1.0  # no sum overflows, and no small weight is rounded
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(values) - 1)
    sums = (np.cumsum(np.where(side, weights, 0.0)[order])[ends] for side in (~positive, positive))
    fp, tp = (np.append(0.0, each) for each in sums)
    if not (fp[-1] > 0 and tp[-1] > 0):
        raise DataError("AUC needs both classes, got no weight on one of them.")
    area = float(np.sum(np.diff(fp) * (tp[1:] + tp[:-1])) / (2 * fp[-1] * tp[-1]))
    return RocPoints(fp, tp, area)


class _Counts(NamedTuple):
    points: int  # number of points of the curve; -1 if a score is NaN
    doubled_wins: int  # twice the pairs won by the positive, plus ties


@kernel
def _count(scores, positive, work, fp, tp):
    """Write the points of the ROC curve into `fp` and `tp`; counts are summed as integers.

    Negatives without a positive between them are one step, since no measure depends on their order.
    """
    if not _sort_coarsely(scores, positive, work):
        return _Counts(-1, -1)
    items = work[0]
    doubled = above = below = 0  # positives and negatives passed so far
    points, stop, before = 1, items.size, 1  # before: positives of the previous step
    fp[0] = tp[0] = 0.0
    while stop > 0:
        item = items[stop - 1]
        bucket, start = item >> COARSE, stop - 1
        wins = 1 if item & POSITIVE else 0
        same = True
        while start > 0 and items[start - 1] >> COARSE == bucket:
            start -= 1
            wins += 1 if items[start] & POSITIVE else 0
            same = same and scores[items[start] & NUMBER] == scores[item & NUMBER]
        if not same and wins > 0:
            _sort(scores, items[start:stop])
        while stop > start:
            begin, ties = start, wins
            if not same and wins > 0:
                begin, ties = _equal(scores, items, start, stop)
            losses = stop - begin - ties
            doubled += losses * (2 * above + ties)
            above += ties
            below += losses
            points -= 1 if ties + before == 0 else 0
            fp[points], tp[points] = below, above
            points += 1
            before, stop = ties, begin
    return _Counts(points, doubled)


@kernel
def _equal(scores, items, start, stop):
    """Start of the items that tie with the last of items[start:stop], and their number of positives."""
    value = scores[items[stop - 1] & NUMBER]
    begin, positives = stop, 0
    while begin > start and scores[items[begin - 1] & NUMBER] == value:
        begin -= 1
        positives += 1 if items[begin] & POSITIVE else 0
    return begin, positives


@kernel
def _sort_coarsely(scores, positive, work):
    """Sort scores by their interval, in two passes, into work[0]; False if a score is NaN.

    The upper half of an item holds the interval of a score, the lower half its label and its number.
    """
    lowest = highest = scores[0]
    for score in scores:
        if np.isnan(score):
            return False
        lowest, highest = min(lowest, score), max(highest, score)
    factor = INTERVALS / (highest - lowest)
    if not (highest - lowest < np.inf and factor < np.inf):
        lowest, factor = 0.0, 0.0  # one interval for all scores, sorted afterwards
    counts = np.zeros((2, BUCKETS), np.int64)
    for i in range(scores.size):
        # Rounding keeps the order. Infinity times zero is NaN, which must not become an integer.
        interval = np.uint64((scores[i] - lowest) * factor) if factor > 0.0 else np.uint64(0)
        item = (interval << COARSE) | np.uint64(i)
        work[0, i] = item | POSITIVE if positive[i] else item
        counts[0, interval & DIGIT] += 1
        counts[1, interval >> np.uint64(RADIX_BITS)] += 1
    _scatter(work[0], work[1], counts[0], COARSE)
    _scatter(work[1], work[0], counts[1], FINEST)
    return True


@kernel
def _scatter(source, target, counts, shift):
    """One radix pass by the 11 bits above `shift`; overwrites `counts`."""
    total = 0
    for bucket in range(BUCKETS):
        count = counts[bucket]
        counts[bucket] = total
        total += count
    for i in range(source.size):
        bucket = (source[i] >> shift) & DIGIT
        target[counts[bucket]] = source[i]
        counts[bucket] += 1


@kernel
def _sort(scores, items):
    """Sort by the float64 scores; few items by insertion."""
    if items.size > SMALL:
        keys = np.empty(items.size, np.float64)
        for i in range(items.size):
            keys[i] = scores[items[i] & NUMBER]
        items[:] = items[np.argsort(keys)]
        return
    for i in range(1, items.size):
        item = items[i]
        score = scores[item & NUMBER]
        j = i
        while j > 0 and scores[items[j - 1] & NUMBER] > score:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


@kernel
def _average_precision(fp, tp):
    total = 0.0
    for k in range(1, tp.size):
        if tp[k] > tp[k - 1]:  # the weights of this and all earlier steps may be 0
            total += (tp[k] - tp[k - 1]) * tp[k] / (tp[k] + fp[k])
    return total / tp[-1]
