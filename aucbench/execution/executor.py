"""Executors run units: this one in its own process, `DaskExecutor` on the workers of a cluster."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from aucbench.execution.forked_worker import ForkedWorker
from aucbench.execution.work_units import Report, Unit
from aucbench.execution.worker import Conditions
from aucbench.studies.study import Observer


class Executor(Protocol):
    """Runs units, at most one on each worker."""

    def free(self) -> Sequence[str]:
        """Names of the workers that could start a unit now."""

    def start(self, worker: str, unit: Unit, alone: bool = False) -> None:
        """Start a unit on a free worker; `alone` when no other runs beside it."""

    def wait(self) -> Iterable[tuple[str, Report]]:
        """The reports of all units that have ended; none when a worker has joined in the meantime."""


class SerialExecutor:
    """Runs one unit after the other in this process; where `isolated`, those of other plugins in a fork."""

    NAME = "here"

    def __init__(self, observer: Observer, isolated: bool = False):
        self._observer = observer
        self._conditions = Conditions(isolated=isolated)
        self._worker = ForkedWorker()
        self._unit: Unit | None = None

    def free(self) -> Sequence[str]:
        """This process, unless a unit waits in it."""
        return [self.NAME] if self._unit is None else []

    def start(self, worker: str, unit: Unit, alone: bool = False) -> None:
        """Keep the unit until `wait`."""
        self._unit = unit

    def wait(self) -> Iterable[tuple[str, Report]]:
        """Run the unit."""
        assert self._unit is not None
        unit, self._unit = self._unit, None
        return [(self.NAME, self._worker.run(unit, self._conditions, self._observer))]

    def close(self) -> None:
        """End the forks."""
        self._worker.close()
