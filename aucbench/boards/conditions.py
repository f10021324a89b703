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
    return sorted({cell.record["environment"]["cpu"] for cell in cells if cell.record})
