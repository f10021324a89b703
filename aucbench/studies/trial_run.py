"""How long an iteration takes, tried on a few rows in a process of its own: plugins may hang or exit."""

import contextlib
import pickle
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np

from aucbench.contracts import Access
from aucbench.data.preprocess import prepare
from aucbench.data.splits import Side, Split
from aucbench.entry import Entry
from aucbench.processes import ChildProcess, forking_context, limited_memory
from aucbench.runner.cell import run_cell
from aucbench.runner.task import Task
from aucbench.studies.workshop import Workshop

SAMPLE_ROWS = 2_000
SAMPLE_SECONDS = 0.05  # of training, where the method can be given a time
WAIT_SECONDS = 20.0  # for the trial run, compiling included


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

    def seconds(self, entry: Entry, split_seed: int, fold: int) -> float | None:
        """Seconds per iteration; None where the method cannot be tried on some rows, or hangs.

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
        with contextlib.suppress(EOFError, OSError):
            connection.send_bytes(pickled)
            if connection.poll(wait):
                found: float | None = connection.recv()
                return found
        self.__exit__()
        return None


def _serve(connection: Connection) -> None:
    while True:
        try:
            pickled = connection.recv_bytes()
        except EOFError:
            return
        found = None
        with contextlib.suppress(Exception):
            found = _seconds(*pickle.loads(pickled))
        connection.send(found)


def _seconds(entry: Entry, split_seed: int, fold: int) -> float:
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
    is_full = Access(algorithm.access) is Access.full
    planned = getattr(algorithm, "plans", False) or is_full
    timed = replace(task, epochs=1.0) if planned else replace(task, seconds=SAMPLE_SECONDS)
    with limited_memory(entry.limits.memory, 1, worker=True):
        run_cell(timed)  # what it compiles beyond the warming is not to be measured
        outcome = run_cell(timed)
    per_row = len(split.train.y) / len(few.train.y) if is_full else 1.0
    return outcome.total_seconds / max(1, outcome.iterations) * per_row


def _some(side: Side) -> Side:
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    step = max(1, len(rows) // SAMPLE_ROWS)
    # Contiguous: strided labels would make the kernels compile anew.
    return Side(side.X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))
