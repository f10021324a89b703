"""One cell: a method with fixed hyperparameters trained on one split in one order, measured as it goes."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from time import thread_time
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from aucbench.contracts import Access, Batch, MethodFacts
from aucbench.data.memory import check_width
from aucbench.errors import ParameterError, PluginError
from aucbench.evaluation.delong import block_deviations
from aucbench.humanize import sentence_of
from aucbench.kernels.jit import NotCompiledError, no_compilation
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.scorer import Scorer
from aucbench.runner.task import Outcome, StopReason, Task, make_budget, rows_of
from aucbench.runner.trainer import Trainer, finalize

FEW = 8  # rows of each class in a warm-up
KEPT_KINDS = 4096  # compiled tasks remembered
WORTH_COMPILING = 30.0  # seconds of training alone; compiling for many settings takes 3 to 14 s
SAMPLE_SECONDS = 2e-3  # shortest training from which the cost is estimated
CHUNK_ROWS = 1 << 20  # longest chunk: row numbers stay small and progress is reported

_compiled: dict[tuple[Any, ...], str] = {}  # kinds of tasks that this process has warmed up, and errors


def run_cell(task: Task, progress: Callable[[float], None] = lambda fraction: None) -> Outcome:
    """Compile, train up to each checkpoint in turn, and measure there.

    `progress` gets the fraction of the budget spent, from 0 to 1, after every chunk; its exceptions end the
    run. A budget, an order or data that do not suit the method are a `ParameterError`.
    """
    check_requirements(task)
    check_width(task.X.shape[1])
    budget, next_batch = make_budget(task), batch_sampler(task)
    warm_up = compile_kernels(task)
    with training_context():
        scorer = Scorer(task.X_test, task.y_test, task.measures)
        trainer = Trainer(task, budget, scorer, task.problem(budget.iterations))
        for batch in batches(trainer, next_batch):
            trainer.advance(batch)
            progress(trainer.fraction)
        outcome = replace(trainer.outcome(), warm_up=warm_up)
        if outcome.stop_reason is StopReason.diverged:
            return outcome
        scores, blocks = scorer.scores(), task.blocks
        return replace(
            outcome,
            placements=None if blocks is None else block_deviations(scores, task.y_test, blocks),
            scores=scores if outcome.weights is None else None,
            model=_model(task.algorithm, trainer.final) if task.keep_model else None,
        )


def _model(algorithm: Any, state: Any) -> bytes | None:
    """The model as bytes, if the method provides it."""
    if MethodFacts(algorithm).model is None:
        return None
    model = algorithm.model(state)
    if not isinstance(model, bytes):
        raise PluginError(f"{algorithm.name}: `model` must return bytes, got {type(model).__name__}")
    return model


def batches(trainer: Trainer, next_batch: Callable[[int], Batch]) -> Iterator[Batch]:
    """The batches until the run ends; the trainer must advance along each before the next is drawn."""
    longest = max_chunk(trainer.task)
    while (chunk := trainer.next_chunk()) is not None:
        yield next_batch(min(chunk, longest))


def check_requirements(task: Task) -> None:
    """Refuse rows that the method cannot take."""
    needs = MethodFacts(task.algorithm).requires
    if "dense" in needs and sparse.issparse(task.X):
        raise ParameterError(f"{task.algorithm.name} needs dense rows: {needs['dense']}")


def compile_kernels(task: Task) -> str:
    """Compile or load every kernel the cell will use; returns the error that ended the warm-up, or "".

    A method of access `minibatch` or `balanced`, or one that declares `wait`, trains on real rows, since
    compilers such as XLA's make code for one shape of arrays; others train on a few rows of the same types.
    Nothing is done if this process has lately warmed up a task of the same kind, such as a run of the same
    entry with another seed.
    """
    kind = _kind_of(task)
    if kind not in _compiled:
        message = ""
        try:
            _warm_up(task)
        except Exception as error:  # a method may refuse few rows; other errors show in the run itself
            message = sentence_of(error)
        if len(_compiled) == KEPT_KINDS:
            _compiled.clear()
        _compiled[kind] = message
    return _compiled[kind]


def _warm_up(task: Task) -> None:
    """Train throw-away states for some iterations, and score them."""
    small, algorithm = _few_rows(task), task.algorithm
    waits = MethodFacts(algorithm).wait is not None
    real = task if waits or task.access in (Access.minibatch, Access.balanced) else small
    count = 1 if real is task and task.access is Access.full else _fewest(algorithm)
    batch = batch_sampler(real)(count)
    # On few rows, the planned number of iterations is the length of the batch.
    planned = make_budget(task).iterations if real is task else len(batch)
    state = algorithm.step(algorithm.init(real.problem(planned), real.generator()), batch)
    if waits:
        algorithm.wait(state)
    scorer, final = Scorer(small.X, small.y, task.measures), finalize(algorithm, state)
    for models in (1, 2):  # one model and many are scored by different kernels
        scorer.values([scorer.add(algorithm, final)[0] for _ in range(models)][-1])


def trains_together(task: Task, settings: int) -> bool:
    """Whether a method trains this number of settings at once, with kernels compiled or worth compiling.

    Without kernels on disk, settings train at once only if training them one by one takes long enough.
    """
    algorithm, facts = task.algorithm, MethodFacts(task.algorithm)
    if facts.together is None or settings < max(2, facts.min_together):
        return False
    small = _few_rows(task)

    def step_together() -> None:
        batch = batch_sampler(small)(_fewest(algorithm))
        states = [algorithm.init(small.problem(len(batch)), small.generator()) for _ in range(settings)]
        if (lockstep := type(algorithm).together([algorithm] * settings, states)) is not None:
            lockstep.step(batch)

    # Errors show in the run itself.
    with contextlib.suppress(Exception):
        try:
            with no_compilation():
                step_together()
        except NotCompiledError:
            if settings * _seconds_alone(small, make_budget(task).iterations or 0) < WORTH_COMPILING:
                return False
            step_together()
    return True


def _seconds_alone(small: Task, iterations: int) -> float:
    """Estimated seconds that the iterations of one setting take, from steps on the few rows."""
    algorithm, next_batch = small.algorithm, batch_sampler(small)
    count, seconds = _fewest(algorithm), 0.0
    state = algorithm.init(small.problem(iterations), small.generator())
    while seconds < SAMPLE_SECONDS and count <= iterations:
        count *= 4
        batch, start = next_batch(count), thread_time()
        state = algorithm.step(state, batch)
        seconds = thread_time() - start
    return seconds / count * iterations


def _few_rows(task: Task) -> Task:
    """The task on a few rows of the same types."""
    first = [np.flatnonzero(task.y == label)[:FEW] for label in (1, -1)]
    return replace(task, **rows_of(task, np.sort(np.concatenate(first)))._asdict())


def _fewest(algorithm: Any) -> int:
    """Iterations that call all kernels: some methods train when the second block of pairs is complete."""
    return max(4, 2 * MethodFacts(algorithm).block)


def _kind_of(task: Task) -> tuple[Any, ...]:
    """The properties that may determine the kernels of a task: method, setting, types and sizes of rows."""
    X, is_sparse = task.X, sparse.issparse(task.X)
    values, per_row = ([X.data, X.indices], f"{X.nnz / X.shape[0]:.1e}") if is_sparse else ([X], "")
    types = [(array.dtype, array.flags.writeable) for array in (*values, task.y)]
    plugins = [(type(plugin), repr(plugin)) for plugin in (task.algorithm, task.loss)]
    return *plugins, task.measures, X.shape, per_row, *types, task.weights is None


@contextlib.contextmanager
def training_context() -> Iterator[None]:
    """One BLAS thread, as serial and parallel timings must be comparable; no warnings of overflow.

    The stop reason `diverged` replaces NumPy's warnings.
    """
    with _threadpools().limit(limits=1), np.errstate(all="ignore"):
        yield


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def max_chunk(task: Task) -> int:
    """Most iterations per call of `step`; 1 for a full method that detects convergence."""
    return 1 if task.access is Access.full and MethodFacts(task.algorithm).done is not None else CHUNK_ROWS
