"""The budget of a run in iterations or seconds, cut into chunks at log-spaced checkpoints."""

from bisect import bisect_right
from typing import TypeAlias

import numpy as np

from aucbench.contracts import Access, MethodFacts
from aucbench.errors import ParameterError
from aucbench.runner.task import Task, default_passes

MAX_PASSES = 1_000  # limit for a full method that stops once it has converged
MAX_ITERATIONS = 2**53  # larger whole numbers are not all exact as floats


class IterationBudget:
    """Stop after `iterations`; `checkpoints` are iterations, ascending, the last one `iterations`."""

    def __init__(self, iterations: int, checkpoints: list[int]):
        self.iterations = iterations
        self._checkpoints = checkpoints

    def next_chunk(self, iteration: int, seconds: float) -> int | None:
        """Iterations to the next checkpoint; None when the budget is spent."""
        if iteration >= self.iterations:
            return None
        return self._checkpoints[bisect_right(self._checkpoints, iteration)] - iteration

    def is_checkpoint(self, iteration: int, seconds: float) -> bool:
        """Whether the AUC is due."""
        reached = bisect_right(self._checkpoints, iteration)
        return reached > 0 and self._checkpoints[reached - 1] == iteration

    def fraction(self, iteration: int, seconds: float) -> float:
        """Fraction of the iterations done."""
        return iteration / self.iterations


class TimeBudget:
    """Stop at the first chunk that ends after `limit` seconds of training.

    Checkpoints are log-spaced in time over three decades. How many iterations fit until the next one is
    estimated from the speed so far, and at most doubled from chunk to chunk.
    """

    iterations = None
    DECADES = 3.0

    def __init__(self, limit: float, checkpoints: int):
        self._limit = limit
        self._times = list(limit * np.logspace(-self.DECADES, 0.0, checkpoints)[: max(1, checkpoints)])
        self._times[-1] = limit
        self._next = 0
        self._longest = 1

    def next_chunk(self, iteration: int, seconds: float) -> int | None:
        """Iterations that are likely to fit until the next checkpoint; None when the time is up."""
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

    def fraction(self, iteration: int, seconds: float) -> float:
        """Fraction of the time spent, from 0 to 1."""
        return min(1.0, seconds / self._limit)


Budget: TypeAlias = IterationBudget | TimeBudget


def make_budget(task: Task) -> Budget:
    """The task's budget; ParameterError when it does not suit the method."""
    algorithm = task.algorithm
    if task.seconds is not None:
        if MethodFacts(algorithm).plans:
            raise ParameterError(
                f"{algorithm.name} must know the number of iterations beforehand: "
                f"set budget.epochs or budget.iterations in place of budget.seconds."
            )
        return TimeBudget(task.seconds, task.checkpoints)
    if task.iterations is not None:
        total = task.iterations
    elif task.epochs is None and task.access is Access.full and MethodFacts(algorithm).done is not None:
        total = MAX_PASSES
    else:
        passes = default_passes(len(task.y)) if task.epochs is None else task.epochs
        total = max(1, round(passes * (len(task.y) / task.rows_per_iteration)))
    if total > MAX_ITERATIONS:
        raise ParameterError(f"budget: {total:.3g} iterations cannot be counted; 2^53 are the most.")
    return IterationBudget(total, log_spaced(total, task.checkpoints))


def log_spaced(iterations: int, count: int) -> list[int]:
    """At most `count` distinct iterations from 1 to `iterations`, evenly spaced in the logarithm."""
    points = np.unique(np.rint(np.geomspace(1, iterations, count)).astype(np.int64))
    return [int(point) for point in points[:-1] if point < iterations] + [iterations]
