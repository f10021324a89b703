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
POLL_SECONDS = 0.5  # between looks at new workers, and at what other processes run
LOSSES = 2  # a unit whose process ends that often is a failure: it may be what ends the process


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
        self._left: dict[str, set[str]] = {}  # keys of the cells still to be run, by entry; none if refused
        self._complete: deque[PlannedEntry] = deque()  # entries without remaining work, to hand over
        self._sharers: dict[str, list[PlannedEntry]] = defaultdict(list)  # entries with a cell, by its key
        self._queue: dict[Any, deque[Unit]] = {}  # units that wait, by the data that they need
        self._searches: dict[str, TuningSearch] = {}  # with the cells that wait for them, by key
        self._leases = store.leases()
        self._later: deque[Unit] = deque()  # searches that have not begun, units that another process runs
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
        left = [(planned.entry, len(self._left.get(planned.key, ()))) for planned in self._plan.entries]
        self._result.left = [(entry, count) for entry, count in left if count]
        return self._result

    def _queue_cells(self) -> None:
        """Queue all cells that are to be run, each once, or the searches that they wait for."""
        queued = set[str]()
        for planned in self._plan.entries:
            wanted = self._plan.wanted(planned)
            self._left[planned.key] = {cell.key for cell in wanted}
            for cell in planned.cells:
                self._sharers[cell.key].append(planned)
            for cell in wanted:
                if cell.key in queued:
                    continue
                queued.add(cell.key)
                if cell.search is None:
                    self._add([cell])
                    continue
                key, seeds = cell.search
                if key not in self._searches:
                    whole = Unit(key, cell.digests, cell.entry, seeds, cell.entry_key)
                    self._searches[key] = TuningSearch(whole)
                    self._later.append(whole)
                self._searches[key].cells.append(cell)

    def _drain(self) -> None:
        """Run all units that wait, and those that they lead to."""
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
                unit = self._next(last.get(worker), {each.group for _, each in running.values()})
                if unit is None:
                    break
                last[worker] = unit.group
                self._observer.started(unit.entry)
                running[self._executor.submit(worker, unit, self._is_alone)] = worker, unit
            if running:
                for future in wait(running, POLL_SECONDS, FIRST_COMPLETED).done:
                    _, unit = running.pop(future)
                    error = CancelledError() if future.cancelled() else future.exception()
                    self._take(unit, future.result() if error is None else report_of(error, unit))
            elif self._complete:  # by a search without a result, or by another process
                continue
            elif is_over or not (self._queue or self._later or self._last):
                return
            elif self._later and not self._queue:
                sleep(POLL_SECONDS)

    def _next(self, last: Any, busy: Collection[Any]) -> Unit | None:
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
        """A unit whose lease was just taken, as it is to be run.

        None if others have done its work, or if it is a search, whose units are queued.
        """
        search = self._searches.get(unit.key)
        cells = [now for cell in (search.cells if search else [unit]) if (now := self._now(cell)) is not None]
        if not cells:
            self._leases.give_back(unit.key)
            return None
        if search is None:
            (cell,) = cells
            read = self._store.get if cell.scored else self._store.measured  # weights may be large
            if cell.scored is not None and (stored := read(cell.key)) is not None:
                return replace(cell, tuned=stored.record.tuned, stored=stored)
            return cell
        trials = self._store.trials(unit.key)
        if cells[0].failed_before:
            trials = [each for each in trials if each.auc is not None or each.stop_reason == "diverged"]
        try:
            _, _, folds = prepared_data().sizes(unit.entry, unit.seeds)
        except AucbenchError as error:  # for example too few rows for the tuning
            self._refuse(unit, error)
            return None
        search.cells = cells
        search.begin(folds, trials)
        self._advance(unit.key)
        return None

    def _now(self, cell: Unit) -> Unit | None:
        """A cell as it is to be run by now; None if another process has run it, whose outcome then counts."""
        done, failed = ([cell.key] if self._store.has(cell.key) else []), [cell.key]
        again = replace(cell, status=CellStatus.missing)
        now = looked_up(again, self._plan.study, self._store, done, [] if cell.failed_before else failed)
        if now.status is CellStatus.missing:
            return now
        self._begin()
        self._result.stored += now.status is CellStatus.finished
        self._ended(cell, self._store.failure(cell.key))
        return None

    def _take(self, unit: Unit, report: Report) -> None:
        """Keep what came of a unit, or run it again if its process has ended."""
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
            why = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            report = Failure(CellStatus.failed, why)
        if unit.points:
            assert not isinstance(report, CellResult)
            self._store.add_trials(unit.key, self._searches[unit.key].tell(unit, report))
            self._advance(unit.key)
        else:
            assert not isinstance(report, list)
            self._finish(unit, report)

    def _advance(self, key: str) -> None:
        """Queue what a search needs next: units of its own, or the cells that wait for its choice."""
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
        """Keep the result or the failure of a cell."""
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
        self._ended(cell, failure)

    def _ended(self, cell: Unit, failure: FailureRecord | None) -> None:
        """Tell the observer of a cell, and note the entries of which it was the last."""
        self._observer.cell_finished(cell.entry, failure)
        for sharer in self._sharers[cell.key]:
            left = self._left.get(sharer.key, set())
            if cell.key in left:
                left.discard(cell.key)
                if not left:
                    self._complete.append(sharer)

    def _refuse(self, unit: Unit, error: AucbenchError) -> None:
        """Drop the remaining work of an entry that cannot be run."""
        self._leases.give_back(unit.key)
        if self._left.pop(unit.entry_key, None) is not None:
            self._result.refused.append(Refused(str(unit.entry), error))

    def _hand_over(self, planned: PlannedEntry) -> None:
        """Pass an entry without remaining work to the listeners."""
        found = {cell.key: self._store.get(cell.key) for cell in planned.cells}
        cells = tuple(result for result in found.values() if result is not None)
        failures = [self._store.failure(key) for key, result in found.items() if result is None]
        failed = tuple(failure for failure in failures if failure is not None)
        self._result.failures.extend(failed)
        if not cells and not failed:
            return
        finished = FinishedEntry(
            planned.key if len(cells) == len(found) else f"{planned.key}-{len(cells)}",
            planned.entry.settings.study,
            cells,
            failed,
            missing=len(found) - len(cells) - len(failed),
            from_store=not self._plan.wanted(planned),
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
