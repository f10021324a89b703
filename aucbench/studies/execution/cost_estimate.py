"""The cost of a study in trainings, passes, time and memory: from finished cells, else from short probes.

A method is probed on the data sets with the shortest and the longest rows, separately for dense and sparse
data. A power law in the row length gives its cost on the others. Settings of a tuning that train together
take less than estimated.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucbench.contracts import Access
from aucbench.data.preprocess import Prepared
from aucbench.data.splits.protocols import Side, Split
from aucbench.errors import ParameterError
from aucbench.pool import Pool, ProcessEnded
from aucbench.runner.cell import run_cell
from aucbench.runner.task import Task, default_passes, hold_out, rows_per_iteration
from aucbench.studies.codec import canonical
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.plan import Plan
from aucbench.studies.execution.prepared_data import prepare_split, prepared_data, size_of
from aucbench.studies.execution.tuning_search import points_of
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.execution.worker import limited_memory, task_of
from aucbench.studies.record import CellStatus, Seeds
from aucbench.studies.store import Store
from aucbench.studies.tuners import with_budget

FINISHED = 3  # finished cells of an entry whose times are read
PROBE_SECONDS, PROBES_SECONDS = 0.5, 5.0  # largest processor time of a probe, and of all
WAIT_SECONDS, PROCESSES = 7.0, 4  # timeout for all probes; a method that must be compiled may exceed it
SAMPLE_BYTES = 1 << 25  # size of the probed rows; fewer would fit the processor's cache
FEWEST, MOST_ROWS = (4, 256), 4_096  # iterations, and rows for a full method, of a probe's first run
LONGER = 4  # factor between the lengths of runs: log-spaced checkpoints come early in a run
STEEPEST = 3.0  # largest exponent of the row length


@dataclass(frozen=True)
class Estimate:
    """The cost of the remaining work of an entry."""

    trainings: int = 0  # cells and trials of their tunings
    passes: float = 0.0  # over the training rows
    seconds: float | None = 0.0  # on one core; None if the method could not be probed
    memory: int = 0  # bytes of the prepared arrays of one worker
    measured: bool = True  # whether the speed comes from finished cells, not from a probe


class _Unknown(NamedTuple):
    """An entry whose speed is not known."""

    size: float  # length of a row; of a sparse row, the geometric mean of features and non-zeros
    at: int  # its position in the plan
    units: float  # of all remaining trainings
    rows: int
    probe: tuple[Entry, Seeds, int]  # arguments of its probe


def estimate(plan: Plan, store: Store, begun: Callable[[Entry], None] = lambda _: None) -> list[Estimate]:
    """Estimate every entry of a plan; `begun` is called with each entry before its estimate."""
    found, unknown = list[Estimate](), defaultdict[str, list[_Unknown]](list)
    for at, planned in enumerate(plan.entries):
        begun(entry := planned.entry)
        cells = [cell for cell in planned.cells if cell.is_wanted(plan.only_failed) and not cell.scored]
        if not cells:  # no data are loaded
            found.append(Estimate())
            continue
        seeds, searches = cells[0].seeds, {cell.search.key for cell in cells if cell.search}
        rows, test_rows, folds = prepared_data().sizes(entry, seeds.split_seed, seeds.fold)
        settings = (len(points_of(entry, seeds)) or entry.tuning.choice.trials) if searches else 0
        trials = len(searches) * settings * folds - sum(len(store.trials(key)) for key in searches)
        X: Any = prepared_data().load(entry)(entry.part).X
        is_sparse, width = sparse.issparse(X), float(X.shape[1])
        nonzeros = X.nnz / X.shape[0] if is_sparse else width
        value_bytes = np.dtype(str(entry.settings.dtype)).itemsize + 4 * is_sparse
        done = [cell.key for cell in planned.cells if cell.status is CellStatus.finished][:FINISHED]
        times = [record.result.train_seconds for key in done if (record := store.record(key)) is not None]
        known = entry.budget.seconds or (float(np.mean(times)) if times else None)
        trainings, all_rows = len(cells) + trials, rows + test_rows
        work = len(cells) + trials * (1.0 - 1.0 / max(2, folds))
        passes, memory = trainings * passes_of(entry, rows), int(all_rows * nonzeros * value_bytes)
        found.append(Estimate(trainings, passes, known and known * work, memory, known is not None))
        if known is None:  # methods of a kind differ in numbers such as step sizes
            method, size = entry.algorithm.description, sqrt(width * max(1.0, nonzeros))
            names = {name: each for name, each in method.parameters.items() if not isinstance(each, float)}
            kind = [method.name, names, entry.features.description, str(entry.scaling), is_sparse]
            units, arguments = work * units_of(entry, rows), (entry, seeds, rows)
            unknown[canonical(kind)].append(_Unknown(size, at, units, all_rows, arguments))
    for each, seconds, row_bytes in _probed(list(unknown.values())):
        memory = max(found[each.at].memory, int(row_bytes * each.rows))
        found[each.at] = replace(found[each.at], seconds=seconds * each.units, memory=memory)
    return found


def _probed(kinds: Sequence[Sequence[_Unknown]]) -> Iterator[tuple[_Unknown, float, float]]:
    """Seconds a unit, by a power law in the length of rows between two probes of a kind; bytes of a row."""
    ends = {each.at: each for kind in kinds for each in (min(kind), max(kind))}
    ordered = sorted(ends.values(), key=lambda each: each.probe[0].dataset.title)
    seconds, futures = min(PROBE_SECONDS, PROBES_SECONDS / max(1, len(ends))), dict[int, Future[Any]]()
    with Pool() as pool:
        for number, each in enumerate(ordered):  # a process loads each of its data sets once
            key = number * PROCESSES // len(ends), each.probe[0].algorithm.distribution
            futures[each.at] = pool.submit(probe, *each.probe, seconds, key=key, seconds=WAIT_SECONDS)
        done = wait(futures.values(), WAIT_SECONDS).done
    for kind in kinds:
        tried = [(each.size, futures[each.at]) for each in sorted(kind) if futures.get(each.at) in done]
        speeds = [(size, *future.result()) for size, future in tried if future.exception() is None]
        if not speeds:  # the method fails, or is too slow: its time stays unknown
            continue
        (short, fast, row_bytes), (long, slow, _) = speeds[0], speeds[-1]
        power = log(slow / fast) / log(long / short) if long > short and min(fast, slow) > 0.0 else 1.0
        for each in kind:
            yield each, fast * (each.size / short) ** min(STEEPEST, max(0.0, power)), row_bytes


_sample: dict[Any, Prepared] = {}  # the latest sample of this process, which several methods share


def probe(entry: Entry, seeds: Seeds, rows: int, seconds: float) -> tuple[float, float]:
    """Seconds per unit (a row of a full method, else an iteration) in about `seconds`, and bytes of a row."""
    unit = Unit("", (), entry, seeds)
    if unit.group not in _sample:
        split = prepared_data().split(entry, seeds.split_seed, seeds.fold)
        few = Split(_few(split.train), _few(split.test))
        _sample.clear()
        _sample[unit.group] = prepare_split(entry, few, seeds.split_seed)
    prepared = _sample[unit.group]
    units, is_full = max(1, round(units_of(entry, rows))), _is_full(entry)
    with limited_memory(entry.limits.memory, 1):
        task = task_of(unit, prepared, {}, entry.budget.checkpoints)
        (task,) = hold_out([task], seeds.split_seed)
        most = min(len(task.y), MOST_ROWS) if is_full else units
        size, runs = min(most, FEWEST[is_full]), [(0, 0.0)]
        while True:
            try:
                taken = _timed(task, size, is_full)
                if taken > 2.0 * LONGER * runs[-1][1]:  # it compiled, as the first always does
                    taken = _timed(task, size, is_full)
                runs.append((size, taken))
            except ParameterError:  # such as too few rows for its blocks
                if size >= most:
                    raise
            if size >= most or sum(each for _, each in runs) + 2.0 * runs[-1][1] > seconds:
                break
            size = min(most, LONGER * size)
    more, taken = runs[-1]
    fewer, less = next(run for run in reversed(runs) if run[0] <= more / 2)
    slope = max(0.0, taken - less) / (more - fewer)
    start = max(0.0, taken - slope * more)  # initialisation and checkpoints
    per_unit = slope + start * (1.0 if is_full else rows / len(task.y)) / units
    return per_unit, size_of(prepared.X) / prepared.X.shape[0]


def _few(side: Side) -> Side:
    rows = np.arange(len(side.y)) if side.rows is None else side.rows
    step = int(np.ceil(size_of(side.X, rows) / SAMPLE_BYTES)) or 1
    # Contiguous labels: strided ones would make the kernels compile again.
    return Side(side.X, np.ascontiguousarray(side.y[::step]), np.ascontiguousarray(rows[::step]))


def _timed(task: Task, size: int, is_full: bool) -> float:
    """Processor seconds of a run on that many training rows, or of that many iterations."""
    if is_full:
        few = np.sort(np.random.default_rng(0).permutation(len(task.y))[:size])
        task = replace(task, X=task.X[few], y=task.y[few])
    else:
        task = replace(task, iterations=size, epochs=None, seconds=None)
    begun = process_time()
    run_cell(task)
    return process_time() - begun


def units_of(entry: Entry, rows: int) -> float:
    """Training rows for a full method, iterations for any other."""
    per_iteration = rows_per_iteration(entry.algorithm.instance, rows)
    return rows if _is_full(entry) else passes_of(entry, rows) * rows / per_iteration


def _is_full(entry: Entry) -> bool:
    return Access(entry.algorithm.instance.access) is Access.full


def passes_of(entry: Entry, rows: int) -> float:
    """Passes over the training rows in one training, with the middle of the budgets that a tuning tries."""
    space = entry.tuning.space
    budget = with_budget(entry.budget, {name: each[len(each) // 2] for name, each in space.items()})
    if budget.iterations:
        return budget.iterations * rows_per_iteration(entry.algorithm.instance, rows) / rows
    return budget.epochs or (1.0 if budget.seconds else default_passes(rows))


def seconds_of(entry: Entry, pool: Pool, limit: float) -> float | None:
    """Seconds of one training of an entry; infinite if the probe times out, None if it fails."""
    seeds = entry.cells()[0]
    rows, _, _ = prepared_data().sizes(entry, seeds.split_seed, seeds.fold)
    future = pool.submit(probe, entry, seeds, rows, PROBE_SECONDS, seconds=limit)
    error = future.exception()
    if error is not None:
        return inf if isinstance(error, ProcessEnded) and error.is_late else None
    return float(future.result()[0] * units_of(entry, rows))
