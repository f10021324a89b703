"""What boards are made of: cells of a store or of an MLflow server, with those that failed or are missing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import ParameterError
from aucbench.result import CellResult
from aucbench.store import Store
from aucbench.tracking.installed import completed

FINISHED, DIVERGED, MISSING = "finished", "diverged", "missing"
SEEDS = ("seed", "split_seed", "order_seed", "fold")


@dataclass(frozen=True)
class Cell:
    """A cell as boards see it.

    Parameters
    ----------
    key : str
        Its identity.
    described : mapping
        What decides its result: `Entry.describe`.
    run : tuple of int
        seed, split_seed, order_seed and fold; equal for all methods, so that runs are paired.
    status : str
        ``finished``, ``diverged``, ``failed``, ``timeout``, ``out-of-memory`` or ``missing``.
    record : mapping or None
        Of a finished or diverged cell.
    curve : mapping
        Arrays of that cell: iteration, samples, train_seconds, cpu_seconds, auc.
    """

    key: str
    described: dict[str, Any]
    run: tuple[int, ...]
    status: str
    record: dict[str, Any] | None
    curve: dict[str, NDArray[Any]]


def from_store(store: Store, study: str | None = None) -> list[Cell]:
    """The cells of one study, or of everything in the store.

    Raises
    ------
    ParameterError
        The store has no such study.
    """
    plans = [plan for plan in store.plans() if study in (None, plan["study"])]
    if study is not None and not plans:
        known = ", ".join(plan["study"] for plan in store.plans()) or "none"
        raise ParameterError(f"The store at {store.path} has no study '{study}'. Known: {known}.")
    found: dict[str, Cell] = {}
    if study is None:
        found = {cell.key: cell for cell in map(_finished, store)}
    for key, described, seeds in _planned(plans):
        if key not in found:
            found[key] = _look_up(store, key, described, seeds)
    return list(found.values())


def left_out(store: Store, study: str | None = None) -> tuple[str, ...]:
    """Sentences on data that could not be obtained when one study, or any, was planned."""
    return tuple(
        # What follows the names are paths and addresses, which are not for readers of a board.
        f"Skipped in study '{plan['study']}' because the data could not be obtained: "
        f"{text.partition(': ')[0]}."
        for plan in store.plans()
        if study in (None, plan["study"])
        for text in plan["unavailable"]
    )


def of_results(results: Iterable[CellResult]) -> list[Cell]:
    """Finished cells from their results."""
    return [_finished(result) for result in results]


def _planned(plans: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], dict[str, int]]]:
    for plan in plans:
        for entry in plan["entries"]:
            for key, seeds in entry["cells"].items():
                yield key, completed(entry["described"]), seeds


def _look_up(store: Store, key: str, described: dict[str, Any], seeds: dict[str, int]) -> Cell:
    result = store.get(key)
    if result is not None:
        return _finished(result)
    failure = store.failure(key)
    run = tuple(seeds[name] for name in SEEDS)
    return Cell(key, described, run, MISSING if failure is None else failure["reason"], None, {})


def _finished(result: CellResult) -> Cell:
    record = result.record
    status = FINISHED if np.isfinite(result.auc) else DIVERGED
    run = tuple(record[name] for name in SEEDS)
    return Cell(record["key"], completed(record), run, status, record, result.curve)
