"""Sums over pairs of a positive and a negative with a margin in a range, in O(n log n), not pair by pair.

Both classes are in ascending order of their scores. The negatives whose margin m = s+ - s- with a positive is
in [low, high) then lie side by side, and both ends of this window move upward from one positive to the next.
All sums over pairs are therefore differences of two prefix sums. The prefix sums, and all results computed
from them, have twice the precision: a window of a few pairs may follow a prefix of many thousands of pairs,
and margins of 1 may belong to scores of a million.

With row weights, the weight of a pair is the product of both weights; only `count` counts pairs.

Joachims, ICML 2005 and Lee, Lin, Neural Computation 2014, count pairs in this way.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucbench.kernels.jit import helper, kernel

SPARSE = 0.125  # below this share of non-zeros, sparse products are faster than dense ones
SPLIT = 134217729.0  # 2^27 + 1 splits a float64 into two halves (Dekker)


class Ranking(NamedTuple):
    """Both classes in ascending order of their scores."""

    positives: np.ndarray  # (n+,) row numbers
    negatives: np.ndarray  # (n-,) row numbers
    high: np.ndarray  # (n+,) scores of the positives, minus an offset common to all scores
    low: np.ndarray  # (n-,) scores of the negatives, minus the same offset
    high_weights: np.ndarray | None = None  # (n+,) weights of the positives; None where all are 1
    low_weights: np.ndarray | None = None  # (n-,) weights of the negatives

    @property
    def total(self) -> float:
        """The sum of the weights of all pairs, at least 1 without weights."""
        if self.high_weights is None or self.low_weights is None:
            return float(max(1, self.high.size * self.low.size))
        return float(self.high_weights.sum() * self.low_weights.sum()) or 1.0


class Window(NamedTuple):
    """Pairs of the i-th positive with the negatives from starts[i] up to before stops[i], by rank.

    The same window pairs the j-th negative with the positives from neg_starts[j] to before neg_stops[j].
    """

    starts: np.ndarray  # (n+,) ascending
    stops: np.ndarray  # (n+,) ascending, at least starts
    neg_starts: np.ndarray  # (n-,) ascending
    neg_stops: np.ndarray  # (n-,) ascending, at least neg_starts


def rank(scores: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> Ranking:
    """Sort both classes by their scores; `weights` (n,) are row weights."""
    scores = near_zero(scores)
    positives, negatives = (
        rows[np.argsort(scores[rows])] for rows in (np.flatnonzero(y == 1), np.flatnonzero(y == -1))
    )
    high, low = scores[positives], scores[negatives]
    if weights is None:
        return Ranking(positives, negatives, high, low)
    return Ranking(positives, negatives, high, low, weights[positives], weights[negatives])


def near_zero(scores: np.ndarray) -> np.ndarray:
    """The scores minus an offset common to all, if this subtraction is exact (Sterbenz)."""
    if scores.size:
        low, high = float(scores.min()), float(scores.max())
        if 0.0 < low <= high <= 2.0 * low or 2.0 * high <= low <= high < 0.0:
            return scores - (low if low > 0.0 else high)
    return scores


def window(ranking: Ranking, high: float, low: float = -np.inf) -> Window:
    """The pairs with a margin in [low, high)."""
    starts = _reach(ranking.high, ranking.low, high)
    if low == -np.inf:
        stops = np.full(starts.size, ranking.low.size)
    else:
        stops = np.maximum(starts, _reach(ranking.high, ranking.low, low))
    return Window(starts, stops, _at_most(stops, ranking.low.size), _at_most(starts, ranking.low.size))


def count(pairs: Window) -> int:
    """Number of pairs."""
    return int((pairs.stops - pairs.starts).sum())


def degrees(ranking: Ranking, pairs: Window) -> np.ndarray:
    """(n,) number of pairs that each row is in, or the sum of their weights."""
    if ranking.high_weights is None or ranking.low_weights is None:
        return _by_row(ranking, pairs.stops - pairs.starts, pairs.neg_stops - pairs.neg_starts)
    below, above = (np.append(0.0, np.cumsum(side)) for side in (ranking.low_weights, ranking.high_weights))
    pos = ranking.high_weights * (below[pairs.stops] - below[pairs.starts])
    return _by_row(ranking, pos, ranking.low_weights * (above[pairs.neg_stops] - above[pairs.neg_starts]))


def _by_row(ranking: Ranking, positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """(n,) numbers of both classes, by rank, in the order of the rows."""
    total = np.empty(positives.size + negatives.size)
    total[ranking.positives], total[ranking.negatives] = positives, negatives
    return total


def laplacian(ranking: Ranking, pairs: Window, v: np.ndarray) -> np.ndarray:
    """(n,) sum of v_i - v_j over the pairs of row i with a row j; Z^T Z w is X^T times the sum for X w."""
    out, (_, _, _, _, pos, neg) = np.zeros(v.size), ranking
    _differences(pairs.starts, pairs.stops, ranking.positives, ranking.negatives, v, pos, neg, out)
    _differences(pairs.neg_starts, pairs.neg_stops, ranking.negatives, ranking.positives, v, neg, pos, out)
    return out


def value_sums(ranking: Ranking, pairs: Window, c0: float, c1: float, c2: float) -> np.ndarray:
    """(n+,) sums of c0 + c1 m + c2 m^2 over the pairs of each positive, by rank, m being the margin."""
    return np.asarray(_powers(pairs.starts, pairs.stops, *ranking[2:], c0, c1, c2))


def slope_sums(ranking: Ranking, pairs: Window, c1: float, c2: float) -> np.ndarray:
    """(n,) derivative by each row's score of the sum of c1 m + c2 m^2 over the pairs."""
    _, _, high, low, pos, neg = ranking
    return _by_row(
        ranking,
        _powers(pairs.starts, pairs.stops, high, low, pos, neg, c1, 2.0 * c2, 0.0),
        _powers(pairs.neg_starts, pairs.neg_stops, low, high, neg, pos, -c1, 2.0 * c2, 0.0),
    )


