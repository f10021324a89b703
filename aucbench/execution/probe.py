"""A probe: short runs of a method on some rows of a data set, in a process of the pool."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench.contracts import Access
from aucbench.data.preprocess import Prepared
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import ParameterError
from aucbench.execution.prepared_data import PreparedData, prepare_split, size_of
from aucbench.execution.work_units import CellUnit
from aucbench.execution.worker import task_of
from aucbench.pool import limited_memory
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Outcome, StopReason, Task
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import Seeds
from aucbench.studies.tuners import Point

SAMPLE_BYTES = 1 << 26  # rows that are prepared; fewer would fit the processor's cache
MAPPED_ROWS = 5_000  # rows that a feature map makes wider
SETTINGS = 16  # settings of a tuning that are trained together
FIRST, GROWTH = 8, 8  # iterations of the first runs, and times that the next have
MOST_REFUSED = 1 << 16  # iterations that a method may refuse as too few
FEWEST_ROWS, MOST_ROWS = 256, 4_096  # of the runs of a method that passes over all rows in each iteration
LEAST_POWER, MOST_POWER = 1.0, 1.5  # of the rows with which the seconds of such a method grow
WAITS = 5.0  # times its processor time that a run must last to count as one that waits


class Speed(NamedTuple):
    """Seconds that a method takes."""

    iteration: float
    row: float  # per training row, once in a run; of a method on all rows the whole run
    point_row: float  # per training row, for each checkpoint but the last
    trial_iteration: float  # of a setting of a tuning, in its share of those that train together
    trial_row: float
    map_row: float  # per training row of a split, for the feature map
    row_bytes: float  # of a prepared row
    rows: float  # of the run of a method on all rows
    power: float  # of the rows, for such a method


def probe(entry: Entry, seeds: Seeds, points: Sequence[Point], seconds: float) -> Speed:
    """Find the speed of a method on one of its splits, in about that many seconds without compiling."""
    cell = CellUnit("", (), entry, seeds)
    prepared, mapping = _sample(entry, seeds)
    rows = len(prepared.y)
    step = max(1, len(points) // SETTINGS)
    groups = [[task_of(cell, prepared, points[len(points) // 2] if points else {}, 1)]]
    if points:
        groups.append([])
        for setting in points[::step][:SETTINGS]:
            with contextlib.suppress(ParameterError):  # values that do not go together
                groups[1].append(task_of(cell, prepared, setting, 1))
    checkpoints = entry.budget.checkpoints
    with limited_memory(entry.limits.memory, 1, worker=True):
        if Access(entry.algorithm.instance.access) is Access.full:
            alone, count, power = _solve(groups[0], seconds / len(groups))
            together = _solve(groups[1], seconds / 2)[0] / len(groups[1]) if points else 0.0
            found = (0.0, alone, 0.0, 0.0, together)
        else:
            iteration, iterations = _line(groups[0], seconds / len(groups))
            once = max(0.0, _warm(groups[0], iterations) - iteration * iterations)
            more = _seconds(groups[0], iterations, checkpoints) - iteration * iterations - once
            point = max(0.0, more) / max(1, min(checkpoints, iterations) - 1)
            of_trial = _line(groups[1], seconds / 2)[0] / len(groups[1]) if points else 0.0
            found, count, power = (iteration, once / rows, point / rows, of_trial, once / rows), rows, 1.0
    row_bytes = size_of(prepared.X) / prepared.X.shape[0]
    return Speed(*found, mapping, row_bytes, count, power)


_data = PreparedData()  # of this process
_samples: dict[str, tuple[Prepared, float]] = {}


def _sample(entry: Entry, seeds: Seeds) -> tuple[Prepared, float]:
    """Some prepared rows of a split, the latest of which are kept, and what mapping a row took."""
    where = str((entry.dataset.description, entry.features.description, entry.scaling, entry.settings, seeds))
    if where not in _samples:
        split = _data.split(entry, seeds.split_seed, seeds.fold)
        is_mapped = entry.features.name != "identity"
        few = Split(_some(split.train, is_mapped), _some(split.test, is_mapped))
        with threadpool_limits(1):
            begun = process_time()
            prepared = prepare_split(entry, few, seeds.split_seed)
        _samples.clear()
        taken = (process_time() - begun) / len(few.train.y) if is_mapped else 0.0
        _samples[where] = prepared, taken
    return _samples[where]


def _some(side: Side, is_mapped: bool) -> Side:
    X = side.X
    row = X.nnz / X.shape[0] * 12 if sparse.issparse(X) else X.shape[1] * 8
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    most = min(SAMPLE_BYTES / row, MAPPED_ROWS if is_mapped else np.inf)
    step = int(np.ceil(len(rows) / most)) or 1
    # Contiguous: strided labels would make the kernels compile anew.
    return Side(X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


def _line(tasks: Sequence[Task], seconds: float) -> tuple[float, int]:
    """Seconds of an iteration, from the two longest of longer and longer runs, and the length of the longest.

    Settings that diverge, of which a wide grid has many, are left out of the others.
    """
    X, y = tasks[0].X_test[:FEWEST_ROWS], tasks[0].y_test[:FEWEST_ROWS].copy()
    y[0], y[-1] = -1.0, 1.0  # both classes
    tasks = [replace(task, X_test=X, y_test=y) for task in tasks]
    fewer = FIRST
    while True:
        try:
            tasks = _lasting(tasks, fewer)
            break
        except ParameterError:
            if fewer > MOST_REFUSED:
                raise
            fewer *= GROWTH
    if not tasks:
        return 0.0, fewer
    end, less = perf_counter() + seconds, _warm(tasks, fewer)
    if perf_counter() + 2.0 * GROWTH * less > end:
        return less / fewer, fewer  # a slow method, beside which starting costs little
    while True:
        more = GROWTH * fewer
        taken = _warm(tasks, more)
        each = max(0.0, taken - less) / (more - fewer)
        is_settled = each * more > 0.5 * taken > 0.05 * seconds
        if is_settled or perf_counter() + 2.0 * (taken + GROWTH * more * each) > end:
            return each, more
        fewer, less = more, taken


def _lasting(tasks: Sequence[Task], iterations: int) -> list[Task]:
    """The tasks that have not diverged by then; the run compiles what they need."""
    outcomes = _run(_of_length(tasks, iterations, 1))
    return [
        task
        for task, outcome in zip(tasks, outcomes, strict=True)
        if not isinstance(outcome, Exception) and outcome.stop_reason is not StopReason.diverged
    ]


def _warm(tasks: Sequence[Task], iterations: int) -> float:
    """Seconds of a run whose kernels are compiled: the better of two, as the first may compile."""
    return min(_seconds(tasks, iterations), _seconds(tasks, iterations))


def _solve(tasks: Sequence[Task], seconds: float) -> tuple[float, int, float]:
    """Seconds per row of a run on all of some rows, how many these were, and the power of the rows."""
    size = min(len(tasks[0].y), FEWEST_ROWS)
    _seconds(_on_rows(tasks, size))  # compiles
    end, tried = perf_counter() + seconds, [(size, _seconds(_on_rows(tasks, size)))]
    while size < min(len(tasks[0].y), MOST_ROWS) and perf_counter() + 3 * tried[-1][1] < end:
        size = min(len(tasks[0].y), 2 * size)
        tried.append((size, _seconds(_on_rows(tasks, size))))
    power = LEAST_POWER
    if len(tried) > 1:
        (fewer, less), (more, taken) = tried[-2:]
        power = float(np.clip(np.log(taken / less) / np.log(more / fewer), LEAST_POWER, MOST_POWER))
    return tried[-1][1] / size, size, power


def _on_rows(tasks: Sequence[Task], count: int) -> list[Task]:
    """The tasks on so many of their training rows, drawn at random."""
    few = np.sort(np.random.default_rng(0).permutation(len(tasks[0].y))[:count])
    X, y = tasks[0].X[few], tasks[0].y[few]
    return [replace(task, X=X, y=y) for task in tasks]


def _seconds(tasks: Sequence[Task], iterations: int | None = None, checkpoints: int = 1) -> float:
    """Seconds of tasks together; those in which other processes compute do not count."""
    if iterations is not None:
        tasks = _of_length(tasks, iterations, checkpoints)
    begun, begun_cpu = perf_counter(), process_time()
    _run(tasks)
    seconds, cpu = perf_counter() - begun, process_time() - begun_cpu
    return seconds if seconds > WAITS * cpu else cpu


def _of_length(tasks: Sequence[Task], iterations: int, checkpoints: int) -> list[Task]:
    return [
        replace(task, iterations=iterations, epochs=None, seconds=None, checkpoints=checkpoints)
        for task in tasks
    ]


def _run(tasks: Sequence[Task]) -> Sequence[Outcome | Exception]:
    """The outcome of each task; where all failed, the first error is raised."""
    outcomes = run_grid(tasks) if len(tasks) > 1 else [run_cell(tasks[0])]
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    if len(errors) == len(outcomes):
        raise errors[0]
    return outcomes
