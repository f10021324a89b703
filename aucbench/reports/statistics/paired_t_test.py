"""Two methods on one data set: Student's t over paired runs, corrected for training sets that overlap."""

from collections.abc import Hashable
from itertools import repeat
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from aucbench.reports.statistics.inputs import TOLERANCE, Floats, blocks, level_of
from aucbench.reports.statistics.multiple_comparisons import holm


class TStatistics(NamedTuple):
    """Statistics of the columns of a matrix; NaN where there are too few runs."""

    runs: Floats  # (c,) values that are numbers
    mean: Floats  # (c,)
    std: Floats  # (c,) with n - 1 in the denominator
    low: Floats  # (c,) of the confidence interval of the mean
    high: Floats  # (c,)
    t: Floats  # (c,) of the hypothesis that the mean is 0
    p: Floats  # (c,) two-sided


def compare_runs(
    cells: pd.DataFrame, test_train_ratio: float | None, confidence: float = 0.95
) -> pd.DataFrame:
    """The corrected paired t-test of every two methods on every data set.

    With d the differences first - second over the common runs, t = mean(d) / SE(d) as in `t_statistics`,
    which also describes `test_train_ratio`. The p-values of all pairs of a data set without gaps are one
    family for Holm's correction, and two methods differ where the corrected p-value is below the level.
    Letters, wins and losses, bold numbers and sentences all follow from `outcome`.

    There is one row per `board`, `dataset` and unordered pair `first`, `second`: `difference` (first -
    second) over the `runs` that both have, with its interval `low`, `high`, `t`, `p` and `p_holm` (NaN for
    pairs with gaps); `outcome` from the view of the first: `win`, `tie` or `loss`; `incomplete` when a run of
    either did not finish (runs that finish are a selection), `untested` with a single run. Of constant
    differences, zero is a tie and any other a win or loss.
    """
    rows: list[tuple[Hashable, ...]] = []
    for block in blocks(cells):
        one, other = np.triu_indices(len(block.methods), 1)
        found = t_statistics(block.aucs[:, one] - block.aucs[:, other], test_train_ratio, confidence)
        complete = block.complete[one] & block.complete[other]
        corrected = holm(np.where(complete, found.p, np.nan))
        decided = np.where(found.mean > 0, "win", "loss")
        outcomes = np.where(corrected < level_of(confidence), decided, "tie")
        outcomes = np.where(np.isnan(corrected), "untested", outcomes)
        outcomes = np.where(complete, outcomes, "incomplete")
        rows += zip(
            repeat(block.board), repeat(block.dataset), [block.methods[at] for at in one],
            [block.methods[at] for at in other], found.runs.astype(int), found.mean, found.low, found.high,
            found.t, found.p, corrected, outcomes.tolist(),
        )  # fmt: skip
    columns = "board dataset first second runs difference low high t p p_holm outcome"
    return pd.DataFrame(rows, columns=columns.split())


def t_statistics(
    values: Floats, test_train_ratio: float | None = None, confidence: float = 0.95
) -> TStatistics:
    """Mean, deviation, confidence interval and t-test of every column of `values`, (n, c); NaN are left out.

    With s the standard deviation of n values, the interval is mean +- q SE and t = mean / SE, where q is the
    quantile of Student's t with n - 1 degrees of freedom and

        SE^2 = s^2 / n                  (plain)
        SE^2 = (1/n + n_test/n_train) s^2   (corrected)

    The plain form assumes that runs are independent and about normal. Runs on random splits of one data set
    share training rows, which makes the plain interval too short and the plain test too eager: Nadeau and
    Bengio's corrected resampled t-test inflates the variance by the ratio of test to training rows. They
    derive it for repeated hold-outs; for (repeated) k-fold cross-validation it is used with the ratio
    1/(k - 1), after Bouckaert and Frank. Runs that differ only in the order of a fixed split need no
    correction, but then say nothing about other splits.

    Values that are all equal up to rounding have the deviation 0: a mean of 0 then gives t = 0 and p = 1,
    any other t = +-inf and p = 0. One value has a mean and nothing else.

    `test_train_ratio` is n_test/n_train where the training sets of the runs overlap, 0.25 for a hold-out of
    one fifth and for five folds; None gives the plain form.

    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52 (2003) 239-281, sec. 4.
    R. Bouckaert, E. Frank: Evaluating the replicability of significance tests for comparing learning
    algorithms. PAKDD 2004, sec. 3.3.
    """
    known = ~np.isnan(values)
    n = known.sum(axis=0).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / n
        squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        std = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
        std = np.where(std <= TOLERANCE, 0.0, std)
        se = std * np.sqrt(1.0 / n + (test_train_ratio or 0.0))
        half = stats.t.ppf(0.5 + confidence / 2, n - 1) * se
        t = np.where((std == 0) & (np.abs(mean) <= TOLERANCE), 0.0, mean / se)
        p = 2.0 * stats.t.sf(np.abs(t), n - 1)
    return TStatistics(n, mean, std, mean - half, mean + half, t, np.asarray(p))
