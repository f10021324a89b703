"""The scheduler: units go to an executor, results to the store, finished entries to listeners."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from aucbench.errors import AucbenchError
from aucbench.execution.executor import Executor
from aucbench.execution.make_record import failure_record
from aucbench.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.execution.work_queue import WorkQueue
from aucbench.execution.work_units import CellUnit, ProposalUnit, Report, TrialsUnit, Unit
from aucbench.execution.worker import prepared_data
from aucbench.studies.record import CellStatus, Failure
from aucbench.studies.result import CellResult, FinishedEntry, Refused, StudyResult, common
from aucbench.studies.store import Store
from aucbench.studies.study import Observer

Listener = Callable[[FinishedEntry], None]
LOSSES = 2  # a unit whose worker is lost that often is a failure: it may be what ends the worker


class Scheduler:
    """Runs what the store does not have, and keeps each result as it comes.

    - A result is in the store before any observer hears of it, so that a killed run loses only what runs.
    - A cell that several entries share is run once, and counts for each of them.
    - An entry goes to the listeners once: when all of its cells have finished or failed; with `exclusive`,
      after all cells that ran beside others were timed once more.
    - An entry that a worker refuses (bad input) loses its other units, and does not go to the listeners.
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
        self._entries = {id(planned.entry): planned for planned in plan.entries}
        self._left: dict[str, set[str]] = {}  # keys of the cells that are still to be run, by entry
        self._sharers: dict[str, list[PlannedEntry]] = {}  # entries that have a cell, by its key
        self._needed_by: dict[str, set[str]] = {}  # cells that need trials which are not reported, by search
        for planned in plan.entries:
            wanted = {cell.key for cell in planned.cells if cell.is_wanted(plan.only_failed)}
            self._left[planned.key] = wanted
            for cell in planned.cells:
                self._sharers.setdefault(cell.key, []).append(planned)
                if cell.search and not planned.entry.tuning.choice.report:
                    needed_by = self._needed_by.setdefault(cell.search.key, set())
                    if cell.status is not CellStatus.finished:
                        needed_by.add(cell.key)
        self._ran = {key for key, left in self._left.items() if left}
        self._complete = list(plan.entries)  # entries to hand over, if nothing of them is left to be run
        self._fresh: dict[str, CellResult] = {}  # results of entries that are not complete yet
        self._lost: dict[int, tuple[Unit, int]] = {}  # by id of the unit, kept so that none else has it
        self._dropped: set[str] = set()  # keys of refused entries
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
        if any(cell.status is not CellStatus.missing for cell in self._plan.cells()):
            self._begin()
        if not exclusive:
            self._hand_over()
        self._queue = WorkQueue(self._plan, self._store, prepared_data())
        for planned, error in self._queue.refused:
            self._refuse(planned, error)
        self._fail_untuned()
        if stop_after is not None:
            self._end = monotonic() + stop_after  # planning does not count, or one long plan would block all
        running: dict[str, Unit] = {}
        last: dict[str, str] = {}
        while True:
            if not exclusive:
                self._hand_over()
            for worker in () if self._is_over() else self._executor.free():
                unit = self._queue.take(last.get(worker), {each.group for each in running.values()})
                if unit is None:
                    break
                running[worker], last[worker] = unit, unit.group
                self._observer.started(unit.entry)
                self._executor.start(worker, unit)
            if running:
                for worker, report in self._executor.wait():
                    self._take(running.pop(worker), report)
            elif not self._queue or self._is_over():
                break  # otherwise the only worker went while it was asked for
        if exclusive:
            self._time_alone()
            self._complete = list(self._plan.entries)
            self._hand_over()
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

    def _take(self, unit: Unit, report: Report) -> None:
        """Keep the outcome of a unit, or run it again if its worker was lost."""
        planned = self._entries[id(unit.entry)]
        if report.refusal is not None:
            self._queue.drop(planned)
            self._refuse(planned, report.refusal)
            return
        self._begin()
        if isinstance(unit, TrialsUnit) and len(unit.points) > 1 and (report.lost or report.failure):
            self._queue.divide(unit)  # one of the settings may be the only one to blame
            return
        if report.lost:
            times = self._lost.get(id(unit), (unit, 0))[1] + 1
            self._lost[id(unit)] = (unit, times)
            if times < LOSSES:
                self._queue.put_back(unit)
                return
            why = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            report = Report(failure=Failure(CellStatus.failed, why))
        if isinstance(unit, CellUnit):
            self._finish(unit, report)
        elif isinstance(unit, TrialsUnit | ProposalUnit):
            failure = report.failure
            trials = unit.failed(failure.reason, failure.message) if failure else report.result
            self._store.add_trials(unit.key, trials)
            self._queue.add_trials(unit, trials)
            self._fail_untuned()

    def _finish(self, unit: CellUnit, report: Report) -> None:
        """Keep the result or the failure of a cell."""
        if report.optimum is not None:
            self._store.put_optimum(report.optimum.record.key, report.optimum)
        if report.failure is None:
            self._store.put(unit.key, report.result)
            self._fresh[unit.key] = report.result
            self._result.finished += 1
            self._observer.cell_finished(unit.entry, None)
            self._forget_trials(unit.key)
        else:
            record = failure_record(unit, report.failure)
            self._store.put_failure(record)
            self._observer.cell_finished(unit.entry, record)
        for sharer in self._sharers[unit.key]:
            if unit.stored is not None:
                self._store.forget_tracked(sharer.key)
            if unit.key in self._left[sharer.key]:
                self._left[sharer.key].discard(unit.key)
                if not self._left[sharer.key]:
                    self._complete.append(sharer)

    def _forget_trials(self, cell: str) -> None:
        """Remove the trials that the cell was the last to need, where they are not to be reported."""
        for key, needed_by in list(self._needed_by.items()):
            if cell in needed_by:
                needed_by.remove(cell)
                if not needed_by:
                    self._store.remove_trials(key)
                    del self._needed_by[key]

    def _fail_untuned(self) -> None:
        """Record the cells whose tuning found no usable setting."""
        while self._queue.untuned:
            planned, cell, failure = self._queue.untuned.pop()
            self._finish(_cell_unit(planned, cell), Report(failure=failure))

    def _refuse(self, planned: PlannedEntry, error: AucbenchError) -> None:
        if planned.key not in self._dropped:
            self._dropped.add(planned.key)
            self._result.refused.append(Refused(str(planned.entry), error))
            self._left[planned.key].clear()

    def _hand_over(self) -> None:
        """Give the listeners the entries of which nothing is left to be run."""
        while self._complete:
            planned = self._complete.pop(0)
            if self._left[planned.key] or planned.key in self._dropped:
                continue
            cells, failures = [], []
            for cell in planned.cells:
                result = self._fresh.pop(cell.key, None) or self._store.get(cell.key)
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

    def _time_alone(self) -> None:
        """Run cells once more that were measured while others ran; one that fails now keeps its result."""
        for planned in self._plan.entries:
            for cell in planned.cells:
                result = self._store.get(cell.key)
                if result is None or result.record.environment.concurrency == 1 or self._is_over():
                    continue
                unit = _cell_unit(planned, cell, result)
                for _ in range(LOSSES):
                    report = self._run_alone(unit)
                    if report.result is not None:
                        self._store.put(unit.key, report.result)
                        self._fresh[unit.key] = report.result
                    if not report.lost:
                        break

    def _run_alone(self, unit: Unit) -> Report:
        while not (free := self._executor.free()):
            list(self._executor.wait())
        self._observer.started(unit.entry)
        self._executor.start(free[0], unit, alone=True)
        while not (reports := list(self._executor.wait())):
            pass
        return reports[0][1]


def _cell_unit(planned: PlannedEntry, cell: PlannedCell, before: CellResult | None = None) -> CellUnit:
    """A cell, with the choice of its tuning and its measures if it was run before."""
    unit = CellUnit(cell.key, planned.digests, planned.entry, cell.seeds)
    return replace(unit, tuned=before.record.tuned, had=common([before.record])) if before else unit
