"""Many settings of one method over one order: trained at once by the method, along a path, or in turn."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from scipy import sparse

from aucbench.contracts import Access
from aucbench.data import memory
from aucbench.runner.cell import (
    batches,
    check_requirements,
    compile_kernels,
    max_chunk,
    training_context,
    trains_together,
)
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.scorer import Scorer
from aucbench.runner.task import Outcome, StopReason, Task, make_budget
from aucbench.runner.trainer import Clock, Trainer

CHUNK_VALUES = 1 << 18  # values in a chunk of rows that fits the processor's shared cache
CHUNK_VISITS = 1024  # least number of rows in a chunk, which makes the cost of a call negligible
STATE_FEATURES = 4096  # with more features, the weights would evict the rows from the cache
CHECK_CHUNKS = 16  # chunks between checks for NaN and infinity; checkpoints are always checked
ARRAYS = ("X", "y", "X_test", "y_test", "weights", "validation")
EQUAL = ("epochs", "iterations", "seconds", "checkpoints", "order", "seed", "order_seed", "fold", "measures")
Progress = Callable[[float], None]


def run_grid(tasks: Sequence[Task], progress: Progress = lambda fraction: None) -> list[Outcome | Exception]:
    """Train and measure many settings of one method.

    Outcomes equal those of `run_cell` for each task alone, to the last bit, except for the times and for the
    iterations within which a run has diverged.

    Settings that differ in numbers only, on the same arrays and in the same order, are trained at once by a
    method with `together`; their outcomes agree up to rounding, and a model that would have been finite again
    at its next checkpoint counts as diverged. If a method of access `full` has `init_from` and runs until it
    has converged, its settings form a path from the largest value of a hyperparameter to the smallest: each
    starts from the final state of the previous setting, and agrees with a run alone up to the tolerance of
    the method; if it does not converge, it is run again alone. All other settings are trained in turn.

    `progress` gets the fraction of all work done, from 0 to 1, after every chunk; its exceptions end all
    runs. An exception that ended a setting replaces the outcome of the setting.
    """
    grid, groups = _Grid(tasks, progress), dict[Any, list[int]]()
    for k, task in enumerate(tasks):
        with grid.error_ends(k):
            check_requirements(task)
            groups.setdefault(_kind(task), []).append(k)
    with training_context():
        for members in groups.values():
            first = tasks[members[0]]
            memory.check_width(d := first.X.shape[1])
            compile_kernels(first)
            # Each state is held twice: alone, and with all others.
            limit = max(1, memory.available() // (2 * memory.VECTORS * 8 * d))
            for start in range(0, len(members), limit):
                grid.train(members[start : start + limit])
    return [grid.results[k] for k in range(len(tasks))]


class _Grid:
    """The settings of a grid, and the results of those that have ended."""

    def __init__(self, tasks: Sequence[Task], progress: Progress):
        self.results: dict[int, Outcome | Exception] = {}
        self._tasks, self._progress = tasks, progress
        self._fractions = [0.0] * len(tasks)  # share of the budget spent by each setting
        self._interruption: Exception | None = None  # exception raised by `progress`

    @contextlib.contextmanager
    def error_ends(self, *members: int) -> Iterator[None]:
        """Make an error the result of these settings; a MemoryError, or an error of `progress`, ends all."""
        try:
            yield
        except Exception as error:
            if isinstance(error, MemoryError) or error is self._interruption:
                raise
            for k in members:
                self.results.setdefault(k, error)

    def train(self, members: Sequence[int]) -> None:
        """Train settings of one kind."""
        first = self._tasks[members[0]]
        self._scorer = Scorer(first.X_test, first.y_test, first.measures)
        is_one_pass = first.seconds is None and first.access is not Access.full and first.weights is None
        if is_one_pass and trains_together(first, len(members)):
            self._train_at_once(members)
        self._train_in_turn([k for k in members if k not in self.results])

    def _train_in_turn(self, members: Sequence[int]) -> None:
        """Train settings in turn, each from the final state of its neighbour if they follow a path."""
        end = None  # the latest state in which a setting has converged
        for k in sorted(members, key=lambda k: _numbers(self._tasks[k]), reverse=True):
            if not _follows_path(self._tasks[k]):
                self._train_alone(k)
                continue
            trainer = self._train_alone(k, partial(self._tasks[k].algorithm.init_from, state=end))
            result = self.results[k]
            if isinstance(result, Outcome) and result.stop_reason is StopReason.converged:
                end = trainer and trainer.state
            elif end is not None:
                del self.results[k]
                self._train_alone(k)

    def _train_alone(self, k: int, init: Callable[..., Any] | None = None) -> Trainer | None:
        """Train a setting; None if it did not begin."""
        task, trainer = self._tasks[k], None
        with self.error_ends(k):
            trainer = self._trainer(k, make_budget(task), init)
            for batch in batches(trainer, batch_sampler(task)):
                trainer.advance(batch)
                self._notify(k, trainer.fraction)
            self.results[k] = trainer.outcome()
        self._notify(k, 1.0)
        return trainer

    def _train_at_once(self, members: Sequence[int]) -> None:
        """Train settings by the method's `together`, each for an equal share of the time.

        An error of the method ends all settings. Nothing is done if the method declines the settings.
        """
        first, trainers = self._tasks[members[0]], dict[int, Trainer]()
        with self.error_ends(*members):
            budget, next_batch = make_budget(first), batch_sampler(first)
            for k in members:
                with self.error_ends(k):
                    trainers[k] = self._trainer(k, budget)
            numbers = {k: number for number, k in enumerate(trainers)}
            algorithms = [trainer.task.algorithm for trainer in trainers.values()]
            states = [trainer.state for trainer in trainers.values()]
            if not trainers:
                return
            with _shared_clock(trainers.values()):
                lockstep = type(first.algorithm).together(algorithms, states)
            if lockstep is None:
                return
            longest, chunks = _shared_chunk(first), 0
            # All trainers are at the same iteration: the first determines the next checkpoint.
            while trainers and (chunk := next(iter(trainers.values())).next_chunk()) is not None:
                batch, chunks = next_batch(min(chunk, longest)), chunks + 1
                with _shared_clock(trainers.values()):
                    lockstep.step(batch)
                for k, trainer in list(trainers.items()):
                    with self.error_ends(k):
                        trainer.follow(batch, partial(lockstep.state, numbers[k]), chunks % CHECK_CHUNKS == 0)
                        self._notify(k, trainer.fraction)
                    if k in self.results or trainer.stop_reason:
                        self._finish(k, trainers.pop(k))
                        lockstep.drop(numbers[k])
            for k, trainer in trainers.items():
                self._finish(k, trainer)

    def _trainer(self, k: int, budget: Any, init: Callable[..., Any] | None = None) -> Trainer:
        task = self._tasks[k]
        return Trainer(task, budget, self._scorer, task.problem(budget.iterations), init=init)

    def _finish(self, k: int, trainer: Trainer) -> None:
        if k not in self.results:
            with self.error_ends(k):
                self.results[k] = trainer.outcome()
        self._notify(k, 1.0)

    def _notify(self, k: int, fraction: float) -> None:
        """Pass on the progress; a setting that runs again does not reduce it."""
        self._fractions[k] = max(self._fractions[k], fraction)
        try:
            self._progress(min(1.0, sum(self._fractions) / len(self._tasks)))
        except Exception as error:
            self._interruption = error
            raise


@contextlib.contextmanager
def _shared_clock(trainers: Any) -> Iterator[None]:
    """Time the block for an equal share of each trainer's clock."""
    clock = Clock()
    with clock:
        yield
    for trainer in trainers:
        trainer.clock.add_share(clock, len(trainers))


