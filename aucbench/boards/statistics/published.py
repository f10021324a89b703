"""Published numbers beside our own: do values agree, and do orders?"""

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucbench.boards.statistics.cells import TOLERANCE, Floats
from aucbench.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.003  # differences of AUC up to this are equal, whatever deviation was published


class Verdict(StrEnum):
    """What our AUC is beside the published one."""

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


def judge(
    published: float, published_std: float, ours: float, comparable: bool = True, margin: float = MARGIN
) -> Verdict:
    """The verdict on one number.

    Equal is |ours - published| <= max(margin, 2 published_std): the deviation of single runs, which is what
    papers print, and not the error of their mean.

    Parameters
    ----------
    published : float
        AUC in [0, 1]; NaN is not comparable.
    published_std : float
        >= 0; NaN where none was published.
    ours : float
        Mean AUC; NaN when not run, or without a result.
    comparable : bool
        Whether protocol, data and preprocessing are those of the paper.
    margin : float
        >= 0.
    """
    if margin < 0 or published_std < 0:
        raise ParameterError(f"margin and published_std must be >= 0, got {margin} and {published_std}.")
    if not comparable or np.isnan(published):
        return Verdict.not_comparable
    if np.isnan(ours):
        return Verdict.not_run
    allowed = max(margin, 0.0 if np.isnan(published_std) else 2 * published_std)
    if abs(ours - published) <= allowed + TOLERANCE:
        return Verdict.equal
    return Verdict.better if ours > published else Verdict.worse


def judge_table(numbers: "pd.DataFrame", margin: float = MARGIN) -> "pd.DataFrame":
    """The numbers with a column `verdict`.

    Parameters
    ----------
    numbers : DataFrame
        Columns `published`, `published_std`, `ours` and optionally `comparable` (bool); others are kept.
    margin : float
        See `judge`.
    """
    _need(numbers, ("published", "published_std", "ours"))
    published, std, ours = (
        numbers[name].to_numpy(dtype=float, na_value=np.nan)
        for name in ("published", "published_std", "ours")
    )
    comparable = (
        numbers["comparable"].to_numpy(dtype=bool) if "comparable" in numbers else np.ones(len(ours), bool)
    )
    verdicts = [
        str(judge(paper, deviation, own, bool(fits), margin))
        for paper, deviation, own, fits in zip(published, std, ours, comparable, strict=True)
    ]
    return numbers.assign(verdict=verdicts)


def kendall(published: ArrayLike, ours: ArrayLike, groups: ArrayLike | None = None) -> Agreement:
    """Kendall's tau-b between two orders of methods, with ties.

        tau = (C - D) / sqrt((P - T_published) (P - T_ours))

    P is the number of pairs of methods, C and D those that both sides order alike and oppositely, T those
    that a side ties. With groups (the data sets of a table), only pairs within a group count: AUCs of
    different data sets are not in any order. With one group it is the ordinary tau-b.

    Parameters
    ----------
    published, ours : array_like (n,)
        One a method; a method that lacks either (NaN) is left out. Values closer than 1e-12 tie.
    groups : array_like (n,), optional
        Data set of each.

    References
    ----------
    M. Kendall: The treatment of ties in ranking problems. Biometrika 33 (1945) 239-251.
    """
    x, y = np.asarray(published, dtype=float), np.asarray(ours, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ParameterError(
            f"published and ours must be vectors of one length, got {x.shape} and {y.shape}."
        )
    group = np.zeros(len(x)) if groups is None else np.asarray(groups)
    if group.shape != x.shape:
        raise ParameterError(f"groups must be a vector of length {len(x)}, got shape {group.shape}.")
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, group = x[known], y[known], group[known]
    one, other = np.triu_indices(len(x), 1)
    same = group[one] == group[other]
    one, other = one[same], other[same]
    first, second = _sign(x[one] - x[other]), _sign(y[one] - y[other])
    concordant, discordant = int((first * second > 0).sum()), int((first * second < 0).sum())
    scale = np.sqrt(float((first != 0).sum()) * float((second != 0).sum()))
    tau = (concordant - discordant) / scale if scale > 0 else np.nan
    return Agreement(float(tau), len(one), concordant, discordant)


def order_agreement(numbers: "pd.DataFrame", by: tuple[str, ...] = ("paper", "table")) -> "pd.DataFrame":
    """Kendall's tau of every published table.

    Parameters
    ----------
    numbers : DataFrame
        Columns `dataset`, `published`, `ours` and those of `by`; rows with `comparable` False are left out.
    by : tuple of str
        What a table is; with `dataset` in it, one tau a data set.

    Returns
    -------
    DataFrame
        The columns of `by`, `methods_on_datasets` (numbers used), `tau`, `pairs`, `concordant`, `discordant`.
    """
    import pandas as pd

    _need(numbers, ("dataset", "published", "ours", *by))
    used = numbers[numbers["comparable"].astype(bool)] if "comparable" in numbers else numbers
    rows = []
    for key, part in used.groupby(list(by), sort=False):
        published, ours = (
            part[name].to_numpy(dtype=float, na_value=np.nan) for name in ("published", "ours")
        )
        known = int((~np.isnan(published) & ~np.isnan(ours)).sum())
        groups = part["dataset"].to_numpy(dtype=object)
        rows.append((*key, known, *kendall(published, ours, groups)))
    return pd.DataFrame(rows, columns=[*by, "methods_on_datasets", *Agreement._fields])


def _sign(difference: Floats) -> Floats:
    return np.where(np.abs(difference) <= TOLERANCE, 0.0, np.sign(difference))


def _need(numbers: "pd.DataFrame", names: tuple[str, ...]) -> None:
    lacking = [name for name in names if name not in numbers.columns]
    if lacking:
        raise DataError(
            f"numbers: the columns {', '.join(lacking)} are lacking; got {list(numbers.columns)}."
        )
