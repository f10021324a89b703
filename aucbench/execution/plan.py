"""What a study consists of and what of it the store already has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aucbench.errors import AucbenchError, FetchError
from aucbench.execution.prepared_data import PreparedData
from aucbench.studies.entry import Cell, Entry, Search
from aucbench.studies.record import CellStatus, EntryPlan, FailureRecord, StudyPlan
from aucbench.studies.result import Refused, by_reason
from aucbench.studies.store import Store


@dataclass(frozen=True)
class PlannedCell:
    """A cell, its key, the tuning it needs first, if any, and whether it failed when it was last run.

    Its status is finished, failed or missing, as the store has it. A cell that failed at a limit which is
    wider by now is missing.
    """

    cell: Cell
    key: str
    status: CellStatus
    search: Search | None
    failed_before: bool = False

    def is_wanted(self, only_failed: bool) -> bool:
        """Whether it is to be run."""
        return self.failed_before if only_failed else self.status is CellStatus.missing


@dataclass(frozen=True)
class PlannedEntry:
    """An entry, the digests of its data, its key and its cells."""

    entry: Entry
    digests: tuple[str, ...]
    key: str
    cells: tuple[PlannedCell, ...]


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

    def count(self, status: CellStatus) -> int:
        """How many cells have a status."""
        return sum(cell.status is status for cell in self.cells())

    def describe(self, study: str, planned: str = "", command: str = "") -> StudyPlan:
        """The record of the plan, which `aucbench status` reads.

        Parameters
        ----------
        study : str
            Its name.
        planned : str
            When, as an ISO date.
        command : str
            That started it.
        """
        return StudyPlan(
            study=study,
            planned=planned,
            command=command,
            entries=tuple(
                EntryPlan(
                    key=planned.key,
                    algorithm=planned.entry.algorithm.name,
                    dataset=planned.entry.dataset.title,
                    described=planned.entry.describe(),
                    cells={cell.key: cell.cell.seeds for cell in planned.cells},
                )
                for planned in self.entries
            ),
            unavailable=tuple(by_reason(self.unavailable)),
        )


def make_plan(
    entries: Sequence[Entry],
    store: Store,
    prepared_data: PreparedData,
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
            digests = prepared_data.digests(entry)
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
        status = CellStatus.finished if finished else CellStatus.missing if missing else CellStatus.failed
        yield PlannedCell(cell, key, status, searches.get(cell), failure is not None)


def _may_do_better(entry: Entry, failure: FailureRecord) -> bool:
    """Whether the cell was ended by a limit that is wider, or gone, by now."""
    then: float | None
    match failure.reason:
        case CellStatus.timeout:
            then, now = failure.limits.seconds, entry.limits.seconds
        case CellStatus.out_of_memory:
            then, now = failure.limits.memory, entry.limits.memory
        case _:
            return False
    return then is not None and (now is None or now > then)
