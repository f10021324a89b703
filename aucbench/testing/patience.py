"""How long the checks of a plugin may take, and how one that does not come back is interrupted."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from aucbench.humanize import counted, duration
from aucbench.testing.findings import Untried

PATIENCE = 60.0  # seconds for all checks of a plugin
SHRINKING = 10.0  # seconds at most to look for a smaller input that fails
AGAIN = 1.0  # seconds after which the alarm rings again, for plugins that catch everything
AFTER_ONE = 0.1  # of the patience, for each check once one was interrupted: it is probably the same again
SHORTEST = 2.0  # seconds that a check may take if there are as many
SLOW = 1e-3  # seconds of an iteration that are worth telling
HANGING = 10.0  # times as long as expected: a call that takes longer hangs


class OutOfTime(BaseException):
    """Raised in the middle of a plugin's code that takes too long."""


class Call(NamedTuple):
    """A call of a plugin's method that has not come back."""

    method: str
    iterations: int
    began: float


class Patience:
    """A budget of seconds; it begins to be spent when it is first asked for.

    Parameters
    ----------
    seconds : float
        For all checks of a plugin; infinity for no limit.

    Attributes
    ----------
    per_iteration : float or None
        Seconds an iteration takes, once it was measured.
    call : Call or None
        What is being called.
    """

    def __init__(self, seconds: float = PATIENCE):
        self.seconds = seconds
        self.per_iteration: float | None = None
        self.call: Call | None = None
        self._end: float | None = None
        self._interrupted = False

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self._end is None:
            self._end = monotonic() + self.seconds
        return self._end - monotonic()

    def measured(self, seconds: float) -> None:
        """Begin anew with the time an iteration takes: compiling a method is not its slowness."""
        self.per_iteration = seconds
        self._end = monotonic() + self.seconds

    def demand(self) -> None:
        """Raise `Untried` when nothing is left."""
        if self.left <= 0.0:
            raise Untried(self.words)

    @property
    def words(self) -> str:
        """Why a check was not tried, or not to its end."""
        known = self.per_iteration is not None and self.per_iteration >= SLOW
        cost = f"one iteration takes {duration(self.per_iteration or 0.0)}, and " if known else ""
        return f"{cost}the time for it, of {self.seconds:g} s for all checks, is used up"

    def begin(self, method: str, iterations: int) -> None:
        """Remember what is called; raises `Untried` when nothing is left."""
        self.demand()
        self.call = Call(method, iterations, monotonic())

    def end(self) -> None:
        """The call came back."""
        self.call = None

    def verdict(self) -> str | None:
        """What is wrong with the call that was interrupted, None when it was slow as ever."""
        if self.call is None:
            return None
        took = monotonic() - self.call.began
        known = self.per_iteration is not None
        expected = (self.per_iteration or 0.0) * max(1, self.call.iterations)
        if known and took <= 1.0 + HANGING * expected:
            return None
        asked = f" for {counted(self.call.iterations, 'iteration')}" if self.call.method == "step" else ""
        usual = (
            f", where one takes {duration(self.per_iteration or 0.0)} elsewhere" if known and asked else ""
        )
        return (
            f"`{self.call.method}`, called{asked}, had not come back after {took:.0f} s{usual}: it hangs"
            + ("." if known else ", or is too slow to be tried.")
        )

    @contextmanager
    def alarm(self, most: float = inf) -> Iterator[None]:
        """Interrupt what takes longer than its share of what is left, with `OutOfTime`.

        Where that is impossible, as in threads and under another alarm, only `begin` ends it.
        """
        self.demand()
        # One check must not use up what is left for the others.
        part = 1.0 if self.per_iteration is None else AFTER_ONE if self._interrupted else 0.5
        seconds = min(self.left, max(SHORTEST, part * self.seconds), most)
        if seconds == inf or not _can_interrupt():
            yield
            return

        def ring(number: int, frame: Any) -> None:
            self._interrupted = True
            raise OutOfTime

        usual = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, usual)


def _can_interrupt() -> bool:
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    )
