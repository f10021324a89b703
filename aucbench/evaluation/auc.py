"""The exact area under the ROC curve, ties one half, in integer pair counts.

    AUC = (#pairs s+ > s-  +  1/2 #ties) / (n+ n-)

Scores are sorted by their value rounded to float32, a radix sort of three passes over 32-bit keys; rounding
keeps their order, so that only the scores of one float32 value remain to be put in order, as float64.
"""

from typing import Any

import numpy as np

from aucbench.errors import DataError
from aucbench.kernels import kernel

BITS = 11  # of the key a pass sorts by; 3 passes cover 32
BUCKETS = 1 << BITS
SIGN = np.uint32(1 << 31)


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
    n = scores.size
    if not _sort_keys(scores, work):
        return -1
    order = work[0]  # after three passes; key and number of a score in the upper and lower half
    doubled = 0
    below = 0  # negatives with a smaller score
    start = 0
    while start < n:
        key = order[start] >> np.uint64(32)
        first = order[start] & np.uint64(0xFFFFFFFF)
        value = scores[first]
        stop, same = start, True
        wins = 0
        while stop < n and order[stop] >> np.uint64(32) == key:
            number = order[stop] & np.uint64(0xFFFFFFFF)
            same = same and scores[number] == value
            wins += positive[number]
            stop += 1
        losses = stop - start - wins
        if same or wins == 0 or losses == 0:
            doubled += wins * (2 * below + losses)
        else:
            numbers = (order[start:stop] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            doubled += 2 * below * wins + _doubled_wins_inside(scores[numbers], positive[numbers])
        below += losses
        start = stop
    return doubled


@kernel
def _sort_keys(scores, work):
    """Radix sort of the float32 keys into work[0]; False when a score is NaN."""
    n = scores.size
    counts = np.zeros((3, BUCKETS), np.int64)
    single = np.empty(1, np.float32)
    bits = single.view(np.uint32)
    for i in range(n):
        if np.isnan(scores[i]):
            return False
        single[0] = np.float32(scores[i] + 0.0)  # -0.0 becomes 0.0
        # order as unsigned numbers: negatives upside down, positives above them
        key = ~bits[0] if bits[0] & SIGN else bits[0] | SIGN
        work[1, i] = (np.uint64(key) << np.uint64(32)) | np.uint64(i)
        for digit in range(3):
            counts[digit, (key >> np.uint32(BITS * digit)) & np.uint32(BUCKETS - 1)] += 1
    for digit in range(3):
        source, target = (work[1], work[0]) if digit != 1 else (work[0], work[1])
        places = counts[digit]
        total = 0
        for bucket in range(BUCKETS):
            count = places[bucket]
            places[bucket] = total
            total += count
        shift = np.uint64(32 + BITS * digit)
        for i in range(n):
            item = source[i]
            bucket = (item >> shift) & np.uint64(BUCKETS - 1)
            target[places[bucket]] = item
            places[bucket] += 1
    return True


@kernel
def _doubled_wins_inside(scores, positive):
    """Twice the wins plus the ties among scores that are equal as float32."""
    order = np.argsort(scores, kind="mergesort")
    doubled = below = start = 0
    while start < order.size:
        stop, wins = start, 0
        while stop < order.size and scores[order[stop]] == scores[order[start]]:
            wins += positive[order[stop]]
            stop += 1
        losses = stop - start - wins
        doubled += wins * (2 * below + losses)
        below += losses
        start = stop
    return doubled
