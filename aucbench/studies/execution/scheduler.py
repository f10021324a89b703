"""The scheduler: units go to an executor, results to the store, finished entries to listeners."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import replace
from math import inf
from time import monotonic, sleep
from typing import Any

from aucbench.errors import AucbenchError, MachineError
from aucbench.studies.execution.executor import Executor
from aucbench.studies.execution.make_record import failure_record
from aucbench.studies.execution.plan import Plan, PlannedEntry, looked_up
from aucbench.studies.execution.prepared_data import prepared_data
from aucbench.studies.execution.tuning_search import TuningSearch
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.execution.worker import report_of
from aucbench.studies.record import CellStatus, Failure, FailureRecord
from aucbench.studies.result import CellResult, FinishedEntry, Refused, StudyResult
from aucbench.studies.store import Store
from aucbench.studies.study import Observer

Listener = Callable[[FinishedEntry], None]
POLL_SECONDS = 0.5  # interval of checks for new workers, and for leases of other processes
LOSSES = 2  # ended processes after which a unit has failed: the unit may be the cause


class Scheduler:
    """Runs the units whose results the store lacks, and stores each result at once.

    - A result is stored before observers are notified: a killed run loses only its running units.
    - A cell that several entries share is run once, and counts for each entry.
    - Units of equal data stay on one worker. Cells with a tuning wait until their search is complete; a
      search goes on from its trials in the store.
    - Several processes may run the same study: each takes the lease of a cell or a search before its start,
      checks the store for new results, and waits at the end for the leases of other processes.
    - An entry goes to the listeners once: when all of its cells have finished or failed.
    - Cells that must be timed alone run one after the other once all tunings have ended.
    - An entry that is refused (bad input) loses its other units, and does not go to the listeners.
    - `on_begin` is called before the first result is stored, or at once if the store has results; it is not
      called if everything is refused.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        executor: Executor,
        observer: Observer | None = None,
        on_begin: Callable[[], None] = lambda: None,
        listeners: Sequence[Listener] = (),
    ):
        self._plan, self._store, self._executor = plan, store, executor
        self._observer = observer or Observer()
        self._listeners = self._observer.entry_finished, *listeners
        self._on_begin: Callable[[], None] | None = on_begin
        self._result = StudyResult(
            cells=len(plan.cells()),
            stored=plan.count(CellStatus.finished),
            refused=list(plan.refused),
            unavailable=list(plan.unavailable),
        )
        self._left: dict[str, set[str]] = {}  # keys of the remaining cells, by entry; refused entries removed
        self._complete: deque[PlannedEntry] = deque()  # entries without remaining work
        self._sharers: dict[str, list[PlannedEntry]] = defaultdict(list)  # entries of each cell, by its key
        self._queue: dict[Any, deque[Unit]] = {}  # waiting units by group
        self._searches: dict[str, TuningSearch] = {}  # searches and their waiting cells, by key
        self._leases = store.leases()
        self._later: deque[Unit] = deque()  # searches not begun, and units of other processes
        self._last: list[Unit] = []  # cells that run alone, after all others
        self._is_alone = False  # one unit runs at a time
        self._end = inf  # end on the monotonic clock

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
            self._complete.extend(planned for planned in self._plan.entries if not self._left[planned.key])
            self._drain()
        remaining = [(planned.entry, len(self._left.get(planned.key, ()))) for planned in self._plan.entries]
        self._result.left = [(entry, count) for entry, count in remaining if count]
        return self._result

    def _queue_cells(self) -> None:
        """Queue each remaining cell once, or the search on which it depends."""
        queued = set[str]()
        for planned in self._plan.entries:
            cells = self._plan.to_run(planned)
            self._left[planned.key] = {cell.key for cell in cells}
            for cell in planned.cells:
                self._sharers[cell.key].append(planned)
            for cell in cells:
                if cell.key in queued:
                    continue
                queued.add(cell.key)
                if cell.search is None:
                    self._add([cell])
                    continue
                key, seeds = cell.search
                if key not in self._searches:
                    unit = Unit(key, cell.digests, cell.entry, seeds, cell.entry_key)
                    self._searches[key] = TuningSearch(unit)
                    self._later.append(unit)
                self._searches[key].cells.append(cell)

    def _drain(self) -> None:
        """Run all waiting units, and the units that follow from their results."""
        running: dict[Future[Report], tuple[str, Unit]] = {}
        last: dict[str, Any] = {}  # the group on which each worker worked last
        while True:
            while self._complete:
                self._hand_over(self._complete.popleft())
            is_over = monotonic() > self._end
            if not (running or self._queue or self._later or self._is_alone):
                self._is_alone = True
                self._add(self._last)
                self._last = []
            busy = {worker for worker, _ in running.values()}
            idle = [] if is_over else [name for name in self._executor.workers() if name not in busy]
            if self._is_alone:
                idle = [] if running else idle[:1]
            for worker in idle:
                unit = self._next(last.get(worker), {other.group for _, other in running.values()})
                if unit is None:
                    break
                last[worker] = unit.group
                self._observer.started(unit.entry)
                running[self._executor.submit(worker, unit, self._is_alone)] = worker, unit
            if running:
                for future in wait(running, POLL_SECONDS, FIRST_COMPLETED).done:
                    _, unit = running.pop(future)
                    error = CancelledError() if future.cancelled() else future.exception()
                    self._accept(unit, future.result() if error is None else report_of(error, unit))
            elif self._complete:  # completed by a search without a result, or by another process
                continue
            elif is_over or not (self._queue or self._later or self._last):
                return
            elif self._later and not self._queue:
                sleep(POLL_SECONDS)

    def _next(self, last: Any, busy: Collection[Any]) -> Unit | None:
        """The next unit for a worker that no other process runs or has run; None if no unit is available."""
        unseen = len(self._later)
        while self._queue or unseen:
            if self._queue:
                # The worker's last group, else a group without a worker.
                free = (group for group in self._queue if group not in busy)
                group = last if last in self._queue else next(free, next(iter(self._queue)))
                unit = self._queue[group].popleft()
                if not self._queue[group]:
                    del self._queue[group]
            else:
                unseen -= 1
                unit = self._later.popleft()
            if unit.entry_key not in self._left:  # refused
                continue
            if self._leases.holds(unit.key):
                return unit
            if not self._leases.take(unit.key):
                self._later.append(unit)
            elif (claimed := self._claimed(unit)) is not None:
                return claimed
        return None

    def _claimed(self, unit: Unit) -> Unit | None:
        """The current state of a unit after its lease was taken.

        None if another process has done its work, or for a search, whose units are queued.
        """
        search = self._searches.get(unit.key)
        cells = [
            cell for old in (search.cells if search else [unit]) if (cell := self._current(old)) is not None
        ]
        if not cells:
            self._leases.give_back(unit.key)
            return None
        if search is None:
            (cell,) = cells
            reader = self._store.get if cell.scored else self._store.measured  # weights may be large
            if cell.scored is not None and (stored := reader(cell.key)) is not None:
                return replace(cell, tuned=stored.record.tuned, stored=stored)
            return cell
        trials = self._store.trials(unit.key)
        if cells[0].failed_before:
            trials = [trial for trial in trials if trial.auc is not None or trial.stop_reason == "diverged"]
        try:
            _, _, folds = prepared_data().sizes(unit.entry, unit.seeds)
        except AucbenchError as error:  # for example too few rows for the tuning
            self._refuse(unit, error)
            return None
        search.cells = cells
        search.begin(folds, trials)
        self._advance(unit.key)
        return None

    def _current(self, cell: Unit) -> Unit | None:
        """The current state of a cell; None if another process has run it, whose outcome then counts."""
        finished, failed = ([cell.key] if self._store.has(cell.key) else []), [cell.key]
        retry = replace(cell, status=CellStatus.missing)
        unit = looked_up(retry, self._plan.study, self._store, finished, [] if cell.failed_before else failed)
        if unit.status is CellStatus.missing:
            return unit
        self._begin()
        self._result.stored += unit.status is CellStatus.finished
        self._notify(cell, self._store.failure(cell.key))
        return None

    def _accept(self, unit: Unit, report: Report) -> None:
        """Store the results of a unit, or run the unit again if its process has ended."""
        if isinstance(report, MachineError):
            raise report
        if isinstance(report, AucbenchError):
            self._refuse(unit, report)
            return
        self._begin()
        if len(unit.points) > 1 and not isinstance(report, list):  # a single setting may be the cause
            self._add(replace(unit, points=(point,)) for point in unit.points)
            return
        if report is None:
            if unit.losses + 1 < LOSSES:
                self._add([replace(unit, losses=unit.losses + 1)])
                return
            reason = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            report = Failure(CellStatus.failed, reason)
        if unit.points:
            assert not isinstance(report, CellResult)
            self._store.add_trials(unit.key, self._searches[unit.key].tell(unit, report))
            self._advance(unit.key)
        else:
            assert not isinstance(report, list)
            self._finish(unit, report)

    def _advance(self, key: str) -> None:
        """Queue the next units of a search, or the cells that wait for its choice."""
        search = self._searches[key]
        if search.open or search.whole.entry_key not in self._left:
            return
        if units := search.ask():
            self._add(units)
            return
        outcome = self._searches.pop(key).outcome()
        self._leases.give_back(key)
        for cell in search.cells:
            if isinstance(outcome, Failure):
                self._finish(cell, outcome)
            else:
                self._add([replace(cell, tuned=outcome)])

    def _begin(self) -> None:
        if self._on_begin is not None:
            self._on_begin()
            self._on_begin = None

    def _finish(self, cell: Unit, outcome: CellResult | Failure) -> None:
        """Store the result or the failure of a cell."""
        self._begin()
        failure = None
        if isinstance(outcome, CellResult):
            self._store.put(cell.key, outcome)
            self._result.finished += 1
        else:
            failure = failure_record(cell, outcome)
            self._store.put_failure(failure)
        self._leases.give_back(cell.key)
        if cell.stored is not None:
            for sharer in self._sharers[cell.key]:
                self._store.forget_tracked(sharer.key)
        self._notify(cell, failure)

    def _notify(self, cell: Unit, failure: FailureRecord | None) -> None:
        """Notify the observer of the end of a cell, and collect the entries that the cell completes."""
        self._observer.cell_finished(cell.entry, failure)
        for sharer in self._sharers[cell.key]:
            keys = self._left.get(sharer.key, set())
            if cell.key in keys:
                keys.discard(cell.key)
                if not keys:
                    self._complete.append(sharer)

    def _refuse(self, unit: Unit, error: AucbenchError) -> None:
        """Drop the remaining work of an entry that cannot be run."""
        self._leases.give_back(unit.key)
        if self._left.pop(unit.entry_key, None) is not None:
            self._result.refused.append(Refused(str(unit.entry), error))

    def _hand_over(self, planned: PlannedEntry) -> None:
        """Pass an entry without remaining work to the listeners."""
        results = {cell.key: self._store.get(cell.key) for cell in planned.cells}
        cells = tuple(result for result in results.values() if result is not None)
        failures = [self._store.failure(key) for key, result in results.items() if result is None]
        failed = tuple(failure for failure in failures if failure is not None)
        self._result.failures.extend(failed)
        if not cells and not failed:
            return
        finished = FinishedEntry(
            planned.key if len(cells) == len(results) else f"{planned.key}-{len(cells)}",
            planned.entry.settings.study,
            cells,
            failed,
            missing=len(results) - len(cells) - len(failed),
            from_store=not self._plan.to_run(planned),
            entry=planned.entry,
            ruleset=planned.entry.ruleset,
        )
        for listener in self._listeners:
            listener(finished)

    def _add(self, units: Iterable[Unit]) -> None:
        for unit in units:
            if self._plan.study.is_timed_alone and not unit.points and not self._is_alone:
                self._last.append(unit)
            else:
                self._queue.setdefault(unit.group, deque()).append(unit)
