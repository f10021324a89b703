"""Cells as the statistics take them: one frame a group of boards that can be compared, and their curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aucbench.boards.collecting import Cell
from aucbench.boards.labelling import dataset_of, is_tuned, labels, method_of, setting_of
from aucbench.studies.record import CellStatus, DatasetRecord, Seeds, canonical

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.boards.statistics import Curves

MEASURED = ("auc", "train_seconds", "ns_per_iteration", "state_bytes")


@dataclass(frozen=True)
class Group:
    """Boards whose methods can be ranked together.

    Parameters
    ----------
    tuned : bool
        Whether hyper-parameters were tuned.
    boards : mapping
        Name of a data set, unique in the group, to the cells of its board.
    labels : mapping
        Key of a cell to the label of its method, the same on all boards of the group.
    """

    tuned: bool
    boards: dict[str, list[Cell]]
    labels: dict[str, str]

    def label(self, cell: Cell) -> str:
        """Label of the cell's method."""
        return self.labels[cell.key]

    def frame(self) -> "pd.DataFrame":
        """One row a cell; `board` is the group, so that data sets can be pooled."""
        import pandas as pd

        return pd.DataFrame(
            [self._row(dataset, cell) for dataset, cells in self.boards.items() for cell in cells]
        )

    def curves(self) -> "Curves":
        """Curves of the finished cells, by (board, dataset, method, run)."""
        return {
            (self._board, dataset, self.label(cell), cell.run): cell.curve
            for dataset, cells in self.boards.items()
            for cell in cells
            if cell.status is CellStatus.finished
        }

    @property
    def _board(self) -> str:
        return "tuned" if self.tuned else "not tuned"

    def _row(self, dataset: str, cell: Cell) -> dict[str, Any]:
        result = cell.record.result if cell.record else None
        tuned = cell.record.tuned if cell.record else None
        measured = {name: getattr(result, name, None) for name in MEASURED}
        return {
            "board": self._board,
            "dataset": dataset,
            "method": self.label(cell),
            "run": cell.run,
            "status": str(cell.status),
            "tuning_seconds": tuned.cost.train_seconds if tuned else 0.0,
            "tuning_passes": tuned.cost.passes if tuned else 0.0,
        } | {name: float("nan") if value is None else value for name, value in measured.items()}


def groups(cells: Sequence[Cell], one_study: bool) -> list[Group]:
    """The groups of boards among some cells.

    In one study a data set is one board, whatever its budget. Otherwise cells share a board only when all
    but the method agrees, and boards are ranked together only when all but the data set agrees. Of cells
    that were run with several versions of the code, or with several numbers of checkpoints, a row takes the
    version that finished last.
    """
    boards: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        described = cell.described
        group = str(is_tuned(described)) if one_study else setting_of(described)
        boards.setdefault((group, dataset_of(described)), []).append(cell)
    by_group: dict[str, list[list[Cell]]] = {}
    for (group, _), members in boards.items():
        by_group.setdefault(group, []).append(members)
    return [_group(members, one_study) for members in by_group.values()]


def _group(boards: list[list[Cell]], one_study: bool) -> Group:
    names = _names([board[0].described.dataset for board in boards])
    by_identity = labels([[cell.described for cell in board] for board in boards], one_study)
    by_key = {
        cell.key: by_identity[method_of(cell.described, one_study)] for board in boards for cell in board
    }
    kept = [_latest(board, by_key) for board in boards]
    return Group(
        tuned=is_tuned(boards[0][0].described),
        boards=dict(sorted(zip(names, kept, strict=True))),
        labels=by_key,
    )


def _latest(board: list[Cell], label: dict[str, str]) -> list[Cell]:
    """One cell a method and run: of the method's last version, or that there is none."""
    last: dict[str, tuple[str, str]] = {}  # method to the time and version of its last finished cell
    for cell in board:
        if cell.record:
            own = (_time(cell), _version(cell))
            last[label[cell.key]] = max(last.get(label[cell.key], ("", "")), own)
    found: dict[tuple[str, Seeds], Cell] = {}
    for cell in board:
        method = label[cell.key]
        if cell.record and _version(cell) != last[method][1]:
            continue
        other = found.get((method, cell.run))
        if other is None or (cell.record is not None, _time(cell)) > (other.record is not None, _time(other)):
            found[method, cell.run] = cell
    return list(found.values())


def _time(cell: Cell) -> str:
    """When it finished; empty where that was not kept."""
    return (cell.record.environment.finished_at if cell.record else None) or ""


def _version(cell: Cell) -> str:
    """Of the code, the data, and the checkpoints: cells of one row have equal ones."""
    record = cell.record
    return canonical([record.budget.checkpoints, record.source, record.data.sha256]) if record else ""


def _names(datasets: Sequence[DatasetRecord]) -> list[str]:
    """Titles of the data sets, each once; with part and parameters where a title occurs twice."""
    titles = [dataset.title for dataset in datasets]
    names: list[str] = []
    for dataset, title in zip(datasets, titles, strict=True):
        name = title
        if titles.count(title) > 1:
            facts = dataset.parameters | {"part": dataset.part}
            name += " (" + " ".join(f"{key}={value}" for key, value in facts.items()) + ")"
        number, plain = 1, name
        while name in names:
            number += 1
            name = f"{plain} #{number}"
        names.append(name)
    return names
