"""The cost of a study in trainings, passes, time and memory: from finished cells, else from short probes.

A method is probed on the data sets of the study with the shortest and the longest rows, dense and sparse ones
apart; a power law in the length of the rows says what it costs on the others.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from math import isfinite, log, sqrt
from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts import Access
from aucbench.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.execution.prepared_data import PreparedData
from aucbench.execution.probe import Speed, probe
from aucbench.execution.search_progress import iterations_of, passes_of, points_of
from aucbench.execution.work_units import PREPARED
from aucbench.pool import Pool, ProcessEnded
from aucbench.runner.budget_and_checkpoints import log_spaced
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import CellRecord, EntryDescription, Trial, canonical, subset
from aucbench.studies.store import Store

STORE_SECONDS = 1.5  # for reading finished cells
PROBES_SECONDS = 5.0  # processor time of all probes of a study
WAIT_SECONDS = 7.0  # for their answers
PROBE_WAIT_SECONDS = 5.0  # for each; a method that has to be compiled first may miss it
PROCESSES = 4  # in which methods are probed
PROBE_SECONDS = 0.5  # processor time of a probe, at most
LEAST_POWER, MOST_POWER = 0.0, 3.0  # exponents of the length of a row


@dataclass(frozen=True)
class Estimate:
    """What it takes to run what is left of an entry."""

    trainings: int  # cells and trials of their tunings
    passes: float  # over the training rows
    seconds: float | None  # of one core; None where the method could not be probed
    memory: int  # bytes of the prepared arrays of one worker
    measured: bool  # whether the speed is that of finished cells, not of a probe


@dataclass
class _Work:
    """What is left of an entry, and what is known of its cost."""

    planned: PlannedEntry
    cells: list[PlannedCell]
    rows: int  # training rows of a split
    test_rows: int
    folds: int
    points: Sequence[Any]  # settings of its tuning, if they are known before
    missing: int  # trials that are left
    row_bytes: float
    size: float  # of a row: its features, or for sparse rows their geometric mean with its non-zeros
    group: str  # entries of one group differ in their data only
    of_cell: float | None = None
    of_trial: float | None = None

    @property
    def is_known(self) -> bool:
        return self.of_cell is not None and (self.of_trial is not None or not self.missing)


def estimate(
    plan: Plan, store: Store, prepared_data: PreparedData, begun: Callable[[Entry], None] = lambda _: None
) -> list[Estimate]:
    """The estimate of every entry of a plan; `begun` is called with each entry before its own."""
    finished = _finished(store)
    works = []
    for planned in plan.entries:
        begun(planned.entry)
        wanted = [cell for cell in planned.cells if cell.is_wanted(plan.only_failed) and not cell.scored]
        works.append(_work(planned, wanted, store, prepared_data, finished) if wanted else None)
    speeds = _probed([work for work in works if work is not None])
    mapped: set[tuple[Any, ...]] = set()  # splits whose feature map is paid for
    return [
        Estimate(0, 0.0, 0.0, 0, True) if work is None else _estimate(work, speeds, mapped) for work in works
    ]


def seconds_of(entry: Entry, pool: Pool, limit: float) -> float | None:
    """Seconds of one training of an entry; infinite where a probe does not end, None where it fails."""
    rows = PreparedData().sizes(entry, entry.cells()[0].split_seed, entry.cells()[0].fold)[0]
    try:
        future = pool.submit(probe, entry, entry.cells()[0], (), PROBE_SECONDS, seconds=limit)
        return _cell_seconds(entry, rows, future.result())
    except ProcessEnded as ended:
        return float("inf") if ended.is_late else None
    except Exception:
        return None


def _finished(store: Store) -> Mapping[tuple[str, ...], list[CellRecord]]:
    """Records of finished cells by what decides their speed, as many as are read in a moment."""
    found, end = defaultdict(list), monotonic() + STORE_SECONDS
    for cell in store:
        found[_costly(cell.record)].append(cell.record)
        if monotonic() > end:
            break
    return found


def _work(
    planned: PlannedEntry,
    wanted: list[PlannedCell],
    store: Store,
    data: PreparedData,
    finished: Mapping[tuple[str, ...], list[CellRecord]],
) -> _Work:
    entry, seeds = planned.entry, wanted[0].seeds
    rows, test_rows, folds = data.sizes(entry, seeds.split_seed, seeds.fold)
    X: Any = data.load(entry)(entry.part).X
    nonzeros = X.nnz / X.shape[0] if sparse.issparse(X) else X.shape[1]
    size = np.dtype(str(entry.settings.dtype)).itemsize
    searches = {cell.search.key: cell.search for cell in wanted if cell.search}
    points = points_of(entry, next(iter(searches.values()))) if searches else []
    trials = [trial for key in searches for trial in store.trials(key)]
    settings = len(points) or entry.tuning.choice.trials if searches else 0
    description = entry.describe()
    method, _, *others = _costly(description)
    work = _Work(
        planned,
        wanted,
        rows,
        test_rows,
        folds,
        points,
        max(0, len(searches) * settings * folds - len(trials)),
        nonzeros * (size + 4) + 4 if sparse.issparse(X) else nonzeros * size,
        sqrt(X.shape[1] * max(1.0, nonzeros)),
        canonical([method, *others, sparse.issparse(X), bool(points), str(entry.scaling)]),
    )
    work.of_cell = entry.budget.seconds or _of_cell(entry, rows, finished[_costly(description)])
    work.of_trial = entry.budget.seconds or _of_trial(planned, store, trials)
    return work


def _probed(works: Sequence[_Work]) -> dict[str, list[tuple[float, Speed]]]:
    """Speeds by group, each with the size of the rows, ascending; those that are there in time."""
    groups = defaultdict(list)
    for work in works:
        if not work.is_known or work.planned.entry.features.name != "identity":
            groups[work.group].append(work)
    chosen = []
    for group in groups.values():
        group.sort(key=lambda work: (work.size, work.rows))
        chosen += group[:: len(group) - 1] if group[-1].size > group[0].size else group[:1]
    if not chosen:
        return {}
    seconds = min(PROBE_SECONDS, PROBES_SECONDS / len(chosen))
    found: dict[str, list[tuple[float, Speed]]] = defaultdict(list)
    chosen.sort(key=lambda work: work.planned.entry.dataset.title)  # which a process loads once
    with Pool() as pool:
        futures: dict[Future[Speed], _Work] = {}
        for number, work in enumerate(chosen):
            entry, seeds = work.planned.entry, work.cells[0].seeds
            key = (number * PROCESSES // len(chosen), entry.algorithm.distribution)
            arguments = (entry, seeds, tuple(work.points), seconds)
            futures[pool.submit(probe, *arguments, key=key, seconds=PROBE_WAIT_SECONDS)] = work
        done, _ = wait(futures, timeout=WAIT_SECONDS)
    for future, work in futures.items():
        if future in done and future.exception() is None:
            found[work.group].append((work.size, future.result()))
    return found


def _estimate(
    work: _Work, speeds: Mapping[str, list[tuple[float, Speed]]], mapped: set[tuple[Any, ...]]
) -> Estimate:
    entry, count, is_measured = work.planned.entry, len(work.cells), work.is_known
    of_cell, of_trial, of_map = work.of_cell, work.of_trial, 0.0
    memory = int(work.row_bytes * (work.rows + work.test_rows))
    to_map = _maps(entry, work.cells, work.folds if work.missing else 0) - mapped
    mapped.update(to_map)
    if (speed := _speed(speeds.get(work.group, ()), work.size)) is not None:
        of_cell = _cell_seconds(entry, work.rows, speed) if of_cell is None else of_cell
        if of_trial is None:
            # Where each setting depends on those before it, a trial is a run like that of a cell.
            of_trial = _trial_seconds(entry, work, speed) if work.points else of_cell
        if entry.features.name != "identity":
            of_map = speed.map_row * work.rows
            memory = max(memory, int(speed.row_bytes * (work.rows + work.test_rows)))
    seconds = None
    if of_cell is not None and (of_trial is not None or not work.missing):
        seconds = count * of_cell + work.missing * (of_trial or 0.0) + len(to_map) * of_map
    return Estimate(
        count + work.missing,
        (count + work.missing) * passes_of(entry, work.rows),
        seconds if seconds is not None and isfinite(seconds) else None,
        memory,
        is_measured,
    )


def _speed(probed: Sequence[tuple[float, Speed]], size: float) -> Speed | None:
    """The speed on rows of a size, by a power law through two probes, or proportional to one."""
    if len(probed) < 2:
        return Speed(*(value * size / probed[0][0] for value in probed[0][1])) if probed else None
    (short, fast), (long, slow) = probed

    def between(one: float, other: float) -> float:
        power = log(other / one) / log(long / short) if one > 0.0 and other > 0.0 else LEAST_POWER
        return float(one * (size / short) ** min(MOST_POWER, max(LEAST_POWER, power)))

    return Speed(*map(between, fast, slow))


def _cell_seconds(entry: Entry, rows: int, speed: Speed) -> float:
    if entry.budget.seconds:
        return entry.budget.seconds
    if Access(entry.algorithm.instance.access) is Access.full:
        return speed.row * rows * (rows / speed.rows) ** (speed.power - 1.0)
    iterations = iterations_of(entry, rows)
    points = len(log_spaced(max(1, round(iterations)), entry.budget.checkpoints)) - 1
    return speed.iteration * iterations + rows * (speed.row + points * speed.point_row)


def _trial_seconds(entry: Entry, work: _Work, speed: Speed) -> float:
    rows = round(work.rows * (1.0 - 1.0 / work.folds) if work.folds > 1 else work.rows)
    if Access(entry.algorithm.instance.access) is Access.full:
        return speed.trial_row * rows * (rows / speed.rows) ** (speed.power - 1.0)
    return speed.trial_iteration * iterations_of(entry, rows) + rows * speed.trial_row


def _maps(entry: Entry, cells: list[PlannedCell], folds: int) -> set[tuple[Any, ...]]:
    """The splits of some cells, and `folds` inner ones of each, whose rows a feature map is to map."""
    if entry.features.name == "identity":
        return set()
    shared = canonical(subset(entry.describe(), PREPARED))
    splits = {(cell.seeds.split_seed, cell.seeds.fold) for cell in cells}
    return {(shared, *split, inner) for split in splits for inner in (None, *range(folds))}


def _costly(description: EntryDescription) -> tuple[str, ...]:
    """What cells have in common whose iterations cost alike on as many rows.

    These are data set, feature map and method. Numbers with a fraction among the method's parameters, such
    as step sizes, may differ.
    """
    method, features = description.algorithm, description.features
    choices = {name: each for name, each in method.parameters.items() if not isinstance(each, float)}
    parameters = canonical(choices), canonical(features.parameters)
    return method.name, description.dataset.title, description.dtype, features.name, *parameters


def _of_cell(entry: Entry, rows: int, records: list[CellRecord]) -> float | None:
    """Median seconds of finished cells like those of the entry, for its budget."""
    if not records:
        return None
    if Access(entry.algorithm.instance.access) is Access.full:  # ends when it has converged
        return float(np.median([each.result.train_seconds * rows / each.data.train_rows for each in records]))
    each_iteration = np.median([each.result.ns_per_iteration for each in records])
    return float(each_iteration) * 1e-9 * iterations_of(entry, rows)


def _of_trial(planned: PlannedEntry, store: Store, trials: list[Trial]) -> float | None:
    """Mean seconds of the trials that the entry's tunings have finished."""
    seconds, count = sum(trial.train_seconds for trial in trials), len(trials)
    for cell in planned.cells:
        record = store.record(cell.key) if cell.search else None
        if record is not None and record.tuned is not None:
            seconds += record.tuned.cost.train_seconds
            count += record.tuned.cost.trainings
    return seconds / count if count else None
