"""The scheduler: units go to an executor, results to the store, finished entries to listeners."""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import monotonic, sleep

from aucbench.errors import AucbenchError, MachineError
from aucbench.studies.execution.executor import Executor
from aucbench.studies.execution.make_record import failure_record
from aucbench.studies.execution.plan import Plan, PlannedCell, PlannedEntry, cell_now
from aucbench.studies.execution.tuning_search import TuningSearch
from aucbench.studies.execution.work_units import CellUnit, Report, Unit, failed_trial
from aucbench.studies.execution.worker import prepared_data
from aucbench.studies.record import CellStatus, Failure, TunedRecord
from aucbench.studies.result import CellResult, FinishedEntry, Refused, StudyResult
from aucbench.studies.store import Store
from aucbench.studies.study import Observer

Listener = Callable[[FinishedEntry], None]
POLL_SECONDS = 0.5  # between looks at what other processes run
LOSSES = 2  # a unit whose worker is lost that often is a failure: it may be what ends the worker


class Scheduler:
    """Runs what the store does not have, and keeps each result as it comes.

    - A result is in the store before any observer hears of it, so that a killed run loses only what runs.
    - A cell that several entries share is run once, and counts for each of them.
    - Units of equal data stay on one worker. Cells with a tuning wait until their search is complete; a
      search goes on from its trials in the store.
    - Other processes may run the same study: each takes the lease of a cell or a search before it starts it,
      looks into the store for what was done meanwhile, and waits at the end for the leases of others.
    - An entry goes to the listeners once: when all of its cells have finished or failed.
    - Where cells are to be timed alone, they run one after the other once all tunings have ended.
    - An entry that is refused (bad input) loses its other units, and does not go to the listeners.
    - `on_begin` is called before the first result is kept, or at once where the store has some; it is not
      called if everything is refused.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        executor: Executor,
        observer: Observer | None = None,
        on_begin: Callable[[], None] = lambda: None,
        listeners: Sequence[Listener] | None = None,
    ):
        self._plan, self._store, self._executor = plan, store, executor
        self._observer = observer or Observer()
        self._listeners = [self._observer.entry_finished] if listeners is None else listeners
        self._on_begin: Callable[[], None] | None = on_begin
        self._result = StudyResult(
            cells=len(plan.cells()),
            stored=plan.count(CellStatus.finished),
            refused=list(plan.refused),
            unavailable=list(plan.unavailable),
        )
        self._left = {  # keys of the cells still to be run, by entry
            planned.key: {cell.key for cell in planned.cells if cell.is_wanted(plan.only_failed)}
            for planned in plan.entries
        }
        self._sharers: dict[str, list[PlannedEntry]] = {}  # entries with a cell, by its key
        for planned in plan.entries:
            for cell in planned.cells:
                self._sharers.setdefault(cell.key, []).append(planned)
        self._ran = {key for key, left in self._left.items() if left}
        self._complete = list(plan.entries)  # entries to hand over, if nothing of them is left to be run
        self._queue: dict[str, deque[Unit]] = {}  # units that wait, by the data that they need
        self._cells: dict[str, list[tuple[PlannedEntry, PlannedCell]]] = {}  # cells behind a unit, by its key
        self._searches: dict[str, TuningSearch] = {}  # in progress, by key
        self._leases = store.leases()
        # Searches that have not begun, and units that another process runs.
        self._later: deque[Unit] = deque()
        self._dropped: set[str] = set()  # keys of refused entries
        self._is_alone = False  # whether one unit runs at a time
        self._last: list[CellUnit] = []  # units that run alone, after all others
        self._end: float | None = None  # of the monotonic clock

    def run(self, stop_after: float | None = None) -> StudyResult:
        """Run the study.

        Parameters
        ----------
        stop_after : float, optional
            Seconds after which no unit is started; `StudyResult.left` counts the cells that were not run.
        """
        with self._leases:
            self._observer.planned(self._result.cells, self._result.stored)
            if any(cell.status is not CellStatus.missing for cell in self._plan.cells()):
                self._begin()
            self._queue_cells()
            if stop_after is not None:  # planning does not count: a long plan would leave no time
                self._end = monotonic() + stop_after
            self._drain()
            if self._last:
                self._is_alone = True
                self._add(*self._last)
                self._drain()
            self._hand_over()
            for planned in self._plan.entries:
                if count := len(self._left[planned.key]):
                    self._result.left.append((planned.entry, count))
            return self._result

    def _queue_cells(self) -> None:
        """Queue all cells that are to be run, each once, or the searches that they wait for."""
        for planned in self._plan.entries:
            for cell in planned.cells:
                if not cell.is_wanted(self._plan.only_failed) or cell.key in self._cells:
                    continue
                self._cells[cell.key] = [(planned, cell)]
                if (search := cell.search) is None:
                    self._add(self._cell_unit(planned, cell))
                elif search.key in self._cells:
                    self._cells[search.key].append((planned, cell))
                else:
                    self._cells[search.key] = [(planned, cell)]
                    self._later.append(Unit(search.key, planned.digests, planned.entry, search.seeds))

    def _drain(self) -> None:
        """Run all units that wait, and those that they lead to."""
        running: dict[str, Unit] = {}
        last: dict[str, str] = {}  # the group on which each worker worked last
        while True:
            self._hand_over()
            is_over = self._end is not None and monotonic() > self._end
            for worker in () if is_over else self._executor.free():
                if self._is_alone and running:
                    break
                unit = self._next(last.get(worker), {each.group for each in running.values()})
                if unit is None:
                    break
                running[worker], last[worker] = unit, unit.group
                self._observer.started(unit.entry)
                self._executor.start(worker, unit, self._is_alone)
            if running:
                for worker, report in self._executor.wait():
                    self._take(running.pop(worker), report)
            elif is_over or not (self._queue or self._later):
                break  # otherwise the only worker was lost meanwhile
            elif not self._queue:
                sleep(POLL_SECONDS)

    def _next(self, last: str | None, busy: Collection[str]) -> Unit | None:
        """The next unit for a worker that no other process runs or has run; None if there is none now."""
        unseen = len(self._later)
        while self._queue or unseen:
            if self._queue:
                # The group worked on last, else one that no other worker works on.
                free = (group for group in self._queue if group not in busy)
                group = last if last in self._queue else next(free, next(iter(self._queue)))
                unit = self._queue[group].popleft()
                if not self._queue[group]:
                    del self._queue[group]
            else:
                unseen -= 1
                unit = self._later.popleft()
            if self._planned(unit).key in self._dropped:
                continue
            if self._leases.holds(unit.key):
                return unit
            if not self._leases.take(unit.key):
                self._later.append(unit)
            elif (claimed := self._claimed(unit)) is not None:
                return claimed
        return None

    def _claimed(self, unit: Unit) -> Unit | None:
        """A unit whose lease was just taken, as it is to be run.

        None if others have done its work, or if it is a search, whose units are queued.
        """
        cells = self._cells[unit.key] = [each for each in self._cells[unit.key] if not self._is_done(*each)]
        if not cells:
            self._leases.give_back(unit.key)
            return None
        planned, cell = cells[0]
        if isinstance(unit, CellUnit):
            read = self._store.get if cell.scored else self._store.measured  # only now: weights may be large
            if cell.incomplete and (stored := read(cell.key)) is not None:
                unit = replace(unit, tuned=stored.record.tuned, stored=stored, scored=cell.scored)
            return unit
        trials = self._store.trials(unit.key)
        if cell.failed_before:
            trials = [each for each in trials if each.auc is not None or each.stop_reason == "diverged"]
        try:
            _, _, folds = prepared_data().sizes(planned.entry, unit.seeds.split_seed, unit.seeds.fold)
        except AucbenchError as error:  # such as too few rows for the tuning
            self._refuse(unit, error)
            return None
        self._searches[unit.key] = TuningSearch(unit, folds, trials)
        self._advance(unit.key)
        return None

    def _is_done(self, planned: PlannedEntry, cell: PlannedCell) -> bool:
        """Whether another process has run a cell since it was planned; its outcome then counts."""
        status = cell_now(planned.entry, cell, self._store, self._plan.alone).status
        if status is CellStatus.missing:
            return False
        self._begin()
        self._result.stored += status is CellStatus.finished
        self._observer.cell_finished(planned.entry, self._store.failure(cell.key))
        self._ended(cell.key)
        return True

    def _take(self, unit: Unit, outcome: Report) -> None:
        """Keep the outcome of a unit, or run it again if its worker was lost."""
        if isinstance(outcome, MachineError):
            raise outcome
        if isinstance(outcome, AucbenchError):
            self._refuse(unit, outcome)
            return
        self._begin()
        if (outcome is None or isinstance(outcome, Failure)) and len(unit.points) > 1:
            # A single setting may be the cause.
            self._add(*(replace(unit, points=(point,)) for point in unit.points))
            return
        if outcome is None:
            if unit.losses + 1 < LOSSES:
                self._add(replace(unit, losses=unit.losses + 1))
                return
            why = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            outcome = Failure(CellStatus.failed, why)
        if not isinstance(unit, CellUnit):
            trials = outcome
            if isinstance(outcome, Failure):
                reason = str(outcome.reason)
                trials = [failed_trial(unit, *point, reason, outcome.message) for point in unit.points]
            assert isinstance(trials, list)
            self._store.add_trials(unit.key, trials)
            self._searches[unit.key].tell(unit, trials)
            self._advance(unit.key)
        else:
            assert not isinstance(outcome, list)
            self._finish(unit, outcome)

    def _advance(self, key: str) -> None:
        """Queue what a search needs next: units of its own, or the cells that wait for its choice."""
        search = self._searches[key]
        if search.open or self._cells[key][0][0].key in self._dropped:
            return
        if units := search.ask():
            self._add(*units)
            return
        outcome = self._searches.pop(key).outcome()
        self._leases.give_back(key)
        for planned, cell in self._cells[key]:
            if isinstance(outcome, Failure):
                self._begin()
                self._finish(self._cell_unit(planned, cell), outcome)
            else:
                self._add(self._cell_unit(planned, cell, outcome))

    def _begin(self) -> None:
        if self._on_begin is not None:
            self._on_begin()
            self._on_begin = None

    def _finish(self, unit: CellUnit, outcome: CellResult | Failure) -> None:
        """Keep the result or the failure of a cell."""
        if isinstance(outcome, Failure):
            record = failure_record(unit, outcome)
            self._store.put_failure(record)
            self._observer.cell_finished(unit.entry, record)
        else:
            self._store.put(unit.key, outcome)
            self._result.finished += 1
            self._observer.cell_finished(unit.entry, None)
        self._leases.give_back(unit.key)
        if unit.stored is not None:
            for sharer in self._sharers[unit.key]:
                self._store.forget_tracked(sharer.key)
        self._ended(unit.key)

    def _ended(self, key: str) -> None:
        """Take a cell off what is left of its entries."""
        for sharer in self._sharers[key]:
            if key in self._left[sharer.key]:
                self._left[sharer.key].discard(key)
                if not self._left[sharer.key]:
                    self._complete.append(sharer)

    def _refuse(self, unit: Unit, error: AucbenchError) -> None:
        """Drop the remaining work of an entry that cannot be run."""
        planned = self._planned(unit)
        self._leases.give_back(unit.key)
        if planned.key not in self._dropped:
            self._dropped.add(planned.key)
            self._result.refused.append(Refused(str(planned.entry), error))
            self._left[planned.key].clear()

    def _hand_over(self) -> None:
        """Pass entries without remaining work to the listeners."""
        while self._complete:
            planned = self._complete.pop(0)
            if self._left[planned.key] or planned.key in self._dropped:
                continue
            cells, failures = [], []
            for cell in planned.cells:
                result = self._store.get(cell.key)
                if result is not None:
                    cells.append(result)
                elif (failure := self._store.failure(cell.key)) is not None:
                    failures.append(failure)
            self._result.failures.extend(failures)
            if not cells and not failures:
                continue
            complete = len(cells) == len(planned.cells)
            finished = FinishedEntry(
                planned.key if complete else f"{planned.key}-{len(cells)}",
                planned.entry.settings.study,
                tuple(cells),
                tuple(failures),
                missing=len(planned.cells) - len(cells) - len(failures),
                from_store=planned.key not in self._ran,
                entry=planned.entry,
                ruleset=planned.entry.ruleset,
            )
            for listener in self._listeners:
                listener(finished)

    def _planned(self, unit: Unit) -> PlannedEntry:
        return self._cells[unit.key][0][0]

    def _add(self, *units: Unit) -> None:
        for unit in units:
            if self._plan.alone and isinstance(unit, CellUnit) and not self._is_alone:
                self._last.append(unit)
                continue
            self._queue.setdefault(unit.group, deque()).append(unit)

    def _cell_unit(
        self, planned: PlannedEntry, cell: PlannedCell, tuned: TunedRecord | None = None
    ) -> CellUnit:
        return CellUnit(cell.key, planned.digests, planned.entry, cell.seeds, tuned=tuned)
