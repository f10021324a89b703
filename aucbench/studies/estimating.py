"""What a study will cost: passes, time and memory, from what the store measured or from a short trial run."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.data.splits import Split
from aucbench.entry import Entry
from aucbench.runner.task import DEFAULT_EPOCHS, rows_per_iteration
from aucbench.store import Store
from aucbench.studies.planning import Plan, PlannedEntry
from aucbench.studies.searching import points_of
from aucbench.studies.trial_run import TrialRuns
from aucbench.studies.workshop import Workshop


@dataclass(frozen=True)
class Estimate:
    """What is left of an entry.

    Parameters
    ----------
    trainings : int
        Cells and trials of their tunings.
    passes : float
        Over the training rows.
    seconds : float or None
        Of one core; None where the method could not be tried.
    memory : int
        Bytes of the prepared arrays of one worker.
    measured : bool
        Whether the speed is that of finished cells, not of a trial run.
    """

    trainings: int
    passes: float
    seconds: float | None
    memory: int
    measured: bool


def estimate(plan: Plan, store: Store, workshop: Workshop) -> list[Estimate]:
    """The estimate of every entry of a plan."""
    speeds = _speeds(store)
    with TrialRuns() as trials:
        return [
            _entry(planned, plan.only_failed, speeds, store, workshop, trials) for planned in plan.entries
        ]


def _entry(
    planned: PlannedEntry,
    only_failed: bool,
    speeds: dict[tuple[str, str], float],
    store: Store,
    workshop: Workshop,
    trial_runs: TrialRuns,
) -> Estimate:
    entry = planned.entry
    wanted = [cell for cell in planned.cells if cell.is_wanted(only_failed)]
    if not wanted:
        return Estimate(0, 0.0, 0.0, 0, True)
    seeds = wanted[0].cell.seeds
    split = workshop.split(entry, seeds.split_seed, seeds.fold)
    rows = len(split.train.y)
    trials = 0
    if entry.tuning.chooses:
        folds = workshop.inner_folds(entry, seeds.split_seed, seeds.fold)
        searches = {cell.search.key(planned.digests): cell.search for cell in wanted if cell.search}
        for key, search in searches.items():
            settings = len(points_of(search)) or entry.tuning.choice.trials
            trials += max(0, settings * folds - len(store.trials(key)))
    trainings = len(wanted) + trials
    known = speeds.get((entry.algorithm.name, entry.dataset.title))
    iteration = known if known is not None else trial_runs.seconds(entry, seeds.split_seed, seeds.fold)
    iterations = iterations_of(entry, rows)
    each = entry.budget.seconds or (None if iteration is None else iteration * iterations)
    return Estimate(
        trainings,
        trainings * _passes(entry, rows),
        None if each is None else each * trainings,
        _bytes(split, str(entry.settings.dtype)),
        known is not None,
    )


def iterations_of(entry: Entry, rows: int) -> float:
    """Iterations of one training on that many rows; for a budget in seconds as if it were an epoch."""
    if entry.budget.iterations is not None:
        return entry.budget.iterations
    return _epochs(entry) * rows / rows_per_iteration(entry.algorithm.instance, rows)


def _passes(entry: Entry, rows: int) -> float:
    if entry.budget.iterations is not None:
        return entry.budget.iterations * rows_per_iteration(entry.algorithm.instance, rows) / rows
    return _epochs(entry)


def _epochs(entry: Entry) -> float:
    """Those of the budget; one for a budget in seconds."""
    return entry.budget.epochs or (1.0 if entry.budget.seconds else DEFAULT_EPOCHS)


def _bytes(split: Split, dtype: str) -> int:
    size = np.dtype(dtype).itemsize
    total = 0
    for side in (split.train, split.test):
        X: Any = side.X
        per_row = X.nnz / X.shape[0] * (size + 4) + 4 if sparse.issparse(X) else X.shape[1] * size
        total += int(len(side.y) * per_row)
    return total


def _speeds(store: Store) -> dict[tuple[str, str], float]:
    """Median seconds of an iteration of finished cells, by method and data set."""
    found: dict[tuple[str, str], list[float]] = {}
    for cell in store:
        key = (cell.record["algorithm"]["name"], cell.record["dataset"]["title"])
        found.setdefault(key, []).append(cell.outcome["ns_per_iteration"] * 1e-9)
    return {key: float(np.median(values)) for key, values in found.items()}


def total_seconds(estimates: list[Estimate], workers: int) -> float | None:
    """Of the whole study on that many workers; None where a part is not known."""
    parts = [each.seconds for each in estimates]
    if None in parts:
        return None
    return sum(part for part in parts if part is not None) / max(1, workers)
