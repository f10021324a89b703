"""Two methods over many data sets: Wilcoxon's signed-rank test of their means, exact also with ties."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from aucbench.reports.statistics.inputs import TOLERANCE, Floats, dataset_means
from aucbench.reports.statistics.multiple_comparisons import holm


class SignedRanks(NamedTuple):
    """The sums of the ranks of positive and negative differences, and the two-sided p-value."""

    plus: float
    minus: float
    p: float


def signed_ranks(differences: Floats) -> SignedRanks:
    """Wilcoxon's signed-rank test.

    The absolute differences are ranked, ties averaged; R+ and R- are the sums of the ranks of positive and
    negative ones, and ranks of zeros go half to each (Demsar 2006, sec. 3.1.3). The p-value is the
    probability that |R+ - R-| is at least as large if every non-zero difference had either sign with
    probability one half: the exact distribution given the ties, by convolution. Fewer than six data sets can
    never give p < 0.05. Differences closer than 1e-12 are ties. `differences` is (n,), one per data set,
    without NaN.

    F. Wilcoxon: Individual comparisons by ranking methods. Biometrics 1 (1945) 80-83.
    J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006) 1-30.
    """
    d = np.round(differences / TOLERANCE) * TOLERANCE
    if len(d) == 0:
        return SignedRanks(np.nan, np.nan, np.nan)
    doubled = np.rint(2 * stats.rankdata(np.abs(d))).astype(np.int64)  # whole numbers, also for ties
    steps = doubled[d != 0]
    zeros = float(doubled[d == 0].sum()) / 4
    positive, total = int(doubled[d > 0].sum()), int(steps.sum())
    chances = np.ones(1)
    for step in steps:  # of doubled sums of positive ranks 0, 1, ...
        longer = np.zeros(len(chances) + step)
        longer[: len(chances)] += chances / 2
        longer[step:] += chances / 2
        chances = longer
    sums = np.arange(total + 1)
    extreme = np.abs(2 * sums - total) >= abs(2 * positive - total)
    p = min(1.0, float(chances[extreme].sum()))
    return SignedRanks(positive / 2 + zeros, (total - positive) / 2 + zeros, p)


def compare_datasets(cells: pd.DataFrame) -> pd.DataFrame:
    """Wilcoxon's test of every two methods on their data-set means, with Holm's correction.

    A pair is compared on the `datasets` on which neither has a gap. All pairs that share any data set are
    one family for the correction. There is one row per unordered pair: `first`, `second`, `datasets`, median
    `difference` (first - second), the rank sums `plus` (first better) and `minus`, `p` and `p_holm`.
    """
    means = dataset_means(cells)
    values, methods = means.to_numpy(dtype=float), list(means.columns)
    rows = []
    for one, other in zip(*np.triu_indices(len(methods), 1), strict=True):
        d = values[:, one] - values[:, other]
        d = d[~np.isnan(d)]
        middle = float(np.median(d)) if len(d) else np.nan
        rows.append((methods[one], methods[other], len(d), middle, *signed_ranks(d)))
    columns = ["first", "second", "datasets", "difference", *SignedRanks._fields]
    table = pd.DataFrame(rows, columns=columns)
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table
