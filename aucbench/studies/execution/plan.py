"""The plan of a study: its entries, its cells, and the state of each cell in the store."""

from collections.abc import Container
from dataclasses import dataclass, replace

from msgspec import UNSET

from aucbench.errors import AucbenchError, FetchError
from aucbench.studies.default_settings import Isolation, Timing
from aucbench.studies.entry_and_keys import Entry, Search
from aucbench.studies.execution.make_record import can_be_scored, lacking, lacks_minimum
from aucbench.studies.execution.worker import prepared_data
from aucbench.studies.record import CellStatus, EntryPlan, FailureRecord, Seeds, StudyPlan
from aucbench.studies.result import Refused, by_reason
from aucbench.studies.store import Store
from aucbench.studies.study import Study, check_size


@dataclass(frozen=True)
class PlannedCell:
    """A cell of an entry, and its state in the store.

    A cell that failed at a limit counts as missing once the limit is raised.
    """

    seeds: Seeds
    key: str
    search: Search | None  # search that must finish first, if any
    status: CellStatus = CellStatus.missing  # or finished, or failed
    failed_before: bool = False  # whether the last run failed
    incomplete: bool = False  # finished, but lacks a measure or a time of its own; its status is missing
    scored: bool = False  # incomplete, but can be completed from stored weights without training

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
    """A study before it runs."""

    entries: tuple[PlannedEntry, ...]
    refused: tuple[Refused, ...] = ()  # entries with bad input, which makes the exit status 2
    unavailable: tuple[Refused, ...] = ()  # entries skipped because their data is unavailable
    only_failed: bool = False  # run only cells that failed before
    alone: bool = False  # train cells while nothing else runs

    def cells(self) -> list[PlannedCell]:
        """The distinct cells of all entries; entries that differ only in their runs share cells."""
        return list({cell.key: cell for entry in self.entries for cell in entry.cells}.values())

    def count(self, status: CellStatus) -> int:
        """Number of cells with a status."""
        return sum(cell.status is status for cell in self.cells())

    def describe(
        self,
        study: str,
        planned: str = "",
        command: str = "",
        reference: str | None = None,
        rope: float | None = None,
    ) -> StudyPlan:
        """The record of the plan, read by `aucbench status` and boards; `planned` is an ISO date."""
        return StudyPlan(
            study=study,
            planned=planned,
            command=command,
            reference=reference or UNSET,
            rope=rope or UNSET,
            entries=tuple(
                EntryPlan(
                    key=planned.key,
                    algorithm=planned.entry.algorithm.name,
                    dataset=planned.entry.dataset.title,
                    described=planned.entry.describe(),
                    cells={cell.key: cell.seeds for cell in planned.cells},
                    ruleset=planned.entry.ruleset or UNSET,
                )
                for planned in self.entries
            ),
            unavailable=tuple(by_reason(self.unavailable)),
        )


def plan_study(study: Study, store: Store) -> Plan:
    """Compute the keys of all cells, and look them up in the store.

    An entry is refused if its data cannot be loaded, or unavailable if no source has the files and the study
    allows it. Equal entries are merged, with the measures of all.
    """
    if not study.yes:
        check_size(sum(entry.settings.runs * entry.protocol.splits for entry in study.entries))
    data, alone = prepared_data(), study.running.timing is Timing.exclusive
    data.isolates = study.running.isolation is Isolation.distribution
    planned: dict[str, PlannedEntry] = {}
    refused, (done, failed) = list(study.refused), store.listed()
    unavailable: list[Refused] = []
    lost: dict[str, FetchError] = {}  # by data and protocol, so that sources are asked once for all methods
    for entry in study.entries:
        needed = f"{entry.dataset.description} {entry.part} {entry.protocol}"
        try:
            if needed in lost:
                raise lost[needed]
            digests = data.digests(entry)
        except AucbenchError as error:
            if isinstance(error, FetchError):
                lost[needed] = error
            skipped = study.skip_missing_data and isinstance(error, FetchError)
            (unavailable if skipped else refused).append(Refused(str(entry), error))
            continue
        key = entry.key(digests)
        if key in planned:
            first = planned[key].entry
            measures = {measure.name: measure for measure in (*entry.measures, *first.measures)}
            entry = replace(first, measures=tuple(measures.values()))
        searches = entry.searches(digests)
        cells = [
            _looked_up(PlannedCell(seeds, each, searches.get(seeds)), entry, store, done, failed, alone)
            for seeds, each in entry.cell_keys(digests).items()
        ]
        planned[key] = PlannedEntry(entry, digests, key, tuple(cells))
    return Plan(tuple(planned.values()), tuple(refused), tuple(unavailable), study.only_failed, alone)


def cell_now(entry: Entry, cell: PlannedCell, store: Store, alone: bool) -> PlannedCell:
    """A planned cell as it is by now: another process may have run it."""
    done = {cell.key} if store.has(cell.key) else ()
    failed = {cell.key} if not cell.failed_before else ()
    return _looked_up(PlannedCell(cell.seeds, cell.key, cell.search), entry, store, done, failed, alone)


def _looked_up(
    cell: PlannedCell, entry: Entry, store: Store, done: Container[str], failed: Container[str], alone: bool
) -> PlannedCell:
    """A cell with its state in the store, given the keys of finished and of failed cells."""
    key = cell.key
    if key in done:
        record = store.record(key) if entry.measures or alone else None
        if record is None:
            return replace(cell, status=CellStatus.finished)
        if alone and record.environment.concurrency != 1:
            return replace(cell, search=None, incomplete=True)
        if lacking(record, entry.measures) or lacks_minimum(record, entry):
            scored = can_be_scored(record, store.sizes(key), entry.measures)
            return replace(cell, search=None, incomplete=True, scored=scored)
        return replace(cell, status=CellStatus.finished)
    failure = store.failure(key) if key in failed else None
    if failure is None:
        return cell
    status = CellStatus.missing if _may_do_better(entry, failure) else CellStatus.failed
    return replace(cell, status=status, failed_before=True)


def _may_do_better(entry: Entry, failure: FailureRecord) -> bool:
    """Whether the cell failed at a limit that has since been raised or removed."""
    then: float | None
    match failure.reason:
        case CellStatus.timeout:
            then, now = failure.limits.seconds, entry.limits.seconds
        case CellStatus.out_of_memory:
            then, now = failure.limits.memory, entry.limits.memory
        case _:
            return False
    return then is not None and (now is None or now > then)
