"""What boards are made of: cells of a store or of an MLflow server, with those that failed or are missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import ParameterError
from aucbench.studies.plugin_metadata import completed
from aucbench.studies.record import CellRecord, CellStatus, EntryDescription, Seeds
from aucbench.studies.result import CellResult
from aucbench.studies.store import Store


@dataclass(frozen=True)
class Cell:
    """A cell as boards see it.

    Parameters
    ----------
    key : str
        Its identity.
    described : EntryDescription
        What decides its result, complete also where a version wrote it that knew fewer settings.
    run : Seeds
        Equal for all methods, so that runs are paired.
    status : CellStatus
        What became of it.
    record : CellRecord or None
        Of a finished or diverged cell.
    curve : mapping
        Arrays of that cell: iteration, samples, train_seconds, cpu_seconds, auc.
    """

    key: str
    described: EntryDescription
    run: Seeds
    status: CellStatus
    record: CellRecord | None
    curve: dict[str, NDArray[Any]]


def from_store(store: Store, study: str | None = None) -> list[Cell]:
    """The cells of one study, or of everything in the store.

    Raises
    ------
    ParameterError
        The store has no such study.
    """
    plans = [plan for plan in store.plans() if study in (None, plan.study)]
    if study is not None and not plans:
        known = ", ".join(plan.study for plan in store.plans()) or "none"
        raise ParameterError(f"The store at {store.path} has no study '{study}'. Known: {known}.")
    found: dict[str, Cell] = {}
    if study is None:
        found = {cell.key: cell for cell in map(_finished, store)}
    for entry in (entry for plan in plans for entry in plan.entries):
        described = completed(entry.described)
        for key, seeds in entry.cells.items():
            if key not in found:
                found[key] = _look_up(store, key, described, seeds)
    return list(found.values())


def left_out(store: Store, study: str | None = None) -> tuple[str, ...]:
    """Sentences on data that could not be obtained when one study, or any, was planned."""
    return tuple(
        # What follows the names are paths and addresses, which are not for readers of a board.
        f"Skipped in study '{plan.study}' because the data could not be obtained: {text.partition(': ')[0]}."
        for plan in store.plans()
        if study in (None, plan.study)
        for text in plan.unavailable
    )


def of_results(results: Iterable[CellResult]) -> list[Cell]:
    """Finished cells from their results."""
    return [_finished(result) for result in results]


def _look_up(store: Store, key: str, described: EntryDescription, seeds: Seeds) -> Cell:
    result = store.get(key)
    if result is not None:
        return _finished(result)
    failure = store.failure(key)
    return Cell(key, described, seeds, failure.reason if failure else CellStatus.missing, None, {})


def _finished(result: CellResult) -> Cell:
    record = result.record
    status = CellStatus.finished if np.isfinite(result.auc) else CellStatus.diverged
    return Cell(record.key, completed(record), record.seeds, status, record, result.curve)
