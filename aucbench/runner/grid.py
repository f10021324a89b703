"""Many settings of one method trained over one order: the rows are drawn once and shared while in cache."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Access, Batch, Problem
from aucbench.errors import ParameterError
from aucbench.runner.budget import Pace, pace_of
from aucbench.runner.cell import check_memory, check_requirements, longest_chunk, quiet, warm
from aucbench.runner.sampler import source_of
from aucbench.runner.scorer import Scorer
from aucbench.runner.task import Outcome, Task, batch_size
from aucbench.runner.trainer import Training

CHUNK_BYTES = 1 << 22  # of the rows that all settings take in turn; they stay in the shared cache
CHUNK_VISITS = 1024  # rows of such a chunk at the least, so that the cost of a call does not show
STATE_FEATURES = 4096  # beyond, the weights of the settings would drive the rows out of the cache
CHECK_CHUNKS = 16  # chunks from one search for NaN and infinity to the next; there is one at each checkpoint

SHARED = ("X", "y", "X_test", "y_test")
EQUAL = ("epochs", "iterations", "seconds", "checkpoints", "order", "seed", "order_seed", "fold")

Progress = Callable[[float], None]
Result = TypeVar("Result")


def run_together(tasks: Sequence[Task], progress: Progress = lambda share: None) -> list[Outcome | Exception]:
    """Train and measure many settings of one method over one order.

    Outcomes are those of `run_cell` for each task alone, to the last bit, but for the times and for what
    follows a divergence. A setting that diverges drops out where that is noticed: its curve up to there is
    the same, its `iterations` are an upper bound of the iteration at which it diverged, which is not looked
    for, and a model that would have been finite again at its next checkpoint counts as diverged too.

    All settings take one chunk of rows after the other in turn, as many rows as the processor's cache holds.
    The statistics of the problem are computed once, on the clock of the setting that asks first. With access
    `full` or a budget in seconds the settings run one after the other.

    Parameters
    ----------
    tasks : sequence of Task
        One class of algorithm, the same arrays, budget, order, seeds and fold; hyper-parameters and loss
        differ.
    progress : callable
        Told the share of all work done, from 0 to 1, after every chunk of every setting; what it raises ends
        all runs.

    Returns
    -------
    list of Outcome or Exception
        In the order of the tasks. An exception stands in the place of a setting that it ended.

    Raises
    ------
    ParameterError
        The tasks differ in what they must share.
    DataError
        There are more features than memory holds weights for.
    """
    if not tasks:
        return []
    _check(tasks)
    check_memory(tasks[0].X.shape[1])
    return _Group(tasks, progress).run()


def _check(tasks: Sequence[Task]) -> None:
    first = tasks[0]
    for task in tasks:
        if type(task.algorithm) is not type(first.algorithm):
            names = f"{first.algorithm.name} and {task.algorithm.name}"
            raise ParameterError(f"Settings that run together are of one method, got {names}.")
        differing = [name for name in SHARED if getattr(task, name) is not getattr(first, name)]
        differing += [name for name in EQUAL if getattr(task, name) != getattr(first, name)]
        if differing:
            raise ParameterError(f"Settings that run together must share {', '.join(differing)}.")


class _CommonProblem(Problem):
    """A problem whose statistics are computed once for all settings.

    Arrays are copies: what a method does to its own must not reach the others.
    """

    def __init__(self, statistics: Problem, iterations: int | None, loss: Any):
        super().__init__(statistics.X, statistics.y, iterations, loss)
        self._statistics = statistics

    @cached_property
    def p(self) -> float:
        return self._statistics.p

    @cached_property
    def max_norm(self) -> float:
        return self._statistics.max_norm

    @cached_property
    def mean_pos(self) -> NDArray[np.float64]:
        return self._statistics.mean_pos.copy()

    @cached_property
    def mean_neg(self) -> NDArray[np.float64]:
        return self._statistics.mean_neg.copy()


class _Group:
    """The settings that run together, and what has come of those that are through."""

    def __init__(self, tasks: Sequence[Task], progress: Progress):
        self._tasks, self._progress = tasks, progress
        self._first = tasks[0]
        self._scorer = Scorer(self._first.X_test, self._first.y_test)
        self._statistics = Problem(self._first.X, self._first.y)
        self._found: dict[int, Outcome | Exception] = {}
        self._shares = [0.0] * len(tasks)
        self._done = 0.0  # sum of the shares

    def run(self) -> list[Outcome | Exception]:
        sizes: dict[int, list[int]] = {}
        warmed = set()
        for k, task in enumerate(self._tasks):
            size = self._attempt(k, partial(_suiting, task))
            if size is None:
                continue
            sizes.setdefault(size, []).append(k)
            if (kind := _kind(task)) not in warmed:
                warmed.add(kind)
                warm(task)
        with quiet():
            for members in sizes.values():  # minibatches of another size are another order
                for part in [[k] for k in members] if _nothing_to_share(self._first) else [members]:
                    self._train(part)
        return [self._found[k] for k in range(len(self._tasks))]

    def _attempt(self, k: int, action: Callable[[], Result]) -> Result | None:
        """What comes of an action for a setting; None when it raises, which ends the setting."""
        try:
            return action()
        except MemoryError:  # is no fault of this setting alone
            raise
        except Exception as error:
            self._found[k] = error
            return None

    def _train(self, members: list[int]) -> None:
        one = self._tasks[members[0]]
        try:
            pace, source = pace_of(one), source_of(one)
        except ParameterError as error:
            self._found |= dict.fromkeys(members, error)
            return
        batch = Batch(one.X, one.y, source.take(0), one.algorithm.access)
        started = {k: self._attempt(k, partial(self._start, self._tasks[k], pace)) for k in members}
        running = {k: training for k, training in started.items() if training is not None}
        shared, alone, chunks = _chunk_length(one), longest_chunk(one), 0
        # All have come equally far: the first says when the next checkpoint of all is due.
        while running and (due := next(iter(running.values())).next_chunk()) is not None:
            longest = shared if len(running) > 1 else alone
            chunk, chunks = batch.take(source.take(min(due, longest))), chunks + 1
            check = chunks % CHECK_CHUNKS == 0 or longest == alone
            for k, training in list(running.items()):
                self._attempt(k, partial(training.advance, chunk, check))
                over = k in self._found or training.reason is not None
                if over:
                    del running[k]
                    self._finish(k, training)
                self._report(k, 1.0 if over else training.share)
        for k, training in running.items():
            self._finish(k, training)

    def _start(self, task: Task, pace: Pace) -> Training:
        problem = _CommonProblem(self._statistics, pace.total, task.loss)
        return Training(task, pace, self._scorer, problem)

    def _finish(self, k: int, training: Training) -> None:
        if k not in self._found and (outcome := self._attempt(k, training.outcome)) is not None:
            self._found[k] = outcome

    def _report(self, k: int, share: float) -> None:
        self._done += share - self._shares[k]
        self._shares[k] = share
        self._progress(min(1.0, self._done / len(self._tasks)))


def _suiting(task: Task) -> int:
    """The rows of an iteration of a task that the method can take."""
    check_requirements(task)
    return batch_size(task)


def _kind(task: Task) -> tuple[Any, ...]:
    """What may decide which kernels a setting uses: everything but its numbers."""
    fields = sorted(getattr(task.algorithm, "__dict__", {}).items())
    chosen = [(name, value if isinstance(value, str | bool) else type(value)) for name, value in fields]
    return (type(task.loss), *chosen)


def _nothing_to_share(task: Task) -> bool:
    """Whether every iteration passes over everything, or a clock says when to stop."""
    return task.seconds is not None or Access(task.algorithm.access) is Access.full


def _chunk_length(task: Task) -> int:
    """Iterations of the chunks that the settings take in turn."""
    X = task.X
    if _nothing_to_share(task) or X.shape[1] > STATE_FEATURES:
        return longest_chunk(task)
    value = X.dtype.itemsize
    row = (value + 4) * X.nnz / X.shape[0] if sparse.issparse(X) else value * X.shape[1]
    visits = 2 if Access(task.algorithm.access) is Access.pairs else batch_size(task)
    return int(max(CHUNK_BYTES / max(1.0, row), CHUNK_VISITS) / visits) or 1
