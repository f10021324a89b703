"""What it costs to reach a target AUC."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from aucbench.boards.statistics.cells import KEY, blocks
from aucbench.boards.statistics.curves import Curve, Curves, runs_with_curves
from aucbench.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

Targets = dict[tuple[Hashable, Hashable], float]


def target_aucs(
    cells: "pd.DataFrame",
    fraction: float = 0.99,
    references: Mapping[tuple[Hashable, Hashable], float] | None = None,
) -> Targets:
    """The AUC to be reached on every board and data set: 0.5 + fraction (reference - 0.5).

    A fraction of what lies above chance, since a fraction of the AUC itself is trivial where AUCs are low
    and impossible to miss where they are high.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    fraction : float
        In (0, 1].
    references : mapping, optional
        (board, dataset) to an AUC, such as that of the exact optimum over the whole training part. What it
        lacks, and without it, is the largest final mean AUC of the methods without gaps.

    Returns
    -------
    dict
        NaN where there is no such method, or the reference is not above chance.
    """
    if not 0.0 < fraction <= 1.0:
        raise ParameterError(f"fraction must be above 0 and at most 1, got {fraction}.")
    targets: Targets = {}
    for block in blocks(cells):
        means = block.means[block.complete]
        best = float(means.max()) if len(means) else np.nan
        reference = (references or {}).get((block.board, block.dataset), best)
        above = 0.5 + fraction * (reference - 0.5)
        targets[block.board, block.dataset] = above if reference > 0.5 else np.nan
    return targets


def first_crossing(curve: Curve, target: float, interpolate: bool = True) -> float:
    """The cost at which a curve first reaches the target; inf if it never does.

    Between the last checkpoint below the target and the first one not below it, the AUC is taken as linear
    in the logarithm of the cost: checkpoints are spaced so, and methods that share a grid of checkpoints
    would otherwise tie. Nothing is extrapolated: a curve that starts at or above the target gets the cost of
    its first checkpoint, as does the second when the first cost nothing.

    Parameters
    ----------
    curve : Curve
        See `read_curve`.
    target : float
        An AUC; NaN gives NaN.
    interpolate : bool
        Without it, the cost of the first checkpoint that is not below the target.
    """
    if np.isnan(target):
        return float("nan")
    reached = np.flatnonzero(curve.auc >= target)
    if not len(reached):
        return float("inf")
    at = int(reached[0])
    if not interpolate or at == 0 or curve.cost[at - 1] <= 0:
        return float(curve.cost[at])
    part = (target - curve.auc[at - 1]) / (curve.auc[at] - curve.auc[at - 1])
    before, after = np.log(curve.cost[at - 1 : at + 1])
    return float(np.exp(before + part * (after - before)))


def costs_to_reach(
    cells: "pd.DataFrame", curves: Curves, targets: Targets, cost: str = "samples", interpolate: bool = True
) -> "pd.DataFrame":
    """What every run paid until its curve first reached the target.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    curves : mapping
        (board, dataset, method, run) to arrays `samples`, `train_seconds` and `auc`.
    targets : dict
        From `target_aucs`.
    cost : str
        `samples` or `train_seconds`.
    interpolate : bool
        See `first_crossing`.

    Returns
    -------
    DataFrame
        `board`, `dataset`, `method`, `run`, `target`, `cost`: inf for a run that never reached it, did not
        finish or diverged, whatever it had reached before; NaN for one that is missing, finished without
        an AUC, or has no target.
    """
    import pandas as pd

    rows = []
    for run in runs_with_curves(cells, curves, cost):
        board, dataset, _, _ = run.key
        target = targets.get((board, dataset), np.nan)
        if run.curve is not None:
            paid = first_crossing(run.curve, target, interpolate)
        else:
            unknown = run.status in ("missing", "finished") or np.isnan(target)
            paid = np.nan if unknown else np.inf
        rows.append((*run.key, target, paid))
    return pd.DataFrame(rows, columns=[*KEY, "target", "cost"])


def summarise_reaching(reached: "pd.DataFrame") -> "pd.DataFrame":
    """One row a board, data set and method: the median cost and the share of runs that reached the target.

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
    import pandas as pd

    costs: dict[tuple[Hashable, ...], list[float]] = {}
    columns = ("board", "dataset", "method", "target", "cost")
    for *key, paid in zip(*(reached[name].to_numpy(dtype=object) for name in columns), strict=True):
        own = costs.setdefault(tuple(None if value != value else value for value in key), [])
        own += [] if np.isnan(paid) else [float(paid)]
    rows = [
        (*key[:3], np.nan if key[3] is None else key[3], len(paid))
        + ((float(np.median(paid)), float(np.mean(np.isfinite(paid)))) if paid else (np.nan, np.nan))
        for key, paid in costs.items()
    ]
    return pd.DataFrame(rows, columns=["board", "dataset", "method", "target", "runs", "median", "share"])
