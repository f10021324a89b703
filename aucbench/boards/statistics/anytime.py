"""Anytime AUC: how good a method is on average over the course of training."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aucbench.boards.statistics.cells import KEY
from aucbench.boards.statistics.curves import Curve, Curves, Run, runs_with_curves
from aucbench.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

CHANCE = 0.5  # the AUC of a model that has seen nothing


class Range(NamedTuple):
    """The costs over which curves are compared."""

    low: float  # > 0
    high: float  # >= low


def area(curve: Curve, within: Range) -> float:
    """The mean AUC over the logarithm of the cost, in [0, 1].

    With x the logarithm of the cost, this is the integral of AUC dx from log(low) to log(high), divided by
    log(high) - log(low); between checkpoints the AUC is linear in x. Before its first checkpoint a curve is
    at 0.5, chance: no model was there to be used. After its last checkpoint it keeps its last AUC: the model
    stays at hand. With low = high it is the AUC there.

    Parameters
    ----------
    curve : Curve
        See `read_curve`.
    within : Range
        The costs to average over.
    """
    low, high = within
    if not (0.0 < low <= high < np.inf):
        raise ParameterError(f"range must have 0 < low <= high < inf, got {low} and {high}.")
    usable = curve.cost > 0
    if usable.any():
        x, y = np.log(curve.cost[usable]), curve.auc[usable]
    else:  # all of it cost nothing: the last model is there from the beginning
        x, y = np.log([low]), curve.auc[-1:]
    a, b = np.log(low), np.log(high)
    if a == b:
        return float(np.interp(a, x, y)) if a >= x[0] else CHANCE
    start = min(max(a, x[0]), b)
    inside = x[(x > start) & (x < b)]
    grid = np.concatenate(([start], inside, [b]))
    heights = np.interp(grid, x, y)
    under = np.sum((heights[1:] + heights[:-1]) / 2 * np.diff(grid))
    return float((CHANCE * (start - a) + under) / (b - a))


def common_ranges(runs: list[Run]) -> dict[tuple[Hashable, Hashable], Range]:
    """The range of every board and data set.

    It goes from the smallest to the largest of the methods' typical first and last costs above 0, a typical
    cost being the median over the runs that finished: one slow run moves nothing. All methods count, so a
    new method may change the range and with it everybody's area.
    """
    firsts: dict[tuple[Hashable, Hashable], dict[Hashable, list[tuple[float, float]]]] = {}
    for board, dataset, method, ends in (
        (*run.key[:3], run.curve.cost[run.curve.cost > 0]) for run in runs if run.curve is not None
    ):
        if len(ends):
            own = firsts.setdefault((board, dataset), {}).setdefault(method, [])
            own.append((float(ends[0]), float(ends[-1])))
    ranges = {}
    for key, methods in firsts.items():
        typical = np.array([np.median(ends, axis=0) for ends in methods.values()])
        ranges[key] = Range(float(typical[:, 0].min()), float(typical[:, 1].max()))
    return ranges


def anytime_auc(
    cells: "pd.DataFrame",
    curves: Curves,
    cost: str = "samples",
    ranges: dict[tuple[Hashable, Hashable], Range] | None = None,
) -> "pd.DataFrame":
    """The anytime AUC of every run.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    curves : mapping
        (board, dataset, method, run) to arrays `samples`, `train_seconds` and `auc`.
    cost : str
        `samples` or `train_seconds`.
    ranges : dict, optional
        (board, dataset) to a range, to stay comparable when methods are added; what it lacks is chosen by
        `common_ranges`.

    Returns
    -------
    DataFrame
        `board`, `dataset`, `method`, `run`, `auc` (the area; NaN for a run that did not finish), `status`,
        `low` and `high` (of the range). It can be summarised, compared and ranked as cells are.
    """
    import pandas as pd

    runs = runs_with_curves(cells, curves, cost)
    chosen = common_ranges(runs) | (ranges or {})
    rows = []
    for run in runs:
        board, dataset, _, _ = run.key
        within = chosen.get((board, dataset), Range(np.nan, np.nan))
        value = np.nan
        if run.curve is not None and not np.isnan(within.low):
            value = area(run.curve, within)
        rows.append((*run.key, value, run.status, within.low, within.high))
    return pd.DataFrame(rows, columns=[*KEY, "auc", "status", "low", "high"])
