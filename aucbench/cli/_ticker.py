"""A bar that moves with the clock, for work that is bounded in time and says little while it runs."""

import sys
from threading import Event, Thread
from time import monotonic

from tqdm import tqdm

TICK = 0.5  # seconds


class Ticker:
    """Shows stages, and in a terminal how much of the time is spent; a context manager.

    Parameters
    ----------
    seconds : float
        The work takes at most.
    """

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._ended = Event()
        self._thread = Thread(target=self._tick, daemon=True)
        terminal = sys.stderr.isatty()
        layout = "{desc} {bar} {n:.0f} of at most {total:.0f} s"
        self._bar = tqdm(total=seconds, leave=False, disable=not terminal, bar_format=layout, ncols=78)

    def __enter__(self) -> "Ticker":
        self._begun = monotonic()
        if not self._bar.disable:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        self._bar.close()

    def stage(self, text: str) -> None:
        """A stage begins: a line of its own."""
        with self._bar.external_write_mode(file=sys.stderr):
            print(f"aucbench: {text} ...", file=sys.stderr, flush=True)

    def describe(self, text: str) -> None:
        """What runs now: beside the bar."""
        self._bar.set_description_str(text, refresh=False)

    def _tick(self) -> None:
        while not self._ended.wait(TICK):
            self._bar.n = min(self._seconds, monotonic() - self._begun)
            self._bar.refresh()
