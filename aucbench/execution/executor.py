"""Executors run units: this one in its own process, `DaskExecutor` on the workers of a cluster."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from aucbench.execution.work_units import Report, Unit
from aucbench.execution.worker import Conditions, run_unit
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
    """Runs one unit after the other in this process."""

    NAME = "here"

    def __init__(self, observer: Observer):
        self._observer = observer
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
        return [(self.NAME, run_unit(unit, Conditions(), self._observer))]
