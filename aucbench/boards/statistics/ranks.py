"""Average ranks over data sets: of what is complete, and with gaps; never of imputed values."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aucbench.boards.statistics.bootstrap import rank_intervals
from aucbench.boards.statistics.cells import Block, Floats, dataset_means, missing_cells, over_datasets
from aucbench.boards.statistics.rectangles import complete_rectangle

if TYPE_CHECKING:
    import pandas as pd

DECIMALS = 12  # means that agree so far are tied

COLUMNS = ("method", "datasets", "rank", "low", "high", "relative", "relative_low", "relative_high")


@dataclass(frozen=True)
class Ranking:
    """Average ranks, computed twice, and what is missing.

    Attributes
    ----------
    complete : DataFrame
        Over a table without gaps: one row a method with `datasets` (their number), `rank` (average, 1 is
        best), `low` and `high`, `relative` ((rank - 1) / (methods - 1), 0 is best) with its interval; best
        first.
    with_gaps : DataFrame
        The same of all methods, each over the data sets that it has, ranked among the methods that have
        them too. The number of rivals differs from data set to data set, so compare by `relative`.
    datasets : tuple
        Those of `complete`.
    dropped_datasets, dropped_methods : tuple
        What `complete` lacks; see `complete_rectangle` for how it was chosen.
    missing : DataFrame
        The cells without AUC; see `missing_cells`.
    """

    complete: "pd.DataFrame"
    with_gaps: "pd.DataFrame"
    datasets: tuple[Hashable, ...]
    dropped_datasets: tuple[Hashable, ...]
    dropped_methods: tuple[Hashable, ...]
    missing: "pd.DataFrame"


def rank_rows(values: Floats) -> Floats:
    """Ranks of every row, the largest value first, ties averaged; NaN stay NaN and take no rank.

    Parameters
    ----------
    values : ndarray (n, k)
        Mean AUCs; those that agree to twelve decimals are tied.
    """
    rounded = np.round(values, DECIMALS)
    one, other = rounded[:, :, None], rounded[:, None, :]  # all pairs: faster than sorting short rows
    ranks = (1 + (other > one).sum(axis=2) + (other >= one).sum(axis=2)) / 2
    return np.asarray(np.where(np.isnan(values), np.nan, ranks))


def average_ranks(
    cells: "pd.DataFrame", confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Ranking:
    """Average rank of every method over the data sets, with a bootstrap interval.

    On each data set methods are ranked by their mean AUC, ties averaged (Demsar 2006, sec. 3.2.2). The
    interval holds the middle `confidence` of the average ranks of resampled studies: data sets are drawn
    with replacement and, within each, its runs, the same for all methods (they are paired). With one data
    set it speaks about runs only, with one run about data sets only. A method has a data set when all its
    runs finished.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`; a data set may stand on one board only.
    confidence : float
        Of the intervals, in (0, 1).
    resamples : int
        Number of resampled studies, >= 1.
    seed : int
        Of the generator that draws them.

    References
    ----------
    J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006) 1-30.
    B. Efron, R. Tibshirani: An introduction to the bootstrap (1993), sec. 13.3 (percentile interval).
    """
    found = over_datasets(cells)
    rectangle = complete_rectangle(dataset_means(cells))
    kept = [block for block in found if block.dataset in rectangle.table.index]
    methods: list[Hashable] = [*rectangle.table.columns]
    complete = _ranked(kept, methods, confidence, resamples, seed)
    gaps = rectangle.dropped_datasets or rectangle.dropped_methods
    everything = [*found[0].methods] if found else []
    return Ranking(
        complete=complete,
        with_gaps=_ranked(found, everything, confidence, resamples, seed) if gaps else complete.copy(),
        datasets=tuple(rectangle.table.index),
        dropped_datasets=rectangle.dropped_datasets,
        dropped_methods=rectangle.dropped_methods,
        missing=missing_cells(cells),
    )


def _ranked(
    found: list[Block], methods: list[Hashable], confidence: float, resamples: int, seed: int
) -> "pd.DataFrame":
    import pandas as pd

    if not found or not methods:
        return pd.DataFrame(columns=list(COLUMNS))
    columns = [found[0].methods.index(method) for method in methods]
    means = np.array([block.means[columns] for block in found])
    ranks = rank_rows(means)
    rivals = np.sum(~np.isnan(means), axis=1, keepdims=True) - 1
    relative = np.where(np.isnan(ranks), np.nan, (ranks - 1) / np.maximum(rivals, 1))
    matrices = [np.where(b.complete, b.aucs, np.nan)[:, columns] for b in found]
    interval = rank_intervals(matrices, rank_rows, confidence, resamples, seed)
    table = pd.DataFrame({"method": pd.Series(methods, dtype=object)})
    table["datasets"] = np.sum(~np.isnan(means), axis=0)
    table["rank"] = _mean(ranks)
    table["low"], table["high"] = interval.low, interval.high
    table["relative"] = _mean(relative)
    table["relative_low"], table["relative_high"] = interval.relative_low, interval.relative_high
    return table.sort_values("relative", kind="stable", na_position="last", ignore_index=True)


def _mean(ranks: Floats) -> Floats:
    count = np.sum(~np.isnan(ranks), axis=0)
    return np.asarray(np.where(count > 0, np.nansum(ranks, axis=0) / np.maximum(count, 1), np.nan))
