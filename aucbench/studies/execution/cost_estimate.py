"""The cost of a study in trainings, passes, time and memory: from finished cells, else from short probes.

A method is probed on the data sets with the shortest and the longest rows, separately for dense and sparse
data. A power law in the row length gives its cost on the other data sets. A probe runs the method on some
rows for a short time, in a process of the pool.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite, log, nan, sqrt
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench.contracts import Access
from aucbench.data.preprocess import Prepared
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import ParameterError
from aucbench.pool import Pool, ProcessEnded
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Task, default_passes, hold_out, rows_per_iteration
from aucbench.studies.codec import canonical, subset
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.memory_limit import limited_memory
from aucbench.studies.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.studies.execution.prepared_data import PreparedData, prepare_split, size_of
from aucbench.studies.execution.tuning_search import points_of
from aucbench.studies.execution.work_units import PREPARED, CellUnit
from aucbench.studies.execution.worker import task_of
from aucbench.studies.record import CellRecord, EntryDescription, Seeds
from aucbench.studies.store import Store
from aucbench.studies.tuners import Point

STORE_SECONDS = 1.5  # time limit for reading finished cells
PROBES_SECONDS = 5.0  # processor time of all probes of a study
WAIT_SECONDS = 7.0  # timeout for all probes together
PROBE_WAIT_SECONDS = 5.0  # timeout per probe; a method that must be compiled first may exceed it
PROCESSES = 4  # processes that run probes
PROBE_SECONDS = 0.5  # largest processor time of a probe
STEEPEST = 3.0  # largest exponent of the row length
SAMPLE_BYTES = 1 << 26  # size of the prepared rows; fewer would fit the processor's cache
MAPPED_ROWS = 5_000  # most rows prepared with a feature map
SETTINGS = 16  # most settings of a tuning probed together
CHECKPOINTS = 4  # of settings probed together: those that diverge end at the first
FEWEST_ROWS, MOST_ROWS = 256, 4_096  # rows in probes of a full method
FEWEST_ITERATIONS = 4  # in the first run of a probe
MOST_POWER = 1.5  # largest exponent of the row count in the seconds of a full method; the least is 1
WAITS = 2.0  # wall time replaces processor time if it is more than this many times longer
SCHEDULED = Path("/proc/thread-self/schedstat")  # nanoseconds of running, and of waiting for a processor


class Speed(NamedTuple):
    """Seconds that a method takes per unit: a row for a full method, an iteration for any other."""

    cell: float  # per unit, including initialisation and checkpoints
    trial: float  # per unit of one setting of a tuning, trained together with others
    map_row: float  # per training row of a split, for the feature map
    row_bytes: float  # of a prepared row


def probe(entry: Entry, seeds: Seeds, points: Sequence[Point], rows: int, seconds: float) -> Speed:
    """Measure the speed of a method for `rows` rows, in about `seconds` seconds plus compilation."""
    prepared, of_map = _sample(entry, seeds)

    def speed(settings: Sequence[Point], checkpoints: int) -> float:
        tasks = []
        for setting in settings:
            with suppress(ParameterError):  # incompatible values
                tasks.append(task_of(CellUnit("", (), entry, seeds), prepared, setting, checkpoints))
        tasks = hold_out(tasks, seeds.split_seed)
        return _per_unit(entry, tasks, rows, seconds / (2 if points else 1)) / len(tasks) if tasks else 0.0

    middle = points[len(points) // 2] if points else {}
    with limited_memory(entry.limits.memory, 1, worker=True):
        of_cell = speed([middle], entry.budget.checkpoints)
        of_trial = speed(points[:: max(1, len(points) // SETTINGS)][:SETTINGS], CHECKPOINTS)
    return Speed(of_cell, of_trial, of_map, size_of(prepared.X) / prepared.X.shape[0])


_data = PreparedData()  # of this process
_samples: dict[str, tuple[Prepared, float]] = {}


def _sample(entry: Entry, seeds: Seeds) -> tuple[Prepared, float]:
    """Some prepared rows of a split, and the seconds to map a row; the latest sample is cached."""
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
    # Contiguous labels: strided ones would make the kernels compile again.
    return Side(X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


def _per_unit(entry: Entry, tasks: Sequence[Task], rows: int, seconds: float) -> float:
    """Seconds per unit of a run on `rows` rows, from runs of doubling length.

    The last two lengths give the cost of an iteration, without settings that diverged by then, or for a full
    method the power of the number of rows.
    """
    is_full, known, units = _is_full(entry), len(tasks[0].y), max(1, round(_units(entry, rows)))
    most = min(known, MOST_ROWS) if is_full else units
    size = min(most, FEWEST_ROWS if is_full else FEWEST_ITERATIONS)
    while True:
        try:
            _timed(tasks, size, is_full)  # compiles
            break
        except ParameterError:  # such as blocks that are too large for a short run
            if size >= most:
                raise
            size = min(most, 2 * size)
    tried, end = [(0, 0.0)], process_time() + seconds
    while True:
        tried.append((size, min(_timed(tasks, size, is_full) for _ in range(2))))
        if size >= most or process_time() + 4 * tried[-1][1] > end:
            break
        size = min(most, 2 * size)
    (fewer, less), (more, taken) = tried[-2:]
    power = log(taken / less) / log(more / fewer) if fewer else 1.0
    if is_full and power > 1.0:
        return taken * (rows / more) ** min(MOST_POWER, power) / rows
    slope = max(0.0, taken - less) / (more - fewer)
    start = max(0.0, taken - slope * more)  # initialisation and checkpoints
    return slope + start * (1.0 if is_full else rows / known) / units


def _timed(tasks: Sequence[Task], size: int, is_full: bool) -> float:
    """Seconds of a run on that many random training rows, or of that many iterations.

    Seconds in which other processes compute do not count.
    """
    if is_full:
        few = np.sort(np.random.default_rng(0).permutation(len(tasks[0].y))[:size])
        X, y = tasks[0].X[few], tasks[0].y[few]
        tasks = [replace(task, X=X, y=y) for task in tasks]
    else:
        tasks = [replace(task, iterations=size, epochs=None, seconds=None) for task in tasks]
    begun, begun_cpu = perf_counter() - _delay(), process_time()
    outcomes = run_grid(tasks) if len(tasks) > 1 else [run_cell(tasks[0])]
    if all(isinstance(outcome, Exception) for outcome in outcomes):
        raise outcomes[0]  # type: ignore[misc]  # it is an exception
    wall, cpu = perf_counter() - _delay() - begun, process_time() - begun_cpu
    return wall if wall > WAITS * cpu else cpu


def _delay() -> float:
    """Seconds that this thread has waited for a processor; 0 where the system does not say."""
    try:
        return int(SCHEDULED.read_text().split()[1]) * 1e-9
    except OSError:
        return 0.0


@dataclass(frozen=True)
class Estimate:
    """The cost of the remaining work of an entry."""

    trainings: int  # cells and trials of their tunings
    passes: float  # over the training rows
    seconds: float | None  # on one core; None if the method could not be probed
    memory: int  # bytes of the prepared arrays of one worker
    measured: bool  # whether the speed comes from finished cells, not from a probe


class _Work:
    """The remaining work of an entry, and the known part of its cost."""

    def __init__(
        self,
        planned: PlannedEntry,
        cells: list[PlannedCell],
        store: Store,
        data: PreparedData,
        finished: Mapping[tuple[str, ...], list[CellRecord]],
    ):
        self.entry, self.cells = planned.entry, cells
        entry, costly, seeds = planned.entry, _costly(planned.entry.describe()), cells[0].seeds
        self.rows, test_rows, self.folds = data.sizes(entry, seeds.split_seed, seeds.fold)
        self.all_rows = self.rows + test_rows
        X: Any = data.load(entry)(entry.part).X
        nonzeros = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
        value_bytes = np.dtype(str(entry.settings.dtype)).itemsize
        self.row_bytes = nonzeros * (value_bytes + 4) + 4 if sparse.issparse(X) else nonzeros * value_bytes
        # Size of a row: its features; for sparse rows, the geometric mean of features and non-zeros.
        self.size = sqrt(X.shape[1] * max(1.0, nonzeros))
        searches = {cell.search.key: cell.search for cell in cells if cell.search}
        self.points = points_of(entry, next(iter(searches.values())).seeds) if searches else []
        trials = [trial for key in searches for trial in store.trials(key)]
        settings = len(self.points) or entry.tuning.choice.trials if searches else 0
        self.missing = max(0, len(searches) * settings * self.folds - len(trials))  # trials
        # Entries of one group differ only in their data.
        layout = [sparse.issparse(X), bool(self.points), str(entry.scaling)]
        self.group = canonical([costly[0], *costly[2:], *layout])
        self.of_cell = entry.budget.seconds or _of_cell(entry, self.rows, finished[costly])
        costs = [(trial.train_seconds, 1) for trial in trials]  # of finished trials
        for cell in planned.cells:
            record = store.record(cell.key) if cell.search else None
            if record is not None and record.tuned is not None:
                costs.append((record.tuned.cost.train_seconds, record.tuned.cost.trainings))
        count = sum(trainings for _, trainings in costs)
        self.of_trial = entry.budget.seconds or (sum(each for each, _ in costs) / count if count else None)
        self.is_mapped = entry.features.name != "identity"
        self.is_known = self.of_cell is not None and (self.of_trial is not None or not self.missing)

    def maps(self) -> set[tuple[Any, ...]]:
        """The splits that a feature map must map, including inner splits if trials are missing."""
        shared = canonical(subset(self.entry.describe(), PREPARED))
        splits = {(cell.seeds.split_seed, cell.seeds.fold) for cell in self.cells}
        inner = (None, *range(self.folds if self.missing else 0))
        return {(shared, *split, fold) for split in splits for fold in inner} if self.is_mapped else set()

    def estimate(self, speed: Speed | None, maps: int) -> Estimate:
        """The estimate, from a probed speed where finished cells give none; `maps` splits are mapped."""
        entry, trainings = self.entry, len(self.cells) + self.missing
        seconds, memory = 0.0, int(self.row_bytes * self.all_rows)
        of_cell, of_trial = self.of_cell, self.of_trial
        if speed is not None:
            of_cell = speed.cell * _units(entry, self.rows) if of_cell is None else of_cell
            if of_trial is None:
                # If each setting depends on earlier ones, a trial runs alone, like a cell.
                inner_rows = self.rows * (1.0 - 1.0 / self.folds if self.folds > 1 else 1.0)
                of_trial = speed.trial * _units(entry, inner_rows) if self.points else of_cell
            if self.is_mapped:
                seconds = maps * speed.map_row * self.rows
                memory = max(memory, int(speed.row_bytes * self.all_rows))
        unknown = nan if self.missing else 0.0
        seconds += len(self.cells) * (nan if of_cell is None else of_cell)
        seconds += self.missing * (unknown if of_trial is None else of_trial)
        passes = trainings * passes_of(entry, self.rows)
        return Estimate(trainings, passes, seconds if isfinite(seconds) else None, memory, self.is_known)


def estimate(
    plan: Plan, store: Store, prepared_data: PreparedData, begun: Callable[[Entry], None] = lambda _: None
) -> list[Estimate]:
    """Estimate every entry of a plan; `begun` is called with each entry before its estimate."""
    finished, end = defaultdict(list), monotonic() + STORE_SECONDS
    for cell in store:
        finished[_costly(cell.record)].append(cell.record)
        if monotonic() > end:
            break
    works = []
    for planned in plan.entries:
        begun(planned.entry)
        wanted = [cell for cell in planned.cells if cell.is_wanted(plan.only_failed) and not cell.scored]
        works.append(_Work(planned, wanted, store, prepared_data, finished) if wanted else None)
    speeds = _probed([work for work in works if work is not None])
    mapped: set[tuple[Any, ...]] = set()  # splits already counted as mapped
    found = []
    for work in works:
        if work is None:
            found.append(Estimate(0, 0.0, 0.0, 0, True))
            continue
        maps = work.maps() - mapped
        mapped |= maps
        found.append(work.estimate(_speed(speeds[work.group], work.size), len(maps)))
    return found


def seconds_of(entry: Entry, pool: Pool, limit: float) -> float | None:
    """Seconds of one training of an entry; infinite if the probe times out, None if it fails."""
    if entry.budget.seconds:
        return entry.budget.seconds
    rows = PreparedData().sizes(entry, entry.cells()[0].split_seed, entry.cells()[0].fold)[0]
    arguments = (entry, entry.cells()[0], (), rows, PROBE_SECONDS)
    try:
        speed: Speed = pool.submit(probe, *arguments, seconds=limit).result()
        return speed.cell * _units(entry, rows)
    except ProcessEnded as ended:
        return float("inf") if ended.is_late else None
    except Exception:
        return None


def _probed(works: Sequence[_Work]) -> dict[str, list[tuple[float, Speed]]]:
    """Speeds by group, each with its row size, ascending; late probes are left out."""
    groups = defaultdict(list)
    for work in works:
        if not work.is_known or work.is_mapped:
            groups[work.group].append(work)
    chosen = []
    for group in groups.values():
        group.sort(key=lambda work: (work.size, work.rows))
        chosen += group[:: len(group) - 1] if group[-1].size > group[0].size else group[:1]
    found: dict[str, list[tuple[float, Speed]]] = defaultdict(list)
    chosen.sort(key=lambda work: work.entry.dataset.title)  # each process loads a data set once
    with Pool() as pool:
        futures: dict[Future[Speed], _Work] = {}
        for number, work in enumerate(chosen):
            entry = work.entry
            key = (number * PROCESSES // len(chosen), entry.algorithm.distribution)
            seconds = min(PROBE_SECONDS, PROBES_SECONDS / len(chosen))
            arguments = (entry, work.cells[0].seeds, tuple(work.points), work.rows, seconds)
            futures[pool.submit(probe, *arguments, key=key, seconds=PROBE_WAIT_SECONDS)] = work
        done, _ = wait(futures, timeout=WAIT_SECONDS)
    for future, work in futures.items():
        if future in done and future.exception() is None:
            found[work.group].append((work.size, future.result()))
    return found


def _speed(probed: Sequence[tuple[float, Speed]], size: float) -> Speed | None:
    """The speed on rows of size `size`, by a power law through two probes, or proportional to one."""
    if len(probed) < 2:
        return Speed(*(value * size / probed[0][0] for value in probed[0][1])) if probed else None
    (short, fast), (long, slow) = probed

    def between(one: float, other: float) -> float:
        power = log(other / one) / log(long / short) if one > 0.0 and other > 0.0 else 0.0
        return float(one * (size / short) ** min(STEEPEST, max(0.0, power)))

    return Speed(*map(between, fast, slow))


def _units(entry: Entry, rows: float) -> float:
    """Training rows for a full method, iterations for any other."""
    return rows if _is_full(entry) else iterations_of(entry, rows)


def _is_full(entry: Entry) -> bool:
    return Access(entry.algorithm.instance.access) is Access.full


def _costly(description: EntryDescription) -> tuple[str, ...]:
    """Data set, feature map and method: cells that share them have about the same cost per iteration.

    Float parameters of the method, such as step sizes, are ignored.
    """
    method, features = description.algorithm, description.features
    choices = {name: each for name, each in method.parameters.items() if not isinstance(each, float)}
    parameters = canonical(choices), canonical(features.parameters)
    return method.name, description.dataset.title, description.dtype, features.name, *parameters


def _of_cell(entry: Entry, rows: int, records: list[CellRecord]) -> float | None:
    """Median seconds of similar finished cells, scaled to the budget of the entry."""
    # A full method may end by convergence.
    units = [each.data.train_rows if _is_full(entry) else max(1, each.result.iterations) for each in records]
    seconds = [each.result.train_seconds / count for each, count in zip(records, units, strict=True)]
    return float(np.median(seconds)) * _units(entry, rows) if seconds else None


def iterations_of(entry: Entry, rows: float) -> float:
    """Iterations of one training on that many rows; for a budget in seconds as if it were an epoch.

    Where a tuning chooses the budget, the mean over its values.
    """
    return passes_of(entry, rows) * rows / rows_per_iteration(entry.algorithm.instance, int(rows))


def passes_of(entry: Entry, rows: float) -> float:
    """Passes over the training rows in one training, as `iterations_of`; one for a budget in seconds."""
    budget, tuned = entry.budget, entry.tuning.space
    epochs = [value for value in tuned.get("budget.epochs", [budget.epochs]) if value is not None]
    iterations = [value for value in tuned.get("budget.iterations", [budget.iterations]) if value is not None]
    if iterations and "budget.epochs" not in tuned:
        return float(np.mean(iterations)) * rows_per_iteration(entry.algorithm.instance, int(rows)) / rows
    return float(np.mean(epochs)) if epochs else 1.0 if budget.seconds else default_passes(rows)
