"""Exponents of power laws from noisy points: a robust slope, an interval over repetitions, and a verdict.

A law y = c x^a is a line in the logarithms. Its slope is that of Theil and Sen, the median over the slopes of
all pairs of points, which outliers among the points hardly move. Repetitions come in groups, such as the
seeds on each of several data sets. The estimate is the mean over groups of the median in each, and its
standard error that of a bootstrap of whole groups (strategy 1 of Davison and Hinkley, Bootstrap methods and
their application, section 3.8): what seeds of one group have in common is between the groups and is counted,
and counted once. Few groups make a bootstrap too narrow, by sqrt((g - 1) / g), and its quantiles those of a
normal variable; both are corrected, the latter by Student's.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy import stats

CONFIDENCE = 0.95  # level of all intervals
RESAMPLES = 2000


class Verdict(StrEnum):
    """Verdict of the data on a claimed upper bound."""

    holds = "holds"
    faster = "faster"
    slower = "slower"
    unknown = "cannot tell"
    no_objective = "no objective"  # the method declares nothing that can be measured
    none_claimed = "none claimed"


class Interval(NamedTuple):
    """An estimate with the ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    def __neg__(self) -> "Interval":
        return Interval(-self.estimate, -self.high, -self.low)

    def __str__(self) -> str:
        return f"{self.estimate:.2f} [{self.low:.2f}, {self.high:.2f}]"


class Finding(NamedTuple):
    """The measurement of a claim."""

    claimed: str
    measured: str  # empty if nothing could be measured
    verdict: Verdict
    why: str  # reason of an open verdict, or of missing parts


def exponent(x: np.ndarray, y: np.ndarray) -> float:
    """The exponent a of y = c x^a by Theil and Sen.

    Parameters
    ----------
    x, y : (k,) arrays
        Positive numbers; at least two different x.

    Returns
    -------
    float
        NaN for fewer points.
    """
    log_x, log_y = np.log(np.asarray(x, np.float64)), np.log(np.asarray(y, np.float64))
    first, second = np.triu_indices(len(log_x), 1)
    run = log_x[second] - log_x[first]
    is_distinct = run != 0.0
    if not is_distinct.any():
        return math.nan
    return float(np.median((log_y[second] - log_y[first])[is_distinct] / run[is_distinct]))


def group_interval(groups: Sequence[Sequence[float]], seed: int = 0) -> Interval:
    """The mean over groups of the median in each, with its interval.

    Parameters
    ----------
    groups : sequence of sequences of float
        Independent groups of repetitions; those of a single group count as groups themselves.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Interval
        Infinitely wide for a single number, NaN for none.
    """
    nonempty = [values for values in groups if len(values)]
    medians = np.array(
        [np.median(values) for values in (nonempty if len(nonempty) > 1 else zip(*nonempty, strict=True))]
    )
    count = len(medians)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan)
    centre = float(medians.mean())
    if count == 1:
        return Interval(centre, -math.inf, math.inf)
    draws = np.random.default_rng(seed).integers(0, count, (RESAMPLES, count))
    error = float(medians[draws].mean(axis=1).std()) * math.sqrt(count / (count - 1))
    half = error * float(stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1))
    return Interval(centre, centre - half, centre + half)


def verdict(measured: Interval, least: float, most: float, tolerance: float) -> Verdict:
    """Verdict of an interval of an exponent on a claim, where larger exponents are slower.

    A claim is an upper bound, so that it holds if the whole interval lies below `most` + tolerance; if it
    lies below `least` - tolerance, the method is faster than claimed.

    Parameters
    ----------
    measured : Interval
        The measured exponent.
    least, most : float
        The claimed exponents; two where a claim is a sum of terms, either of which may dominate.
    tolerance : float
        Smallest difference that counts.

    Returns
    -------
    Verdict
    """
    if measured.low > most + tolerance:
        return Verdict.slower
    if measured.high < least - tolerance:
        return Verdict.faster
    return Verdict.holds if measured.high <= most + tolerance else Verdict.unknown
