"""Published numbers beside our own: do values agree, and do orders?"""

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from aucbench.reports.statistics.over_runs import TOLERANCE, Floats

MARGIN = 0.003  # differences of AUC up to this are equal, whatever deviation was published


class Verdict(StrEnum):
    """How our AUC compares with the published one."""

    equal = "equal"
    better = "better"
    worse = "worse"
    not_run = "not run"
    not_comparable = "not comparable"


class Agreement(NamedTuple):
    """Kendall's tau-b, and how many methods and groups it is over."""

    tau: float  # in [-1, 1]; NaN when one side does not order anything
    pairs: int  # of methods within groups
    concordant: int
    discordant: int


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


def order_agreement(numbers: pd.DataFrame, by: tuple[str, ...]) -> pd.DataFrame:
    """Kendall's tau of the `published` order and `ours`, for every published table.

    The columns `by` identify a table; with `dataset` among them, there is one tau per data set.
    `methods_on_datasets` counts the numbers used.
    """
    rows = []
    for key, part in numbers.groupby(list(by), sort=False):
        published, ours = part["published"].to_numpy(float), part["ours"].to_numpy(float)
        known = int((~np.isnan(published) & ~np.isnan(ours)).sum())
        rows.append((*key, known, *kendall(published, ours, part["dataset"].to_numpy(dtype=object))))
    return pd.DataFrame(rows, columns=[*by, "methods_on_datasets", *Agreement._fields])


def kendall(published: Floats, ours: Floats, groups: NDArray[Any]) -> Agreement:
    """Kendall's tau-b between two orders of methods, with ties.

        tau = (C - D) / sqrt((P - T_published) (P - T_ours))

    P is the number of pairs of methods, C and D those that both sides order alike and oppositely, T those
    that a side ties. Only pairs within a group (the data sets of a table) count: AUCs of different data sets
    are not in any order. With one group it is the ordinary tau-b. All three are (n,), one value per method; a
    method that lacks a number (NaN) is left out, and values closer than 1e-12 tie.

    M. Kendall: The treatment of ties in ranking problems. Biometrika 33 (1945) 239-251.
    """
    known = ~(np.isnan(published) | np.isnan(ours))
    x, y, group = published[known], ours[known], groups[known]
    one, other = np.triu_indices(len(x), 1)
    same = group[one] == group[other]
    one, other = one[same], other[same]
    first, second = _sign(x[one] - x[other]), _sign(y[one] - y[other])
    concordant, discordant = int((first * second > 0).sum()), int((first * second < 0).sum())
    scale = np.sqrt(float((first != 0).sum()) * float((second != 0).sum()))
    tau = (concordant - discordant) / scale if scale > 0 else np.nan
    return Agreement(float(tau), len(one), concordant, discordant)


def _sign(difference: Floats) -> Floats:
    return np.where(np.abs(difference) <= TOLERANCE, 0.0, np.sign(difference))
