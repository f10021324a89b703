"""Executors of units: the protocol, and an executor on this machine; see also `dask_executor`."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from aucbench.contracts.hooks import PROJECT
from aucbench.evaluation.measures import TrainingObjective
from aucbench.pool import Pool
from aucbench.studies.execution.prepared_data import prepared_data
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.execution.worker import run_in_process, run_unit
from aucbench.studies.study import Observer


class Executor(Protocol):
    """Runs units, at most one per worker."""

    def workers(self) -> Sequence[str]:
        """The names of all workers."""

    def submit(self, worker: str, unit: Unit, alone: bool = False) -> "Future[Report]":
        """Run a unit on an idle worker; `alone` if no other unit runs at the same time."""

    def close(self) -> None:
        """End the processes."""


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

    def workers(self) -> Sequence[str]:
        """The numbers of the workers, as text."""
        return self._names

    def submit(self, worker: str, unit: Unit, alone: bool = False) -> "Future[Report]":
        """Run the unit in this process before returning, or in a worker process."""
        distributions = other_distributions(unit) if self._isolated else frozenset()
        if self._is_here and not distributions:
            prepared_data().isolates = self._isolated
            future = Future[Report]()
            future.set_result(run_unit(unit, self._observer))
            return future
        return self._pool.submit(
            run_in_process,
            unit,
            1 if alone else len(self._names),
            key=(worker, distributions),
            seconds=time_limit(unit),
            listener=self._listen,
        )

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown()

    def _listen(self, message: tuple[str, Any]) -> None:
        """Pass the messages of a process to the observer if there is only one worker."""
        if len(self._names) == 1:
            event, value = message
            getattr(self._observer, event)(value)


def other_distributions(unit: Unit) -> frozenset[str]:
    """The distributions of the unit's plugins, except this project."""
    entry = unit.entry
    plugins = [entry.algorithm, entry.dataset, entry.features, *([entry.loss] if entry.loss else [])]
    return frozenset(plugin.distribution for plugin in plugins) - {PROJECT}


def time_limit(unit: Unit) -> float | None:
    """Seconds after which the process of a unit is ended."""
    limits = unit.entry.limits
    if limits.seconds is None:
        return None
    optimum = limits.optimum if TrainingObjective() in unit.entry.measures else 0.0
    return limits.seconds * unit.trainings + limits.grace + optimum
