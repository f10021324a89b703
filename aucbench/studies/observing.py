"""Callbacks that report the progress of a study."""

from aucbench.studies.record import FailureRecord
from aucbench.studies.units import Unit


class Observer:
    """Told how a study proceeds; this one says nothing."""

    def stage(self, text: str) -> None:
        """A stage of the only process begins."""

    def progress(self, share: float) -> None:
        """The unit that runs in this process has spent this share of its budget."""

    def planned(self, cells: int, stored: int) -> None:
        """The study has that many cells, of which the store has some."""

    def started(self, unit: Unit) -> None:
        """A unit begins."""

    def finished(self, unit: Unit, failure: FailureRecord | None) -> None:
        """A unit ended, or failed."""
