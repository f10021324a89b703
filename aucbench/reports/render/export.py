"""A report to a folder: CSV and Parquet here, the other forms by their modules."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from aucbench.evaluation.measures import MEASURES, TrainingObjective
from aucbench.reports.cells import BoardCell, groups
from aucbench.reports.render.columns import METHOD_COLUMNS, method_fields, row_columns, row_fields
from aucbench.reports.render.figures import Pictures, draw_all
from aucbench.reports.render.latex import latex
from aucbench.reports.render.markdown import markdown
from aucbench.reports.render.page import write_page
from aucbench.reports.report import Report
from aucbench.studies.record import canonical, subset
from aucbench.studies.result import SUBOPTIMALITY

if TYPE_CHECKING:
    import pandas as pd

PAGE = "leaderboard.html"


def write(
    report: Report,
    cells: Sequence[BoardCell],
    folder: Path,
    pictures: Pictures | None = None,
    quoted: Report | None = None,
    siunitx: bool = False,
) -> list[Path]:
    """Write tables, documents, the page and, if wanted, the pictures; returns the files.

    The cells that the report was made from are written as they are, so that numbers can be computed again.
    LaTeX and pictures, which go into papers, are made of `quoted`, a part of the report, if it is given;
    with `siunitx`, the columns of the LaTeX tables are those of that package.
    """
    quoted = quoted or report
    folder.mkdir(parents=True, exist_ok=True)
    board = board_table(report)
    board.to_csv(folder / "leaderboard.csv", index=False)
    board.to_parquet(folder / "leaderboard.parquet", index=False)
    overall_table(report).to_csv(folder / "overall.csv", index=False)
    cell_table(cells, report.one_study).to_parquet(folder / "cells.parquet", index=False)
    (folder / "leaderboard.md").write_text(markdown(report), encoding="utf-8")
    (folder / "leaderboard.tex").write_text(latex(quoted, siunitx), encoding="utf-8")
    write_page(report, folder / PAGE)
    names = ("leaderboard.csv", "overall.csv", "leaderboard.parquet", "cells.parquet", "leaderboard.md")
    drawn = draw_all(quoted, folder / "pictures", pictures) if pictures else []
    return [folder / name for name in (*names, "leaderboard.tex", PAGE)] + drawn


def board_table(report: Report) -> "pd.DataFrame":
    """One row a board and method, best first; `group` is that of boards that are ranked together.

    The last columns are the parameters of the measures, such as ``pauc_max_fpr``.
    """
    import pandas as pd

    names = ["group", "board", "tuned", *(name for column in row_columns(report) for name in column.fields)]
    measures = {
        name: value for each in (report.measure, *report.others) for name, value in each.columns.items()
    }
    names += measures
    rows = [
        row_fields(row, board) | {"group": group, "board": board.number, "tuned": board.tuned} | measures
        for group, (_, boards) in enumerate(report.groups(), 1)
        for board in boards
        for row in board.rows
    ]
    return pd.DataFrame(rows, columns=names)


def overall_table(report: Report) -> "pd.DataFrame":
    """One row a method and group of boards: ranks, groups, wins, ties, losses, gains, and the measure."""
    import pandas as pd

    names = ["group", "tuned", "boards", *(name for column in METHOD_COLUMNS for name in column.fields)]
    measure = {"measure": report.measure.name, **report.measure.columns}
    names += measure
    rows = [
        method_fields(method, overall)
        | {"group": group, "tuned": overall.tuned, "boards": overall.boards}
        | measure
        for group, overall in enumerate(report.overall, 1)
        for method in overall.methods
    ]
    return pd.DataFrame(rows, columns=names)


def cell_table(cells: Sequence[BoardCell], one_study: bool = False) -> "pd.DataFrame":
    """One row a cell of a report, from which all but what is read off curves can be computed again.

    `board` and `method` say where the cell stands in the report; they are null for a cell that a later
    version of its code or data has replaced. AUCs are null unless `status` is ``finished``. The last columns
    are the other measures that some cell has, and their parameters in it.
    """
    import pandas as pd

    places: dict[str, tuple[int, str]] = {}
    boards = [(group, members) for group in groups(cells, one_study) for members in group.boards.values()]
    for number, (group, members) in enumerate(boards, 1):
        places |= {cell.key: (number, group.label(cell)) for cell in members}
    rows = [_cell(cell, *places.get(cell.key, (None, None))) for cell in cells]
    measured = [name for name in MEASURES if name not in CELL and any(cell.value(name) for cell in cells)]
    for row, cell in zip(rows, cells, strict=True):
        row |= _objective(cell)
        known = cell.record.measures if cell.record else {}
        row |= {name: cell.value(name) for name in measured}
        row |= {
            f"{name}_{key}": value
            for name in measured
            if name in known
            for key, value in known[name].parameters.items()
        }
    names = dict.fromkeys([*CELL, *measured, *(name for row in rows for name in row)])
    return pd.DataFrame(rows, columns=list(names)).astype({"board": "Int64"})


_DESCRIBED = (
    "dataset", "loss", "features", "scaling", "rescale", "regularisation", "protocol", "tuning",
    "max_train_rows", "budget", "order", "dtype",
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


def _cell(cell: BoardCell, board: int | None, method: str | None) -> dict[str, Any]:
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


def _objective(cell: BoardCell) -> dict[str, Any]:
    """The training objective of a cell, its certified minimum and the suboptimality."""
    own = cell.record.measures.get(TrainingObjective.name) if cell.record else None
    if own is None:
        return {}
    found = {"objective": own.value, "objective_reason": own.reason}
    if own.minimum:
        known = own.minimum.value is not None
        found |= {"objective_minimum": own.minimum.value, "objective_gap": own.minimum.gap if known else None}
        found |= {"objective_text": own.minimum.objective, "objective_reason": own.minimum.reason}
    if SUBOPTIMALITY in cell.curve:
        found["suboptimality"] = float(cell.curve[SUBOPTIMALITY][-1])
    return found


def _some(part: Struct | None, names: tuple[str, ...]) -> dict[str, Any]:
    """Fields of a part of a record; None where there is no record, or where a version did not keep them."""
    found = {name: getattr(part, name, None) for name in names}
    return {name: None if value is UNSET else value for name, value in found.items()}
