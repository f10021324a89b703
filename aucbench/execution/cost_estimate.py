"""The cost of a study in passes, time and memory, from what the store measured or from short trial runs."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts import Access
from aucbench.contracts.claimed_formula import evaluate
from aucbench.data.splits.protocols import Split
from aucbench.errors import AucbenchError
from aucbench.execution.plan import Plan, PlannedCell, PlannedEntry
from aucbench.execution.prepared_data import PreparedData
from aucbench.execution.search_progress import iterations_of, passes_of, points_of
from aucbench.execution.trial_run import TrialRuns
from aucbench.execution.work_units import PREPARED
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import CellRecord, EntryDescription, Trial, canonical, subset
from aucbench.studies.store import Store

FEW_OPERATIONS = 1e10  # some seconds
TUNED_SETTINGS = 10  # of a tuning, roughly


@dataclass(frozen=True)
class Estimate:
    """What it takes to run what is left of an entry."""

    trainings: int  # cells and trials of their tunings
    passes: float  # over the training rows
    seconds: float | None  # of one core; None where the method could not be tried
    memory: int  # bytes of the prepared arrays of one worker
    measured: bool  # whether the speed is that of finished cells, not of a trial run


def estimate(
    plan: Plan, store: Store, prepared_data: PreparedData, begun: Callable[[Entry], None] = lambda _: None
) -> list[Estimate]:
    """The estimate of every entry of a plan; `begun` is called with each entry before its own."""
    finished = defaultdict(list)
    for cell in store:
        finished[_costly(cell.record)].append(cell.record)
    mapped: set[tuple[Any, ...]] = set()  # splits whose feature map is paid for

    def of_entry(planned: PlannedEntry) -> Estimate:
        entry = planned.entry
        begun(entry)
        wanted = [cell for cell in planned.cells if cell.is_wanted(plan.only_failed) and not cell.scored]
        if not wanted:
            return Estimate(0, 0.0, 0.0, 0, True)
        split_seed, fold = wanted[0].seeds.split_seed, wanted[0].seeds.fold
        split = prepared_data.split(entry, split_seed, fold)
        rows = len(split.train.y)
        folds, points, missing, trials = 1, [], 0, []
        searches = {cell.search.key: cell.search for cell in wanted if cell.search}
        if searches:
            _, folds = prepared_data.tuning_size(entry, split_seed, fold)
            points = points_of(entry, next(iter(searches.values())))
            settings = len(points) or entry.tuning.choice.trials
            for key in searches:
                known = store.trials(key)
                trials += known
                missing += max(0, settings * folds - len(known))
        of_cell = entry.budget.seconds or _of_cell(entry, rows, finished[_costly(entry.describe())])
        of_trial = entry.budget.seconds or _of_trial(planned, store, trials)
        measured = of_cell is not None and (of_trial is not None or not missing)
        to_map = _maps(entry, wanted, folds if missing else 0) - mapped
        mapped.update(to_map)
        of_map, memory = 0.0, _bytes(split, str(entry.settings.dtype))
        if (to_map or not measured) and (
            price := trial_runs.price(entry, wanted[0].seeds, points if missing else ())
        ):
            of_map = price.feature_map
            memory = max(memory, int(price.row_bytes * (rows + len(split.test.y))))
            of_cell = price.cell if of_cell is None else of_cell
            # Where each setting depends on those before it, a trial is a run like that of a cell.
            of_trial = (price.trial if points else price.cell) if of_trial is None else of_trial
        seconds = None
        if of_cell is not None and (of_trial is not None or not missing):
            seconds = len(wanted) * of_cell + missing * (of_trial or 0.0) + len(to_map) * of_map
        return Estimate(
            len(wanted) + missing,
            (len(wanted) + missing) * passes_of(entry, rows),
            seconds if seconds is not None and np.isfinite(seconds) else None,
            memory,
            measured,
        )

    with TrialRuns() as trial_runs:
        return [of_entry(planned) for planned in plan.entries]


def is_certainly_short(planned: PlannedEntry, only_failed: bool, prepared_data: PreparedData) -> bool:
    """Whether what is left of an entry is a matter of seconds, by its claimed cost of an iteration."""
    try:
        return _operations(planned, only_failed, prepared_data) < FEW_OPERATIONS
    except AucbenchError:  # which the run will say
        return True


def _operations(planned: PlannedEntry, only_failed: bool, prepared_data: PreparedData) -> float:
    """Operations of the cells that are left; of a method on all rows, as if it factored systems of them."""
    entry = planned.entry
    wanted = [cell for cell in planned.cells if cell.is_wanted(only_failed) and not cell.scored]
    algorithm = entry.algorithm.instance
    claims = getattr(algorithm, "claims", None)
    if not wanted or claims is None or entry.budget.seconds:
        return 0.0
    side = prepared_data.split(entry, wanted[0].seeds.split_seed, wanted[0].seeds.fold).train
    X, n = side.X, len(side.y)
    d = X.shape[1] if entry.features.name == "identity" else min(X.shape[1], n)
    settings = len(wanted) * (entry.tuning.choice.folds * TUNED_SETTINGS if entry.tuning.chooses else 1)
    if Access(algorithm.access) is Access.full:
        return float(settings * n * min(n, d) ** 2)
    numbers = {name: value for name, value in vars(algorithm).items() if isinstance(value, int | float)}
    sizes = {"n": n, "d": d, "nnz": X.nnz / X.shape[0] if sparse.issparse(X) else d}
    return settings * iterations_of(entry, n) * evaluate(claims.cost, numbers | sizes)


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


def _bytes(split: Split, dtype: str) -> int:
    size = np.dtype(dtype).itemsize
    total = 0
    for side in (split.train, split.test):
        X: Any = side.X
        per_row = X.nnz / X.shape[0] * (size + 4) + 4 if sparse.issparse(X) else X.shape[1] * size
        total += int(len(side.y) * per_row)
    return total
