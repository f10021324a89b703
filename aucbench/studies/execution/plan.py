"""The plan of a study: its entries, its cells, and the state of each cell in the store."""

from collections.abc import Container
from dataclasses import dataclass, replace
from hashlib import sha256

from msgspec import UNSET

from aucbench.errors import AucbenchError, FetchError
from aucbench.studies.default_settings import Isolation
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.make_record import can_be_scored, lacks_minimum, missing_measures
from aucbench.studies.execution.prepared_data import prepared_data
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.record import CellStatus, EntryPlan, FailureRecord, StudyPlan
from aucbench.studies.result import Refused, by_reason
from aucbench.studies.store import Store
from aucbench.studies.study import UNNAMED, Study, check_size


@dataclass(frozen=True)
class PlannedEntry:
    """An entry, the digests of its data, its key and its cells."""

    entry: Entry
    digests: tuple[str, ...]
    key: str
    cells: tuple[Unit, ...]


@dataclass(frozen=True)
class Plan:
    """A study before it runs."""

    study: Study
    entries: tuple[PlannedEntry, ...]
    refused: tuple[Refused, ...] = ()  # entries with bad input; the exit status is then 2
    unavailable: tuple[Refused, ...] = ()  # entries skipped because their data is unavailable

    def cells(self) -> list[Unit]:
        """The distinct cells of all entries; entries that differ only in their runs share cells."""
        return list({cell.key: cell for entry in self.entries for cell in entry.cells}.values())

    def count(self, status: CellStatus) -> int:
        """Number of cells with a status."""
        return sum(cell.status is status for cell in self.cells())

    def to_run(self, planned: PlannedEntry) -> list[Unit]:
        """The cells of an entry that are to be run."""
        return [cell for cell in planned.cells if cell.must_run(self.study.only_failed)]

    def describe(self, planned: str) -> StudyPlan:
        """The record of the plan, read by `aucbench status` and boards; `planned` is an ISO date."""
        keys = "".join(planned.key for planned in self.entries)
        return StudyPlan(
            study=self.study.name or UNNAMED + sha256(keys.encode()).hexdigest()[:8],
            planned=planned,
            command=self.study.command,
            reference=self.study.running.reference or UNSET,
            rope=self.study.running.rope or UNSET,
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
    skips missing data. Equal entries are merged, with all of their measures.
    """
    if not study.yes:
        check_size(sum(entry.settings.runs * entry.protocol.splits for entry in study.entries))
    data = prepared_data()
    data.isolates = study.running.isolation is Isolation.distribution
    planned: dict[str, PlannedEntry] = {}
    refused, (finished, failed) = list(study.refused), store.listed()
    unavailable: list[Refused] = []
    lost: dict[str, FetchError] = {}  # errors by data and protocol: each source is tried once
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
            names = {measure.name for measure in first.measures}
            missing = tuple(measure for measure in entry.measures if measure.name not in names)
            entry = replace(first, measures=first.measures + missing) if missing else first
        searches = entry.searches(digests)
        cells = [
            Unit(cell_key, digests, entry, seeds, key, search=searches.get(seeds))
            for seeds, cell_key in entry.cell_keys(digests).items()
        ]
        units = tuple(looked_up(cell, study, store, finished, failed) for cell in cells)
        planned[key] = PlannedEntry(entry, digests, key, units)
    return Plan(study, tuple(planned.values()), tuple(refused), tuple(unavailable))


def looked_up(cell: Unit, study: Study, store: Store, done: Container[str], failed: Container[str]) -> Unit:
    """A cell with its state in the store; `done` and `failed` are keys that may have finished or failed."""
    key, entry, is_alone = cell.key, cell.entry, study.is_timed_alone
    if key in done:
        record = store.record(key) if entry.measures or is_alone else None
        if record is None:
            return replace(cell, status=CellStatus.finished)
        if is_alone and record.environment.concurrency != 1:
            return replace(cell, search=None, scored=False)
        if missing_measures(record, entry.measures) or lacks_minimum(record, entry):
            scored = can_be_scored(record, store.sizes(key), entry.measures)
            return replace(cell, search=None, scored=scored)
        return replace(cell, status=CellStatus.finished)
    failure = store.failure(key) if key in failed else None
    if failure is None:
        return cell
    status = CellStatus.missing if _may_do_better(entry, failure) else CellStatus.failed
    return replace(cell, status=status, failed_before=True)


def _may_do_better(entry: Entry, failure: FailureRecord) -> bool:
    """Whether the cell failed at a limit that has since been raised or removed."""
    limits: dict[CellStatus, tuple[float | None, float | None]] = {
        CellStatus.timeout: (failure.limits.seconds, entry.limits.seconds),
        CellStatus.out_of_memory: (failure.limits.memory, entry.limits.memory),
    }
    old_limit, new_limit = limits.get(failure.reason, (None, None))
    return old_limit is not None and (new_limit is None or new_limit > old_limit)
