"""Estimates the cost of a training from short trial runs on the data itself, in a separate process."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench.contracts import Access
from aucbench.data.preprocess import Prepared
from aucbench.data.splits.inner import inner_split
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import AucbenchError, ParameterError
from aucbench.execution.prepared_data import PreparedData, prepare_split, size_of
from aucbench.execution.search_progress import iterations_of, settings_together
from aucbench.execution.work_units import CellUnit, TrialsUnit, Unit
from aucbench.execution.worker import task_of
from aucbench.pool import Pool, ProcessEnded, limited_memory
from aucbench.runner.budget_and_checkpoints import log_spaced, make_budget
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Outcome, StopReason, Task
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import Seeds
from aucbench.studies.tuners import Point

SAMPLE_BYTES = 1 << 28  # of the rows that are prepared; fewer would fit the processor's cache
MAPPED_ROWS = 20_000  # the same where a feature map makes rows that may be much wider
SAMPLE_SECONDS = 0.1  # of iterations, after which longer runs are not tried,
GRID_SECONDS = 0.5  # the same for settings together, some of which may diverge a little later,
REPEATED_SECONDS = 1.0  # of a run below which the better of two counts, as others disturb short runs most
SETTLED = 0.5  # least ratio of the seconds of an iteration in two runs that agree
LONGEST_SECONDS = 4.0  # and of runs in any case, as a grid may take long to begin with
WAITS = 5.0  # times its processor time that a run must last beside others' to count as one that waits
FEW_SETTINGS = 8  # of a grid that are tried where settings share nothing but the rows
MOST_REFUSED = 1 << 16  # iterations that a method may refuse as too few
GROWTH = 8  # from one number of iterations to the next, at most,
AIMED_SECONDS = 1.0  # and less where the run would take longer
FULL_SECONDS = 2.0  # the same as SAMPLE_SECONDS for a method that passes over all rows in every iteration
FEWEST_ROWS = 256  # of the runs of such a method
ENOUGH_ROWS = 4_096
LEAST_POWER, MOST_POWER = 1.0, 1.5  # of the rows with which its seconds may grow
START_SECONDS = 720.0  # to wait for the data, the compiler and the runs


class Price(NamedTuple):
    """Seconds of a training, its init and scoring included; infinite for a method that does not end."""

    cell: float
    trial: float = 0.0  # of one setting of a tuning, in its share of those that train together
    feature_map: float = 0.0  # of preparing a split where there is one, which all trainings on it share
    row_bytes: float = 0.0  # of a prepared row


class Request(NamedTuple):
    """What is to be tried."""

    entry: Entry
    seeds: Seeds
    points: Sequence[Point]  # settings of its tuning; none for a price of the cell alone


class Timed(NamedTuple):
    """A run of tasks together."""

    iterations: int
    seconds: float
    diverged: Sequence[bool] = ()


class TrialRuns:
    """Trial runs in one process of its own, which is replaced when a method hangs or ends it."""

    def __init__(self) -> None:
        self._pool = Pool()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()

    def price(self, entry: Entry, seeds: Seeds, points: Sequence[Point] = ()) -> Price | None:
        """What a training of an entry takes on one of its splits; None where it cannot be tried."""
        limit = entry.limits.seconds
        wait = START_SECONDS if limit is None else min(START_SECONDS, limit + entry.limits.grace)
        try:
            found: Price = self._pool.submit(_priced, Request(entry, seeds, points), seconds=wait).result()
        except ProcessEnded as ended:
            return Price(float("inf"), float("inf")) if ended.is_late else None
        except Exception:
            return None
        return found


def _priced(request: "Request") -> Price:
    return _price(request, _samples)


class _Samples:
    """Prepared rows of the latest data set, which several methods are tried on."""

    def __init__(self) -> None:
        self._data = PreparedData()
        self._prepared: dict[str, tuple[Prepared, float, float]] = {}

    def get(self, unit: Unit) -> tuple[Prepared, float, float]:
        """The rows of a unit, all of them if they are not too many, and how many times more it has.

        The third number is the seconds of mapping them all, if the unit has a feature map.
        """
        if unit.group not in self._prepared:
            entry, seeds = unit.entry, unit.seeds
            split = self._data.split(entry, seeds.split_seed, seeds.fold)
            if unit.inner is not None:
                split = inner_split(split, entry.tuning.choice.folds, seeds.split_seed, unit.inner)
            is_mapped = entry.features.name != "identity"
            few = Split(_some(split.train, is_mapped), _some(split.test, is_mapped))
            while len(self._prepared) > 1:
                del self._prepared[next(iter(self._prepared))]
            scale = len(split.train.y) / len(few.train.y)
            with threadpool_limits(1):
                if is_mapped:  # what is imported for it is imported now
                    with contextlib.suppress(AucbenchError):  # of a map that needs more rows
                        prepare_split(entry, Split(_head(few.train), _head(few.test)), seeds.split_seed)
                begun = process_time()
                prepared = prepare_split(entry, few, seeds.split_seed)
            mapping = max(0.0, process_time() - begun - prepared.features_seconds)
            # Of many rows, a feature map is learned on some.
            seconds = prepared.features_seconds + scale * mapping if is_mapped else 0.0
            self._prepared[unit.group] = prepared, scale, seconds
        return self._prepared[unit.group]


_samples = _Samples()  # of the process of the trial runs


def _head(side: Side) -> Side:
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    return Side(side.X, np.ascontiguousarray(side.y[:FEWEST_ROWS]), rows[:FEWEST_ROWS])


def _some(side: Side, is_mapped: bool) -> Side:
    X = side.X
    row = X.nnz / X.shape[0] * 12 if sparse.issparse(X) else X.shape[1] * 8
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    most = min(SAMPLE_BYTES / row, MAPPED_ROWS if is_mapped else np.inf)
    step = int(np.ceil(len(rows) / most)) or 1
    # Contiguous: strided labels would make the kernels compile anew.
    return Side(X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


def _price(request: Request, samples: _Samples) -> Price:
    """Price the cell, and the settings of its tuning as a unit of them would run."""
    entry, seeds, points = request
    middle = points[len(points) // 2] if points else {}
    prepared, scale, of_map = samples.get(cell := CellUnit("", (), entry, seeds))
    groups = [([task_of(cell, prepared, middle, entry.budget.checkpoints)], scale)]
    if points:
        prepared, scale, _ = samples.get(unit := TrialsUnit("", (), entry, seeds, 0, ()))
        trials = len(points) * entry.tuning.choice.folds
        together = settings_together(entry, iterations_of(entry, scale * len(prepared.y)), trials)
        chosen = _unit_of(entry.algorithm.instance, points, together)
        groups.append(([*_possible(unit, prepared, chosen)], scale))
    with limited_memory(entry.limits.memory, 1, worker=True):
        first = [_first_outcomes(tasks) for tasks, _ in groups]  # compiles
        cost = [
            _seconds(tasks, scale, outcomes) / len(tasks)
            for (tasks, scale), outcomes in zip(groups, first, strict=True)
        ]
    return Price(cost[0], sum(cost[1:]), of_map, size_of(prepared.X) / prepared.X.shape[0])


def _first_outcomes(tasks: Sequence[Task]) -> list[Outcome]:
    """Of tasks that did not fail, in runs of two iterations, or as few as the methods do not refuse.

    A method that passes over all rows in an iteration gets few of them.
    """
    if tasks[0].access is Access.full:
        tasks = _on_rows(tasks, FEWEST_ROWS)
    iterations = 2
    while True:
        try:
            outcomes = _outcomes(_of_length(tasks, iterations, 2))
            return [outcome for outcome in outcomes if isinstance(outcome, Outcome)]
        except ParameterError:
            if iterations > MOST_REFUSED:
                raise
            iterations *= GROWTH


def _unit_of(algorithm: Any, points: Sequence[Point], together: int) -> Sequence[Point]:
    """As many settings as a unit has, from the whole of the grid."""
    shares = hasattr(algorithm, "together") or hasattr(algorithm, "init_from")
    count = min(len(points), together if shares else FEW_SETTINGS)
    return [points[number * len(points) // count] for number in range(count)]


def _possible(unit: TrialsUnit, prepared: Prepared, points: Sequence[Point]) -> list[Task]:
    tasks = []
    for point in points:
        with contextlib.suppress(ParameterError):  # values that do not go together
            tasks.append(task_of(unit, prepared, point, unit.entry.trial_checkpoints))
    return tasks


def _seconds(tasks: Sequence[Task], scale: float, outcomes: Sequence[Outcome]) -> float:
    """What the tasks take together on `scale` times as many rows; `outcomes` came of their first runs."""
    first = tasks[0]
    if first.seconds is not None:
        return first.seconds * len(tasks)
    if first.access is Access.full:
        return _by_rows(tasks, scale)
    if sum(outcome.total_seconds for outcome in outcomes) > LONGEST_SECONDS:
        return _by_checkpoints(tasks, scale, outcomes)
    return _by_iterations(tasks, scale)


def _by_checkpoints(tasks: Sequence[Task], scale: float, outcomes: Sequence[Outcome]) -> float:
    """From the clocks of first runs that took long already, as those of methods that solve d x d systems do.

    The clock of a checkpoint has the iterations so far and its own `finalize`, not those before it.
    """
    planned, points = _planned(tasks[0], scale), 0.0
    for outcome in outcomes:
        spent, done = outcome.cpu_seconds, outcome.iteration
        each = max(0.0, spent[-1] - spent[0]) / max(1, done[-1] - done[0])
        final = max(0.0, spent[0] - each * done[0])
        points += each * planned + final * len(log_spaced(planned, tasks[0].checkpoints))
    return points * len(tasks) / len(outcomes)


def _planned(task: Task, scale: float) -> int:
    """Iterations of a task on `scale` times as many rows."""
    return round((make_budget(task).iterations or 1) * (scale if task.iterations is None else 1.0))


def _by_iterations(tasks: Sequence[Task], scale: float) -> float:
    """From runs of more and more iterations: what they begin and end with, and what each iteration adds.

    The first iterations may cost more than others, as memory is touched for the first time. Settings that
    diverge, of which a wide grid has many, cost nothing afterwards: the others go on without them.
    """
    planned, enough = _planned(tasks[0], scale), SAMPLE_SECONDS if len(tasks) == 1 else GRID_SECONDS
    tried = [Timed(0, 0.0), _shortest(tasks)]
    while (last := tried[-1]).iterations < planned and last.seconds < LONGEST_SECONDS:
        growth = min(max(2.0, AIMED_SECONDS / last.seconds), GROWTH)
        tried.append(last := _timed(tasks, min(planned, round(growth * last.iterations))))
        if last.iterations < planned and any(last.diverged):
            lasting = [task for task, diverged in zip(tasks, last.diverged, strict=True) if not diverged]
            ended = last.seconds * (1.0 - len(lasting) / len(tasks))
            return ended + (_by_iterations(lasting, scale) if lasting else 0.0)
        before, each = (
            max(0.0, b.seconds - a.seconds) / (b.iterations - a.iterations) for a, b in pairwise(tried[-3:])
        )
        is_mostly_iterations = each * last.iterations > 0.5 * last.seconds > 0.5 * enough
        is_steady = SETTLED * before < each < before / SETTLED
        if len(tried) > 3 and is_mostly_iterations and is_steady:
            break
    (fewer, less), (most, seconds) = (_the_better_of_two(tasks, run) for run in tried[-2:])
    each = max(0.0, seconds - less) / (most - fewer)
    total = (seconds - each * most) * scale + each * planned
    points, wanted = (len(log_spaced(count, tasks[0].checkpoints)) for count in (most, planned))
    if points > 1:
        measured = max(0.0, _timed(tasks, most, tasks[0].checkpoints).seconds - seconds) / (points - 1)
        total += measured * scale * (wanted - 1)
    return total


def _the_better_of_two(tasks: Sequence[Task], run: Timed) -> tuple[int, float]:
    """Iterations and the seconds of a run, which is made again where it was short."""
    seconds = run.seconds
    if run.iterations and seconds < REPEATED_SECONDS:
        seconds = min(seconds, _timed(tasks, run.iterations).seconds)
    return run.iterations, seconds


def _by_rows(tasks: Sequence[Task], scale: float) -> float:
    """From runs on more and more rows, for a method that passes over all of them until it has converged."""
    rows = len(tasks[0].y)
    # On few rows a problem is of another kind: it is separable.
    size = min(rows, max(FEWEST_ROWS, min(rows // 8, ENOUGH_ROWS)))
    tried: list[tuple[int, float]] = []
    while True:
        tried.append((size, _run(_on_rows(tasks, size))[0]))
        if size >= rows or tried[-1][1] > FULL_SECONDS:
            break
        size = min(rows, 2 * size)
    most, seconds = tried[-1]
    power = LEAST_POWER
    if len(tried) > 1:
        fewer, less = tried[-2]
        power = np.clip(np.log(seconds / less) / np.log(most / fewer), LEAST_POWER, MOST_POWER)
    return float(seconds * (scale * rows / most) ** power)


def _on_rows(tasks: Sequence[Task], count: int) -> list[Task]:
    """The tasks on so many of their training rows, drawn at random."""
    rows = len(tasks[0].y)
    few = np.sort(np.random.default_rng(0).permutation(rows)[:count])
    X, y = tasks[0].X[few], tasks[0].y[few]
    return [replace(task, X=X, y=y) for task in tasks]


def _shortest(tasks: Sequence[Task]) -> Timed:
    """A run of one iteration; of more, where methods refuse so few."""
    iterations = 1
    while True:
        try:
            return _timed(tasks, iterations)
        except ParameterError:
            if iterations > MOST_REFUSED:
                raise
            iterations *= GROWTH


def _timed(tasks: Sequence[Task], iterations: int, checkpoints: int = 1) -> Timed:
    seconds, outcomes = _run(_of_length(tasks, iterations, checkpoints))
    return Timed(iterations, seconds, [_has_diverged(outcome) for outcome in outcomes])


def _has_diverged(outcome: Outcome | Exception) -> bool:
    return isinstance(outcome, Exception) or outcome.stop_reason is StopReason.diverged


def _of_length(tasks: Sequence[Task], iterations: int, checkpoints: int) -> list[Task]:
    return [
        replace(task, iterations=iterations, epochs=None, seconds=None, checkpoints=checkpoints)
        for task in tasks
    ]


def _run(tasks: Sequence[Task]) -> tuple[float, Sequence[Outcome | Exception]]:
    """Seconds of all tasks, run as a worker runs them; those that other processes take do not count."""
    begun, begun_cpu = perf_counter() - _queued(), process_time()
    outcomes = _outcomes(tasks)
    seconds, cpu = perf_counter() - _queued() - begun, process_time() - begun_cpu
    return (seconds if seconds > WAITS * cpu else cpu), outcomes


def _outcomes(tasks: Sequence[Task]) -> Sequence[Outcome | Exception]:
    """Of each task; where all failed, the first error is raised."""
    outcomes = run_grid(tasks) if len(tasks) > 1 else [run_cell(tasks[0])]
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    if len(errors) == len(outcomes):
        raise errors[0]
    return outcomes


def _queued() -> float:
    """Seconds that this thread has waited for a processor; 0 where the system does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) * 1e-9
    except (OSError, IndexError, ValueError):
        return 0.0
