"""Confidence intervals of means over families of data sets, for several methods at once."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from aucbench.reports.statistics.over_runs import TOLERANCE

Floats = NDArray[np.float64]

DRAWS = 4_000


class Intervals(NamedTuple):
    """Means over families with simultaneous intervals; NaN where there are too few families."""

    families: Floats  # (c,) values that are numbers
    mean: Floats  # (c,)
    se: Floats  # (c,) standard error of the mean
    low: Floats  # (c,)
    high: Floats  # (c,)


def family_intervals(values: Floats, confidence: float = 0.95, seed: int = 0) -> Intervals:
    """Intervals that hold for all columns of `values`, (n families, c methods), at once; NaN are left out."""
    known = ~np.isnan(values)
    n = known.sum(axis=0).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / n
        rest = np.where(known, values - mean, 0.0)
        std = np.sqrt((rest**2).sum(axis=0) / (n - 1))
        std = np.where(n > 1, np.where(std <= TOLERANCE, 0.0, std), np.nan)
        se = std / np.sqrt(n)
        half = _critical(rest, known, confidence, seed) * se
    return Intervals(n, mean, se, mean - half, mean + half)


def _critical(rest: Floats, known: NDArray[np.bool_], confidence: float, seed: int) -> Floats:
    """The quantile of the largest |t| over the columns, with each column's degrees of freedom, (c,)."""
    spread = np.sqrt((rest**2).sum(axis=0))
    used = spread > TOLERANCE
    degrees = known.sum(axis=0) - 1.0
    level = np.full(len(spread), confidence)
    if used.sum() > 1:
        normal, uniform = _draws(len(rest), seed)
        z = np.abs(normal @ (rest[:, used] / spread[used]))
        level[:] = 2 * stats.norm.cdf(np.quantile(z.max(axis=1), confidence)) - 1
    return np.asarray(stats.t.ppf(0.5 + level / 2, degrees))


@lru_cache(maxsize=8)
def _draws(families: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((DRAWS, families)), rng.random(DRAWS)
