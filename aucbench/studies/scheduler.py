"""The scheduler: units go to an executor, results to the store, finished entries to listeners."""

from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import monotonic, sleep

from aucbench.errors import AucbenchError, MachineError
from aucbench.studies.entry_and_keys import Search
from aucbench.studies.executor import Executor
from aucbench.studies.make_record import failure_record
from aucbench.studies.plan import Plan, PlannedCell, PlannedEntry, cell_now
from aucbench.studies.record import CellStatus, Failure, TunedRecord
from aucbench.studies.result import CellResult, FinishedEntry, Refused, StudyResult, common
from aucbench.studies.search_progress import FINAL, SearchProgress, iterations_of
from aucbench.studies.store import Store
from aucbench.studies.study import Observer
from aucbench.studies.work_units import CellUnit, Report, TrialsUnit, Unit
from aucbench.studies.worker import prepared_data

Listener = Callable[[FinishedEntry], None]
POLL_SECONDS = 0.5  # between looks at what other processes run
LOSSES = 2  # a unit whose worker is lost that often is a failure: it may be what ends the worker


class Scheduler:
    """Runs what the store does not have, and keeps each result as it comes.

    - A result is in the store before any observer hears of it, so that a killed run loses only what runs.
    - A cell that several entries share is run once, and counts for each of them.
    - Units of equal data stay on one worker. Cells with a tuning wait until their search is complete; a
      search goes on from its trials in the store.
    - Other processes may run the same study: each takes a lease of a cell or search before it starts it, and
      waits at the end for those of others, whose results it then takes from the store.
    - An entry goes to the listeners once: when all of its cells have finished or failed; with `exclusive`,
      after all cells that ran beside others were timed once more.
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
        self._entries = {id(planned.entry): planned for planned in plan.entries}
        self._left: dict[str, set[str]] = {}  # keys of the cells still to be run, by entry
        self._sharers: dict[str, list[PlannedEntry]] = {}  # entries with a cell, by its key
        self._needed_by: dict[str, set[str]] = {}  # cells that need unreported trials, by search
        for planned in plan.entries:
            self._left[planned.key] = {cell.key for cell in planned.cells if cell.is_wanted(plan.only_failed)}
            for cell in planned.cells:
                self._sharers.setdefault(cell.key, []).append(planned)
                is_hidden = not planned.entry.tuning.choice.report
                if cell.search and is_hidden and cell.status is not CellStatus.finished:
                    self._needed_by.setdefault(cell.search.key, set()).add(cell.key)
        self._ran = {key for key, left in self._left.items() if left}
        self._complete = list(plan.entries)  # entries to hand over, if nothing of them is left to be run
        self._fresh: dict[str, CellResult] = {}  # results of entries that are not complete yet
        self._groups: dict[str, deque[Unit]] = {}  # units that wait, by the data that they need
        self._searches: dict[str, SearchProgress] = {}  # by key
        self._incomplete: dict[str, bool] = {}  # finished cells that lack something: whether they are scored
        self._losses: Counter[Unit] = Counter()
        self._leases = store.leases()
        self._cells = {cell.key: (planned, cell) for planned in plan.entries for cell in planned.cells}
        self._claimed: set[str] = set()  # cells and searches that this process runs, or has run
        self._elsewhere: dict[str, Unit] = {}  # units, by cell or search, that another process runs
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
        with self._leases:
            self._observer.planned(self._result.cells, self._result.stored)
            if any(cell.status is not CellStatus.missing for cell in self._plan.cells()):
                self._begin()
            if not exclusive:
                self._hand_over()
            self._queue_cells()
            if stop_after is not None:
                self._end = (
                    monotonic() + stop_after
                )  # planning does not count: a long plan would leave no time
            self._drain(hands_over=not exclusive)
            if exclusive:
                self._queue_disturbed()
                self._drain(is_alone=True)
                self._complete = list(self._plan.entries)
                self._hand_over()
            for planned in self._plan.entries:
                if count := len(self._left[planned.key]):
                    self._result.left.append((planned.entry, count))
            return self._result

    def _queue_cells(self) -> None:
        """Queue all cells that are to be run, each once, or the searches that they wait for."""
        queued: set[str] = set()
        for planned in self._plan.entries:
            try:
                for cell in planned.cells:
                    if cell.is_wanted(self._plan.only_failed) and cell.key not in queued:
                        queued.add(cell.key)
                        if cell.incomplete:
                            self._incomplete[cell.key] = cell.scored
                        if cell.search is None:
                            self._add(self._cell_unit(planned, cell))
                        else:
                            self._search(planned, cell, cell.search).waiting.append((planned, cell))
            except AucbenchError as error:  # such as too few rows for the tuning
                self._refuse(planned, error)
        for search in list(self._searches.values()):
            self._advance(search)

    def _queue_disturbed(self) -> None:
        """Queue cells once more that were measured while others ran."""
        self._groups.clear()
        self._claimed.clear()
        for planned, cell in self._cells.values():
            record = self._store.record(cell.key)
            if record is not None and record.environment.concurrency != 1:
                unit = self._cell_unit(planned, cell, record.tuned)
                self._add(replace(unit, had=common([record])))

    def _drain(self, hands_over: bool = False, is_alone: bool = False) -> None:
        """Run all units that wait, and those that they lead to; one at a time where each runs alone."""
        running: dict[str, Unit] = {}
        last: dict[str, str] = {}  # the group on which each worker worked last
        while True:
            if hands_over:
                self._hand_over()
            is_over = self._end is not None and monotonic() > self._end
            for worker in () if is_over else self._executor.free():
                if is_alone and running:
                    break
                unit = self._next(last.get(worker), {each.group for each in running.values()}, is_alone)
                if unit is None:
                    break
                running[worker], last[worker] = unit, unit.group
                self._observer.started(unit.entry)
                self._executor.start(worker, unit, is_alone)
            if running:
                for worker, report in self._executor.wait():
                    self._take(running.pop(worker), report, is_alone)
            elif is_over or not (self._groups or self._elsewhere):
                break  # otherwise the only worker was lost meanwhile
            elif not self._groups:
                sleep(POLL_SECONDS)

    def _next(self, last: str | None, busy: Collection[str], is_alone: bool) -> Unit | None:
        """The next unit for a worker that no other process runs or has run; None if there is none now."""
        while self._groups:
            if self._claim(unit := self._first(last, busy), is_alone):
                return self._with_stored(unit)
        for key, unit in list(self._elsewhere.items()):
            if self._leases.take(key):
                del self._elsewhere[key]
                if self._claim(unit, is_alone):
                    return self._with_stored(unit)
                if self._groups:  # what a search needs next
                    return self._next(last, busy, is_alone)
        return None

    def _claim(self, unit: Unit, is_alone: bool) -> bool:
        """Take the lease of a unit, unless another process runs it; False if it is not to be run now.

        If another process has run a cell, its result counts; trials of a search begin where the others end.
        """
        if unit.key in self._claimed:
            return True
        if not self._leases.take(unit.key):
            self._elsewhere[unit.key] = unit
            if isinstance(unit, TrialsUnit):
                self._withdraw(unit.key)
                self._searches[unit.key].read = -1  # its units are made anew
            return False
        self._claimed.add(unit.key)
        if isinstance(unit, TrialsUnit):
            return not self._is_ahead(self._searches[unit.key])
        if is_alone:
            record = self._store.record(unit.key)
            is_needed = record is None or record.environment.concurrency != 1
        else:
            is_needed = not self._is_done(unit.key)
        if not is_needed:
            self._leases.give_back(unit.key)
        return is_needed

    def _is_done(self, key: str) -> bool:
        """Whether another process has run a cell since it was planned; its outcome then counts."""
        planned, cell = self._cells[key]
        status = cell_now(planned.entry, cell, self._store).status
        if status is CellStatus.missing:
            return False
        self._begin()
        self._result.stored += status is CellStatus.finished
        self._observer.cell_finished(planned.entry, self._store.failure(key))
        self._ended(key)
        return True

    def _is_ahead(self, search: SearchProgress) -> bool:
        """Whether another process has gone on with a search since it was read; it is then read again."""
        waiting = [each for each in search.waiting if not self._is_done(each[1].key)]
        if len(waiting) == len(search.waiting) and len(self._store.trials(search.key)) <= search.read:
            return False
        self._withdraw(search.key)
        del self._searches[search.key]
        if not waiting:
            self._leases.give_back(search.key)
            return True
        planned, cell = waiting[0]
        assert cell.search is not None
        again = self._search(planned, cell, cell.search)
        again.waiting = waiting
        self._advance(again)
        return True

    def _withdraw(self, key: str) -> None:
        """Take the waiting units of a search out of the queue."""
        for group, units in list(self._groups.items()):
            self._groups[group] = deque(unit for unit in units if unit.key != key)
            if not self._groups[group]:
                del self._groups[group]

    def _first(self, last: str | None, busy: Collection[str]) -> Unit:
        """The next unit in line: of the group worked on last, else of one that no other worker works on."""
        free = (group for group in self._groups if group not in busy)
        group = last if last in self._groups else next(free, next(iter(self._groups)))
        unit = self._groups[group].popleft()
        if not self._groups[group]:
            del self._groups[group]
        return unit

    def _with_stored(self, unit: Unit) -> Unit:
        if isinstance(unit, CellUnit) and unit.key in self._incomplete and unit.stored is None:
            stored = self._store.get(unit.key)  # only now: weights may be large
            if stored is not None:
                record, scored = stored.record, self._incomplete[unit.key]
                unit = replace(unit, tuned=record.tuned, had=common([record]), stored=stored, scored=scored)
        return unit

    def _take(self, unit: Unit, report: Report, is_alone: bool) -> None:
        """Keep the outcome of a unit, or run it again if its worker was lost."""
        outcome = report.outcome
        if isinstance(outcome, MachineError):
            raise outcome
        if isinstance(outcome, AucbenchError):
            self._leases.give_back(unit.key)
            self._refuse(self._entries[id(unit.entry)], outcome)
            return
        self._begin()
        is_bad = outcome is None or isinstance(outcome, Failure)
        if is_bad and len(unit.points) > 1:  # a single setting may be the cause
            if (search := self._searches.get(unit.key)) is not None:
                search.unfinished += len(unit.points) - 1
                for point in unit.points:
                    self._add(replace(unit, points=(point,)))
            return
        if outcome is None:
            self._losses[unit] += 1
            if self._losses[unit] < LOSSES:
                self._groups.setdefault(unit.group, deque()).appendleft(unit)
                return
            why = f"the process it ran in ended, {LOSSES} times (an exit, a crash, or memory)"
            outcome = Failure(CellStatus.failed, why)
        if isinstance(unit, TrialsUnit):
            trials = unit.failed(outcome) if isinstance(outcome, Failure) else outcome
            self._store.add_trials(unit.key, trials)
            if (search := self._searches.get(unit.key)) is not None:  # else its entry was dropped
                search.add(trials)
                search.unfinished -= 1
                if not search.unfinished:
                    self._advance(search)
        elif is_alone:  # a cell that fails now keeps its earlier result
            if isinstance(outcome, CellResult):
                self._store.put(unit.key, outcome)
                self._fresh[unit.key] = outcome
            self._leases.give_back(unit.key)
        else:
            assert isinstance(unit, CellUnit)
            if report.optimum is not None:
                self._store.put_optimum(report.optimum.record.key, report.optimum)
            self._finish(unit, outcome)

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
            self._fresh[unit.key] = outcome
            self._result.finished += 1
            self._observer.cell_finished(unit.entry, None)
            for key, cells in list(self._needed_by.items()):
                cells.discard(unit.key)
                if not cells:
                    self._store.remove_trials(key)
                    del self._needed_by[key]
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

    def _refuse(self, planned: PlannedEntry, error: AucbenchError) -> None:
        """Drop the remaining work of an entry that cannot be run."""
        for key, search in list(self._searches.items()):
            if search.waiting and search.waiting[0][0] is planned:
                del self._searches[key]
                self._leases.give_back(key)
        self._elsewhere = {
            key: unit for key, unit in self._elsewhere.items() if unit.entry is not planned.entry
        }
        waiting = [unit for units in self._groups.values() for unit in units]
        self._groups.clear()
        for unit in waiting:
            if unit.entry is not planned.entry:
                self._add(unit)
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

    def _add(self, unit: Unit) -> None:
        self._groups.setdefault(unit.group, deque()).append(unit)

    def _cell_unit(
        self, planned: PlannedEntry, cell: PlannedCell, tuned: TunedRecord | None = None
    ) -> CellUnit:
        path = str(self._store.path.absolute())
        return CellUnit(cell.key, planned.digests, planned.entry, cell.seeds, tuned=tuned, store_path=path)

    def _search(self, planned: PlannedEntry, cell: PlannedCell, search: Search) -> SearchProgress:
        """The search that a cell waits for; it begins with the first of them."""
        if search.key not in self._searches:
            entry, seeds = planned.entry, search.seeds
            rows, _, folds = prepared_data().sizes(entry, seeds.split_seed, seeds.fold)
            trials = self._store.trials(search.key)
            if cell.failed_before:
                trials = [each for each in trials if each.auc is not None or each.stop_reason in FINAL]
            self._searches[search.key] = SearchProgress(
                search, entry, planned.digests, folds, iterations_of(entry, rows), trials
            )
        return self._searches[search.key]

    def _advance(self, search: SearchProgress) -> None:
        """Queue what a search needs next: units of its own, or the cells that wait for its choice."""
        units = search.units()
        search.unfinished = len(units)
        for unit in units:
            self._add(unit)
        if not units:
            outcome = search.outcome()
            self._leases.give_back(search.key)
            for planned, cell in self._searches.pop(search.key).waiting:
                if isinstance(outcome, Failure):
                    self._begin()
                    self._finish(self._cell_unit(planned, cell), outcome)
                else:
                    self._add(self._cell_unit(planned, cell, outcome))
