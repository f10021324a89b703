"""Sums over pairs of a positive and a negative whose margin lies in a range, in O(n log n), without pairs.

With both classes in ascending order of their scores, the negatives that a positive meets at a margin
m = s+ - s- from `low` up to below `high` lie side by side, and both ends of that window move upward from
one positive to the next. All sums over pairs are then differences of two prefix sums. The prefix sums are
kept in twice the precision: a window of a few pairs may stand far along a prefix of many thousands.

Joachims, ICML 2005 and Lee, Lin, Neural Computation 2014, count pairs in this way.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench import kernels


class Ranking(NamedTuple):
    """Both classes in ascending order of their scores."""

    positives: np.ndarray  # (n+,) row numbers
    negatives: np.ndarray  # (n-,) row numbers
    high: np.ndarray  # (n+,) scores of the positives
    low: np.ndarray  # (n-,) scores of the negatives


class Window(NamedTuple):
    """Pairs of the i-th positive with the negatives from starts[i] up to before stops[i], by rank.

    The same pairs seen from the j-th negative are the positives from neg_starts[j] to before neg_stops[j].
    """

    starts: np.ndarray  # (n+,) ascending
    stops: np.ndarray  # (n+,) ascending, at least starts
    neg_starts: np.ndarray  # (n-,) ascending
    neg_stops: np.ndarray  # (n-,) ascending, at least neg_starts


def rank(scores: np.ndarray, y: np.ndarray) -> Ranking:
    """Sort both classes by their scores."""
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    positives = positives[np.argsort(scores[positives])]
    negatives = negatives[np.argsort(scores[negatives])]
    return Ranking(positives, negatives, scores[positives], scores[negatives])


def window(ranking: Ranking, high: float, low: float = -np.inf) -> Window:
    """The pairs with a margin in [low, high)."""
    starts = _reach(ranking.high, ranking.low, high)
    if low == -np.inf:
        stops = np.full(starts.size, ranking.low.size)
    else:
        stops = np.maximum(starts, _reach(ranking.high, ranking.low, low))
    ranks = np.arange(ranking.low.size)
    return Window(
        starts, stops, np.searchsorted(stops, ranks, "right"), np.searchsorted(starts, ranks, "right")
    )


def count(pairs: Window) -> int:
    """The number of pairs."""
    return int((pairs.stops - pairs.starts).sum())


def degrees(ranking: Ranking, pairs: Window) -> np.ndarray:
    """(n,) number of pairs that each row is in."""
    total = np.zeros(ranking.positives.size + ranking.negatives.size)
    total[ranking.positives] = pairs.stops - pairs.starts
    total[ranking.negatives] = pairs.neg_stops - pairs.neg_starts
    return total


def laplacian(ranking: Ranking, pairs: Window, v: np.ndarray) -> np.ndarray:
    """(n,) sum of v_i - v_j over the pairs of row i with a row j; Z^T Z w is X^T of it, with v = X w."""
    out = np.zeros(v.size)
    _differences(pairs.starts, pairs.stops, ranking.positives, ranking.negatives, v, out)
    _differences(pairs.neg_starts, pairs.neg_stops, ranking.negatives, ranking.positives, v, out)
    return out


def members(ranking: Ranking, pairs: Window) -> tuple[np.ndarray, np.ndarray]:
    """The pairs one by one: row numbers of the positives and of the negatives, (count,) each."""
    lengths = pairs.stops - pairs.starts
    first = np.repeat(np.arange(lengths.size), lengths)
    within = np.arange(first.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return ranking.positives[first], ranking.negatives[pairs.starts[first] + within]


def scatter(X: Any, ranking: Ranking, pairs: Window) -> np.ndarray:
    """(d, d) sum of z z^T over the pairs; takes twice the memory of the dense rows that are in any pair."""
    pos = np.flatnonzero(pairs.stops > pairs.starts)
    if pos.size == 0:
        return np.zeros((X.shape[1], X.shape[1]))
    first, last = pairs.starts[pos[0]], pairs.stops[pos[-1]]
    P, N = dense(X, ranking.positives[pos]), dense(X, ranking.negatives[first:last])
    weights_pos = (pairs.stops - pairs.starts)[pos]
    weights_neg = (pairs.neg_stops - pairs.neg_starts)[first:last]
    prefix = np.zeros((N.shape[0] + 1, N.shape[1]))
    np.cumsum(N, axis=0, out=prefix[1:])
    crossed = P.T @ (prefix[pairs.stops[pos] - first] - prefix[pairs.starts[pos] - first])
    return (P.T * weights_pos) @ P + (N.T * weights_neg) @ N - crossed - crossed.T


def dense(X: Any, rows: np.ndarray) -> np.ndarray:
    """Some rows as a float64 array."""
    part = X[rows]
    return np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), np.float64)


@kernels.kernel
def _reach(high, low, margin):
    """For each of the ascending `high`, how many of the ascending `low` it exceeds by `margin` or more."""
    reached = np.empty(high.size, np.int64)
    j = 0
    for i in range(high.size):
        while j < low.size and high[i] - low[j] >= margin:
            j += 1
        reached[i] = j
    return reached


@kernels.kernel
def _differences(starts, stops, own, others, v, out):
    """Set out at each row of `own` to the sum of its v minus the v of the `others` in its window."""
    main, rest = np.zeros(others.size + 1), np.zeros(others.size + 1)
    for j in range(others.size):  # main + rest is the prefix sum; each addition's own error goes to rest
        value = v[others[j]]
        total = main[j] + value
        back = total - main[j]
        main[j + 1] = total
        rest[j + 1] = rest[j] + ((main[j] - (total - back)) + (value - back))
    for i in range(own.size):
        a, b = starts[i], stops[i]
        row = own[i]
        if b > a:
            out[row] = (b - a) * v[row] - ((main[b] - main[a]) + (rest[b] - rest[a]))
