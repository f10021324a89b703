"""The time limit of the checks of a plugin."""

from time import monotonic

from aucbench.humanize import duration
from aucbench.testing.findings import Untried

PATIENCE = 60.0  # seconds for all checks of a plugin
SHRINKING = 10.0  # most seconds to look for a smaller failing input
SLOW = 1e-3  # seconds per iteration from which messages mention them


class TimeLimit:
    """The time limit for all checks of a plugin; the clock starts when it is first read."""

    def __init__(self, seconds: float = PATIENCE):
        self.seconds = seconds
        self.per_iteration = 0.0  # seconds, once measured
        self._begin: float | None = None

    @property
    def spent(self) -> float:
        """Seconds since the clock started."""
        if self._begin is None:
            self._begin = monotonic()
        return monotonic() - self._begin

    @property
    def left(self) -> float:
        """Remaining seconds."""
        return self.seconds - self.spent

    def measured(self, seconds: float) -> None:
        """Restart the clock once the time per iteration is known, so that compiling does not count."""
        self.per_iteration = seconds
        self._begin = monotonic()

    def require(self) -> None:
        """Raise `Untried` when no time is left."""
        if self.left <= 0.0:
            slow = self.per_iteration >= SLOW
            cost = f"one iteration takes {duration(self.per_iteration)}, and " if slow else ""
            raise Untried(f"{cost}the {self.seconds:g} s for all checks are used up (--patience allows more)")
