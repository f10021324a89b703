"""Distance of methods from the certified minima of their objectives: on a board, and over all boards."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aucbench.evaluation.measures import TrainingObjective
from aucbench.reports.cells import BoardCell, Group
from aucbench.reports.report import Board, Row, Suboptimality
from aucbench.reports.statistics.inputs import Curves
from aucbench.reports.statistics.target_suboptimality import costs_to_minimum, reached_profile
from aucbench.studies.record import CellStatus, MeasureRecord
from aucbench.studies.result import SUBOPTIMALITY, TURNED_OFF

if TYPE_CHECKING:
    import pandas as pd

COSTS = {"passes": "passes", "seconds": "train_seconds"}  # names of fields, and of arrays of curves
ENDS_ONLY = "the objective is known at the end of training only; store.weights=checkpoints keeps its curve"
Reached = dict[str, dict[str, tuple[np.ndarray, np.ndarray, int]]]


def suboptimalities(
    group: Group, dataset: str, frame: "pd.DataFrame", curves: Curves
) -> dict[str, Suboptimality]:
    """What a board says of each of its methods whose objective was measured; empty where none was."""
    found, whole = {}, []
    for method, cells in group.by_method(dataset).items():
        finished = [cell for cell in cells if cell.status is CellStatus.finished]
        known = [own for cell in finished if (own := _objective(cell)) is not None]
        if not known:
            continue
        reason = "not measured in all finished runs" if len(known) < len(finished) else _reason(known)
        found[method] = Suboptimality(reason=reason) if reason else _values(finished, known)
        if not found[method].reason:
            whole.append(method)
    if whole:
        rows = frame[frame["method"].isin(whole)]
        costs = {name: costs_to_minimum(rows, curves, array) for name, array in COSTS.items()}
        for method in whole:
            passes, seconds = (costs[name][method] for name in COSTS)
            found[method] = replace(found[method], passes=passes, seconds=seconds)
    return found


def _objective(cell: BoardCell) -> MeasureRecord | None:
    return cell.record.measures.get(TrainingObjective.name) if cell.record else None


def _reason(known: Sequence[MeasureRecord]) -> str:
    """Why a method has no suboptimality, as its first run without one says."""
    for own in known:
        if own.value is None:
            return own.reason
        if not own.minimum:
            return TURNED_OFF
        if own.minimum.value is None:
            return own.minimum.reason
    return ""


def _values(finished: Sequence[BoardCell], known: Sequence[MeasureRecord]) -> Suboptimality:
    minima = [own.minimum for own in known if own.minimum]
    curves = [cell.curve[SUBOPTIMALITY] for cell in finished]
    return Suboptimality(
        objective=minima[0].objective,
        differs=len({each.objective for each in minima}) > 1,
        minimum=float(np.mean([each.value for each in minima if each.value is not None])),
        gap=float(np.mean([each.gap for each in minima])),
        size=float(np.mean([max(each.size, each.value or 0.0) for each in minima])),
        final=float(np.mean([curve[-1] for curve in curves])),
        budget_passes=float(np.median([cell.curve["passes"][-1] for cell in finished])),
        budget_seconds=float(np.median([cell.curve["train_seconds"][-1] for cell in finished])),
        reason=ENDS_ONLY if any(np.isnan(curve).any() for curve in curves) else "",
    )


def minima_reached(boards: Sequence[Board]) -> Reached:
    """What `reached_over` says of the target suboptimalities."""
    return reached_over(boards, lambda row, cost: getattr(row.suboptimality, cost, ()))


def reached_over(boards: Sequence[Board], paid: Callable[[Row, str], tuple[float, ...]]) -> Reached:
    """Profiles over some boards, by cost and method: cost, share of the targets, and number of boards.

    `paid` has the costs of a row until each of the targets, empty where there are none.
    """
    found: Reached = {}
    for name in COSTS:
        costs = {
            board.dataset: {
                row.method: own for row in board.rows if not np.isnan(own := paid(row, name)).all()
            }
            for board in boards
        }
        costs = {dataset: own for dataset, own in costs.items() if own}
        if not costs:
            return {}
        profile = reached_profile(costs)
        at = profile.index.to_numpy(float)
        found[name] = {
            str(method): (at, profile[method].to_numpy(float), sum(method in own for own in costs.values()))
            for method in profile.columns
        }
    return found
