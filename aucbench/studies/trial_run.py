"""How fast a method is, tried on a few rows in a process of its own: plugins may hang or exit."""

import contextlib
import pickle
from dataclasses import replace
from multiprocessing.connection import Connection
from time import perf_counter
from typing import NamedTuple

import numpy as np

from aucbench.contracts import Access
from aucbench.data.preprocess import prepare
from aucbench.data.splits import Side, Split
from aucbench.processes import ChildProcess, forking_context, limited_memory
from aucbench.runner.cell import run_cell
from aucbench.runner.task import Task, rows_per_iteration
from aucbench.studies.entry import Entry
from aucbench.studies.workshop import Workshop

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

    def __enter__(self) -> "TrialRuns":
        return self

    def __exit__(self, *error: object) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def speed(self, entry: Entry, split_seed: int, fold: int) -> Speed | None:
        """How fast a method is; None where it cannot be tried on some rows.

        Parameters
        ----------
        entry : Entry
            Whose method, data and scaling are tried.
        split_seed, fold : int
            Of the split whose rows are taken.
        """
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
    split = Workshop().split(entry, split_seed, fold)
    few = Split(_some(split.train), _some(split.test))
    settings = entry.settings
    arrays = prepare(
        few, entry.scaling, entry.features.instance, settings.dtype, split_seed, settings.rescale
    )
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
