"""The scheduler: units go to an executor, results to the store, finished entries to listeners."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from math import inf
from time import monotonic, sleep
from typing import Any

from aucbench.errors import AucbenchError, MachineError
from aucbench.humanize import sentence_of
from aucbench.pool import ProcessEnded
from aucbench.studies.execution.executor import Executor
from aucbench.studies.execution.make_record import failure_record
from aucbench.studies.execution.plan import Plan, PlannedEntry, looked_up
from aucbench.studies.execution.prepared_data import prepared_data
from aucbench.studies.execution.tuning_search import TuningSearch
from aucbench.studies.execution.work_units import Report, Unit, failed_trial
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
        self._ran = {key for key, left in self._left.items() if left}
        self._complete = deque(plan.entries)  # entries to hand over, if nothing of them is left to be run
        self._sharers: dict[str, list[PlannedEntry]] = defaultdict(list)  # entries with a cell, by its key
        for planned in plan.entries:
            for cell in planned.cells:
                self._sharers[cell.key].append(planned)
        self._owners: dict[str, PlannedEntry] = {}  # the entry for which a cell or a search is run, by key
        self._queue: dict[Any, deque[Unit]] = {}  # units that wait, by the data that they need
        self._waiting: dict[str, list[Unit]] = defaultdict(list)  # cells that wait for a search, by its key
        self._searches: dict[str, TuningSearch] = {}  # in progress, by key
        self._leases = store.leases()
        self._later: deque[Unit] = deque()  # searches that have not begun, units that another process runs
        self._dropped: set[str] = set()  # keys of refused entries
        self._is_alone = False  # whether one unit runs at a time
        self._last: list[Unit] = []  # cells that run alone, after all others
        self._end = inf  # of the monotonic clock

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
                self._add(self._last)
                self._drain()
            self._hand_over()
            left = [(planned.entry, len(self._left[planned.key])) for planned in self._plan.entries]
            self._result.left = [(entry, count) for entry, count in left if count]
            return self._result

    def _queue_cells(self) -> None:
        """Queue all cells that are to be run, each once, or the searches that they wait for."""
        for planned in self._plan.entries:
            for cell in planned.cells:
                if cell.key in self._owners or not cell.is_wanted(self._plan.only_failed):
                    continue
                self._owners[cell.key] = planned
                if cell.search is None:
                    self._add([cell])
                    continue
                key, seeds = cell.search
                if key not in self._waiting:
                    self._owners[key] = planned
                    self._later.append(Unit(key, cell.digests, cell.entry, seeds))
                self._waiting[key].append(cell)

    def _drain(self) -> None:
        """Run all units that wait, and those that they lead to."""
        running: dict[Future[Report], tuple[str, Unit]] = {}
        last: dict[str, Any] = {}  # the group on which each worker worked last
        while True:
            self._hand_over()
            is_over = monotonic() > self._end
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
                    self._take(unit, report_of(future, unit))
            elif is_over or not (self._queue or self._later):
                return
            elif not self._queue:
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
            if self._owners[unit.key].key in self._dropped:
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
        is_search = unit.key in self._waiting
        planned = self._waiting[unit.key] if is_search else [unit]
        cells = [now for cell in planned if (now := self._now(cell)) is not None]
        if not cells:
            self._leases.give_back(unit.key)
            return None
        if not is_search:
            (cell,) = cells
            read = self._store.get if cell.scored else self._store.measured  # weights may be large
            if cell.scored is not None and (stored := read(cell.key)) is not None:
                return replace(cell, tuned=stored.record.tuned, stored=stored)
            return cell
        self._waiting[unit.key] = cells
        trials = self._store.trials(unit.key)
        if cells[0].failed_before:
            trials = [each for each in trials if each.auc is not None or each.stop_reason == "diverged"]
        try:
            _, _, folds = prepared_data().sizes(unit.entry, unit.seeds.split_seed, unit.seeds.fold)
        except AucbenchError as error:  # such as too few rows for the tuning
            self._refuse(unit, error)
            return None
        self._searches[unit.key] = TuningSearch(unit, folds, trials)
        self._advance(unit.key)
        return None

    def _now(self, cell: Unit) -> Unit | None:
        """A cell as it is to be run by now; None if another process has run it, whose outcome then counts."""
        known = () if cell.failed_before else None
        now = looked_up(replace(cell, status=CellStatus.missing), self._store, self._plan.alone, None, known)
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
        if (report is None or isinstance(report, Failure)) and len(unit.points) > 1:
            # A single setting may be the cause.
            self._add([replace(unit, points=(point,)) for point in unit.points])
            return
        if report is None:
            if unit.losses + 1 < LOSSES:
                self._add([replace(unit, losses=unit.losses + 1)])
                return
            why = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            report = Failure(CellStatus.failed, why)
        if unit.points:
            if isinstance(report, Failure):
                reason, why = str(report.reason), report.message
                report = [failed_trial(unit, number, point, reason, why) for number, point in unit.points]
            assert isinstance(report, list)
            self._store.add_trials(unit.key, report)
            self._searches[unit.key].tell(unit, report)
            self._advance(unit.key)
        else:
            assert not isinstance(report, list)
            self._finish(unit, report)

    def _advance(self, key: str) -> None:
        """Queue what a search needs next: units of its own, or the cells that wait for its choice."""
        search = self._searches[key]
        if search.open or self._owners[key].key in self._dropped:
            return
        if units := search.ask():
            self._add(units)
            return
        outcome = self._searches.pop(key).outcome()
        self._leases.give_back(key)
        for cell in self._waiting[key]:
            if isinstance(outcome, Failure):
                self._begin()
                self._finish(cell, outcome)
            else:
                self._add([replace(cell, tuned=outcome)])

    def _begin(self) -> None:
        if self._on_begin is not None:
            self._on_begin()
            self._on_begin = None

    def _finish(self, cell: Unit, outcome: CellResult | Failure) -> None:
        """Keep the result or the failure of a cell."""
        failure = failure_record(cell, outcome) if isinstance(outcome, Failure) else None
        if isinstance(outcome, CellResult):
            self._store.put(cell.key, outcome)
            self._result.finished += 1
        elif failure is not None:
            self._store.put_failure(failure)
        self._leases.give_back(cell.key)
        if cell.stored is not None:
            for sharer in self._sharers[cell.key]:
                self._store.forget_tracked(sharer.key)
        self._ended(cell, failure)

    def _ended(self, cell: Unit, failure: FailureRecord | None) -> None:
        """Tell the observer of a cell, and take it off what is left of its entries."""
        self._observer.cell_finished(cell.entry, failure)
        for sharer in self._sharers[cell.key]:
            left = self._left[sharer.key]
            if cell.key in left:
                left.discard(cell.key)
                if not left:
                    self._complete.append(sharer)

    def _refuse(self, unit: Unit, error: AucbenchError) -> None:
        """Drop the remaining work of an entry that cannot be run."""
        planned = self._owners[unit.key]
        self._leases.give_back(unit.key)
        if planned.key not in self._dropped:
            self._dropped.add(planned.key)
            self._result.refused.append(Refused(str(planned.entry), error))
            self._left[planned.key].clear()

    def _hand_over(self) -> None:
        """Pass entries without remaining work to the listeners."""
        while self._complete:
            planned = self._complete.popleft()
            if self._left[planned.key] or planned.key in self._dropped:
                continue
            found = {cell.key: self._store.get(cell.key) for cell in planned.cells}
            cells = tuple(result for result in found.values() if result is not None)
            failures = [self._store.failure(key) for key, result in found.items() if result is None]
            failed = tuple(failure for failure in failures if failure is not None)
            self._result.failures.extend(failed)
            if not cells and not failed:
                continue
            finished = FinishedEntry(
                planned.key if len(cells) == len(found) else f"{planned.key}-{len(cells)}",
                planned.entry.settings.study,
                cells,
                failed,
                missing=len(found) - len(cells) - len(failed),
                from_store=planned.key not in self._ran,
                entry=planned.entry,
                ruleset=planned.entry.ruleset,
            )
            for listener in self._listeners:
                listener(finished)

    def _add(self, units: Iterable[Unit]) -> None:
        for unit in units:
            if self._plan.alone and not unit.points and not self._is_alone:
                self._last.append(unit)
            else:
                self._queue.setdefault(unit.group, deque()).append(unit)


def report_of(future: "Future[Report]", unit: Unit) -> Report:
    """What came of a unit; None if its process has ended."""
    if future.cancelled():  # by Dask, whose scheduler is lost
        return None
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, ProcessEnded):
        return Failure(CellStatus.failed, f"the worker could not run it: {sentence_of(error)}")
    if not error.is_late:
        return None
    limits = unit.entry.limits
    return Failure(
        CellStatus.timeout,
        f"it did not end {limits.grace:g} s after limits.seconds={limits.seconds:g}, "
        "and its process was ended",
    )
