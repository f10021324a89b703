"""Cells as the statistics take them: one frame a group of boards that can be compared, and their curves."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aucbench.boards.collecting import FINISHED, Cell
from aucbench.boards.labelling import board_of, is_tuned, labels, method_of, methods_of

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.boards.statistics import Curves


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
        Identity of a method to its label, the same on all boards of the group.
    """

    tuned: bool
    boards: dict[str, list[Cell]]
    labels: dict[str, str]

    def label(self, cell: Cell) -> str:
        """Label of the cell's method."""
        return self.labels[method_of(cell.described)]

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
            if cell.status == FINISHED
        }

    @property
    def _board(self) -> str:
        return "tuned" if self.tuned else "not tuned"

    def _row(self, dataset: str, cell: Cell) -> dict[str, Any]:
        record = cell.record or {}
        result = record.get("result", {})
        cost = (record.get("tuned") or {}).get("cost", {})
        measured = {
            name: result.get(name, float("nan"))
            for name in ("auc", "train_seconds", "ns_per_iteration", "state_bytes")
        }
        return {
            "board": self._board,
            "dataset": dataset,
            "method": self.label(cell),
            "run": cell.run,
            "status": cell.status,
            "tuning_seconds": cost.get("train_seconds", 0.0),
            "tuning_passes": cost.get("passes", 0.0),
        } | {name: float("nan") if value is None else value for name, value in measured.items()}


def groups(cells: Sequence[Cell], one_study: bool) -> list[Group]:
    """The groups of boards among some cells.

    In one study a data set is one board, whatever its budget. Otherwise cells share a board only when all
    but the method agrees, and boards are ranked together only when all but the data set agrees.
    """
    boards: dict[tuple[str, str], list[Cell]] = {}
    for cell in _latest(cells):
        boards.setdefault(_place(cell, one_study), []).append(cell)
    by_group: dict[str, list[list[Cell]]] = {}
    for (group, _), members in boards.items():
        by_group.setdefault(group, []).append(members)
    return [_group(members) for members in by_group.values()]


def _latest(cells: Sequence[Cell]) -> list[Cell]:
    """Without cells that another version of the same code has run anew."""
    found: dict[str, Cell] = {}
    for cell in cells:
        described = {name: value for name, value in cell.described.items() if name in _DECIDING}
        identity = json.dumps([described, cell.run], sort_keys=True, default=str)
        other = found.get(identity)
        if other is None or _rank(cell) > _rank(other):
            found[identity] = cell
    return list(found.values())


_DECIDING = (
    "algorithm", "dataset", "loss", "features", "scaling", "protocol", "tuning", "max_train_rows", "budget",
    "order", "dtype",
)  # fmt: skip


def _rank(cell: Cell) -> tuple[bool, str]:
    record = cell.record or {}
    return record != {}, str(record.get("finished_at", ""))


def _place(cell: Cell, one_study: bool) -> tuple[str, str]:
    described = cell.described
    dataset = json.dumps(described["dataset"], sort_keys=True, default=str)
    if one_study:
        return str(is_tuned(described)), dataset
    setting = json.loads(board_of(described))
    del setting["dataset"]
    return json.dumps(setting, sort_keys=True), dataset


def _group(boards: list[list[Cell]]) -> Group:
    names = _names([board[0].described["dataset"] for board in boards])
    described = methods_of(cell.described for board in boards for cell in board)
    return Group(
        tuned=is_tuned(boards[0][0].described),
        boards=dict(sorted(zip(names, boards, strict=True))),
        labels=_labels(boards, described),
    )


def _labels(boards: list[list[Cell]], described: dict[str, Any]) -> dict[str, str]:
    """Labels over all boards; where no board has two rows of one name, the name is enough."""
    crowded = set()
    for board in boards:
        names = [each["algorithm"]["name"] for each in methods_of(cell.described for cell in board).values()]
        crowded |= {name for name in names if names.count(name) > 1}
    several = {key: each for key, each in described.items() if each["algorithm"]["name"] in crowded}
    own = {key: str(each["algorithm"]["name"]) for key, each in described.items()}
    return own | labels(several)


def _names(datasets: Sequence[dict[str, Any]]) -> list[str]:
    """Titles of the data sets; with part and parameters where a title occurs twice."""
    titles = [str(dataset["title"]) for dataset in datasets]
    names = []
    for dataset, title in zip(datasets, titles, strict=True):
        if titles.count(title) > 1:
            facts = dataset["parameters"] | {"part": dataset["part"]}
            title += " (" + " ".join(f"{key}={value}" for key, value in facts.items()) + ")"
        names.append(title)
    return names
