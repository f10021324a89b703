"""Coverage and width of candidate intervals over families in simulated studies, used to choose one.

`python -m benchmarks intervals` draws studies from the populations of `benchmarks.verdicts` and prints a
table: for each candidate and number of families the mean coverage over populations and numbers of methods,
the lowest coverage in a population, and half the width of the middle method's interval in standard errors
(its median over studies). A candidate covers if the intervals of all methods hold at once. No measure
can be missed: `verdicts` judges the procedure in use.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from aucbench.reports.statistics.family_intervals import family_intervals
from benchmarks.measuring import Measure
from benchmarks.verdicts import METHODS, ROUNDING, populations

Floats = NDArray[np.float64]
Interval = tuple[Floats, Floats]

FAMILIES, STUDIES, RESAMPLES = (20, 40, 80), 150, 1_000
CONFIDENCE = 0.95


def candidates(values: Floats, rng: np.random.Generator) -> dict[str, Interval]:
    """Intervals of the means of the columns of `values`, (n families, c methods), in standard errors."""
    n, c = values.shape
    units = (values - values.mean(axis=0)) / np.where(values.std(axis=0) > 0, values.std(axis=0, ddof=1), 1)
    with np.errstate(invalid="ignore"):
        skew = np.nan_to_num((units**3).mean(axis=0) / (units**2).mean(axis=0) ** 1.5) / np.sqrt(n)

    # The level of each column at which all hold, from the largest |z| of normal multipliers of the families.
    z = np.abs(rng.standard_normal((RESAMPLES, n)) @ units) / np.sqrt(n - 1)
    normal = np.quantile(z.max(axis=1), CONFIDENCE)
    k = np.full(c, stats.t.ppf(stats.norm.cdf(normal), n - 1))

    weights = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(float)
    first, second, third = (weights @ units**power / n for power in (1, 2, 3))
    variance = np.maximum(second - first**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(first * np.sqrt((n - 1) / variance), posinf=1e9, neginf=-1e9)
        skews = np.nan_to_num((third - 3 * first * second + 2 * first**3) / variance**1.5 / np.sqrt(n))
    transformed = np.clip(_hall(t, skews), -1e9, 1e9)
    ranks = np.abs(t).argsort(axis=0).argsort(axis=0).max(axis=1)
    balanced = np.sort(np.abs(t), axis=0)[int(_upper(ranks, CONFIDENCE))]
    middle = stats.norm.ppf(np.clip((first < 0).mean(axis=0), 1 / RESAMPLES, 1 - 1 / RESAMPLES))
    return {
        "Student's t": (-k, k),
        "Johnson's t": (skew / 6 + skew * k**2 / 3 - k, skew / 6 + skew * k**2 / 3 + k),
        "Hall's transformation": (-_hall_inverse(k, skew), -_hall_inverse(-k, skew)),
        "percentile bootstrap": _around(_upper(np.abs(first).max(axis=1), CONFIDENCE) * np.sqrt(n), c),
        "BCa bootstrap": _bca(first * np.sqrt(n), middle, skew / 6, normal),
        "bootstrap of Hall's transformation": (
            -_hall_inverse(_one_sided(transformed, c), skew),
            -_hall_inverse(-_one_sided(-transformed, c), skew),
        ),
        "bootstrap-t, equal-tailed": (-_one_sided(t, c), _one_sided(-t, c)),
        "bootstrap-t, balanced": (-balanced, balanced),
        "bootstrap-t, symmetric": _around(_upper(np.abs(t).max(axis=1), CONFIDENCE), c),
    }  # fmt: skip


def _upper(values: Floats, level: float) -> float:
    return float(np.quantile(values, level, method="higher"))


def _one_sided(t: Floats, columns: int) -> Floats:
    return np.full(columns, _upper(t.max(axis=1), 0.5 + CONFIDENCE / 2))


def _around(k: float, columns: int) -> Interval:
    return np.full(columns, -k), np.full(columns, k)


def _hall(t: Floats, skew: Floats) -> Floats:
    """Hall's cubic, whose distribution is nearly free of skewness; `skew` is over sqrt(n)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6)


def _hall_inverse(x: Floats, skew: Floats) -> Floats:
    flat = np.abs(skew) < 1e-6
    safe = np.where(flat, 1.0, skew)
    return np.where(flat, x, 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1))


def _bca(means: Floats, middle: Floats, acceleration: Floats, normal: float) -> Interval:
    """Percentiles of the resampled means, corrected for bias and acceleration."""
    count, columns = means.shape
    ordered, ends = np.sort(means, axis=0), []
    for z in (-normal, normal):
        level = stats.norm.cdf(middle + (middle + z) / (1 - acceleration * (middle + z)))
        at = np.clip((level * count).astype(int), 0, count - 1)
        ends.append(ordered[at, np.arange(columns)])
    return ends[0], ends[1]


def intervals() -> Iterator[Measure]:
    """The table of candidates."""
    rng, rows = np.random.default_rng(0), []
    drawn = {name: population for name, population in populations(rng).items() if not population.missing}
    for (name, population), families, methods in product(drawn.items(), FAMILIES, METHODS):
        for _ in range(STUDIES):
            columns = rng.permutation(population.gains.shape[1])[:methods]
            values, truth = population.study(families, columns, rng)
            estimate = family_intervals(values)
            ours = {"bootstrap-t, symmetric, as used": (-estimate.critical, estimate.critical)}
            for candidate, (below, above) in (candidates(values, rng) | ours).items():
                low, high = (estimate.mean + end * estimate.se - truth for end in (below, above))
                holds = ((low <= ROUNDING) & (high >= -ROUNDING)).all()
                rows.append((candidate, families, name, holds, np.median(above - below) / 2))
    frame = pd.DataFrame(rows, columns=["candidate", "families", "population", "coverage", "width"])
    coverage = frame.groupby(["candidate", "families", "population"])["coverage"].mean()
    by = ["candidate", "families"]
    table = pd.DataFrame(
        {
            "mean": coverage.groupby(by).mean(),
            "lowest": coverage.groupby(by).min(),
            "width": frame.groupby(by)["width"].median(),
        }
    ).unstack("families")
    heads = [f"{head[0]}, {head[1]}" for head in table.columns.to_list()]
    print(f"| candidate | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for label, row in table.iterrows():
        print(f"| {label} | {' | '.join(f'{value:.2f}' for value in row)} |")
    yield from ()


MEASURES = {"intervals": intervals}
