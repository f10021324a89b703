"""What it costs to reach a target AUC."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from aucbench.leaderboard.statistics.inputs import KEY, Curve, Curves, blocks, runs_with_curves

Targets = dict[tuple[Hashable, Hashable], float]


def target_aucs(cells: pd.DataFrame, fraction: float = 0.99) -> Targets:
    """The AUC to be reached, by (board, dataset): 0.5 + fraction (best - 0.5).

    The best is the largest final mean AUC of the methods without gaps; the target is NaN where there is no
    such method, or the best is not above chance. It is a fraction of what lies above chance, since a fraction
    of the AUC itself is trivial where AUCs are low and impossible to miss where they are high.
    """
    targets: Targets = {}
    for block in blocks(cells):
        best = float(block.means[block.complete].max(initial=0.0))
        targets[block.board, block.dataset] = 0.5 + fraction * (best - 0.5) if best > 0.5 else np.nan
    return targets


def costs_to_reach(
    cells: pd.DataFrame, curves: Curves, targets: Targets, cost: str = "samples"
) -> pd.DataFrame:
    """What every run paid until its curve first reached the `target`.

    The `cost` is inf for a run that never reached it, did not finish or diverged, whatever it had reached
    before; NaN for one that is missing, finished without an AUC, or has no target.
    """
    rows = []
    for run in runs_with_curves(cells, curves, cost):
        target = targets.get(run.key[:2], np.nan)
        if run.curve is not None:
            paid = first_crossing(run.curve, target)
        else:
            unknown = run.status in ("missing", "finished") or np.isnan(target)
            paid = np.nan if unknown else np.inf
        rows.append((*run.key, target, paid))
    return pd.DataFrame(rows, columns=[*KEY, "target", "cost"])


def first_crossing(curve: Curve, target: float) -> float:
    """The cost at which a curve first reaches the target; inf if it never does, NaN for the target NaN.

    Between the last checkpoint below the target and the first one not below it, the AUC is taken as linear
    in the logarithm of the cost: checkpoints are spaced so, and methods that share a grid of checkpoints
    would otherwise tie. Nothing is extrapolated: a curve that starts at or above the target gets the cost of
    its first checkpoint, as does the second when the first cost nothing.
    """
    if np.isnan(target):
        return float("nan")
    reached = np.flatnonzero(curve.auc >= target)
    if not len(reached):
        return float("inf")
    at = int(reached[0])
    if at == 0 or curve.cost[at - 1] <= 0:
        return float(curve.cost[at])
    part = (target - curve.auc[at - 1]) / (curve.auc[at] - curve.auc[at - 1])
    before, after = np.log(curve.cost[at - 1 : at + 1])
    return float(np.exp(before + part * (after - before)))


def summarise_reaching(reached: pd.DataFrame) -> pd.DataFrame:
    """The median cost of each method on each data set, and the share of runs that reached the target.

    `reached` is from `costs_to_reach`; `runs` counts those that are not missing, `median` is inf when fewer
    than half reached the target (of two middle ones it is the mean), and both it and `share` are NaN without
    runs.
    """
    rows = []
    columns = ["board", "dataset", "method", "target"]
    for key, costs in reached.groupby(columns, sort=False, dropna=False)["cost"]:
        paid = costs.dropna()
        median = np.median(paid) if len(paid) else np.nan
        rows.append((*key, len(paid), median, np.isfinite(paid).mean()))
    return pd.DataFrame(rows, columns=[*columns, "runs", "median", "share"])
