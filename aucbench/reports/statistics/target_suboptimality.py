"""The cost of coming within a relative distance of the certified minimum, and its profile over data sets."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import Curves
from aucbench.reports.statistics.performance_profile import shares_within
from aucbench.reports.statistics.time_to_target import median_costs

LARGEST = np.finfo(float).max  # that a suboptimality counts as, of an objective that overflowed
TARGETS = (1e-2, 1e-3, 1e-4)  # relative suboptimalities


def costs_to_minimum(cells: pd.DataFrame, curves: Curves, cost: str) -> dict[str, tuple[float, ...]]:
    """The median costs of each method until each of the targets.

    `cells` are those of one data set, `curves` have the `suboptimality` and the cost. Between checkpoints the
    logarithm of the suboptimality is taken as linear in that of the cost. A run that failed or diverged never
    reaches a target; the median is inf where fewer than half of the runs do.
    """
    powers = {
        key: dict(curve) | {"auc": -np.log10(np.minimum(curve["suboptimality"], LARGEST))}
        for key, curve in curves.items()
        if "suboptimality" in curve
    }
    where = set(zip(cells["board"], cells["dataset"], strict=True))
    targets = [dict.fromkeys(where, float(-np.log10(target))) for target in TARGETS]
    return median_costs(cells, powers, targets, cost)


def reached_profile(costs: Mapping[str, Mapping[str, tuple[float, ...]]]) -> pd.DataFrame:
    """The share of pairs of data set and target that a method reached within a cost, the index.

    `costs` are those until each target, inf where it was not reached, by data set and method. A method counts
    on the data sets that it has costs on.
    """
    rows = {
        (dataset, target): {method: own[target] for method, own in methods.items()}
        for dataset, methods in costs.items()
        for target in range(max(map(len, methods.values())))
    }
    return shares_within(pd.DataFrame.from_dict(rows, orient="index"), 0.0)
