"""What it costs to reach a target AUC."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from aucbench.errors import ParameterError
from aucbench.leaderboard.statistics.inputs import KEY, Curve, Curves, blocks, runs_with_curves

Targets = dict[tuple[Hashable, Hashable], float]


def target_aucs(cells: pd.DataFrame, fraction: float = 0.99) -> Targets:
    """The AUC to be reached, by (board, dataset): 0.5 + fraction (best - 0.5).

    The best is the largest final mean AUC of the methods without gaps; the target is NaN where there is no
    such method, or the best is not above chance. It is a fraction of what lies above chance, since a fraction
    of the AUC itself is trivial where AUCs are low and impossible to miss where they are high.

    Raises
    ------
    ParameterError
        The fraction is outside (0, 1].
    """
    if not 0.0 < fraction <= 1.0:
        raise ParameterError(f"fraction must be above 0 and at most 1, got {fraction}.")
    targets: Targets = {}
    for block in blocks(cells):
        best = float(block.means[block.complete].max(initial=0.0))
        targets[block.board, block.dataset] = 0.5 + fraction * (best - 0.5) if best > 0.5 else np.nan
    return targets


def costs_to_reach(
    cells: pd.DataFrame, curves: Curves, targets: Targets, cost: str = "samples"
) -> pd.DataFrame:
    """What every run paid until its curve first reached the target.

    Returns
    -------
    DataFrame
        `board`, `dataset`, `method`, `run`, `target`, `cost`: inf for a run that never reached it, did not
        finish or diverged, whatever it had reached before; NaN for one that is missing, finished without
        an AUC, or has no target.
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
    """One row per board, data set and method: the median cost and the share of runs that reached the target.

    Parameters
    ----------
    reached : DataFrame
        From `costs_to_reach`.

    Returns
    -------
    DataFrame
        `board`, `dataset`, `method`, `target`, `runs` (those that are not missing), `median` (inf when fewer
        than half reached the target; of two middle ones the mean) and `share`; NaN without runs.
    """
    targets: dict[tuple[Hashable, ...], float] = {}
    costs: dict[tuple[Hashable, ...], list[float]] = {}
    for *key, _, target, paid in reached.itertuples(index=False, name=None):
        targets[tuple(key)] = target
        costs.setdefault(tuple(key), []).extend([] if np.isnan(paid) else [paid])
    rows = [
        (*key, targets[key], len(paid))
        + ((float(np.median(paid)), float(np.mean(np.isfinite(paid)))) if paid else (np.nan, np.nan))
        for key, paid in costs.items()
    ]
    return pd.DataFrame(rows, columns=["board", "dataset", "method", "target", "runs", "median", "share"])
