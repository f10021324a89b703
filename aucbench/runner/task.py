"""Task of a cell: the order of its rows, its budget in chunks, its outcome and its stop reason."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, MethodFacts, Problem, ValidationRows
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data.splits.grouped import deal
from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.measures import Measure

# A run without a budget sees each row ten times, or more often where rows are few: up to 200 times, until
# 20,000 rows have been seen. `python -m benchmarks defaults` shows the effect.
LEAST_PASSES, MOST_PASSES, ROWS_SEEN = 10.0, 200.0, 20_000
MAX_PASSES = 1_000  # limit for a full method that stops once it has converged
DECADES = 3.0  # of time, over which the checkpoints of a budget in seconds are log-spaced
MAX_ITERATIONS = 2**53  # larger whole numbers are not all exact as floats


class Order(StrEnum):
    """The order in which `stream` and `minibatch` methods visit the rows.

    ``shuffled``, anew each epoch; ``stored``, as in the data; ``blocks``, shuffled blocks of consecutive rows
    and shuffled rows inside each block, for data larger than memory.
    """

    shuffled = "shuffled"
    stored = "stored"
    blocks = "blocks"


class StopReason(StrEnum):
    """The reason why a run ended."""

    budget = "budget"
    converged = "converged"
    diverged = "diverged"


@dataclass(frozen=True)
class Task:
    """Task of a cell; without any of the three budgets, it runs for `default_passes` or until converged."""

    algorithm: Any  # an instance of a plugin, `for_rows`
    loss: Any  # an instance of a plugin; None for a method without a loss
    X: Any  # (n, d) ndarray or scipy CSR
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]
    epochs: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    checkpoints: int = 50
    order: Order = Order.shuffled
    seed: int = 0  # seed of the method's generator
    order_seed: int = 0
    fold: int = 0  # number of the split of a seed; both generators depend on it
    measures: tuple[Measure, ...] = ()  # beside the AUC
    weights: NDArray[np.float64] | None = None  # (n,) > 0, of the training rows
    keep_weights: bool = False  # return the weights of all checkpoints
    keep_model: bool = False  # return the model as bytes, if the method provides it
    row_factor: float = 1.0  # factor that rescaled the rows
    validation: ValidationRows | None = None  # rows held out from X
    blocks: NDArray[np.uint8] | None = None  # (n_test,) of the test rows, for the placements of the outcome
    groups: NDArray[Any] | None = None  # (n,) rows of one group are all held out, or none of them

    @property
    def access(self) -> Access:
        """The data that an iteration of the method consumes."""
        return Access(self.algorithm.access)

    @property
    def rows_per_iteration(self) -> int:
        """Training rows of an iteration."""
        return rows_per_iteration(self.algorithm, len(self.y))

    def problem(self, iterations: int | None) -> Problem:
        """The problem passed to the method, with the planned number of iterations."""
        return Problem(self.X, self.y, iterations, self.loss, self.weights, self.row_factor, self.validation)

    def generator(self) -> np.random.Generator:
        """The generator of the method; a seed sequence pads with zeros, so that fold 0 is the seed alone.

        The zero before the fold is the number of the random stream of methods; other streams differ there.
        """
        return generator(self.seed, RandomStream.method, self.fold)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a cell; the curve arrays have one value per checkpoint."""

    iteration: NDArray[np.int64]
    samples: NDArray[np.int64]
    train_seconds: NDArray[np.float64]
    cpu_seconds: NDArray[np.float64]
    auc: NDArray[np.float64]
    measures: dict[str, NDArray[np.float64]]  # beside the AUC, by name
    weights: NDArray[np.float64] | None
    checkpoint_weights: NDArray[np.float64] | None  # (checkpoints, d); None unless `keep_weights`
    iterations: int
    total_seconds: float
    total_cpu_seconds: float  # CPU time of the training thread
    process_cpu_seconds: float  # CPU time of all threads of the process
    state_bytes: int
    layout: str  # whether a step touches all weights (eager) or those of its row (lazy)
    stop_reason: StopReason
    warm_up: str = ""  # the error that ended the warm-up, so that times may include compilation
    placements: NDArray[np.float64] | None = None  # (blocks,) `block_deviations` of the final test scores
    scores: NDArray[np.float64] | None = (
        None  # (n_test,) final test scores; None for a linear method, which has weights
    )
    model: bytes | None = None  # final model; None unless `keep_model`


def validation_share(algorithm: Any) -> float:
    """The share of the training rows held out for a method; ParameterError unless it is in [0, 1)."""
    share = float(MethodFacts(algorithm).validation)
    if not 0.0 <= share < 1.0:
        raise ParameterError(f"{algorithm.name}: validation must be in [0, 1), got {share:g}.")
    return share


def hold_out(tasks: Sequence[Task], seed: int) -> list[Task]:
    """Tasks on the same rows and fold, with the validation rows that their methods declare.

    The rows are drawn by the seed of the split and the fold, once for each share, and shared by the tasks.
    Rows that the protocol keeps together, such as equal rows or those of a group, are on one side.
    """
    parts: dict[float, dict[str, Any]] = {0.0: {}}
    shares = [validation_share(task.algorithm) for task in tasks]
    for task, share in zip(tasks, shares, strict=True):
        if share not in parts:
            chosen = _drawn(task, share, generator(seed, RandomStream.validation, task.fold))
            training, validation = (rows_of(task, np.flatnonzero(mask)) for mask in (~chosen, chosen))
            parts[share] = {**training._asdict(), "validation": validation, "groups": None}
    return [replace(task, **parts[share]) for task, share in zip(tasks, shares, strict=True)]


