"""Cost of reaching a target AUC."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import CHANCE, KEY, Curve, Curves, Run, blocks, runs_with_curves

Targets = dict[tuple[Hashable, Hashable], float]
TARGET = 0.99  # of the way from chance to the best mean
# The same for profiles over several targets: the distance that is left falls by a factor of about three.
FRACTIONS = (0.9, 0.97, 0.99, 0.997, 0.999)


def target_aucs(cells: pd.DataFrame, fraction: float = TARGET, chance: float = CHANCE) -> Targets:
    """The AUC to be reached, by (board, dataset): chance + fraction (best - chance).

    The best is the largest final mean AUC of the methods without gaps; the target is NaN where there is no
    such method, or the best is not above chance. It is a fraction of what lies above chance, since a fraction
    of the AUC itself is trivial where AUCs are low and impossible to miss where they are high.
    """
    targets: Targets = {}
    for block in blocks(cells):
        best = float(block.means[block.complete].max(initial=0.0))
        targets[block.board, block.dataset] = chance + fraction * (best - chance) if best > chance else np.nan
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
        rows.append((*run.key, target, _paid(run, target)))
    return pd.DataFrame(rows, columns=[*KEY, "target", "cost"])


def _paid(run: Run, target: float) -> float:
    if run.curve is not None:
        return first_crossing(run.curve, target)
    unknown = run.status in ("missing", "finished") or np.isnan(target)
    return np.nan if unknown else np.inf


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


def median_costs(
    cells: pd.DataFrame, curves: Curves, targets: Sequence[Targets], cost: str
) -> dict[str, tuple[float, ...]]:
    """The median costs of each method until each of several targets.

    `cells` are those of one data set. A median is inf where fewer than half of the runs reach the target.
    """
    found: dict[str, list[list[float]]] = {}
    for run in runs_with_curves(cells, curves, cost):
        paid = [_paid(run, each.get(run.key[:2], np.nan)) for each in targets]
        found.setdefault(str(run.key[2]), []).append(paid)
    return {method: tuple(map(_median, zip(*own, strict=True))) for method, own in found.items()}


def _median(paid: Sequence[float]) -> float:
    """The least cost within which half of the runs reach the target; inf where fewer do, NaN without runs."""
    known = [cost for cost in paid if not np.isnan(cost)]
    return float(np.quantile(known, 0.5, method="inverted_cdf")) if known else float("nan")


def summarise_reaching(reached: pd.DataFrame) -> pd.DataFrame:
    """The median cost of each method on each data set, and the share of runs that reached the target.

    `reached` is from `costs_to_reach`; `runs` counts those that are not missing. The `median` is the least
    cost within which half of the runs reach the target, inf when fewer do; it and `share` are NaN without
    runs.
    """
    rows = []
    columns = ["board", "dataset", "method", "target"]
    for key, costs in reached.groupby(columns, sort=False, dropna=False)["cost"]:
        paid = costs.dropna()
        rows.append((*key, len(paid), _median(paid.to_list()), np.isfinite(paid).mean()))
    return pd.DataFrame(rows, columns=[*columns, "runs", "median", "share"])
