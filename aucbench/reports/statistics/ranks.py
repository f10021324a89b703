"""Average ranks over data sets: of what is complete, and with gaps; never of imputed values."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import Block, Floats, blocks, dataset_means, missing_cells

DECIMALS = 12  # means that agree so far are tied

COLUMNS = ("method", "datasets", "rank", "low", "high", "relative")


class Ranking(NamedTuple):
    """Average ranks, computed twice, and what is missing."""

    # Over the `complete_rectangle`: by method `datasets` (their number), `rank` (average, 1 is best), `low`
    # and `high`, `relative` ((rank - 1) / (methods - 1), 0 is best); best first.
    complete: pd.DataFrame
    # The same of all methods, each over the data sets that it has, ranked among the methods that have them
    # too. The number of rivals differs from data set to data set, so compare by `relative`.
    with_gaps: pd.DataFrame
    datasets: tuple[Hashable, ...]  # of `complete`
    missing: pd.DataFrame  # see `missing_cells`


def average_ranks(
    cells: pd.DataFrame, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Ranking:
    """Average rank of every method over the data sets, with a bootstrap interval.

    On each data set methods are ranked by their mean AUC, ties averaged (Demsar 2006, sec. 3.2.2). The
    interval holds the middle `confidence` of the average ranks of resampled studies: data sets are drawn
    with replacement and, within each, its runs, the same for all methods (they are paired). With one data
    set it speaks about runs only, with one run about data sets only. A method has a data set when all its
    runs finished.

    J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006) 1-30.
    B. Efron, R. Tibshirani: An introduction to the bootstrap (1993), sec. 13.3 (percentile interval).
    """
    found, means = blocks(cells, all_methods=True), dataset_means(cells)
    table = complete_rectangle(means)
    kept = [block for block in found if block.dataset in table.index]
    complete = _ranked(kept, [*table.columns], confidence, resamples, seed)
    has_gaps = table.shape != means.shape
    return Ranking(
        complete=complete,
        with_gaps=(
            _ranked(found, [*means.columns], confidence, resamples, seed) if has_gaps else complete.copy()
        ),
        datasets=tuple(table.index),
        missing=missing_cells(cells),
    )


def rank_rows(values: Floats) -> Floats:
    """Ranks of every row of (n, k) mean AUCs, the largest first; NaN stay NaN and take no rank.

    Means that agree to twelve decimals are tied, and ties averaged.
    """
    rounded = np.round(values, DECIMALS)
    one, other = rounded[:, :, None], rounded[:, None, :]  # all pairs: faster than sorting short rows
    ranks = (1 + (other > one).sum(axis=2) + (other >= one).sum(axis=2)) / 2
    return np.asarray(np.where(np.isnan(values), np.nan, ranks))


def complete_rectangle(table: pd.DataFrame) -> pd.DataFrame:
    """The part of a table of data sets and methods that has no gaps (NaN).

    Again and again the row or column with the largest share of gaps is dropped, until there is none. Of a
    data set and a method with equal shares the method is dropped, so that a failure costs the method that
    failed and not the evidence about the others; of equal methods or data sets, the last.
    """
    gaps = table.isna().to_numpy()
    rows, columns = list(range(gaps.shape[0])), list(range(gaps.shape[1]))
    while rows and columns and gaps[rows][:, columns].any():
        part = gaps[rows][:, columns]
        of_rows, of_columns = part.mean(axis=1), part.mean(axis=0)
        if of_columns.max() >= of_rows.max():
            columns.pop(int(len(columns) - 1 - of_columns[::-1].argmax()))
        else:
            rows.pop(int(len(rows) - 1 - of_rows[::-1].argmax()))
    return table.iloc[rows, columns] if rows and columns else table.iloc[[], []]


def _ranked(
    found: list[Block], methods: list[Hashable], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    if not found or not methods:
        return pd.DataFrame(columns=list(COLUMNS))
    columns = [found[0].methods.index(method) for method in methods]
    means = np.array([block.means[columns] for block in found])
    ranks = rank_rows(means)
    rivals = np.sum(~np.isnan(means), axis=1, keepdims=True) - 1
    relative = (ranks - 1) / np.maximum(rivals, 1)
    matrices = [np.where(b.complete, b.aucs, np.nan)[:, columns] for b in found]
    low, high = _bootstrap_intervals(matrices, confidence, resamples, seed)
    names, datasets = pd.Series(methods, dtype=object), np.sum(~np.isnan(means), axis=0)
    values = (names, datasets, _mean(ranks), low, high, _mean(relative))
    table = pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
    return table.sort_values("relative", kind="stable", na_position="last", ignore_index=True)


def _mean(ranks: Floats) -> Floats:
    count = np.sum(~np.isnan(ranks), axis=0)
    return np.asarray(np.where(count > 0, np.nansum(ranks, axis=0) / np.maximum(count, 1), np.nan))


def _bootstrap_intervals(aucs: Sequence[Floats], confidence: float, resamples: int, seed: int) -> Floats:
    """Percentile intervals, (2, k), of average ranks.

    `aucs` holds a matrix (runs, k) per data set, in which a method is a column without NaN, or all NaN. A
    resample draws as many data sets as there are, with replacement; each time a data set is drawn, as many
    of its runs as there are, with replacement. A resample without any data set of a method has no average
    rank for it and is left out of its interval; a method without any data set has NaN.
    """
    rng = np.random.default_rng(seed)
    k = aucs[0].shape[1]
    picks = rng.integers(0, len(aucs), size=(resamples, len(aucs)))
    sums, counts = np.zeros((resamples, k)), np.zeros((resamples, k))
    for number, matrix in enumerate(aucs):
        drawn_by = np.nonzero(picks == number)[0]  # (m,) resamples, each as often as it drew the data set
        has = ~np.isnan(matrix).any(axis=0)
        if not len(drawn_by) or not has.any():
            continue
        runs = len(matrix)
        weights = rng.multinomial(runs, np.full(runs, 1.0 / runs), size=len(drawn_by)) / runs
        here = np.ix_(drawn_by, np.flatnonzero(has))
        np.add.at(sums, here, rank_rows(weights @ matrix[:, has]))
        np.add.at(counts, here, 1.0)
    with np.errstate(invalid="ignore"):
        means = sums / counts
    bounds = np.full((2, k), np.nan)
    known = ~np.isnan(means).all(axis=0)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    bounds[:, known] = np.nanquantile(means[:, known], tails, axis=0)
    return bounds
