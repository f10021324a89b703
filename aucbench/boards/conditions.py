"""Under what the cells of a board were run: how splits overlap, and whether times are comparable."""

from collections.abc import Iterable, Mapping, Sequence

from aucbench.boards.collecting import Cell
from aucbench.studies.record import CellRecord, canonical


def overlap(records: Iterable[CellRecord]) -> float | None:
    """Test rows over training rows, where several splits of the same rows make runs dependent.

    None where all runs share one split, or the data set's own. The rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. Where the methods of a board differ
    in it, the largest ratio is taken, which makes the tests more cautious.

    Parameters
    ----------
    records : iterable of CellRecord
        Those of finished cells of one board.
    """
    rows: dict[str, list[int]] = {}
    splits = set()
    for record in records:
        splits.add((record.split_seed, record.fold))
        if {"folds", "test_fraction"} & set(record.protocol.parameters):
            used = rows.setdefault(canonical([record.protocol, record.max_train_rows]), [0, 0])
            used[0] += record.data.test_rows
            used[1] += record.data.train_rows
    if len(splits) < 2 or not rows:
        return None
    return max(test / train for test, train in rows.values())


def timing_marks(by_method: Mapping[str, Sequence[Cell]]) -> dict[str, str]:
    """Why the times of a method are not comparable with those of the board's largest class of conditions."""
    conditions: dict[str, set[tuple[str, int]]] = {}
    for method, cells in by_method.items():
        environments = [cell.record.environment for cell in cells if cell.record]
        conditions[method] = {(each.cpu, each.concurrency) for each in environments}
    every = [one for found in conditions.values() for one in found]
    if len(set(every)) < 2:
        return {}
    usual = max(sorted(set(every)), key=every.count)
    marks = {}
    for method, found in conditions.items():
        other = sorted(found - {usual})
        if other:
            how = " and ".join(_condition(one) for one in other)
            amount = "some" if usual in found else "all"
            marks[method] = f"{amount} times were measured {how}; usual on this board is {_condition(usual)}"
    return marks


def _condition(condition: tuple[str, int]) -> str:
    cpu, concurrency = condition
    rivals = "one at a time" if concurrency < 2 else f"up to {concurrency} at a time"
    return f"{rivals} on {cpu}"


def machines(cells: Sequence[Cell]) -> list[str]:
    """Processors that the cells ran on."""
    return sorted({cell.record.environment.cpu for cell in cells if cell.record})
