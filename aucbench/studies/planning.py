"""What a study consists of and what of it the store already has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aucbench.entry import Cell, Entry, Search
from aucbench.errors import AucbenchError, FetchError
from aucbench.store import Store
from aucbench.studies.workshop import Workshop


class CellState(StrEnum):
    """What the store has of a cell."""

    finished = "finished"
    failed = "failed"
    missing = "missing"


@dataclass(frozen=True)
class PlannedCell:
    """A cell, its key, the tuning it needs first, if any, and whether it failed when it was last run.

    A cell that failed at a limit which is wider by now is missing.
    """

    cell: Cell
    key: str
    state: CellState
    search: Search | None
    failed_before: bool = False

    def is_wanted(self, only_failed: bool) -> bool:
        """Whether it is to be run."""
        return self.failed_before if only_failed else self.state is CellState.missing


@dataclass(frozen=True)
class PlannedEntry:
    """An entry, the digests of its data, its key and its cells."""

    entry: Entry
    digests: tuple[str, ...]
    key: str
    cells: tuple[PlannedCell, ...]


@dataclass(frozen=True)
class Refused:
    """An entry that cannot be run as it was asked for, or whose data cannot be had, and why."""

    entry: str
    error: AucbenchError

    @property
    def why(self) -> str:
        """The sentence."""
        return str(self.error)


def by_reason(refused: Iterable[Refused]) -> list[str]:
    """One sentence for each reason, with the entries that it is the reason for."""
    entries: dict[str, list[str]] = {}
    for each in refused:
        entries.setdefault(each.why, []).append(each.entry)
    return [
        f"{', '.join(names) if len(names) < 4 else f'{names[0]} and {len(names) - 1} other entries'}: {why}"
        for why, names in entries.items()
    ]


@dataclass(frozen=True)
class Plan:
    """A study before it runs.

    Parameters
    ----------
    entries : tuple of PlannedEntry
        What runs.
    refused : tuple of Refused
        Bad input: said, and the exit status is 2.
    unavailable : tuple of Refused
        Left out because the data cannot be had, where the study allows that.
    only_failed : bool
        Whether only cells run that failed before.
    """

    entries: tuple[PlannedEntry, ...]
    refused: tuple[Refused, ...] = ()
    unavailable: tuple[Refused, ...] = ()
    only_failed: bool = False

    def cells(self) -> list[PlannedCell]:
        """The cells of all entries, each once: entries that differ in their runs only share cells."""
        return list({cell.key: cell for entry in self.entries for cell in entry.cells}.values())

    def count(self, state: CellState) -> int:
        """How many cells are in a state."""
        return sum(cell.state is state for cell in self.cells())

    def describe(self) -> dict[str, Any]:
        """What `aucbench status` reads, ready for JSON."""
        return {
            "entries": [
                {
                    "key": planned.key,
                    "algorithm": planned.entry.algorithm.name,
                    "dataset": planned.entry.dataset.title,
                    "described": planned.entry.describe(),
                    "cells": {cell.key: cell.cell.seeds._asdict() for cell in planned.cells},
                }
                for planned in self.entries
            ],
            "unavailable": by_reason(self.unavailable),
        }


def make_plan(
    entries: Sequence[Entry],
    store: Store,
    workshop: Workshop,
    *,
    skip_missing_data: bool = False,
    only_failed: bool = False,
) -> Plan:
    """Find the keys of all cells, and look them up in the store.

    An entry whose data cannot be loaded is refused; with `skip_missing_data` one whose files no source has is
    unavailable. Of equal entries the first stays.
    """
    planned: dict[str, PlannedEntry] = {}
    refused: list[Refused] = []
    unavailable: list[Refused] = []
    for entry in entries:
        name = f"{entry.algorithm.name} on {entry.dataset.title}"
        try:
            digests = workshop.digests(entry)
        except FetchError as error:
            (unavailable if skip_missing_data else refused).append(Refused(name, error))
            continue
        except AucbenchError as error:
            refused.append(Refused(name, error))
            continue
        key = entry.key(digests)
        planned.setdefault(key, PlannedEntry(entry, digests, key, tuple(_cells(entry, digests, store))))
    return Plan(tuple(planned.values()), tuple(refused), tuple(unavailable), only_failed)


def _cells(entry: Entry, digests: tuple[str, ...], store: Store) -> Iterable[PlannedCell]:
    searches = entry.searches()
    keys = entry.cell_keys(digests)
    for cell, key in keys.items():
        finished = store.has(key)
        failure = None if finished else store.failure(key)
        missing = failure is None or _may_do_better(entry, failure)
        state = CellState.finished if finished else CellState.missing if missing else CellState.failed
        yield PlannedCell(cell, key, state, searches.get(cell), failure is not None)


def _may_do_better(entry: Entry, failure: dict[str, Any]) -> bool:
    """Whether the cell was ended by a limit that is wider, or gone, by now."""
    name = {"timeout": "seconds", "out-of-memory": "memory"}.get(failure["reason"])
    if name is None:
        return False
    then, now = failure["limits"][name], getattr(entry.limits, name)
    return then is not None and (now is None or now > then)
