"""Cells of an archive run again here: a random sample, compared with what the archive has."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from aucbench.errors import AucbenchError, ParameterError
from aucbench.evaluation.measures import AUC
from aucbench.humanize import counted
from aucbench.studies.archive import Archive
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.executor import LocalExecutor
from aucbench.studies.import_paths import UntrustedError
from aucbench.studies.plan import Plan, PlannedCell, plan_study
from aucbench.studies.plugin_metadata import settings_of
from aucbench.studies.record import (
    CellRecord,
    EntryDescription,
    PluginRecord,
    canonical,
    subset,
)
from aucbench.studies.replications import Comparison, compare
from aucbench.studies.rerun_command import words
from aucbench.studies.result import CellResult
from aucbench.studies.scheduler import Scheduler
from aucbench.studies.store import Store
from aucbench.studies.study import Observer, Study


@dataclass(frozen=True)
class Verification:
    """The outcome of running some cells again."""

    comparisons: list[Comparison]
    left_out: list[str]  # sentences on cells that could not be run again
    different: list[str]  # sentences on cells that differ here from the archive


class _UnfitError(AucbenchError):
    """A cell cannot be run again here."""


def verify_sample(
    archive: Archive,
    entry_of: Callable[[Sequence[str]], Entry],
    cells: int,
    seed: int,
    tolerance: float,
    method: str | None = None,
) -> Verification:
    """Run up to `cells` cells again, drawn at random among those that can be; others are left out, with why.

    A cell that other code made is run with the code that is here, and agrees within the tolerance: the same
    formulas may be summed in another order. What must be the same are its settings and its data.
    `entry_of` gives the entry of some overrides. Only cells of `method` are drawn, if one is given.
    """
    if method is not None and all(cell.record.algorithm.name != method for cell in archive):
        raise ParameterError(f"{archive.path} has no cell of a method '{method}'.")
    keys = sorted(key for key, cell in archive.cells.items() if method in (None, cell.record.algorithm.name))
    order = np.random.default_rng(seed).permutation(len(keys))
    comparisons: list[Comparison] = []
    left_out, different = Counter[str](), Counter[str]()
    for key in (keys[at] for at in order):
        if len(comparisons) == cells:
            break
        cell = archive.cells[key]
        record = cell.record
        name = f"{record.algorithm.name} on {record.dataset.title}"
        try:
            here = _run(record, entry_of)
        except (_UnfitError, UntrustedError) as error:
            left_out[f"{name}: {error}"] += 1
            continue
        except AucbenchError as error:
            different[f"{name}: {error}"] += 1
            continue
        is_other = here.record.key != record.key
        comparisons.append(compare(record, here.record, tolerance, other_code=is_other))
        if deviating := _deviating(cell, here, tolerance):
            different[f"{name}: its {' and '.join(deviating)} are others"] += 1
    return Verification(comparisons, _counted(left_out), _counted(different))


def _counted(reasons: Counter[str]) -> list[str]:
    return [f"{why} ({counted(count, 'cell')})" for why, count in reasons.items()]


def _run(record: CellRecord, entry_of: Callable[[Sequence[str]], Entry]) -> CellResult:
    """A cell run again; AucbenchError says why it cannot be run, or is another here."""
    if "path" in record.dataset.parameters:  # chosen by the sender, and untrusted
        raise _UnfitError("its data come from a file of its own, which is not read")
    if record.budget.seconds is not None:
        raise _UnfitError("its budget is in seconds, so that no equal result is to be expected")
    entry = replace(entry_of(words(record, [record.seeds])), measures=(), keep_weights=False)
    with TemporaryDirectory(prefix="aucbench-") as folder:
        store = Store(folder)
        plan = plan_study(Study([entry]), store)
        if plan.refused:
            raise _UnfitError(plan.refused[0].why)
        (planned,) = plan.entries
        own = tuple(cell for cell in planned.cells if cell.seeds == record.seeds)
        _check_equal(record, entry, planned.digests, own)
        plan = Plan((replace(planned, cells=own),))
        result = Scheduler(plan, store, LocalExecutor(Observer())).run()
        found = store.get(own[0].key)
        if found is None:
            ((failure, *_),) = (result.failures,)
            raise AucbenchError(f"it has a result there, and here: {failure.reason}: {failure.message}")
        return found


def _deviating(there: CellResult, here: CellResult, tolerance: float) -> list[str]:
    """Deviations besides the final AUC: rows, iterations, chosen hyperparameters, AUCs of the curve."""
    found = []
    one, two = there.record, here.record
    rows = ("sha256", "train_rows", "test_rows", "features", "train_positives")
    if subset(one.data, rows) != subset(two.data, rows):
        found.append("rows")
    if (one.result.iterations, one.result.stop_reason) != (two.result.iterations, two.result.stop_reason):
        found.append("iterations")
    if one.tuned and two.tuned:
        if canonical(one.tuned.parameters) != canonical(two.tuned.parameters):
            found.append("chosen hyperparameters")
        trials = [
            {(each.number, each.fold): each.auc for each in tuned.trials or ()}
            for tuned in (one.tuned, two.tuned)
        ]
        if not _are_close(list(trials[0].values()), [trials[1].get(key) for key in trials[0]], tolerance):
            found.append("AUCs of trials")
    if not _are_close(there.curve[AUC.name], here.curve[AUC.name], tolerance):
        found.append("AUCs at checkpoints")
    return found


def _are_close(
    there: Sequence[Any] | NDArray[Any], here: Sequence[Any] | NDArray[Any], tolerance: float
) -> bool:
    one, two = (np.array(each, np.float64) for each in (there, here))  # None becomes NaN
    return len(one) == len(two) and bool(np.allclose(one, two, rtol=0.0, atol=tolerance, equal_nan=True))


def _check_equal(
    record: CellRecord, entry: Entry, digests: Sequence[str], own: Sequence[PlannedCell]
) -> None:
    """Refuse a cell that differs here in more than the code."""
    if own and own[0].key == record.key:
        return
    if tuple(digests) != record.data.sha256:
        raise AucbenchError("the data here are others")
    here, there = (_settings(each) for each in (entry.describe(), record))
    if not own or here[0] != there[0]:
        raise AucbenchError("the settings here are others")
    if (entry.source_digest, here[1]) == (record.source, there[1]):
        raise AucbenchError("its key is not that of its settings, data and code")


def _settings(described: EntryDescription) -> tuple[str, list[str]]:
    """Settings of an entry or a record, and the versions of its plugins, which tell code from code."""
    found = settings_of(described)
    plugins = {name: value for name, value in found.items() if isinstance(value, PluginRecord)}
    bare = {name: structs.replace(plugin, version="", exempt={}) for name, plugin in plugins.items()}
    versions = [getattr(described, name).version for name in plugins]
    return canonical(found | bare), versions
