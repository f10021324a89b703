"""The exact area under the ROC curve, ties one half, in integer pair counts.

    AUC = (#pairs s+ > s-  +  1/2 #ties) / (n+ n-)

The range of the scores is cut into 2^22 equal intervals, by which a radix sort of two passes sorts them;
only scores of one interval remain to be put in order, as float64.
"""

from typing import Any

import numpy as np

from aucbench.errors import DataError
from aucbench.kernels import kernel

BITS = 11  # that a pass sorts by
BUCKETS = 1 << BITS
DIGIT = np.uint64(BUCKETS - 1)
COARSE, FINEST = np.uint64(32), np.uint64(43)  # where in an item the interval's lower and upper bits begin
INTERVALS = BUCKETS * BUCKETS - 1.0
POSITIVE = np.uint64(1 << 31)  # the label in an item
NUMBER = np.uint64((1 << 31) - 1)  # the number of the score in an item
SMALL = 32  # items sorted by insertion


def exact_auc(scores: Any, y: Any) -> float:
    """The exact AUC of scores.

    Parameters
    ----------
    scores : (n,) array
        Decision values; infinities are allowed, -0.0 ties with 0.0.
    y : (n,) int8 array
        Labels in {-1, 1}.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    DataError
        When a score is NaN, only one class is present, or the lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> exact_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([-1, -1, 1, 1]))
    0.875
    """
    return float(auc_of_columns(np.asarray(scores).reshape(-1, 1), y)[0])


def auc_of_columns(scores: Any, y: Any) -> np.ndarray:
    """The exact AUC of each column of scores, as of many checkpoints.

    Parameters
    ----------
    scores : (n, c) array
        A column of decision values each; Fortran order saves a copy of every column.
    y : (n,) int8 array
        Labels in {-1, 1}.

    Returns
    -------
    (c,) float64 array

    Raises
    ------
    DataError
        As `exact_auc`.
    """
    scores = np.asarray(scores)
    positive = np.ascontiguousarray(np.asarray(y) == 1)
    n, n_pos = positive.size, int(np.count_nonzero(positive))
    if scores.shape[0] != n:
        raise DataError(f"AUC: {scores.shape[0]} scores for {n} labels.")
    if n_pos in (0, n):
        raise DataError(f"AUC needs both classes, got {n_pos} positives and {n - n_pos} negatives.")
    result = np.empty(scores.shape[1])
    work = np.empty((2, n), np.uint64)
    for column in range(scores.shape[1]):
        values = np.ascontiguousarray(scores[:, column], np.float64)
        doubled = _doubled_wins(values, positive, work)
        if doubled < 0:
            where = int(np.flatnonzero(np.isnan(values))[0])
            raise DataError(f"AUC: score {where} is NaN; the model has diverged.")
        result[column] = doubled / (2 * n_pos * (n - n_pos))
    return result


@kernel
def _doubled_wins(scores, positive, work):
    """Twice the pairs a positive wins plus the ties; -1 when a score is NaN."""
    if not _sort_coarsely(scores, positive, work):
        return -1
    items = work[0]
    doubled = 0
    below = 0  # negatives with a smaller score
    start = 0
    while start < items.size:
        bucket = items[start] >> COARSE
        value = scores[items[start] & NUMBER]
        stop, wins, same = start, 0, True
        while stop < items.size and items[stop] >> COARSE == bucket:
            wins += 1 if items[stop] & POSITIVE else 0
            same = same and (stop == start or scores[items[stop] & NUMBER] == value)
            stop += 1
        losses = stop - start - wins
        if same or wins == 0 or losses == 0:
            doubled += wins * (2 * below + losses)
        else:
            if stop - start <= SMALL:
                _sort_few(scores, items[start:stop])
            else:
                _sort_many(scores, items[start:stop], work[1, start:stop])
            doubled += 2 * below * wins + _doubled_wins_in_order(scores, items[start:stop])
        below += losses
        start = stop
    return doubled


@kernel
def _sort_coarsely(scores, positive, work):
    """Sort by the interval of the range that a score falls in, in two passes, into work[0]; False when NaN.

    An item holds the interval of a score in its upper half, then its label and its number.
    """
    lowest = highest = scores[0]
    for score in scores:
        if np.isnan(score):
            return False
        lowest, highest = min(lowest, score), max(highest, score)
    factor = INTERVALS / (highest - lowest)
    if not (highest - lowest < np.inf and factor < np.inf):
        lowest, factor = 0.0, 0.0  # one interval for all: they are put in order afterwards
    counts = np.zeros((2, BUCKETS), np.int64)
    for i in range(scores.size):
        # rounding keeps the order; an infinite score times zero must not be cut to a whole number
        interval = np.uint64((scores[i] - lowest) * factor) if factor > 0.0 else np.uint64(0)
        item = (interval << COARSE) | np.uint64(i)
        work[0, i] = item | POSITIVE if positive[i] else item
        counts[0, interval & DIGIT] += 1
        counts[1, interval >> np.uint64(BITS)] += 1
    _scatter(work[0], work[1], counts[0], COARSE)
    _scatter(work[1], work[0], counts[1], FINEST)
    return True


@kernel
def _scatter(source, target, counts, shift):
    """One pass of a radix sort by the 11 bits above `shift`; counts are used up."""
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
def _sort_few(scores, items):
    """Insertion sort by the float64 scores."""
    for i in range(1, items.size):
        item = items[i]
        score = scores[item & NUMBER]
        j = i
        while j > 0 and scores[items[j - 1] & NUMBER] > score:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


@kernel
def _sort_many(scores, items, spare):
    """Radix sort by the float64 scores; digits that all scores share are skipped."""
    keys = np.empty(items.size, np.float64)
    for i in range(items.size):
        keys[i] = scores[items[i] & NUMBER] + 0.0
    bits = keys.view(np.uint64)
    other = np.empty_like(bits)
    for i in range(bits.size):
        bits[i] = ~bits[i] if bits[i] >> np.uint64(63) else bits[i] | np.uint64(1 << 63)
    counts = np.empty(BUCKETS, np.int64)
    source, target, key, next_key = items, spare, bits, other
    for shift in range(0, 64, BITS):
        counts[:] = 0
        for i in range(key.size):
            counts[(key[i] >> np.uint64(shift)) & DIGIT] += 1
        if counts[(key[0] >> np.uint64(shift)) & DIGIT] == key.size:
            continue
        total = 0
        for bucket in range(BUCKETS):
            count = counts[bucket]
            counts[bucket] = total
            total += count
        for i in range(key.size):
            bucket = (key[i] >> np.uint64(shift)) & DIGIT
            target[counts[bucket]], next_key[counts[bucket]] = source[i], key[i]
            counts[bucket] += 1
        source, target, key, next_key = target, source, next_key, key
    items[:] = source


@kernel
def _doubled_wins_in_order(scores, items):
    """Twice the wins plus the ties among sorted items."""
    doubled = below = start = 0
    while start < items.size:
        value = scores[items[start] & NUMBER]
        stop, wins = start, 0
        while stop < items.size and scores[items[stop] & NUMBER] == value:
            wins += 1 if items[stop] & POSITIVE else 0
            stop += 1
        losses = stop - start - wins
        doubled += wins * (2 * below + losses)
        below += losses
        start = stop
    return doubled
