"""The cost of a study in passes, time and memory, from what the store measured or from a short trial run."""

import contextlib
import pickle
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from aucbench.contracts import Access
from aucbench.data.splits.protocols import Side, Split
from aucbench.execution.plan import Plan, PlannedEntry
from aucbench.execution.prepared_data import PreparedData, prepare_split
from aucbench.execution.search_progress import points_of
from aucbench.processes import ChildProcess, forking_context, limited_memory
from aucbench.runner.cell import run_cell
from aucbench.runner.task import DEFAULT_EPOCHS, Task, rows_per_iteration
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.store import Store

SAMPLE_ROWS = 2_000
SAMPLE_SECONDS = 0.05  # of training, after which longer runs are not tried
ITERATIONS = (1, 1, 16, 256, 4_096)  # of the runs that are tried; the first one compiles
WAIT_SECONDS = 20.0  # for the trial run, compiling included


class Speed(NamedTuple):
    """Seconds of an iteration and of a checkpoint; infinite for a method that does not end."""

    iteration: float
    checkpoint: float


class TrialRuns:
    """Trial runs in one process of its own, which is replaced when a method hangs or ends it."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def speed(self, entry: Entry, split_seed: int, fold: int) -> Speed | None:
        """How fast an entry's method is on some rows of a split; None where it cannot be tried."""
        try:
            pickled = pickle.dumps((entry, split_seed, fold))
        except Exception:  # a plugin of this process alone, such as one typed in at a prompt
            return None
        if self._child is None:
            self._child = ChildProcess(forking_context(), _serve)
        limit = entry.limits.seconds
        wait = WAIT_SECONDS if limit is None else min(WAIT_SECONDS, limit + entry.limits.grace)
        connection = self._child.connection
        try:
            connection.send_bytes(pickled)
            if connection.poll(wait):
                found: Speed | None = connection.recv()
                return found
            ended = Speed(float("inf"), float("inf"))
        except (EOFError, OSError):
            ended = None
        self.__exit__()
        return ended


def _serve(connection: Connection) -> None:
    while True:
        try:
            pickled = connection.recv_bytes()
        except EOFError:
            return
        found = None
        with contextlib.suppress(Exception):
            found = _speed(*pickle.loads(pickled))
        connection.send(found)


def _speed(entry: Entry, split_seed: int, fold: int) -> Speed:
    split = PreparedData().split(entry, split_seed, fold)
    few = Split(_some(split.train), _some(split.test))
    arrays = prepare_split(entry, few, split_seed)
    algorithm = entry.algorithm.instance
    task = Task(
        algorithm=algorithm,
        loss=entry.loss.instance if entry.loss else None,
        X=arrays.X,
        y=arrays.y,
        X_test=arrays.X_test,
        y_test=arrays.y_test,
        checkpoints=1,
    )
    rows = len(few.train.y)
    epoch = max(1, round(rows / rows_per_iteration(algorithm, rows)))
    with limited_memory(entry.limits.memory, 1, worker=True):
        for number, iterations in enumerate(ITERATIONS):
            begun = perf_counter()
            outcome = run_cell(replace(task, iterations=min(iterations, epoch)))
            seconds = perf_counter() - begun
            if number and (iterations >= epoch or outcome.total_seconds > SAMPLE_SECONDS):
                break
    is_full = Access(algorithm.access) is Access.full
    per_row = len(split.train.y) / rows if is_full else 1.0
    checkpoints = (seconds - outcome.total_seconds) / len(outcome.iteration)
    return Speed(outcome.total_seconds / max(1, outcome.iterations) * per_row, max(0.0, checkpoints))


def _some(side: Side) -> Side:
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    step = max(1, len(rows) // SAMPLE_ROWS)
    # Contiguous: strided labels would make the kernels compile anew.
    return Side(side.X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


@dataclass(frozen=True)
class Estimate:
    """What it takes to run what is left of an entry."""

    trainings: int  # cells and trials of their tunings
    passes: float  # over the training rows
    seconds: float | None  # of one core; None where the method could not be tried
    memory: int  # bytes of the prepared arrays of one worker
    measured: bool  # whether the speed is that of finished cells, not of a trial run


def estimate(plan: Plan, store: Store, prepared_data: PreparedData) -> list[Estimate]:
    """The estimate of every entry of a plan."""
    speeds = _speeds(store)

    def of_entry(planned: PlannedEntry) -> Estimate:
        entry = planned.entry
        wanted = [cell for cell in planned.cells if cell.is_wanted(plan.only_failed)]
        if not wanted:
            return Estimate(0, 0.0, 0.0, 0, True)
        split_seed, fold = wanted[0].seeds.split_seed, wanted[0].seeds.fold
        split = prepared_data.split(entry, split_seed, fold)
        rows = len(split.train.y)
        trainings = len(wanted)
        if entry.tuning.chooses:
            folds = prepared_data.inner_folds(entry, split_seed, fold)
            for search in {cell.search for cell in wanted if cell.search}:
                settings = len(points_of(entry, search)) or entry.tuning.choice.trials
                trainings += max(0, settings * folds - len(store.trials(search.key)))
        measured = speeds.get((entry.algorithm.name, entry.dataset.title))
        iteration = measured
        if measured is None and (speed := trial_runs.speed(entry, split_seed, fold)) is not None:
            iteration = speed.iteration if np.isfinite(speed.iteration) else None
        each = entry.budget.seconds or (None if iteration is None else iteration * iterations_of(entry, rows))
        return Estimate(
            trainings,
            trainings * _passes(entry, rows),
            None if each is None else each * trainings,
            _bytes(split, str(entry.settings.dtype)),
            measured is not None,
        )

    with TrialRuns() as trial_runs:
        return [of_entry(planned) for planned in plan.entries]


def iterations_of(entry: Entry, rows: int) -> float:
    """Iterations of one training on that many rows; for a budget in seconds as if it were an epoch."""
    if entry.budget.iterations is not None:
        return entry.budget.iterations
    return _passes(entry, rows) * rows / rows_per_iteration(entry.algorithm.instance, rows)


def _passes(entry: Entry, rows: int) -> float:
    """Passes over the training rows in one training; one for a budget in seconds."""
    budget = entry.budget
    if budget.iterations is not None:
        return budget.iterations * rows_per_iteration(entry.algorithm.instance, rows) / rows
    return budget.epochs or (1.0 if budget.seconds else DEFAULT_EPOCHS)


def _bytes(split: Split, dtype: str) -> int:
    size = np.dtype(dtype).itemsize
    total = 0
    for side in (split.train, split.test):
        X: Any = side.X
        per_row = X.nnz / X.shape[0] * (size + 4) + 4 if sparse.issparse(X) else X.shape[1] * size
        total += int(len(side.y) * per_row)
    return total


def _speeds(store: Store) -> dict[tuple[str, str], float]:
    """Median seconds of an iteration of finished cells, by method and data set."""
    found: dict[tuple[str, str], list[float]] = {}
    for cell in store:
        key = (cell.record.algorithm.name, cell.record.dataset.title)
        found.setdefault(key, []).append(cell.record.result.ns_per_iteration * 1e-9)
    return {key: float(np.median(values)) for key, values in found.items()}