def members(ranking: Ranking, pairs: Window) -> tuple[np.ndarray, np.ndarray]:
    """The pairs one by one: row numbers of the positives and of the negatives, (count,) each."""
    lengths = pairs.stops - pairs.starts
    first = np.repeat(np.arange(lengths.size), lengths)
    within = np.arange(first.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return ranking.positives[first], ranking.negatives[pairs.starts[first] + within]


def scatter(ranking: Ranking, pairs: Window, X: Any) -> np.ndarray:
    """(d, d) sum of z z^T over the pairs; takes twice the memory of all rows in pairs, stored dense."""
    pos = np.flatnonzero(pairs.stops > pairs.starts)
    if pos.size == 0:
        return np.zeros((X.shape[1], X.shape[1]))
    first, last = pairs.starts[pos[0]], pairs.stops[pos[-1]]
    rows = np.concatenate([ranking.positives[pos], ranking.negatives[first:last]])
    weights = degrees(ranking, pairs)[rows, None]
    part: Any
    if sparse.issparse(X) and X.nnz < SPARSE * X.shape[0] * X.shape[1]:
        part = X[rows].astype(np.float64)
        squares = (part.T @ part.multiply(weights).tocsr()).toarray()
    else:
        part = dense(X, rows)
        squares = part.T @ (part * weights)
    N = dense(part, slice(pos.size, None))
    prefix = np.zeros((N.shape[0] + 1, N.shape[1]))
    counted = N if ranking.low_weights is None else N * ranking.low_weights[first:last, None]
    np.cumsum(counted, axis=0, out=prefix[1:])
    between = prefix[pairs.stops[pos] - first] - prefix[pairs.starts[pos] - first]
    if ranking.high_weights is not None:
        between *= ranking.high_weights[pos, None]
    crossed = part[: pos.size].T @ between
    return np.asarray(squares - crossed - crossed.T)


def dense(X: Any, rows: np.ndarray | slice) -> np.ndarray:
    """Some rows as a float64 array."""
    part = X[rows]
    return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), np.float64)


@kernel
def _at_most(ends, size):
    """(size,) number of the ascending `ends` that are at most 0, 1, 2 ..."""
    counts = np.empty(size, np.int64)
    i = 0
    for j in range(size):
        while i < ends.size and ends[i] <= j:
            i += 1
        counts[j] = i
    return counts


