"""The scheduler: units go to an executor, results to the store, finished entries to the observer."""

from collections.abc import Callable
from time import monotonic

from msgspec import structs

from aucbench.errors import AucbenchError
from aucbench.execution.executor import Executor
from aucbench.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.execution.work_queue import WorkQueue
from aucbench.execution.work_units import CellUnit, Report, SearchUnit, TrialsUnit, Unit
from aucbench.execution.worker import prepared_data
from aucbench.studies import provenance
from aucbench.studies.record import CellStatus, Failure, FailureRecord, LimitsRecord
from aucbench.studies.result import CellResult, FinishedEntry, Refused, StudyResult
from aucbench.studies.store import Store
from aucbench.studies.study import Observer

LOSSES = 2  # a unit whose worker is lost that often is a failure: it may be what ends the worker


class Scheduler:
    """Runs what the store does not have, and keeps each result as it comes.

    A cell that several entries share is run once. An entry is handed to the observer as soon as all of its
    cells have finished or failed; with `exclusive` all of them wait for the second timing at the end.

    Parameters
    ----------
    plan : Plan
        The cells of the study, and which of them the store has.
    store : Store
        Where finished cells are found and kept.
    executor : Executor
        Where units run.
    observer : Observer, optional
        Told about the progress.
    on_begin : callable
        Called before the first result is kept, or at once where the store has some: not when all is refused.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        executor: Executor,
        observer: Observer | None = None,
        on_begin: Callable[[], None] = lambda: None,
    ):
        self._plan, self._store, self._executor = plan, store, executor
        self._observer = observer or Observer()
        self._on_begin: Callable[[], None] | None = on_begin
        self._result = StudyResult(
            cells=len(plan.cells()),
            stored=plan.count(CellStatus.finished),
            refused=list(plan.refused),
            unavailable=list(plan.unavailable),
        )
        self._owner = {id(planned.entry): planned for planned in plan.entries}
        self._left = {
            planned.key: {cell.key for cell in planned.cells if cell.is_wanted(plan.only_failed)}
            for planned in plan.entries
        }
        self._ran = {key for key, left in self._left.items() if left}
        self._sharers: dict[str, list[PlannedEntry]] = {}  # entries by key of the cells that they have
        for planned in plan.entries:
            for cell in planned.cells:
                self._sharers.setdefault(cell.key, []).append(planned)
        self._fresh: dict[str, CellResult] = {}  # results of entries that are not complete yet
        self._lost: dict[int, tuple[Unit, int]] = {}  # kept with its unit, whose id none else can have then
        self._dropped: set[str] = set()
        self._kept_for: dict[str, set[str]] = {}  # cells that need the trials of a search, by its key
        for planned in plan.entries:
            for cell in planned.cells:
                if cell.search and not cell.search.entry.tuning.choice.report:
                    waiting = self._kept_for.setdefault(cell.search.key(planned.digests), set())
                    if cell.status is not CellStatus.finished:
                        waiting.add(cell.key)
        self._hold = False  # whether complete entries wait for the end
        self._end: float | None = None  # of the monotonic clock

    def run(self, exclusive: bool = False, stop_after: float | None = None) -> StudyResult:
        """Run the study.

        Parameters
        ----------
        exclusive : bool
            Run cells that were timed beside others once more, one at a time.
        stop_after : float, optional
            Seconds after which no unit is started; `StudyResult.left` counts the cells that were not run.
        """
        self._observer.planned(self._result.cells, self._result.stored)
        self._hold = exclusive
        if any(cell.status is not CellStatus.missing for cell in self._plan.cells()):
            self._begin()
        for planned in self._plan.entries:
            self._complete(planned)
        queue = WorkQueue(self._plan, self._store, prepared_data())
        for planned, error in queue.refused:
            self._refuse(planned, error)
        self._settle(queue)
        if stop_after is not None:
            self._end = monotonic() + stop_after  # planning does not count, or one long plan would block all
        self._drain(queue)
        if exclusive:
            self._hold = False
            self._time_alone()
            for planned in self._plan.entries:
                self._complete(planned)
        for planned in self._plan.entries:
            if count := len(self._left[planned.key]):
                self._result.left.append((planned.entry, count))
        return self._result

    def _is_over(self) -> bool:
        return self._end is not None and monotonic() > self._end

    def _begin(self) -> None:
        if self._on_begin is not None:
            self._on_begin()
            self._on_begin = None

    def _drain(self, queue: WorkQueue) -> None:
        running: dict[str, Unit] = {}
        last: dict[str, str] = {}
        while True:
            for worker in () if self._is_over() else self._executor.free():
                unit = queue.take(last.get(worker), {each.group for each in running.values()})
                if unit is None:
                    break
                running[worker], last[worker] = unit, unit.group
                self._observer.started(unit.entry)
                self._executor.start(worker, unit)
            if not running:
                if queue and not self._is_over():
                    continue  # the only worker went while it was asked for
                return
            for worker, report in self._executor.wait():
                self._take(queue, running.pop(worker), report)

    def _take(self, queue: WorkQueue, unit: Unit, report: Report) -> None:
        planned = self._owner[id(unit.entry)]
        if report.refusal is None:
            self._begin()
        if isinstance(unit, TrialsUnit) and len(unit.points) > 1 and (report.lost or report.failure):
            queue.divide(unit)  # one of the settings may be the only one to blame
            return
        if report.lost:
            times = self._lost.get(id(unit), (unit, 0))[1] + 1
            self._lost[id(unit)] = (unit, times)
            if times < LOSSES:
                queue.put_back(unit)
                return
            why = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            report = Report(failure=Failure(CellStatus.failed, why))
        if report.refusal is not None:
            queue.drop(planned)
            self._refuse(planned, report.refusal)
        elif isinstance(unit, CellUnit):
            self._finish(planned, unit, report)
        elif isinstance(unit, SearchUnit):
            failure = report.failure
            trials = unit.failed(failure.reason, failure.message) if failure else report.result
            self._store.add_trials(unit.key, trials)
            queue.tried(unit, trials)
            self._settle(queue)

    def _finish(self, planned: PlannedEntry, unit: CellUnit, report: Report) -> None:
        if report.failure is None:
            self._store.put(unit.key, report.result)
            self._fresh[unit.key] = report.result
            self._result.finished += 1
            self._observer.cell_finished(unit.entry, None)
            self._forget_trials(unit.key)
        else:
            record = _failure(unit, report.failure)
            self._store.put_failure(record)
            self._observer.cell_finished(unit.entry, record)
        for sharer in self._sharers[unit.key]:
            if unit.key in self._left[sharer.key]:
                self._left[sharer.key].discard(unit.key)
                self._complete(sharer)

    def _forget_trials(self, cell: str) -> None:
        """Remove the trials that the cell was the last to need, where they are not to be reported."""
        for key, waiting in list(self._kept_for.items()):
            if cell in waiting:
                waiting.remove(cell)
                if not waiting:
                    self._store.remove_trials(key)
                    del self._kept_for[key]

    def _settle(self, queue: WorkQueue) -> None:
        """Record the cells whose tuning found no usable setting."""
        while queue.settled:
            planned, cell, failure = queue.settled.pop()
            unit = CellUnit(cell.key, planned.digests, cell.cell, {}, None)
            self._finish(planned, unit, Report(failure=failure))

    def _refuse(self, planned: PlannedEntry, error: AucbenchError) -> None:
        if planned.key not in self._dropped:
            self._dropped.add(planned.key)
            name = f"{planned.entry.algorithm.name} on {planned.entry.dataset.title}"
            self._result.refused.append(Refused(name, error))
            self._left[planned.key].clear()

    def _complete(self, planned: PlannedEntry) -> None:
        """Hand an entry to the caller when nothing of it is left."""
        if self._left[planned.key] or self._hold or planned.key in self._dropped:
            return
        cells, failures = [], []
        for cell in planned.cells:
            result = self._fresh.pop(cell.key, None) or self._store.get(cell.key)
            if result is not None:
                cells.append(result)
            elif (failure := self._store.failure(cell.key)) is not None:
                failures.append(failure)
        self._result.failures.extend(failures)
        if not cells and not failures:
            return
        complete = len(cells) == len(planned.cells)
        self._observer.entry_finished(
            FinishedEntry(
                planned.key if complete else f"{planned.key}-{len(cells)}",
                planned.entry.settings.study,
                tuple(cells),
                tuple(failures),
                missing=len(planned.cells) - len(cells) - len(failures),
                from_store=planned.key not in self._ran,
                entry=planned.entry,
            )
        )

    def _time_alone(self) -> None:
        """Run cells once more that were measured while others ran; one that fails now keeps its result."""
        for planned in self._plan.entries:
            for cell in planned.cells:
                result = self._store.get(cell.key)
                if result is None or result.record.environment.concurrency == 1 or self._is_over():
                    continue
                unit = _again(planned, cell, result)
                for _ in range(LOSSES):
                    report = self._alone(unit)
                    if report.result is not None:
                        self._store.put(unit.key, report.result)
                        self._fresh[unit.key] = report.result
                    if not report.lost:
                        break

    def _alone(self, unit: Unit) -> Report:
        while not (free := self._executor.free()):
            list(self._executor.wait())
        self._observer.started(unit.entry)
        self._executor.start(free[0], unit, alone=True)
        while not (reports := list(self._executor.wait())):
            pass
        return reports[0][1]


def _again(planned: PlannedEntry, cell: PlannedCell, result: CellResult) -> CellUnit:
    tuned = result.record.tuned
    return CellUnit(cell.key, planned.digests, cell.cell, tuned.parameters if tuned else {}, tuned)


def _failure(unit: CellUnit, failure: Failure) -> FailureRecord:
    limits = unit.entry.limits
    return FailureRecord(
        key=unit.key,
        **structs.asdict(unit.entry.describe()),
        **structs.asdict(unit.seeds),
        reason=failure.reason,
        message=failure.message,
        traceback=failure.traceback,
        limits=LimitsRecord(seconds=limits.seconds, memory=limits.memory),
        environment=provenance.environment(),
    )
