"""Many data sets: intervals of mean gains over families of data sets, and verdicts by a rope.

A family is the set of data sets of one origin, and the unit that is sampled. The gain of a method on a data
set is method - reference; on a family it is the mean over its data sets; the gain is the mean over families.
"""

from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from aucbench.reports.report import FEWEST
from aucbench.reports.statistics.family_intervals import Intervals, family_intervals

Floats = NDArray[np.float64]

MOST = 10  # times as many families as now; a mean that needs more is near an edge of the rope


class Verdict(StrEnum):
    """How a method compares with its reference, practically."""

    better = "better"
    worse = "worse"
    equivalent = "equivalent"
    slightly_better = "slightly better"
    slightly_worse = "slightly worse"
    not_worse = "not worse"
    undecided = "undecided"
    none = ""  # no rope, no interval, or fewer families than a verdict needs


def verdict_of(gain: Any, low: Any, high: Any, rope: float | None) -> Any:
    """The first of these verdicts that holds for an interval (low, high) and the rope r:

    ==================  ===============================
    better              low > r
    worse               high < -r
    equivalent          -r <= low and high <= r
    slightly better     low > 0
    slightly worse      high < 0
    not worse           low > -r
    undecided           otherwise
    ==================  ===============================

    Without a rope, or where the gain or the interval is NaN, the verdict is empty. `gain`, `low` and `high`
    are numbers, which give a `Verdict`, or arrays of one shape, which give an array of them. The rope is the
    region of practical equivalence: gains within (-r, r) do not matter. It is to be fixed before the results
    are seen. An interval that is inside the rope and excludes 0 is equivalent, not slightly better.

    J. Kruschke: Rejecting or accepting parameter values in Bayesian estimation. Advances in Methods and
    Practices in Psychological Science 1 (2018) 270-280.
    D. Lakens: Equivalence tests. Social Psychological and Personality Science 8 (2017) 355-362.
    """
    gain, low, high = (np.asarray(each, dtype=float) for each in (gain, low, high))
    r = np.nan if rope is None else rope
    conditions = {
        Verdict.none: np.isnan(gain) | np.isnan(low) | np.isnan(high) | np.isnan(r),
        Verdict.better: low > r,
        Verdict.worse: high < -r,
        Verdict.equivalent: (low >= -r) & (high <= r),
        Verdict.slightly_better: low > 0,
        Verdict.slightly_worse: high < 0,
        Verdict.not_worse: low > -r,
    }
    words = np.array([*conditions, Verdict.undecided], dtype=object)
    return words[np.select(list(conditions.values()), range(len(conditions)), len(conditions))]


