"""A report as data frames: one row a board and method, one row a method overall, one row a cell."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from aucbench.boards.collecting import Cell
from aucbench.boards.framing import groups
from aucbench.boards.report import Overall, Report, Row
from aucbench.studies.record import canonical, subset

if TYPE_CHECKING:
    import pandas as pd

NOT_TABULAR = ("curve", "aucs", "auc", "gain")
FIRST = ("method", "algorithm", "rank", "auc_mean", "auc_std", "auc_low", "auc_high")
ROW = tuple(field.name for field in fields(Row) if field.name not in (*NOT_TABULAR, *FIRST, "std"))
GAIN = ("baseline", "gain_mean", "gain_low", "gain_high")
BOARD = ("group", "board", "dataset", "tuned", *FIRST, *GAIN, *ROW, "target", "procedure", "setting")
OVERALL = (
    "group", "tuned", "boards", "method", "rank", "rank_low", "rank_high", "rank_with_gaps", "gaps", "groups",
    "wins", "ties", "losses", *GAIN, "gain_boards", "on_front", "procedure",
)  # fmt: skip


def board_table(report: Report) -> "pd.DataFrame":
    """One row a board and method, best first.

    Returns
    -------
    DataFrame
        `group` of boards that are ranked together, `board`, `dataset`, `tuned`, the fields of `Row` (the
        interval of the AUC as `auc_mean`, `auc_low`, `auc_high`, that of the gain alike), the label of the
        `baseline` (or why there is none), `target`, `procedure` (the test) and `setting`.
    """
    import pandas as pd

    rows = [
        {"group": group, "board": board.number, "dataset": board.dataset, "tuned": board.tuned}
        | {"target": board.target, "setting": board.setting, "procedure": board.procedure}
        | {"baseline": board.baseline_reason or board.baseline}
        | _flat(row)
        for group, (_, boards) in enumerate(report.groups(), 1)
        for board in boards
        for row in board.rows
    ]
    return pd.DataFrame(rows, columns=list(BOARD))


def overall_table(report: Report) -> "pd.DataFrame":
    """One row a method and group of boards: ranks, groups, wins, ties, losses, gains."""
    import pandas as pd

    rows = [
        {"group": group} | _total(overall, method)
        for group, overall in enumerate(report.overall, 1)
        for method in overall.methods
    ]
    return pd.DataFrame(rows, columns=list(OVERALL))


def cell_table(cells: Sequence[Cell], one_study: bool = False) -> "pd.DataFrame":
    """One row a cell, from which all but what is read off curves can be computed again.

    Parameters
    ----------
    cells : sequence of Cell
        Those that a report was built from.
    one_study : bool
        As when it was built.

    Returns
    -------
    DataFrame
        `board` and `method` say where the cell stands in the report; they are null for a cell that a later
        version of its code or data has replaced. AUCs are null unless `status` is ``finished``.
    """
    import pandas as pd

    places: dict[str, tuple[int, str]] = {}
    boards = [(group, members) for group in groups(cells, one_study) for members in group.boards.values()]
    for number, (group, members) in enumerate(boards, 1):
        places |= {cell.key: (number, group.label(cell)) for cell in members}
    rows = [_cell(cell, *places.get(cell.key, (None, None))) for cell in cells]
    return pd.DataFrame(rows, columns=list(CELL)).astype({"board": "Int64"})


_DESCRIBED = (
    "dataset", "loss", "features", "scaling", "rescale", "protocol", "tuning", "max_train_rows", "budget",
    "order",
    "dtype",
)  # fmt: skip
_MEASURED = (
    "auc", "iterations", "train_seconds", "train_cpu_seconds", "ns_per_iteration", "state_bytes",
    "stop_reason",
)  # fmt: skip
_ENVIRONMENT = ("concurrency", "cpu", "finished_at")
_ROWS = ("train_rows", "test_rows", "train_positives", "test_positives")
CELL = (
    "board", "method", "key", "dataset", "algorithm", "parameters", "described", "seed", "split_seed",
    "order_seed", "fold", "status", "chosen", "edges", "tuning_passes", "tuning_seconds", "source",
    *_ENVIRONMENT, *_ROWS, *_MEASURED,
)  # fmt: skip


def _cell(cell: Cell, board: int | None, method: str | None) -> dict[str, Any]:
    import json

    described, record = cell.described, cell.record
    tuned = record.tuned if record else None
    return (
        {
            "board": board,
            "method": method,
            "key": cell.key,
            "dataset": described.dataset.title,
            "algorithm": described.algorithm.name,
            "parameters": json.dumps(described.algorithm.parameters, default=str),
            "described": canonical(subset(described, _DESCRIBED)),
            "status": str(cell.status),
            "chosen": json.dumps(tuned.parameters, default=str) if tuned else None,
            "edges": json.dumps(tuned.edges) if tuned and tuned.edges is not UNSET else None,
            "tuning_passes": tuned.cost.passes if tuned else None,
            "tuning_seconds": tuned.cost.train_seconds if tuned else None,
            "source": record.source if record else None,
        }
        | asdict(cell.run)
        | _some(record and record.environment, _ENVIRONMENT)
        | _some(record and record.data, _ROWS)
        | _some(record and record.result, _MEASURED)
    )


def _some(part: Struct | None, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields of a part of a record; None where there is no record, or where a version did not keep them."""
    found = {name: getattr(part, name, None) for name in names}
    return {name: None if value is UNSET else value for name, value in found.items()}


def _flat(row: Row) -> dict[str, Any]:
    found = {name: value for name, value in vars(row).items() if name not in NOT_TABULAR}
    auc = {"auc_mean": row.auc.value, "auc_low": row.auc.low, "auc_high": row.auc.high}
    gain = {"gain_mean": row.gain.value, "gain_low": row.gain.low, "gain_high": row.gain.high}
    return found | auc | gain | {"auc_std": found.pop("std")}


def _total(overall: Overall, method: str) -> dict[str, Any]:
    rank, with_gaps = overall.ranks.get(method), overall.ranks_with_gaps.get(method)
    gain, cost = overall.gains.get(method), overall.costs.get(method)
    return {
        "tuned": overall.tuned,
        "boards": overall.boards,
        "method": method,
        "rank": rank.value if rank else None,
        "rank_low": rank.low if rank else None,
        "rank_high": rank.high if rank else None,
        "rank_with_gaps": with_gaps.value if with_gaps else None,
        "gaps": ", ".join(overall.incomplete.get(method, [])),
        "groups": overall.groups.get(method, ""),
        "wins": overall.wins.get(method, 0),
        "ties": overall.ties.get(method, 0),
        "losses": overall.losses.get(method, 0),
        "baseline": overall.baseline_reason or overall.baseline,
        "gain_mean": gain.value if gain else None,
        "gain_low": gain.low if gain else None,
        "gain_high": gain.high if gain else None,
        "gain_boards": overall.gain_boards.get(method, 0),
        "on_front": cost is not None and cost.on_front,
        "procedure": overall.procedure,
    }