def _shared_chunk(task: Task) -> int:
    """Iterations of a chunk that stays in the cache while blocks of settings use it in turn."""
    X = task.X
    if X.shape[1] > STATE_FEATURES:
        return max_chunk(task)
    per_row = max(1.0, X.nnz / X.shape[0]) if sparse.issparse(X) else X.shape[1]
    visits = 2 if task.access is Access.pairs else task.rows_per_iteration
    return int(max(CHUNK_VALUES / per_row, CHUNK_VISITS) / visits) or 1


def _follows_path(task: Task) -> bool:
    """Whether the solution does not depend on the start: a budget may end the run before convergence."""
    has_budget = (task.epochs, task.iterations, task.seconds) != (None, None, None)
    return task.access is Access.full and hasattr(task.algorithm, "init_from") and not has_budget


def _numbers(task: Task) -> list[float]:
    """The numbers of a setting, which order the path; None counts as 0."""
    fields = sorted(getattr(task.algorithm, "__dict__", {}).items())
    return [float(value or 0.0) for _, value in fields if value is None or isinstance(value, int | float)]


def _kind(task: Task) -> tuple[Any, ...]:
    """The properties common to settings that train at once or on one path: all except numbers."""
    fields = sorted(getattr(task.algorithm, "__dict__", {}).items())
    chosen = ((name, value if isinstance(value, str | bool) else type(value)) for name, value in fields)
    arrays, equal = (id(getattr(task, name)) for name in ARRAYS), (getattr(task, name) for name in EQUAL)
    return (type(task.algorithm), type(task.loss), task.rows_per_iteration, *chosen, *arrays, *equal)
