"""Resampled studies: how average ranks would vary with other data sets and other runs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from aucbench.boards.statistics.cells import Floats, share
from aucbench.errors import ParameterError


class RankIntervals(NamedTuple):
    """Percentile intervals, one a method; NaN for a method without any data set."""

    low: Floats  # (k,) of the average rank
    high: Floats
    relative_low: Floats  # (k,) of the average of (rank - 1) / (methods - 1)
    relative_high: Floats


def rank_intervals(
    aucs: Sequence[Floats],
    rank_rows: Callable[[Floats], Floats],
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> RankIntervals:
    """Percentile intervals of average ranks over data sets and runs.

    A resample draws as many data sets as there are, with replacement; each time a data set is drawn, as many
    of its runs as there are, with replacement. A resample without any data set of a method has no average
    rank for it and is left out of its interval.

    Parameters
    ----------
    aucs : sequence of ndarray (runs, k)
        One a data set; a method is a column without NaN, or all NaN.
    rank_rows : callable
        Ranks the rows of (m, k) means.
    confidence, resamples, seed
        As of `average_ranks`.
    """
    share("confidence", confidence)
    if resamples < 1:
        raise ParameterError(f"resamples must be at least 1, got {resamples}.")
    if not aucs:
        raise ParameterError("rank intervals need at least one data set, got none.")
    rng = np.random.default_rng(seed)
    k = aucs[0].shape[1]
    picks = rng.integers(0, len(aucs), size=(resamples, len(aucs)))
    sums, relatives, counts = (np.zeros((resamples, k)) for _ in range(3))
    for number, matrix in enumerate(aucs):
        drawn_by = np.nonzero(picks == number)[0]  # (m,) resamples, each as often as it drew the data set
        has = ~np.isnan(matrix).any(axis=0)
        if not len(drawn_by) or not has.any():
            continue
        runs = len(matrix)
        weights = rng.multinomial(runs, np.full(runs, 1.0 / runs), size=len(drawn_by)) / runs
        ranks = rank_rows(weights @ matrix[:, has])
        here = np.ix_(drawn_by, np.flatnonzero(has))
        np.add.at(sums, here, ranks)
        np.add.at(relatives, here, (ranks - 1) / max(has.sum() - 1, 1))
        np.add.at(counts, here, 1.0)
    with np.errstate(invalid="ignore"):
        return RankIntervals(*_middle(sums / counts, confidence), *_middle(relatives / counts, confidence))


def _middle(values: Floats, confidence: float) -> tuple[Floats, Floats]:
    bounds = np.full((2, values.shape[1]), np.nan)
    known = ~np.isnan(values).all(axis=0)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    bounds[:, known] = np.nanquantile(values[:, known], tails, axis=0)
    return bounds[0], bounds[1]