@kernel
def _reach(high, low, margin):
    """Number of the ascending `low` that each of the ascending `high` exceeds by `margin` or more."""
    reached = np.empty(high.size, np.int64)
    j = 0
    for i in range(high.size):
        while j < low.size and high[i] - low[j] >= margin:
            j += 1
        reached[i] = j
    return reached


@kernel
def _differences(starts, stops, rows, other_rows, v, row_weights, weights, out):
    """Set out at each of the `rows` to the sum of its v minus the v of the `other_rows` in its window."""
    main, carry = _prefix_sums(v[other_rows], weights)
    if weights is not None:
        totals, _ = _prefix_sums(weights, None)
    for i in range(rows.size):
        a, b = starts[i], stops[i]
        row = rows[i]
        if b > a:
            count = float(b - a) if weights is None else totals[b] - totals[a]
            product, error = _product(count, v[row])
            out[row] = (product - (main[b] - main[a])) + (error - (carry[b] - carry[a]))
            if row_weights is not None:
                out[row] *= row_weights[i]


@kernel
def _powers(starts, stops, scores, other_scores, row_weights, weights, c0, c1, c2):
    """(n,) sums of c0 + c1 z + c2 z^2 over z = scores[i] - other_scores[j] in the window of i."""
    main, carry = _prefix_sums(other_scores, weights)
    if weights is not None:
        totals, lost = _prefix_sums(weights, None)
    if c2 != 0.0:
        squares, square_errors = np.empty_like(other_scores), np.empty_like(other_scores)
        for j in range(other_scores.size):
            squares[j], square_errors[j] = _product(other_scores[j], other_scores[j])
        main2, carry2 = _prefix_sums(squares, weights)
        errors2, _ = _prefix_sums(square_errors, weights)
    sums = np.zeros(scores.size)
    for i in range(scores.size):
        a, b = starts[i], stops[i]
        if b <= a:
            continue
        count = (float(b - a), 0.0)
        if weights is not None:
            count = _plus(_sum(totals[b], -totals[a]), lost[b] - lost[a])
        s = scores[i]
        total = _sum(main[b], -main[a])
        total = _plus(total, carry[b] - carry[a])
        first = _plus(_times(count, s), -total[0], -total[1])  # sum of z
        result = _plus(_times(first, c1), c0 * count[0])
        if c2 != 0.0:  # the sum of z^2 is s (sum of z) - s (sum of other scores) + (sum of squares)
            second = _sum(main2[b], -main2[a])
            second = _plus(second, (carry2[b] - carry2[a]) + (errors2[b] - errors2[a]))
            once, twice = _times(first, s), _times(total, -s)
            second = _plus(_plus(second, once[0], once[1]), twice[0], twice[1])
            second = _times(second, c2)
            result = _plus(result, second[0], second[1])
        sums[i] = result[0] + result[1]
        if row_weights is not None:
            sums[i] *= row_weights[i]
    return sums


@helper
def _prefix_sums(values, weights):
    """(n + 1,) prefix sums of the values, times their weights if any, and their rounding errors."""
    main, carry = np.zeros(values.size + 1), np.zeros(values.size + 1)
    for j in range(values.size):
        if weights is None:
            main[j + 1], error = _sum(main[j], values[j])
            carry[j + 1] = carry[j] + error
        else:
            value, lost = _product(values[j], weights[j])
            main[j + 1], error = _sum(main[j], value)
            carry[j + 1] = carry[j] + (error + lost)
    return main, carry


@helper
def _sum(a, b):
    """a + b rounded, and the rounding error (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@helper
def _product(a, b):
    """a b rounded, and the rounding error (Dekker)."""
    total = a * b
    shifted_a, shifted_b = SPLIT * a, SPLIT * b
    high_a, high_b = shifted_a - (shifted_a - a), shifted_b - (shifted_b - b)
    low_a, low_b = a - high_a, b - high_b
    return total, ((high_a * high_b - total) + high_a * low_b + low_a * high_b) + low_a * low_b


@helper
def _plus(number, high, low=0.0):
    """The sum of two numbers of twice the precision."""
    total, error = _sum(number[0], high)
    return _sum(total, error + (number[1] + low))


@helper
def _times(number, factor):
    """A number of twice the precision times a factor."""
    total, error = _product(number[0], factor)
    return _sum(total, error + number[1] * factor)
