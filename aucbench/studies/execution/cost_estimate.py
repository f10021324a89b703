"""The cost of a study in trainings, passes, time and memory: from finished cells, else from short probes.

A method is probed on the data sets with the shortest and the longest rows, separately for dense and sparse
data. A power law in the row length gives its cost on the other data sets. A trial of a tuning counts as a
training by itself, although settings that train together take less.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, replace
from math import log, sqrt
from time import perf_counter, process_time
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
from aucbench.runner.task import Task, default_passes, hold_out, rows_per_iteration
from aucbench.studies.codec import canonical
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.memory_limit import limited_memory
from aucbench.studies.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.studies.execution.prepared_data import PreparedData, prepare_split, size_of
from aucbench.studies.execution.tuning_search import points_of
from aucbench.studies.execution.work_units import CellUnit
from aucbench.studies.execution.worker import prepared_data, task_of
from aucbench.studies.record import CellStatus, Seeds
from aucbench.studies.store import Store

FINISHED = 3  # finished cells of an entry whose times are read
PROBE_SECONDS = 0.5  # largest processor time of a probe
PROBES_SECONDS = 5.0  # processor time of all probes of a study
WAIT_SECONDS = 7.0  # timeout for all probes; a method that must be compiled first may exceed it
PROCESSES = 4  # processes that run probes
SAMPLE_BYTES = 1 << 25  # size of the probed rows; fewer would fit the processor's cache
FEWEST, MOST_ROWS = (4, 256), 4_096  # iterations, and rows for a full method, of a probe's first run
LONGER = 4  # factor between the lengths of runs: log-spaced checkpoints come early in a run
WAITS = 8.0  # wall time replaces processor time if it is more than this many times longer
STEEPEST = 3.0  # largest exponent of the row length


class Speed(NamedTuple):
    """Seconds of a training per unit, a row for a full method and an iteration for any other."""

    seconds: float  # including initialisation and checkpoints
    row_bytes: float  # size of a prepared row


def probe(entry: Entry, seeds: Seeds, rows: int, seconds: float) -> Speed:
    """Measure the speed of a method for `rows` rows, in about `seconds` seconds plus compilation."""
    prepared = _prepared_sample(entry, seeds)
    with limited_memory(entry.limits.memory, 1, worker=True):
        task = task_of(CellUnit("", (), entry, seeds), prepared, {}, entry.budget.checkpoints)
        (task,) = hold_out([task], seeds.split_seed)
        taken = _seconds_per_unit(entry, task, rows, seconds)
    return Speed(taken, size_of(prepared.X) / prepared.X.shape[0])


_samples: dict[str, Prepared] = {}  # the latest sample of this process, which several methods share


def _prepared_sample(entry: Entry, seeds: Seeds) -> Prepared:
    where = str((entry.dataset.description, entry.features.description, entry.scaling, entry.settings, seeds))
    if where not in _samples:
        _samples.clear()
        split = prepared_data().split(entry, seeds.split_seed, seeds.fold)
        with threadpool_limits(1):
            few = Split(_sample(split.train), _sample(split.test))
            _samples[where] = prepare_split(entry, few, seeds.split_seed)
    return _samples[where]


def _sample(side: Side) -> Side:
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    step = int(np.ceil(size_of(side.X, rows) / SAMPLE_BYTES)) or 1
    # Contiguous labels: strided ones would make the kernels compile again.
    return Side(side.X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


def _seconds_per_unit(entry: Entry, task: Task, rows: int, seconds: float) -> float:
    """Seconds per unit of a run on `rows` rows: from two runs, of which the longer one takes `seconds`."""
    is_full, units = _is_full(entry), max(1, round(_units(entry, rows)))
    most = min(len(task.y), MOST_ROWS) if is_full else units
    size, times, end = min(most, FEWEST[is_full]), [(0, 0.0)], 0.0
    while True:
        try:
            if not end:
                _timed(task, size, is_full)  # compiles
                end = process_time() + seconds
            taken = _timed(task, size, is_full)
            if taken > 2.0 * LONGER * times[-1][1] > 0.0:  # a kernel that only longer runs need was compiled
                taken = _timed(task, size, is_full)
            times.append((size, taken))
        except ParameterError:  # such as blocks that are too large for a short run
            if size >= most:
                raise
        if size >= most or (end and process_time() + 2.0 * times[-1][1] > end):
            break
        size = min(most, LONGER * size)
    more, taken = times[-1]
    fewer, less = next(each for each in reversed(times) if each[0] <= more / 2)
    slope = max(0.0, taken - less) / (more - fewer)
    start = max(0.0, taken - slope * more)  # initialisation and checkpoints
    return slope + start * (1.0 if is_full else rows / len(task.y)) / units


def _timed(task: Task, size: int, is_full: bool) -> float:
    """Processor seconds of a run on that many training rows, or of that many iterations.

    Wall time counts for a method that waits, such as for a device, and takes little processor time.
    """
    if is_full:
        few = np.sort(np.random.default_rng(0).permutation(len(task.y))[:size])
        task = replace(task, X=task.X[few], y=task.y[few])
    else:
        task = replace(task, iterations=size, epochs=None, seconds=None)
    begun, begun_cpu = perf_counter(), process_time()
    run_cell(task)
    wall, cpu = perf_counter() - begun, process_time() - begun_cpu
    return wall if wall > WAITS * cpu else cpu


@dataclass(frozen=True)
class Estimate:
    """The cost of the remaining work of an entry."""

    trainings: int  # cells and trials of their tunings
    passes: float  # over the training rows
    seconds: float | None  # on one core; None if the method could not be probed
    memory: int  # bytes of the prepared arrays of one worker
    measured: bool  # whether the speed comes from finished cells, not from a probe


class _Work:
    """The remaining work of an entry."""

    def __init__(self, planned: PlannedEntry, cells: Sequence[PlannedCell], store: Store, data: PreparedData):
        self.entry = entry = planned.entry
        searches = {cell.search.key for cell in cells if cell.search}
        self.seeds, self.cells = planned.cells[0].seeds, len(cells)
        self.rows, test_rows, self.folds = data.sizes(entry, self.seeds.split_seed, self.seeds.fold)
        settings = (len(points_of(entry, self.seeds)) or entry.tuning.choice.trials) if searches else 0
        known = sum(len(store.trials(key)) for key in searches)
        self.trials = max(0, len(searches) * settings * self.folds - known)
        X: Any = data.load(entry)(entry.part).X
        is_sparse = sparse.issparse(X)
        nonzeros = X.nnz / X.shape[0] if is_sparse else X.shape[1]
        # Size of a row: its features; for sparse rows, the geometric mean of features and non-zeros.
        self.size = sqrt(X.shape[1] * max(1.0, nonzeros))
        self.all_rows = self.rows + test_rows
        self.row_bytes = nonzeros * (np.dtype(str(entry.settings.dtype)).itemsize + 4 * is_sparse)
        done = [cell.key for cell in planned.cells if cell.status is CellStatus.finished][:FINISHED]
        records = [record for key in done if (record := store.record(key)) is not None]
        seconds = [each.result.train_seconds for each in records]
        self.known = entry.budget.seconds or (float(np.mean(seconds)) if seconds else None)
        # Entries of one group differ in their data, and in numbers such as step sizes.
        method, features = entry.algorithm.description, entry.features.description
        names = {name: each for name, each in method.parameters.items() if not isinstance(each, float)}
        layout = [entry.settings.dtype, str(entry.scaling), is_sparse]
        self.group = canonical([method.name, names, features.name, features.parameters, *layout])

    def estimate(self, speed: Speed | None) -> Estimate:
        """The estimate, from a probed speed where neither the budget nor finished cells give one."""
        seconds, row_bytes = self.known, self.row_bytes
        if speed is not None:
            seconds = seconds or speed.seconds * _units(self.entry, self.rows)
            row_bytes = max(row_bytes, speed.row_bytes)
        trainings, inner_share = self.cells + self.trials, 1.0 - 1.0 / max(2, self.folds)
        return Estimate(
            trainings=trainings,
            passes=trainings * passes_of(self.entry, self.rows),
            seconds=None if seconds is None else seconds * (self.cells + self.trials * inner_share),
            memory=int(row_bytes * self.all_rows),
            measured=self.known is not None,
        )


def estimate(
    plan: Plan, store: Store, prepared_data: PreparedData, begun: Callable[[Entry], None] = lambda _: None
) -> list[Estimate]:
    """Estimate every entry of a plan; `begun` is called with each entry before its estimate."""
    works = []
    for planned in plan.entries:
        begun(planned.entry)
        cells = [cell for cell in planned.cells if cell.is_wanted(plan.only_failed) and not cell.scored]
        # Data are loaded only where something is left to be trained.
        works.append(_Work(planned, cells, store, prepared_data) if cells else None)
    speeds = _probed([work for work in works if work and work.known is None])
    nothing = Estimate(0, 0.0, 0.0, 0, measured=True)
    return [work.estimate(_speed(speeds[work.group], work.size)) if work else nothing for work in works]


def seconds_of(entry: Entry, pool: Pool, limit: float) -> float | None:
    """Seconds of one training of an entry; infinite if the probe times out, None if it fails."""
    if entry.budget.seconds:
        return entry.budget.seconds
    seeds = entry.cells()[0]
    rows = PreparedData().sizes(entry, seeds.split_seed, seeds.fold)[0]
    try:
        speed: Speed = pool.submit(probe, entry, seeds, rows, PROBE_SECONDS, seconds=limit).result()
    except ProcessEnded as ended:
        return float("inf") if ended.is_late else None
    except Exception:
        return None
    return speed.seconds * _units(entry, rows)


def _probed(works: Sequence[_Work]) -> dict[str, list[tuple[float, Speed]]]:
    """Speeds by group, each with its row size, ascending; late probes are left out."""
    groups = defaultdict(list)
    for work in sorted(works, key=lambda work: (work.size, work.rows)):
        groups[work.group].append(work)
    chosen = {id(work): work for group in groups.values() for work in (group[0], group[-1])}.values()
    found: dict[str, list[tuple[float, Speed]]] = defaultdict(list)
    with Pool() as pool:
        futures = {}
        # Each process loads a data set once.
        for number, work in enumerate(sorted(chosen, key=lambda work: work.entry.dataset.title)):
            key = (number * PROCESSES // len(chosen), work.entry.algorithm.distribution)
            seconds = min(PROBE_SECONDS, PROBES_SECONDS / len(chosen))
            arguments = (work.entry, work.seeds, work.rows, seconds)
            futures[pool.submit(probe, *arguments, key=key, seconds=WAIT_SECONDS)] = work
        done, _ = wait(futures, timeout=WAIT_SECONDS)
    for future in done:
        with suppress(Exception):  # of the method, whose time stays unknown
            found[futures[future].group].append((futures[future].size, future.result()))
    return defaultdict(list, {group: sorted(speeds) for group, speeds in found.items()})


def _speed(probed: Sequence[tuple[float, Speed]], size: float) -> Speed | None:
    """The speed on rows of size `size`, by a power law through two probes, or proportional to one."""
    if not probed:
        return None
    (short, fast), (long, slow) = probed[0], probed[-1]
    found = []
    for one, other in zip(fast, slow, strict=True):
        power = log(other / one) / log(long / short) if long > short and min(one, other) > 0.0 else 1.0
        found.append(one * (size / short) ** min(STEEPEST, max(0.0, power)))
    return Speed(*found)


def _units(entry: Entry, rows: float) -> float:
    """Training rows for a full method, iterations for any other."""
    per_iteration = rows_per_iteration(entry.algorithm.instance, int(rows))
    return rows if _is_full(entry) else passes_of(entry, rows) * rows / per_iteration


def _is_full(entry: Entry) -> bool:
    return Access(entry.algorithm.instance.access) is Access.full


def passes_of(entry: Entry, rows: float) -> float:
    """Passes over the training rows in one training; one for a budget in seconds.

    Where a tuning chooses the budget, the mean over its values.
    """
    budget, tuned = entry.budget, entry.tuning.space
    epochs = [value for value in tuned.get("budget.epochs", [budget.epochs]) if value is not None]
    iterations = [value for value in tuned.get("budget.iterations", [budget.iterations]) if value is not None]
    if iterations and "budget.epochs" not in tuned:
        return float(np.mean(iterations)) * rows_per_iteration(entry.algorithm.instance, int(rows)) / rows
    return float(np.mean(epochs)) if epochs else 1.0 if budget.seconds else default_passes(rows)
