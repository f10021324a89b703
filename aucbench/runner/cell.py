"""One cell: a method with fixed hyper-parameters trained on one split in one order, measured as it goes."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from aucbench.contracts import Access, Batch, Problem
from aucbench.data import memory
from aucbench.errors import DataError, ParameterError
from aucbench.runner.budget import Pace, pace_of
from aucbench.runner.clock import Clock
from aucbench.runner.sampler import RowSource, source_of
from aucbench.runner.scorer import Scorer
from aucbench.runner.state import is_finite
from aucbench.runner.task import Outcome, StopReason, Task
from aucbench.runner.trainer import Training, Watch, finalized, method_generator

__all__ = ["Outcome", "StopReason", "Task", "run_cell", "warm"]

VECTORS = 6  # of d weights that a run holds at the least: the state's, a checkpoint's and their copies
CHUNK_ROWS = 1 << 20  # longest chunk, so that row numbers stay small and progress shows


def run_cell(
    task: Task, progress: Callable[[float], None] = lambda share: None, watch: Watch | None = None
) -> Outcome:
    """Train and measure.

    Parameters
    ----------
    task : Task
        What to run.
    progress : callable
        Told the share of the budget spent, from 0 to 1, after every chunk; what it raises ends the run.
    watch : callable, optional
        Told the number of a checkpoint, from 0, and its AUC as soon as it is measured. When it returns True
        the run ends as `pruned`, at the last checkpoint too. The AUC is the same with and without it.

    Raises
    ------
    ParameterError
        The budget, the order or the data do not suit the method.
    """
    check_requirements(task)
    check_memory(task.X.shape[1])
    pace, source = pace_of(task), source_of(task)
    warm(task)
    scorer = Scorer(task.X_test, task.y_test)
    with quiet():
        batch = Batch(task.X, task.y, source.take(0), task.algorithm.access)
        training = Training(task, pace, scorer, Problem(task.X, task.y, pace.total, task.loss), watch)
        while (due := training.next_chunk()) is not None:
            start, chunk = training.iteration, batch.take(source.take(min(due, longest_chunk(task))))
            training.advance(chunk)
            if training.reason is StopReason.diverged:
                training.iteration = first_bad_iteration(task, pace, start, len(chunk))
            else:
                progress(training.share)
        return training.outcome()


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """One BLAS thread, as serial and parallel timings must be comparable; no warnings of overflow.

    NumPy's warnings say less than the verdict `diverged`.
    """
    with _threadpools().limit(limits=1), np.errstate(all="ignore"):
        yield


def longest_chunk(task: Task) -> int:
    """Iterations given to a method at once; a full method is asked after each whether it has converged."""
    may_end = Access(task.algorithm.access) is Access.full and hasattr(task.algorithm, "done")
    return 1 if may_end else CHUNK_ROWS


def check_requirements(task: Task) -> None:
    """Refuse rows that the method cannot take."""
    needs = getattr(task.algorithm, "requires", {})
    if "dense" in needs and sparse.issparse(task.X):
        raise ParameterError(f"{task.algorithm.name} needs dense rows: {needs['dense']}")


def check_memory(n_features: int) -> None:
    """Refuse weights that memory cannot hold."""
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
        scorer = Scorer(X_few, y_few)
        final = finalized(algorithm, state, Clock())
        for models in (1, 2):  # one model and many are scored by different kernels
            scorer.auc([scorer.add(algorithm, final)[0] for _ in range(models)][-1])


def first_bad_iteration(task: Task, pace: Pace, start: int, length: int) -> int:
    """The first iteration after which the model is not finite, found by training once more up to there.

    How far a chunk reaches depends on the checkpoints; the iteration at which a method diverges does not.
    """
    algorithm, source = task.algorithm, source_of(task)
    batch = Batch(task.X, task.y, source.take(0), algorithm.access)
    state = algorithm.init(Problem(task.X, task.y, pace.total, task.loss), method_generator(task))
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
