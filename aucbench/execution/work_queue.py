"""Chooses the next unit to run: units of equal data stay together, cells wait for their tuning."""

from collections import deque
from collections.abc import Collection
from dataclasses import replace

from aucbench.errors import AucbenchError
from aucbench.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.execution.prepared_data import PreparedData
from aucbench.execution.search_progress import SearchProgress, iterations_of, worth_keeping
from aucbench.execution.work_units import CellUnit, ProposalUnit, TrialsUnit, Unit
from aucbench.studies.entry_and_keys import Search
from aucbench.studies.record import Failure, Trial, TunedRecord
from aucbench.studies.result import common
from aucbench.studies.store import Store


class WorkQueue:
    """The units of a plan that are still to be run.

    A cell is queued once, also if several entries share it. Cells with a tuning wait until their search is
    complete; a search queues its next units when none of its units waits or runs. Searches that were
    interrupted go on from the trials in the store.
    """

    def __init__(self, plan: Plan, store: Store, prepared_data: PreparedData):
        self._groups: dict[str, deque[Unit]] = {}
        self._searches: dict[str, SearchProgress] = {}  # by key, as are the next two
        self._waiting: dict[str, list[tuple[PlannedEntry, PlannedCell]]] = {}
        self._unfinished: dict[str, int] = {}  # units of a search that wait or run
        self._store = store
        self._incomplete: dict[str, bool] = {}  # finished cells that lack something: whether they are scored
        self.untuned: list[tuple[PlannedEntry, PlannedCell, Failure]] = []  # cells whose tuning chose nothing
        self.refused: list[tuple[PlannedEntry, AucbenchError]] = []  # entries with too few rows for tuning
        added: set[str] = set()
        for planned in plan.entries:
            try:
                for cell in planned.cells:
                    if cell.is_wanted(plan.only_failed) and cell.key not in added:
                        added.add(cell.key)
                        if cell.incomplete:
                            self._incomplete[cell.key] = cell.scored
                        if cell.search is None:
                            self._add_cell(planned, cell, None)
                        else:
                            self._add_search(planned, cell, cell.search, store, prepared_data)
            except AucbenchError as error:
                self.refused.append((planned, error))
                self.drop(planned)
        for key in list(self._searches):
            self._advance(key)

    def __bool__(self) -> bool:
        """Whether any unit can start now."""
        return bool(self._groups)

    def take(self, last: str | None, busy: Collection[str]) -> Unit | None:
        """The next unit for a worker: of the group it worked on last, else of one that no other works on."""
        if not self._groups:
            return None
        free = (group for group in self._groups if group not in busy)
        group = last if last in self._groups else next(free, next(iter(self._groups)))
        unit = self._groups[group].popleft()
        if not self._groups[group]:
            del self._groups[group]
        if isinstance(unit, CellUnit) and unit.key in self._incomplete and unit.stored is None:
            stored = self._store.get(unit.key)  # only now: weights may be large
            if stored is not None:
                record = stored.record
                had, scored = common([record]), self._incomplete[unit.key]
                unit = replace(unit, tuned=record.tuned, had=had, stored=stored, scored=scored)
        return unit

    def put_back(self, unit: Unit) -> None:
        """Run a unit again whose worker was lost."""
        self._groups.setdefault(unit.group, deque()).appendleft(unit)

    def divide(self, unit: TrialsUnit) -> None:
        """Run the settings of a unit again, each by itself."""
        if unit.key not in self._searches:
            return  # its entry was dropped
        self._unfinished[unit.key] += len(unit.points) - 1
        for point in unit.points:
            self._add(replace(unit, points=(point,)))

    def add_trials(self, unit: TrialsUnit | ProposalUnit, trials: list[Trial]) -> None:
        """Take the trials of a finished unit; cells whose tuning is complete can run now."""
        if unit.key not in self._searches:
            return  # its entry was dropped
        self._searches[unit.key].add(trials)
        self._unfinished[unit.key] -= 1
        if not self._unfinished[unit.key]:
            self._advance(unit.key)

    def drop(self, planned: PlannedEntry) -> None:
        """Forget what is left of an entry that cannot be run."""
        for key, waiting in list(self._waiting.items()):
            if waiting[0][0] is planned:
                del self._waiting[key]
                self._searches.pop(key, None)
        for group, units in list(self._groups.items()):
            kept = deque(unit for unit in units if unit.entry is not planned.entry)
            if kept:
                self._groups[group] = kept
            else:
                del self._groups[group]

    def _add(self, unit: Unit) -> None:
        self._groups.setdefault(unit.group, deque()).append(unit)

    def _add_cell(self, planned: PlannedEntry, cell: PlannedCell, tuned: TunedRecord | None) -> None:
        path = str(self._store.path.absolute())
        self._add(CellUnit(cell.key, planned.digests, planned.entry, cell.seeds, tuned, store_path=path))

    def _add_search(
        self,
        planned: PlannedEntry,
        cell: PlannedCell,
        search: Search,
        store: Store,
        prepared_data: PreparedData,
    ) -> None:
        """Let a cell wait for its search, which begins with the first of them."""
        if search.key not in self._searches:
            entry, seeds = planned.entry, search.seeds
            rows, _, folds = prepared_data.sizes(entry, seeds.split_seed, seeds.fold)
            trials = store.trials(search.key)
            if cell.failed_before:
                trials = worth_keeping(trials)
            self._searches[search.key] = SearchProgress(
                search, entry, planned.digests, folds, iterations_of(entry, rows), trials
            )
        self._waiting.setdefault(search.key, []).append((planned, cell))

    def _advance(self, key: str) -> None:
        """Queue what a search needs next: units of its own, or the cells that wait for its choice."""
        units = self._searches[key].units()
        self._unfinished[key] = len(units)
        for unit in units:
            self._add(unit)
        if units:
            return
        outcome = self._searches.pop(key).outcome()
        for planned, cell in self._waiting.pop(key):
            if isinstance(outcome, Failure):
                self.untuned.append((planned, cell, outcome))
            else:
                self._add_cell(planned, cell, outcome)
