"""Executors run units: `LocalExecutor` on this machine, `DaskExecutor` on a cluster."""

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from aucbench.contracts.hooks import PROJECT
from aucbench.evaluation.measures import TrainingObjective
from aucbench.humanize import sentence_of
from aucbench.pool import Pool, ProcessEnded, dumped
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.execution.worker import Conditions, prepared_data, run_pickled, run_unit
from aucbench.studies.record import CellStatus, Failure
from aucbench.studies.study import Observer


class Executor(Protocol):
    """Runs units, at most one per worker."""

    def free(self) -> Sequence[str]:
        """Names of idle workers."""

    def start(self, worker: str, unit: Unit, alone: bool = False) -> None:
        """Start a unit on an idle worker; `alone` if no other unit runs beside it."""

    def wait(self) -> Iterable[tuple[str, Report]]:
        """The reports of all units that have ended; none if a worker has joined."""


class LocalExecutor:
    """Runs units on this machine, several at a time.

    If `isolated`, units with plugins of other distributions run in separate processes, one per worker and set
    of distributions. All other units run in separate processes if there are several workers or a limit, and
    in this process otherwise.
    """

    def __init__(self, observer: Observer, workers: int = 1, isolated: bool = False, limited: bool = False):
        self._observer, self._isolated = observer, isolated
        self._names = [str(number) for number in range(workers)]
        self._is_here = workers == 1 and not limited
        self._pool = Pool()
        self._running: dict[str, tuple[Unit, Future[Report] | None]] = {}

    def free(self) -> Sequence[str]:
        """Names of workers without a unit."""
        return [name for name in self._names if name not in self._running]

    def start(self, worker: str, unit: Unit, alone: bool = False) -> None:
        """Start the unit in a process, or defer it until `wait`."""
        others = other_distributions(unit) if self._isolated else frozenset()
        if self._is_here and not others:
            self._running[worker] = unit, None
            return
        conditions = Conditions(1 if alone else len(self._names), worker=True)
        listener = self._listen if len(self._names) == 1 else None
        self._running[worker] = (
            unit,
            self._pool.submit(
                run_pickled,
                dumped(unit),
                conditions,
                key=(worker, others),
                seconds=time_limit(unit),
                listener=listener,
            ),
        )

    def wait(self) -> Iterable[tuple[str, Report]]:
        """The reports of units that have ended; a deferred unit runs now."""
        reports = []
        wait([future for _, future in self._running.values() if future], return_when=FIRST_COMPLETED)
        for worker, (unit, future) in list(self._running.items()):
            if future is None:
                prepared_data().isolates = self._isolated
                report = run_unit(unit, Conditions(), self._observer)
            elif future.done():
                error = future.exception()
                report = future.result() if error is None else report_of_error(error, unit)
            else:
                continue
            del self._running[worker]
            reports.append((worker, report))
        return reports

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown()

    def _listen(self, message: tuple[str, Any]) -> None:
        what, value = message
        (self._observer.stage if what == "stage" else self._observer.progress)(value)


def other_distributions(unit: Unit) -> frozenset[str]:
    """The distributions of the unit's plugins, without this one."""
    entry = unit.entry
    plugins = [entry.algorithm, entry.dataset, entry.features, *([entry.loss] if entry.loss else [])]
    return frozenset(plugin.distribution for plugin in plugins) - {PROJECT}


def time_limit(unit: Unit) -> float | None:
    """Seconds after which the process of a unit is killed."""
    limits = unit.entry.limits
    if limits.seconds is None:
        return None
    optimum = limits.optimum if TrainingObjective() in unit.entry.measures else 0.0
    return limits.seconds * unit.trainings + limits.grace + optimum


def report_of_error(error: BaseException, unit: Unit) -> Report:
    """The report of a unit that a worker could not run, or whose process has ended."""
    if not isinstance(error, ProcessEnded):
        return Failure(CellStatus.failed, f"the worker could not run it: {sentence_of(error)}")
    if not error.is_late:
        return None
    limits = unit.entry.limits
    message = (
        f"it did not end {limits.grace:g} s after limits.seconds={limits.seconds:g}, "
        f"and its process was ended"
    )
    return Failure(CellStatus.timeout, message)
