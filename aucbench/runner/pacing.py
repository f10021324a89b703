"""How a budget is cut into chunks: from checkpoint to checkpoint, in iterations or in seconds."""

from bisect import bisect_right
from typing import Protocol

import numpy as np


class Pace(Protocol):
    """A budget in progress."""

    @property
    def total(self) -> int | None:
        """Planned number of iterations; None when only the time is known."""

    def next_chunk(self, iteration: int, seconds: float) -> int | None:
        """Iterations to the next checkpoint; None when the budget is spent."""

    def is_checkpoint(self, iteration: int, seconds: float) -> bool:
        """Whether the AUC is due."""

    def share(self, iteration: int, seconds: float) -> float:
        """Share of the budget spent, from 0 to 1."""


class ByIterations:
    """Stop after `total` iterations; `marks` are the checkpoints, ascending, the last one `total`."""

    def __init__(self, total: int, marks: list[int]):
        self.total = total
        self._marks = marks
        self._known = frozenset(marks)

    def next_chunk(self, iteration: int, seconds: float) -> int | None:
        """Iterations to the next mark."""
        if iteration >= self.total:
            return None
        return self._marks[bisect_right(self._marks, iteration)] - iteration

    def is_checkpoint(self, iteration: int, seconds: float) -> bool:
        """Whether a mark is reached."""
        return iteration in self._known

    def share(self, iteration: int, seconds: float) -> float:
        """Share of the iterations done."""
        return iteration / self.total


class BySeconds:
    """Stop at the first chunk that ends after `limit` seconds of training.

    Checkpoints are log-spaced in time over three decades. How many iterations fit until the next one is
    estimated from the speed so far, and at most doubled from chunk to chunk.
    """

    total = None
    DECADES = 3.0

    def __init__(self, limit: float, checkpoints: int):
        self._limit = limit
        self._times = list(limit * np.logspace(-self.DECADES, 0.0, checkpoints)[: max(1, checkpoints)])
        self._times[-1] = limit
        self._next = 0
        self._longest = 1

    def next_chunk(self, iteration: int, seconds: float) -> int | None:
        """Iterations that are likely to fit until the next checkpoint."""
        if iteration == 0:
            return 1
        if seconds >= self._limit:
            return None
        speed = iteration / max(seconds, 1e-9)
        fitting = int(speed * max(0.0, self._times[self._next] - seconds))
        self._longest = max(1, min(fitting, 2 * self._longest))
        return self._longest

    def is_checkpoint(self, iteration: int, seconds: float) -> bool:
        """Whether a checkpoint's time has passed since the last one, or the time is up."""
        due = False
        while self._next < len(self._times) and seconds >= self._times[self._next]:
            self._next += 1
            due = True
        self._next = min(self._next, len(self._times) - 1)
        return due

    def share(self, iteration: int, seconds: float) -> float:
        """Share of the time spent."""
        return min(1.0, seconds / self._limit)
