"""Published numbers beside our own: do values agree, and do orders?"""

from enum import StrEnum

import numpy as np
import pandas as pd
from scipy import stats

from aucbench.reports.statistics.over_runs import TOLERANCE

MARGIN = 0.003  # differences of AUC up to this are equal, whatever deviation was published


class Verdict(StrEnum):
    """How our AUC compares with the published one."""

    equal = "equal"
    better = "better"
    worse = "worse"
    not_run = "not run"
    not_comparable = "not comparable"


def judge_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """The numbers with a column `verdict`, a `Verdict` as text.

    Equal is |ours - published| <= max(0.003, 2 published_std): the deviation of single runs, which is what
    papers print, and not the error of their mean. The columns are `published` (AUC; NaN is not comparable),
    `published_std` (NaN where none was published), `ours` (mean AUC; NaN when not run, or without a result)
    and `comparable` (bool: whether protocol, data and preprocessing are those of the paper); others are kept.
    """
    published, std, ours = (numbers[name].to_numpy(float) for name in ("published", "published_std", "ours"))
    allowed = np.fmax(MARGIN, 2 * std)  # fmax prefers a number to NaN
    verdicts = np.select(
        [
            ~numbers["comparable"].to_numpy(bool) | np.isnan(published),
            np.isnan(ours),
            np.abs(ours - published) <= allowed + TOLERANCE,
            ours > published,
        ],
        [Verdict.not_comparable, Verdict.not_run, Verdict.equal, Verdict.better],
        Verdict.worse,
    )
    return numbers.assign(verdict=verdicts.tolist())


def order_agreement(numbers: pd.DataFrame) -> pd.DataFrame:
    """Kendall's tau-b of the `published` order of methods and `ours` on each `dataset`, and its `pairs`.

        tau = (C - D) / sqrt((P - T_published) (P - T_ours))

    P is the number of pairs of methods, C and D those that both sides order alike and oppositely, T those
    that a side ties. A method that lacks a number (NaN) is left out; tau is NaN where a side orders nothing.

    M. Kendall: The treatment of ties in ranking problems. Biometrika 33 (1945) 239-251.
    """
    rows = []
    for dataset, part in numbers.groupby("dataset", sort=False):
        known = part[["published", "ours"]].dropna().round(12)  # rounding errors are ties
        n = len(known)
        tau = stats.kendalltau(known["published"], known["ours"]).statistic if n > 1 else np.nan
        rows.append((dataset, n * (n - 1) // 2, float(tau)))
    return pd.DataFrame(rows, columns=["dataset", "pairs", "tau"])
