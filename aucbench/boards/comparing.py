"""Our figures beside the published ones: differences, verdicts, the order of methods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards import statistics
from aucbench.boards.collecting import Cell
from aucbench.boards.framing import groups
from aucbench.boards.labelling import method_of
from aucbench.boards.published.tables import PublishedCell, PublishedTable, is_comparable, is_method
from aucbench.studies.record import CellStatus

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "dataset", "method", "published", "published_std", "ours", "ours_std", "runs", "difference", "verdict",
    "published_seconds", "seconds", "time_ratio", "note",
)  # fmt: skip
Ours = tuple[float, float, int, float]  # mean and deviation of AUC, finished runs, mean seconds
NAN = float("nan")


def compare(table: PublishedTable, cells: Sequence[Cell]) -> "pd.DataFrame":
    """One row a published number; of a table without any, one row of ours a method and data set.

    Returns
    -------
    DataFrame
        `dataset`, `method`, `published`, `published_std`, `ours`, `ours_std`, `runs`, `difference`,
        `verdict`, `published_seconds`, `seconds`, `time_ratio` (published over ours; the machines differ) and
        `note`: of the table, and why a number is not comparable. A number is equal when it lies within
        max(0.003, two published standard deviations); with cells that failed, diverged or are missing a
        method is `not run`, and `runs` counts those that finished.
    """
    import pandas as pd

    found = groups(cells, one_study=True)
    latest = [cell for group in found for board in group.boards.values() for cell in board]
    published = table.cells()
    if not published:
        rows = [
            _row(PublishedCell(dataset, group.labels[own[0].key], NAN, NAN, NAN, ""), own)
            for group in found
            for dataset, board in group.boards.items()
            for own in _by_label(board, group.labels)
        ]
    else:
        rows = [
            _row(
                each,
                [
                    cell
                    for cell in latest
                    if cell.described.dataset.name.lower() == each.dataset
                    and is_method(cell.described, each.method)
                ],
            )
            for each in published
        ]
    if not rows:
        return pd.DataFrame(columns=list(COLUMNS))
    frame = statistics.judge_table(pd.DataFrame(rows))
    frame["time_ratio"] = frame["published_seconds"] / frame["seconds"].where(frame["seconds"] > 0)
    return frame[list(COLUMNS)]


def agreement(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Kendall's tau of the published and our order of methods: a row a data set, the last the table's."""
    import pandas as pd

    counted = frame.assign(comparable=frame["verdict"] != statistics.Verdict.not_comparable, table="table")
    single = statistics.order_agreement(counted, by=("dataset",))
    whole = statistics.order_agreement(counted, by=("table",)).assign(dataset="all").drop(columns="table")
    return pd.concat([single, whole], ignore_index=True)


def counts(frame: "pd.DataFrame") -> dict[str, Any]:
    """How many numbers have which verdict, and the share that is equal or better among those compared."""
    found = {str(verdict): int((frame["verdict"] == verdict).sum()) for verdict in statistics.Verdict}
    compared = found["equal"] + found["better"] + found["worse"]
    return found | {"share": (found["equal"] + found["better"]) / compared if compared else NAN}


def _by_label(board: Sequence[Cell], labels: dict[str, str]) -> list[list[Cell]]:
    found: dict[str, list[Cell]] = {}
    for cell in board:
        found.setdefault(labels[cell.key], []).append(cell)
    return list(found.values())


def _row(published: PublishedCell, own: Sequence[Cell]) -> dict[str, Any]:
    settings = {method_of(cell.described, one_study=True) for cell in own}
    notes = [published.note] if published.note else []
    comparable = len(settings) < 2
    if not comparable:
        notes.append(f"the study has this method with {len(settings)} settings")
    if own and not is_comparable(own[0].described):
        comparable = False
        notes.append("the paper drew the halves of the classes at random and did not publish them")
    ours, std, runs, seconds = _ours(own) if len(settings) < 2 else (NAN, NAN, 0, NAN)
    if runs < len(own) and len(settings) < 2:
        notes.append(f"{len(own) - runs} of {len(own)} runs gave no AUC")
    return {
        "dataset": published.dataset,
        "method": published.method,
        "published": published.auc_mean,
        "published_std": published.auc_std,
        "ours": ours,
        "ours_std": std,
        "runs": runs,
        "difference": ours - published.auc_mean,
        "comparable": comparable,
        "published_seconds": published.train_seconds,
        "seconds": seconds,
        "note": "; ".join(notes),
    }


def _ours(own: Sequence[Cell]) -> Ours:
    """Nothing but the number of runs unless all cells finished: those that did are a selection."""
    results = [cell.record.result for cell in own if cell.record and cell.status is CellStatus.finished]
    if not own or len(results) < len(own):
        return NAN, NAN, len(results), NAN
    aucs = [result.auc for result in results if result.auc is not None]
    std = float(np.std(aucs, ddof=1)) if len(aucs) > 1 else NAN
    return float(np.mean(aucs)), std, len(aucs), float(np.mean([each.train_seconds for each in results]))