def compare_families(
    gains: pd.DataFrame, rope: float | None, confidence: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Gain, interval and verdict of every method over families of data sets.

    Parameters
    ----------
    gains : DataFrame
        One row per method and data set: `method`, `data_set`, `family` and `gain`, the mean over common runs
        of the difference method - reference. Methods may lack data sets; a gain that is NaN is left out.
    rope : float or None
        Half the width of the region of practical equivalence, in the unit of the gains.
    confidence : float
        The chance that the intervals of all methods of the frame hold at once.
    seed : int
        Of the random draws behind the intervals; other seeds change their width by about 2 %.

    Returns
    -------
    DataFrame
        A line for each method, in the order of their first rows, with the index `method` and the columns
        `families` and `data_sets`, the numbers of those with a gain; `gain`, the mean over families of the
        means over their data sets; `low` and `high` of `family_intervals`; `median`, Hodges and Lehmann's, of
        the families' gains; `verdict`, the value of a `Verdict`, empty with fewer than ten families;
        `more_families`, for undecided methods, see `families_to_decide`; `worse`, `same` and `better`, the
        shares of families with a gain below, in and above [-rope, rope], NaN without a rope; and `without`,
        text that says which family's omission changes the verdict, and to which.
    """
    methods = pd.unique(gains["method"])
    known = gains[gains["gain"].notna()]
    table = known.groupby(["family", "data_set", "method"])["gain"].mean().unstack("method")
    families = table.index.get_level_values("family").to_numpy()
    values = table.reindex(columns=methods).to_numpy(dtype=float)
    found = compare_matrix(values, families, rope, confidence, seed)
    return pd.DataFrame(found, index=pd.Index(methods, name="method"))


def compare_matrix(
    gains: Floats, families: Any, rope: float | None, confidence: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """The columns of `compare_families` from the gains, (data sets, methods), and each data set's family."""
    codes, names = pd.factorize(families, sort=True)
    known = ~np.isnan(gains)
    members = (codes == np.arange(len(names))[:, None]).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = members @ np.where(known, gains, 0.0) / (members @ known)
    some = ~np.isnan(values).all(axis=1)
    values, names = values[some], names[some]
    found = family_intervals(values, confidence, seed)
    enough = found.families >= FEWEST
    verdicts = verdict_of(np.where(enough, found.mean, np.nan), found.low, found.high, rope)
    r = np.nan if rope is None else rope
    sides = {"worse": values < -r, "same": np.abs(values) <= r, "better": values > r}
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = {
            name: np.where(np.isnan(r), r, each.sum(axis=0) / found.families) for name, each in sides.items()
        }
    return {
        "families": found.families.astype(int),
        "data_sets": known.sum(axis=0),
        "gain": found.mean,
        "low": found.low,
        "high": found.high,
        "median": hodges_lehmann(values),
        "verdict": verdicts.astype(str),
        "more_families": families_to_decide(found, verdicts, rope),
        **shares,
        "without": _without_one(values, names.astype(str), found, verdicts, rope),
    }


def hodges_lehmann(values: Floats) -> Floats:
    """(c,) the median of the means of all pairs of values of each column, each with itself included.

    NaN are left out; the median is NaN without values.

    J. Hodges, E. Lehmann: Estimates of location based on rank tests. Annals of Mathematical
    Statistics 34 (1963) 598-611.
    """
    found = np.full(values.shape[1], np.nan)
    for at, column in enumerate(values.T):
        if len(known := column[~np.isnan(column)]):
            one, other = np.triu_indices(len(known))
            found[at] = np.median((known[one] + known[other]) / 2)
    return found


def families_to_decide(found: Intervals, verdicts: Any, rope: float | None) -> Floats:
    """How many more families would make undecided methods better, worse or equivalent, (c,); NaN for others.

    With n families and the interval g +- h, the interval with N families is g +- h sqrt(n / N), at today's
    mean and spread. The answer is N - n for the smallest N whose interval is beyond the rope or inside it. It
    is NaN where N is above ten times n: g is then nearer to an edge of the rope than about a third of h.
    """
    if rope is None:
        return np.full(found.mean.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_edge = np.abs(np.abs(found.mean) - rope) / (found.critical * found.se)
        needed = np.ceil(found.families / to_edge**2 * (1 + 1e-12))
        told = (verdicts == Verdict.undecided) & (needed <= MOST * found.families)
    return np.where(told, np.maximum(needed - found.families, 1.0), np.nan)


def _without_one(
    values: Floats, families: "pd.Index[str]", found: Intervals, verdicts: Any, rope: float | None
) -> list[str]:
    """What changes when any one family is left out; the interval keeps its width in standard errors."""
    known = ~np.isnan(values)
    n = found.families - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(known, values - found.mean, 0.0)
        mean = found.mean - rest / n
        square = (rest**2).sum(axis=0) - rest**2 * (n + 1) / n
        half = found.critical * np.sqrt(np.maximum(square, 0.0) / (n - 1) / n)
        low, high = mean - half, mean + half
    then = verdict_of(np.where(known, mean, np.nan), low, high, rope)
    changed = known & (then != verdicts) & (verdicts != Verdict.none)
    texts = []
    for at, column in enumerate(changed.T):
        which = np.flatnonzero(column)
        if not len(which):
            texts.append("")
            continue
        first = which[np.argmax(np.abs(rest[which, at]))]
        others = ["", " or 1 other", f" or {len(which) - 1} others"][min(len(which) - 1, 2)]
        texts.append(f"{then[first, at]} without {families[first]}{others}")
    return texts
