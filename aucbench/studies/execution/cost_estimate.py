"""The cost of a study in trainings, passes, time and memory: from finished cells, else from short probes.

A method is probed on the data sets with the shortest and the longest rows, separately for dense and sparse
data. A power law in the row length gives its cost on the other data sets. Settings of a tuning that train
together take less than estimated.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, replace
from math import log, sqrt
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts import Access
from aucbench.data.preprocess import Prepared
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import ParameterError
from aucbench.pool import Pool
from aucbench.runner.cell import run_cell
from aucbench.runner.task import default_passes, hold_out, rows_per_iteration
from aucbench.studies.codec import canonical
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.plan import Plan
from aucbench.studies.execution.prepared_data import prepare_split, prepared_data, size_of
from aucbench.studies.execution.tuning_search import points_of
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.execution.worker import limited_memory, task_of
from aucbench.studies.record import CellStatus
from aucbench.studies.store import Store
from aucbench.studies.tuners import with_budget

FINISHED = 3  # number of finished cells of an entry whose times are read
PROBE_SECONDS, PROBES_SECONDS = 0.5, 5.0  # largest processor time of one probe, and of all probes
WAIT_SECONDS, PROCESSES = 7.0, 4  # timeout for all probes; a method that must be compiled may exceed it
SAMPLE_BYTES = 1 << 25  # size of the probed rows; fewer would fit the processor's cache
FEWEST, MOST_ROWS = (4, 256), 4_096  # iterations of a probe's first run, or rows with access full
LONGER = 4  # factor between the lengths of runs: log-spaced checkpoints come early in a run
STEEPEST = 3.0  # largest exponent of the row length
WAITS = 8.0  # a method waits if its wall time is more than this many times its processor time


@dataclass(frozen=True)
class Estimate:
    """The cost of the remaining work of an entry."""

    trainings: int = 0  # cells and trials of their tunings
    passes: float = 0.0  # over the training rows
    seconds: float | None = 0.0  # time on one core; None if the method could not be probed
    memory: int = 0  # bytes of the prepared arrays of one worker
    measured: bool = True  # the speed comes from finished cells, not from a probe


def estimate(plan: Plan, store: Store, begun: Callable[[Entry], None] = lambda _: None) -> list[Estimate]:
    """Estimate every entry of a plan; `begun` is called with each entry before its estimate."""
    estimates = [Estimate()] * len(plan.entries)
    kinds: dict[str, list[tuple[float, int, float]]] = defaultdict(list)  # length of rows, position, work
    # By data set, as one data set at a time stays loaded.
    for at in sorted(range(len(estimates)), key=lambda at: str(plan.entries[at].entry.dataset.description)):
        planned = plan.entries[at]
        begun(entry := planned.entry)
        cells = [cell for cell in plan.to_run(planned) if not cell.scored]
        if not cells:  # no data are loaded
            continue
        rows, test_rows, folds = _sizes(entry)
        searches = {cell.search.key for cell in cells if cell.search}
        settings = (len(points_of(entry, cells[0].seeds)) or entry.tuning.choice.trials) if searches else 0
        trials = len(searches) * settings * folds - sum(len(store.trials(key)) for key in searches)
        X: Any = prepared_data().load(entry)(entry.part).X
        nonzeros = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
        memory = (rows + test_rows) * nonzeros * (8 if entry.settings.dtype == "float64" else 4)
        keys = [cell.key for cell in planned.cells if cell.status is CellStatus.finished][:FINISHED]
        times = [record.result.train_seconds for key in keys if (record := store.record(key)) is not None]
        time = entry.budget.seconds or (float(np.mean(times)) if times else None)
        trainings, work = len(cells) + trials, len(cells) + trials * (1.0 - 1.0 / max(2, folds))
        passes = trainings * _passes(entry, rows)
        estimates[at] = Estimate(trainings, passes, time and time * work, int(memory), time is not None)
        if time is None:  # methods of a kind differ only in numbers such as step sizes
            method = entry.algorithm.description
            names = {name: value for name, value in method.parameters.items() if not isinstance(value, float)}
            kind = [method.name, names, entry.features.description, str(entry.scaling), sparse.issparse(X)]
            kinds[canonical(kind)].append((sqrt(X.shape[1] * max(1.0, nonzeros)), at, work))
    ends = sorted({at for kind in kinds.values() for _, at, _ in (min(kind), max(kind))})
    speeds = dict(zip(ends, probed([plan.entries[at].entry for at in ends], WAIT_SECONDS), strict=True))
    for kind in kinds.values():
        known_speeds = [(size, *speed) for size, at, _ in sorted(kind) if (speed := speeds.get(at))]
        if not known_speeds:  # the method fails, or is too slow: its time stays unknown
            continue
        (short, fast, row_bytes), (long, slow, _) = known_speeds[0], known_speeds[-1]
        power = log(slow / fast) / log(long / short) if long > short and min(fast, slow) > 0.0 else 1.0
        power = min(STEEPEST, max(0.0, power))
        for size, at, work in kind:
            rows, test_rows, _ = _sizes(entry := plan.entries[at].entry)
            seconds = work * fast * (size / short) ** power * _units(entry)
            memory = max(estimates[at].memory, int(row_bytes * (rows + test_rows)))
            estimates[at] = replace(estimates[at], seconds=seconds, memory=memory)
    return estimates


def seconds_alone(entries: Sequence[Entry], wait: float) -> float:
    """Seconds of all runs of some entries, one after the other; entries that cannot be probed count as 0."""
    speeds = zip(entries, probed(entries, wait), strict=True)
    return sum(entry.settings.runs * speed[0] * _units(entry) for entry, speed in speeds if speed)


def probed(entries: Sequence[Entry], wait: float) -> list[tuple[float, float] | None]:
    """Probes of some entries; None for entries that fail or exceed the time of all probes."""
    seconds = min(PROBE_SECONDS, PROBES_SECONDS / max(1, len(entries)))
    order = sorted(range(len(entries)), key=lambda at: entries[at].dataset.title)
    futures: dict[int, Future[tuple[float, float]]] = {}
    with Pool() as pool:  # a process loads each of its data sets once
        for number, at in enumerate(order):
            key = number * PROCESSES // len(order), entries[at].algorithm.distribution
            futures[at] = pool.submit(probe, entries[at], seconds, key=key, seconds=wait)
        done = wait_for(futures.values(), wait).done
    probes = [futures[at] for at in range(len(entries))]
    return [future.result() if future in done and future.exception() is None else None for future in probes]


_sample: dict[Any, Prepared] = {}  # latest sample of this process, shared by several methods


def probe(entry: Entry, seconds: float) -> tuple[float, float]:
    """Seconds per unit (a row of a full method, else an iteration) in about `seconds`, and bytes of a row."""
    unit = Unit("", (), entry, seeds := entry.cells()[0])
    if unit.group not in _sample:
        split = prepared_data().split(entry, seeds)
        sample = Split(_few(split.train), _few(split.test))
        _sample.clear()
        _sample[unit.group] = prepare_split(entry, sample, seeds.split_seed)
    prepared, rows, is_full = _sample[unit.group], _sizes(entry)[0], _is_full(entry)
    units = max(1, round(_units(entry)))
    with limited_memory(entry.limits.memory, 1):
        task = task_of(unit, prepared, {}, entry.budget.checkpoints)
        (task,) = hold_out([task], seeds.split_seed)
        limit = min(len(task.y), MOST_ROWS) if is_full else units

        def timed(size: int) -> tuple[float, float]:
            """Seconds of training on `size` rows, or for `size` iterations, and seconds of the whole run.

            They are processor seconds, or wall seconds of training for a method that waits, as for a device.
            """
            if is_full:
                indices = np.sort(np.random.default_rng(0).permutation(len(task.y))[:size])
                shorter = replace(task, X=task.X[indices], y=task.y[indices])
            else:
                shorter = replace(task, iterations=size, epochs=None, seconds=None)
            begun = process_time()
            outcome = run_cell(shorter)
            wall, cpu = outcome.total_seconds, outcome.total_cpu_seconds
            taken = wall if wall > WAITS * cpu else cpu
            return taken, max(taken, process_time() - begun)

        size, runs, costs = min(limit, FEWEST[is_full]), [(0, 0.0)], [0.0]
        while size > runs[-1][0] and sum(costs) + 2.0 * costs[-1] <= seconds:
            try:
                taken, cost = timed(size)
                if taken > 2.0 * LONGER * runs[-1][1]:  # it has compiled, as the first run always does
                    taken, cost = timed(size)
                runs.append((size, taken))
                costs.append(cost)
            except ParameterError:  # for example too few rows for a block
                if size >= limit:
                    raise
            size = min(limit, LONGER * size)
    more, taken = runs[-1]
    fewer, less = next(run for run in reversed(runs) if run[0] <= more / 2)
    slope = max(0.0, taken - less) / (more - fewer)
    start = max(0.0, costs[-1] - slope * more)  # initialisation, and scoring at checkpoints
    per_unit = slope + start * (1.0 if is_full else rows / len(task.y)) / units
    return per_unit, size_of(prepared.X) / prepared.X.shape[0]


def _few(side: Side) -> Side:
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    step = int(np.ceil(size_of(side.X, rows) / SAMPLE_BYTES)) or 1
    # Contiguous labels: strided ones would make the kernels compile again.
    return Side(side.X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


def _sizes(entry: Entry) -> tuple[int, int, int]:
    """Training rows, test rows and inner folds of the first split of an entry."""
    return prepared_data().sizes(entry, entry.cells()[0])


def _is_full(entry: Entry) -> bool:
    return Access(entry.algorithm.instance.access) is Access.full


def _units(entry: Entry) -> float:
    """Training rows for a full method, iterations for any other."""
    rows = _sizes(entry)[0]
    per_iteration = rows_per_iteration(entry.algorithm.instance, rows)
    return rows if _is_full(entry) else _passes(entry, rows) * rows / per_iteration


def _passes(entry: Entry, rows: int) -> float:
    """Passes over the training rows in one training, with the middle of the budgets that a tuning tries."""
    space = entry.tuning.space
    budget = with_budget(entry.budget, {name: values[len(values) // 2] for name, values in space.items()})
    if budget.iterations:
        return budget.iterations * rows_per_iteration(entry.algorithm.instance, rows) / rows
    return budget.epochs or (1.0 if budget.seconds else default_passes(rows))
