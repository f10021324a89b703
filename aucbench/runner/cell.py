"""One cell: a method with fixed hyper-parameters trained on one split in one order, measured as it goes."""

import contextlib
import copy
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from aucbench.contracts import Access, Batch, Problem
from aucbench.data import memory
from aucbench.errors import DataError, ParameterError
from aucbench.kernels import layout
from aucbench.runner.checkpoints import Scorer, log_spaced
from aucbench.runner.clock import Clock
from aucbench.runner.order import Order, RowSource
from aucbench.runner.pacing import ByIterations, BySeconds, Pace
from aucbench.runner.states import is_finite, state_bytes

MAX_PASSES = 1_000  # of a full method that knows when it has converged
VECTORS = 6  # of d weights that a run holds at the least: the state's, a checkpoint's and their copies
CHUNK_ROWS = 1 << 20  # longest chunk, so that row numbers stay small and progress shows


class StopReason(StrEnum):
    """Why a run ended."""

    budget = "budget"
    converged = "converged"
    diverged = "diverged"


@dataclass(frozen=True)
class Task:
    """What a cell runs.

    Parameters
    ----------
    algorithm, loss : object
        Instances of plugins; loss None for a method that takes none.
    X, y, X_test, y_test
        Training and test rows and labels.
    epochs, iterations, seconds, checkpoints
        The budget; all three None: one epoch, or until converged.
    order : Order
        Order of the visits.
    seed, order_seed : int
        Of the method's generator and of the order.
    """

    algorithm: Any
    loss: Any
    X: Any
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]
    epochs: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    checkpoints: int = 50
    order: Order = Order.shuffled
    seed: int = 0
    order_seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a cell; the curve arrays have one value per checkpoint.

    `layout` says whether a step touches all weights (eager) or those of its row (lazy): the state's own word,
    else what the kernels choose for such rows.
    """

    iteration: NDArray[np.int64]
    samples: NDArray[np.int64]
    train_seconds: NDArray[np.float64]
    cpu_seconds: NDArray[np.float64]
    auc: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    iterations: int
    total_seconds: float
    total_cpu_seconds: float
    state_bytes: int
    layout: str
    stop_reason: StopReason


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def run_cell(task: Task, progress: Callable[[float], None] = lambda share: None) -> Outcome:
    """Train and measure.

    Parameters
    ----------
    task : Task
        What to run.
    progress : callable
        Told the share of the budget spent, from 0 to 1.

    Raises
    ------
    ParameterError
        The budget, the order or the data do not suit the method.
    """
    source, pace = _plan(task)
    warm(task)
    scorer = Scorer(task.algorithm, task.X_test, task.y_test)
    # One BLAS thread while the clock runs: serial and parallel timings must be comparable. NumPy's warnings
    # of overflow say less than the verdict `diverged`.
    with _threadpools().limit(limits=1), np.errstate(all="ignore"):
        return _train(task, source, pace, scorer, progress)


def _plan(task: Task) -> tuple[RowSource, Pace]:
    algorithm, n = task.algorithm, len(task.y)
    access = Access(algorithm.access)
    _check_requirements(algorithm, task.X)
    _check_memory(task.X.shape[1])
    size = int(algorithm.batch_size(n)) if access is Access.minibatch else 1
    source = RowSource(access, task.y, task.order, task.order_seed, size)
    if task.seconds is not None:
        if getattr(algorithm, "plans", False):
            raise ParameterError(
                f"{algorithm.name} must know the number of iterations beforehand: "
                f"set budget.epochs or budget.iterations in place of budget.seconds."
            )
        return source, BySeconds(task.seconds, task.checkpoints)
    per_epoch = 1.0 if access is Access.full else n / size
    if task.iterations is not None:
        total = task.iterations
    elif task.epochs is None and access is Access.full and hasattr(algorithm, "done"):
        total = MAX_PASSES
    else:
        total = max(1, round((task.epochs or 1.0) * per_epoch))
    return source, ByIterations(total, log_spaced(total, task.checkpoints))


def _check_requirements(algorithm: Any, X: Any) -> None:
    needs = getattr(algorithm, "requires", {})
    if "dense" in needs and sparse.issparse(X):
        raise ParameterError(f"{algorithm.name} needs dense rows: {needs['dense']}")


def _check_memory(n_features: int) -> None:
    needed, available = VECTORS * 8 * n_features, memory.available()
    if needed > available:
        raise DataError(
            f"{n_features:,} features need at least {needed / 1e9:.1f} GB for {VECTORS} vectors of weights, "
            f"and {available / 1e9:.1f} GB are available; use features=projection or subset, "
            f"or look for a wrong index in the data."
        )


def warm(task: Task) -> None:
    """Compile or load every kernel the cell will use, on a few rows of the same types."""
    y = task.y
    few = np.sort(np.concatenate([np.flatnonzero(y == 1)[:8], np.flatnonzero(y == -1)[:8]]))
    X_few, y_few = task.X[few], y[few]
    if isinstance(X_few, np.ndarray):  # read-only rows are another type to the compiler
        X_few.flags.writeable = task.X.flags.writeable
    algorithm = task.algorithm
    # A method may rightly refuse a problem this small; what is wrong with it shows in the run itself.
    with contextlib.suppress(Exception):
        access = Access(algorithm.access)
        size = int(algorithm.batch_size(len(few))) if access is Access.minibatch else 1
        rows = RowSource(access, y_few, batch_size=size).take(4)
        state = algorithm.init(Problem(X_few, y_few, len(rows), task.loss), np.random.default_rng(0))
        state = algorithm.step(state, Batch(X_few, y_few, rows, access))
        scorer = Scorer(algorithm, X_few, y_few)
        scorer.add(_finalized(algorithm, state, Clock()))
        scorer.aucs()


def _train(
    task: Task, source: RowSource, pace: Pace, scorer: Scorer, progress: Callable[[float], None]
) -> Outcome:
    algorithm, clock = task.algorithm, Clock()
    batch = Batch(task.X, task.y, source.take(0), algorithm.access)
    problem = Problem(task.X, task.y, pace.total, task.loss)
    generator = np.random.default_rng(task.seed)
    curve: list[tuple[int, float, float]] = []
    iteration, reason = 0, StopReason.budget
    with clock:
        state = algorithm.init(problem, generator)
    while True:
        due = pace.next_chunk(iteration, clock.seconds)
        if due is None:
            break
        chunk = batch.take(source.take(min(due, CHUNK_ROWS)))
        with clock:
            state = algorithm.step(state, chunk)
        if not is_finite(algorithm, state):
            reason = StopReason.diverged
            iteration = _first_bad_iteration(task, pace, iteration, len(chunk))
            break
        iteration += len(chunk)
        converged = hasattr(algorithm, "done") and algorithm.done(state)
        if converged or pace.is_checkpoint(iteration, clock.seconds):
            # A checkpoint's own finalize counts for that checkpoint, not for the ones after it.
            here = clock.copy()
            scorer.add(_finalized(algorithm, state, here))
            curve.append((iteration, here.seconds, here.cpu_seconds))
        progress(pace.share(iteration, clock.seconds))
        if converged:
            reason = StopReason.converged
            break
    per_iteration = {Access.pairs: 2, Access.full: len(task.y)}.get(
        batch.access, chunk.rows.shape[-1] if batch.access is Access.minibatch else 1
    )
    aucs = scorer.aucs()
    unknown = np.flatnonzero(np.isnan(aucs))
    if len(unknown):  # the model is finite but its scores are not numbers: it has no AUC from there on
        reason, iteration = StopReason.diverged, curve[unknown[0]][0]
        curve, aucs = curve[: unknown[0]], aucs[: unknown[0]]
    marks = np.array([mark[0] for mark in curve], np.int64)
    end = clock if reason is StopReason.diverged else here
    return Outcome(
        iteration=marks,
        samples=marks * per_iteration,
        train_seconds=np.array([mark[1] for mark in curve]),
        cpu_seconds=np.array([mark[2] for mark in curve]),
        auc=aucs,
        weights=scorer.last_weights,
        iterations=iteration,
        total_seconds=end.seconds,
        total_cpu_seconds=end.cpu_seconds,
        state_bytes=state_bytes(state),
        layout=str(getattr(state, "layout", None) or layout(task.X)),
        stop_reason=reason,
    )


def _finalized(algorithm: Any, state: Any, clock: Clock) -> Any:
    if not hasattr(algorithm, "finalize"):
        return state
    with clock:
        return algorithm.finalize(state)


def _first_bad_iteration(task: Task, pace: Pace, start: int, length: int) -> int:
    """The first iteration after which the model is not finite, found by training once more up to there.

    How far a chunk reaches depends on the checkpoints; the iteration at which a method diverges does not.
    """
    algorithm = task.algorithm
    source, _ = _plan(task)
    batch = Batch(task.X, task.y, source.take(0), algorithm.access)
    state = algorithm.init(Problem(task.X, task.y, pace.total, task.loss), np.random.default_rng(task.seed))
    done = 0
    while done < start:
        chunk = batch.take(source.take(min(start - done, CHUNK_ROWS)))
        state = algorithm.step(state, chunk)
        done += len(chunk)
    rows = source.take(length)
    while len(rows) > 1:
        half = len(rows) // 2
        trial = algorithm.step(copy.deepcopy(state), batch.take(rows[:half]))
        if is_finite(algorithm, trial):
            state, rows, start = trial, rows[half:], start + half
        else:
            rows = rows[:half]
    return start + 1