def rows_of(task: Task, rows: NDArray[np.int64]) -> ValidationRows:
    """Some of the training rows of a task."""
    X = task.X[rows]
    if isinstance(X, np.ndarray):  # read-only rows are another type to the compiler
        X.flags.writeable = task.X.flags.writeable
    return ValidationRows(X, task.y[rows], None if task.weights is None else task.weights[rows])


def _drawn(task: Task, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n,) whether a row is among a random share; both sides have both classes."""
    if task.groups is None:
        return _stratified(task.y, share, rng)
    chosen = deal(task.y, task.groups, [1.0 - share, share], rng) == 1
    if any(len(np.unique(task.y[side])) < 2 for side in (chosen, ~chosen)):
        raise DataError(
            "Validation rows need two groups of training rows of each class; use validation=0 or more rows."
        )
    return chosen


def _stratified(y: NDArray[np.int8], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n,) whether a row is among a random share of each class, rounded, at least one row and not all."""
    chosen = np.zeros(len(y), np.bool_)
    for label in (1, -1):
        rows = np.flatnonzero(y == label)
        if len(rows) < 2:
            raise DataError(
                f"Validation rows need two training rows of each class, got {len(rows)} "
                f"{'positive' if label == 1 else 'negative'}; use validation=0 or more rows."
            )
        count = min(len(rows) - 1, max(1, round(share * len(rows))))
        chosen[rng.permutation(rows)[:count]] = True
    return chosen


def default_passes(n_samples: float) -> float:
    """Passes over n rows in a run without a budget: max(10 n, min(20,000, 200 n)) rows."""
    return max(LEAST_PASSES, min(MOST_PASSES, ROWS_SEEN / n_samples))


def rows_per_iteration(algorithm: Any, n_samples: int) -> int:
    """Training rows of an iteration: all of a `full` method, 1 of a method that draws rows or pairs."""
    access = Access(algorithm.access)
    if access is Access.full:
        return n_samples
    return int(algorithm.batch_size(n_samples)) if access in (Access.minibatch, Access.balanced) else 1


class Budget:
    """Ends a run at the last of its checkpoints, which are iterations, or seconds of training.

    In seconds, a checkpoint is due when the first chunk ends after its time. The number of iterations until
    then is estimated from the speed so far, and at most doubled from chunk to chunk.
    """

    def __init__(self, checkpoints: Sequence[float], in_seconds: bool = False):
        self.iterations = None if in_seconds else int(checkpoints[-1])
        self._checkpoints, self._passed, self._longest = checkpoints, 0, 1

    def next_chunk(self, iteration: int, seconds: float) -> int | None:
        """Iterations to the next checkpoint, or likely to fit until then; None when the budget is spent."""
        points = self._checkpoints
        if self.iterations is not None:
            is_running = iteration < self.iterations
            return int(points[bisect_right(points, iteration)]) - iteration if is_running else None
        if seconds >= points[-1] and iteration > 0:
            return None
        fitting = int(iteration / max(seconds, 1e-9) * max(0.0, points[self._passed] - seconds))
        self._longest = max(1, min(fitting, 2 * self._longest))
        return self._longest

    def is_checkpoint(self, iteration: int, seconds: float) -> bool:
        """Whether the AUC is due: at this iteration, or because the time of a checkpoint has passed."""
        if self.iterations is not None:
            return self._checkpoints[bisect_right(self._checkpoints, iteration) - 1] == iteration
        passed = bisect_right(self._checkpoints, seconds)
        due = passed > self._passed
        self._passed = min(passed, len(self._checkpoints) - 1)
        return due

    def fraction(self, iteration: int, seconds: float) -> float:
        """Fraction of the budget spent, from 0 to 1."""
        return min(1.0, (seconds if self.iterations is None else iteration) / self._checkpoints[-1])


def make_budget(task: Task) -> Budget:
    """The task's budget; ParameterError when it does not suit the method."""
    algorithm = task.algorithm
    if task.seconds is not None:
        if MethodFacts(algorithm).plans:
            raise ParameterError(
                f"{algorithm.name} must know the number of iterations beforehand: "
                f"set budget.epochs or budget.iterations in place of budget.seconds."
            )
        times = task.seconds * np.logspace(-DECADES, 0.0, task.checkpoints)
        return Budget([*times[:-1], task.seconds], in_seconds=True)
    if task.iterations is not None:
        total = task.iterations
    elif task.epochs is None and task.access is Access.full and MethodFacts(algorithm).done is not None:
        total = MAX_PASSES
    else:
        passes = default_passes(len(task.y)) if task.epochs is None else task.epochs
        total = max(1, round(passes * (len(task.y) / task.rows_per_iteration)))
    if total > MAX_ITERATIONS:
        raise ParameterError(f"budget: {total:.3g} iterations cannot be counted; 2^53 are the most.")
    return Budget(log_spaced(total, task.checkpoints))


@lru_cache
def log_spaced(iterations: int, count: int) -> tuple[int, ...]:
    """At most `count` distinct iterations from 1 to `iterations`, evenly spaced in the logarithm."""
    points = np.unique(np.rint(np.geomspace(1, iterations, count)).astype(np.int64))
    return (*(int(point) for point in points[:-1] if point < iterations), iterations)
