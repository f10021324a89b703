"""AUC against cost: the time to target of a curve, and the Pareto front of methods."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

TARGET = 0.99  # share of the way from chance to the best mean

Floats = NDArray[np.float64]


def first_crossing(cost: Floats, value: Floats, target: float) -> float:
    """The cost at which a curve first reaches the target; inf if never, NaN if the target is NaN.

    Between the last checkpoint below the target and the first one not below it, the value is taken as linear
    in the logarithm of the cost, like the spacing of checkpoints; methods with a common grid would otherwise
    tie. Nothing is extrapolated: a curve that starts at or above the target gets the cost of its first
    checkpoint; after a first checkpoint of cost 0, a crossing gets the cost of the second. Arrays are (c,).
    """
    if np.isnan(target):
        return float("nan")
    reached = np.flatnonzero(value >= target)
    if not len(reached):
        return float("inf")
    at = int(reached[0])
    if at == 0 or cost[at - 1] <= 0:
        return float(cost[at])
    part = (target - value[at - 1]) / (value[at] - value[at - 1])
    before, after = np.log(cost[at - 1 : at + 1])
    return float(np.exp(before + part * (after - before)))


def median_cost(paid: Sequence[float]) -> float:
    """The least cost at which half of the runs reach the target; inf if fewer do, NaN without runs."""
    costs = [cost for cost in paid if not np.isnan(cost)]
    return float(np.quantile(costs, 0.5, method="inverted_cdf")) if costs else float("nan")


def pareto_front(auc: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Whether a point is on the Pareto front of a large AUC and a small cost.

    A point is off the front if another point is at least as good in both and better in one; equal points are
    treated alike. A point with a NaN or with infinite cost is off the front and dominates no point. `auc` and
    `cost` are (n,), one value per method.
    """
    y, x = np.asarray(auc, dtype=float), np.asarray(cost, dtype=float)
    is_finite = np.isfinite(y) & np.isfinite(x)
    no_worse = (y[:, None] >= y) & (x[:, None] <= x) & is_finite[:, None]
    better = (y[:, None] > y) | (x[:, None] < x)
    return np.asarray(is_finite & ~(no_worse & better).any(axis=0))
