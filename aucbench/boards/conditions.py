"""Under what the cells of a board were run: how splits overlap, and whether times are comparable."""

from collections.abc import Mapping, Sequence
from typing import Any

from aucbench.boards.collecting import Cell


def overlap(protocol: Mapping[str, Any], cells: Sequence[Cell]) -> float | None:
    """Test rows over training rows, where several splits of the same rows make runs dependent."""
    if len({(cell.run[1], cell.run[3]) for cell in cells}) < 2:
        return None
    fields = protocol["parameters"]
    if protocol["name"] == "kfold":
        return float(1.0 / (fields["folds"] - 1))
    test = fields.get("test_fraction")
    if test is None:
        return None
    return float(test / (1.0 - test - fields.get("validation_fraction", 0.0)))


def timing_marks(by_method: Mapping[str, Sequence[Cell]]) -> dict[str, str]:
    """Why the times of a method are not comparable with those of the board's largest class of conditions."""
    conditions: dict[str, set[tuple[str, int]]] = {}
    for method, cells in by_method.items():
        environments = [cell.record["environment"] for cell in cells if cell.record]
        conditions[method] = {(each["cpu"], each["concurrency"]) for each in environments}
    every = [one for found in conditions.values() for one in found]
    if len(set(every)) < 2:
        return {}
    usual = max(sorted(set(every)), key=every.count)
    marks = {}
    for method, found in conditions.items():
        other = sorted(found - {usual})
        if other:
            texts = [f"on {cpu} beside {concurrency - 1} others" for cpu, concurrency in other]
            marks[method] = f"some times were measured {' and '.join(texts)}, the rest {_usual(usual)}"
    return marks


def _usual(condition: tuple[str, int]) -> str:
    cpu, concurrency = condition
    return f"on {cpu} beside {concurrency - 1} others" if concurrency > 1 else f"on {cpu}, one at a time"


def machines(cells: Sequence[Cell]) -> list[str]:
    """Processors that the cells ran on."""
    return sorted({cell.record["environment"]["cpu"] for cell in cells if cell.record})
