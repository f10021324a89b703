"""The time limit of the checks of a plugin, and the alarm that interrupts a plugin that hangs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any

from aucbench.humanize import counted, duration
from aucbench.testing.findings import Untried

PATIENCE = 60.0  # seconds for all checks of a plugin
SHRINKING = 10.0  # most seconds to look for a smaller failing input
AGAIN = 1.0  # seconds until the alarm rings again, for plugins that catch every exception
AFTER_ONE = 0.1  # share of the limit for each check after an interrupted one, which probably hangs again
SHORTEST = 2.0  # least seconds for a check, if they remain
SLOW = 1e-3  # seconds per iteration from which messages mention them
HANGING = 10.0  # a call hangs after this many times its expected duration


class OutOfTime(BaseException):
    """Raised inside a plugin's code that takes too long."""


class TimeLimit:
    """The time limit for all checks of a plugin; the clock starts when it is first read."""

    def __init__(self, seconds: float = PATIENCE):
        self.seconds = seconds
        self.per_iteration: float | None = None  # seconds, once measured
        self.call: tuple[str, int, float] | None = None  # function, iterations and start of the current call
        self._begin: float | None = None
        self._interrupted = False

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

    @property
    def words(self) -> str:
        """The reason why a check was not tried or not finished."""
        slow = (self.per_iteration or 0.0) >= SLOW
        cost = f"one iteration takes {duration(self.per_iteration or 0.0)}, and " if slow else ""
        return f"{cost}the {self.seconds:g} s for all checks are used up (--patience allows more)"

    def begin(self, method: str, iterations: int) -> None:
        """Note a call; raises `Untried` when no time is left."""
        if self.left <= 0.0:
            raise Untried(self.words)
        self.call = method, iterations, monotonic()

    def end(self) -> None:
        """Note that the call has returned."""
        self.call = None

    def verdict(self) -> str | None:
        """The error for an interrupted call, None if it was no slower than other calls."""
        if self.call is None:
            return None
        method, iterations, began = self.call
        took, known = monotonic() - began, self.per_iteration is not None
        usual = self.per_iteration or 0.0
        if known and took <= 1.0 + HANGING * usual * max(1, iterations):
            return None
        asked = f" for {counted(iterations, 'iteration')}" if method == "step" else ""
        elsewhere = f", where one takes {duration(usual)} elsewhere" if known and asked else ""
        end = "." if known else ", or is too slow to be tried."
        return f"`{method}`, called{asked}, had not returned after {took:.0f} s{elsewhere}: it hangs{end}"

    @contextmanager
    def alarm(self, most: float = inf) -> Iterator[None]:
        """Raise `OutOfTime` in code that takes longer than its share of the remaining time.

        Other threads, and code under another alarm, cannot be interrupted; there only `begin` ends a check.
        """
        if self.left <= 0.0:
            raise Untried(self.words)
        # One check must not use up the time of the others.
        part = 1.0 if self.per_iteration is None else AFTER_ONE if self._interrupted else 0.5
        seconds = min(self.left, max(SHORTEST, part * self.seconds), most)
        can_interrupt = (
            hasattr(signal, "setitimer")
            and threading.current_thread() is threading.main_thread()
            and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
        )
        if seconds == inf or not can_interrupt:
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
