"""Which unit runs next: units of equal data stay together, cells wait for their tuning."""

from collections import deque
from collections.abc import Collection
from dataclasses import replace

from aucbench.errors import AucbenchError
from aucbench.execution.cost_estimate import iterations_of
from aucbench.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.execution.prepared_data import PreparedData
from aucbench.execution.search import SearchProgress, worth_keeping
from aucbench.execution.work_units import CellUnit, SearchUnit, TrialsUnit, Unit
from aucbench.studies.record import Failure, Trial
from aucbench.studies.store import Store


class WorkQueue:
    """The units of a plan that are still to be run.

    Parameters
    ----------
    plan : Plan
        The study.
    store : Store
        Has the trials of searches that were interrupted.
    prepared_data : PreparedData
        Counts the inner folds of a split.
    """

    def __init__(self, plan: Plan, store: Store, prepared_data: PreparedData):
        self._store = store
        self._groups: dict[str, deque[Unit]] = {}
        self._waiting: dict[str, list[tuple[PlannedEntry, PlannedCell]]] = {}  # by key of the search
        self._searching: dict[str, SearchProgress] = {}
        self._running: dict[str, int] = {}  # units of a search that wait or run
        self.settled: list[tuple[PlannedEntry, PlannedCell, Failure]] = []  # cells whose tuning chose nothing
        self.refused: list[
            tuple[PlannedEntry, AucbenchError]
        ] = []  # entries whose rows do not suffice for tuning
        added: set[str] = set()
        for planned in plan.entries:
            try:
                for cell in planned.cells:
                    if cell.is_wanted(plan.only_failed) and cell.key not in added:
                        added.add(cell.key)  # entries that differ in their runs only share cells
                        self._add(planned, cell, prepared_data)
            except AucbenchError as error:
                self.refused.append((planned, error))
                self.drop(planned)
        for key in list(self._searching):
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
        return unit

    def put_back(self, unit: Unit) -> None:
        """Run a unit again whose worker was lost."""
        self._groups.setdefault(unit.group, deque()).appendleft(unit)

    def divide(self, unit: TrialsUnit) -> None:
        """Run the settings of a unit again, each by itself."""
        if unit.key not in self._searching:
            return  # its entry was dropped
        self._running[unit.key] += len(unit.points) - 1
        for point in unit.points:
            self._queue(replace(unit, points=(point,)))

    def tried(self, unit: SearchUnit, trials: list[Trial]) -> None:
        """Take the trials of a finished unit; cells whose tuning is complete can run now."""
        if unit.key not in self._searching:
            return  # its entry was dropped
        self._searching[unit.key].add(trials)
        self._running[unit.key] -= 1
        if not self._running[unit.key]:
            self._advance(unit.key)

    def drop(self, planned: PlannedEntry) -> None:
        """Forget what is left of an entry that cannot be run."""
        for key, waiting in list(self._waiting.items()):
            if waiting[0][0] is planned:
                del self._waiting[key]
                self._searching.pop(key, None)
        for group, units in list(self._groups.items()):
            kept = deque(unit for unit in units if unit.entry is not planned.entry)
            if kept:
                self._groups[group] = kept
            else:
                del self._groups[group]

    def _add(self, planned: PlannedEntry, cell: PlannedCell, prepared_data: PreparedData) -> None:
        if cell.search is None:
            self._queue(CellUnit(cell.key, planned.digests, cell.cell, {}, None))
            return
        search, seeds = cell.search, cell.search.seeds
        key = search.key(planned.digests)
        if key not in self._searching:
            folds = prepared_data.inner_folds(planned.entry, seeds.split_seed, seeds.fold)
            rows = len(prepared_data.split(planned.entry, seeds.split_seed, seeds.fold).train.y)
            iterations = iterations_of(planned.entry, rows)
            trials = self._store.trials(key)
            if cell.failed_before:
                trials = worth_keeping(trials)
            self._searching[key] = SearchProgress(search, key, planned.digests, folds, iterations, trials)
        self._waiting.setdefault(key, []).append((planned, cell))

    def _queue(self, unit: Unit) -> None:
        self._groups.setdefault(unit.group, deque()).append(unit)

    def _advance(self, key: str) -> None:
        """Queue what a search needs next: units of its own, or the cells that wait for its choice."""
        searching = self._searching[key]
        units = searching.units()
        self._running[key] = len(units)
        for unit in units:
            self._queue(unit)
        if units:
            return
        outcome = searching.outcome()
        for planned, cell in self._waiting.pop(key):
            if isinstance(outcome, Failure):
                self.settled.append((planned, cell, outcome))
            else:
                self._queue(CellUnit(cell.key, planned.digests, cell.cell, outcome.parameters, outcome))
        del self._searching[key]
