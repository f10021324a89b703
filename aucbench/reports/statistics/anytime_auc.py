"""Anytime AUC: how good a method is on average over the course of training."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import CHANCE, KEY, Curve, Curves, Run, runs_with_curves


class Range(NamedTuple):
    """The costs over which curves are compared."""

    low: float  # > 0
    high: float  # >= low


def anytime_auc(
    cells: pd.DataFrame, curves: Curves, cost: str = "samples", chance: float = CHANCE
) -> pd.DataFrame:
    """The anytime AUC of every run: its `area` over the `common_ranges`.

    The columns are those of cells, which can be summarised, compared and ranked; `auc` is the area, NaN for a
    run that did not finish.
    """
    runs = runs_with_curves(cells, curves, cost)
    ranges = common_ranges(runs)
    rows = []
    for run in runs:
        within = ranges.get(run.key[:2])
        value = np.nan if run.curve is None or within is None else area(run.curve, within, chance)
        rows.append((*run.key, value, run.status))
    return pd.DataFrame(rows, columns=[*KEY, "auc", "status"])


def common_ranges(runs: list[Run]) -> dict[tuple[Hashable, Hashable], Range]:
    """The range of every board and data set.

    It goes from the smallest to the largest of the methods' typical first and last costs above 0, a typical
    cost being the median over the runs that finished: one slow run moves nothing. All methods count, so a
    new method may change the range and with it everybody's area.
    """
    ends: dict[tuple[Hashable, Hashable], dict[Hashable, list[tuple[float, float]]]] = {}
    for run in runs:
        board, dataset, method, _ = run.key
        positive = np.array([]) if run.curve is None else run.curve.cost[run.curve.cost > 0]
        if len(positive):
            own = ends.setdefault((board, dataset), {}).setdefault(method, [])
            own.append((float(positive[0]), float(positive[-1])))
    ranges = {}
    for key, methods in ends.items():
        typical = np.array([np.median(own, axis=0) for own in methods.values()])
        ranges[key] = Range(float(typical[:, 0].min()), float(typical[:, 1].max()))
    return ranges


def area(curve: Curve, within: Range, chance: float = CHANCE) -> float:
    """The mean AUC over the logarithm of the cost, in [0, 1].

    With x the logarithm of the cost, this is the integral of AUC dx from log(low) to log(high), divided by
    log(high) - log(low); between checkpoints the AUC is linear in x. Before its first checkpoint a curve
    counts as `chance`: there was no model to use. After its last checkpoint it keeps its last AUC: the
    model can still be used. With low = high it is the AUC there.
    """
    usable = curve.cost > 0
    if usable.any():
        x, y = np.log(curve.cost[usable]), curve.auc[usable]
    else:  # all of it cost nothing: the last model is there from the beginning
        x, y = np.log([within.low]), curve.auc[-1:]
    a, b = np.log(within.low), np.log(within.high)
    if a == b:
        return float(np.interp(a, x, y)) if a >= x[0] else chance
    start = min(max(a, x[0]), b)
    inside = x[(x > start) & (x < b)]
    grid = np.concatenate(([start], inside, [b]))
    heights = np.interp(grid, x, y)
    under = np.sum((heights[1:] + heights[:-1]) / 2 * np.diff(grid))
    return float((chance * (start - a) + under) / (b - a))
