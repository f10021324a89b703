"""Many data sets: intervals of mean gains over families of data sets, and verdicts by a rope.

A family is the set of data sets of one origin, and the sampling unit. The gain of a method on a data set is
method - reference; the gain on a family is the mean over its data sets; the gain is the mean over families.
"""

from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from aucbench.reports.report import FEWEST
from aucbench.reports.statistics.family_intervals import Intervals, family_intervals

Floats = NDArray[np.float64]

MOST = 10  # largest factor by which `families_to_decide` increases the number of families


class Verdict(StrEnum):
    """How a method compares with its reference in practice."""

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

    Without a rope, or if the gain or the interval is NaN, the verdict is empty. `gain`, `low` and `high` are
    numbers, which give a `Verdict`, or arrays of one shape, which give an array of verdicts. The rope is the
    region of practical equivalence: gains within (-r, r) do not matter. The rope must be fixed before the
    results are known. An interval inside the rope that excludes 0 is equivalent, not slightly better.

    J. Kruschke: Rejecting or accepting parameter values in Bayesian estimation. Advances in Methods and
    Practices in Psychological Science 1 (2018) 270-280.
    D. Lakens: Equivalence tests. Social Psychological and Personality Science 8 (2017) 355-362.
    """
    gain, low, high = (np.asarray(numbers, dtype=float) for numbers in (gain, low, high))
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
    verdicts = np.array([*conditions, Verdict.undecided], dtype=object)
    return verdicts[np.select(list(conditions.values()), range(len(conditions)), len(conditions))]


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
        Seed of the resamples for the intervals; other seeds change their width by about 2 %.

    Returns
    -------
    DataFrame
        A line for each method, in the order of their first rows, with the index `method` and the columns
        `families` and `data_sets`, the numbers with a gain; `gain`, the mean over families of the
        means over their data sets; `low` and `high` of `family_intervals`; `median`, Hodges and Lehmann's, of
        the families' gains; `verdict`, the value of a `Verdict`, empty with fewer than ten families;
        `more_families`, for undecided methods, see `families_to_decide`; `worse`, `same` and `better`, the
        shares of families with a gain below, in and above [-rope, rope], NaN without a rope; and `without`,
        a text with the family whose omission changes the verdict, and the new verdict.
    """
    methods = pd.unique(gains["method"])
    valid = gains[gains["gain"].notna()]
    table = valid.groupby(["family", "data_set", "method"])["gain"].mean().unstack("method")
    families = table.index.get_level_values("family").to_numpy()
    values = table.reindex(columns=methods).to_numpy(dtype=float)
    columns = compare_matrix(values, families, rope, confidence, seed)
    return pd.DataFrame(columns, index=pd.Index(methods, name="method"))


def compare_matrix(
    gains: Floats, families: Any, rope: float | None, confidence: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """The columns of `compare_families` from the gains, (data sets, methods), and each data set's family."""
    codes, names = pd.factorize(families, sort=True)
    has_gain = ~np.isnan(gains)
    members = (codes == np.arange(len(names))[:, None]).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = members @ np.where(has_gain, gains, 0.0) / (members @ has_gain)
    mask = ~np.isnan(values).all(axis=1)
    values, names = values[mask], names[mask]
    stats = family_intervals(values, confidence, seed)
    enough = stats.families >= FEWEST
    verdicts = verdict_of(np.where(enough, stats.mean, np.nan), stats.low, stats.high, rope)
    r = np.nan if rope is None else rope
    sides = {"worse": values < -r, "same": np.abs(values) <= r, "better": values > r}
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = {
            name: np.where(np.isnan(r), r, side.sum(axis=0) / stats.families) for name, side in sides.items()
        }
    return {
        "families": stats.families.astype(int),
        "data_sets": has_gain.sum(axis=0),
        "gain": stats.mean,
        "low": stats.low,
        "high": stats.high,
        "median": hodges_lehmann(values),
        "verdict": verdicts.astype(str),
        "more_families": families_to_decide(stats, verdicts, rope),
        **shares,
        "without": _without_one(values, names.astype(str), stats, verdicts, rope),
    }


def hodges_lehmann(values: Floats) -> Floats:
    """(c,) the median of the means of all pairs of values in each column, also of a value with itself.

    NaN are left out; the median is NaN without values.

    J. Hodges, E. Lehmann: Estimates of location based on rank tests. Annals of Mathematical
    Statistics 34 (1963) 598-611.
    """
    medians = np.full(values.shape[1], np.nan)
    for at, column in enumerate(values.T):
        if len(numbers := column[~np.isnan(column)]):
            first, second = np.triu_indices(len(numbers))
            medians[at] = np.median((numbers[first] + numbers[second]) / 2)
    return medians


def families_to_decide(stats: Intervals, verdicts: Any, rope: float | None) -> Floats:
    """(c,) number of further families after which undecided methods are decided; NaN for other methods.

    For n families and the interval g +- h, the interval for N families is g +- h sqrt(n / N) if mean and
    spread do not change. The result is N - n for the smallest N whose interval is beyond or inside the rope.
    It is NaN if N is above 10 n, that is if g is nearer to an edge of the rope than about a third of h.
    """
    if rope is None:
        return np.full(stats.mean.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_edge = np.abs(np.abs(stats.mean) - rope) / (stats.critical * stats.se)
        needed = np.ceil(stats.families / to_edge**2 * (1 + 1e-12))
        has_answer = (verdicts == Verdict.undecided) & (needed <= MOST * stats.families)
    return np.where(has_answer, np.maximum(needed - stats.families, 1.0), np.nan)


def _without_one(
    values: Floats, families: "pd.Index[str]", stats: Intervals, verdicts: Any, rope: float | None
) -> list[str]:
    """Changes of the verdicts without any one family; intervals keep their width in standard errors."""
    has_gain = ~np.isnan(values)
    n = stats.families - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.where(has_gain, values - stats.mean, 0.0)
        mean = stats.mean - deviations / n
        square = (deviations**2).sum(axis=0) - deviations**2 * (n + 1) / n
        half = stats.critical * np.sqrt(np.maximum(square, 0.0) / (n - 1) / n)
        low, high = mean - half, mean + half
    new_verdicts = verdict_of(np.where(has_gain, mean, np.nan), low, high, rope)
    changed = has_gain & (new_verdicts != verdicts) & (verdicts != Verdict.none)
    texts = []
    for at, column in enumerate(changed.T):
        indices = np.flatnonzero(column)
        if not len(indices):
            texts.append("")
            continue
        first = indices[np.argmax(np.abs(deviations[indices, at]))]
        suffix = ["", " or 1 other", f" or {len(indices) - 1} others"][min(len(indices) - 1, 2)]
        texts.append(f"{new_verdicts[first, at]} without {families[first]}{suffix}")
    return texts
