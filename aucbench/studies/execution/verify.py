"""Cells of an archive run again here: a random sample, compared with what the archive has."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import AucbenchError, DataError, ParameterError
from aucbench.evaluation.measures import AUC, TrainingObjective
from aucbench.humanize import counted
from aucbench.studies.archives.archive import Archive, reads_own_file
from aucbench.studies.archives.replications import Comparison, compare
from aucbench.studies.codec import canonical, subset
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.executor import LocalExecutor
from aucbench.studies.execution.make_record import check_scores
from aucbench.studies.execution.plan import Plan, PlannedCell, plan_study
from aucbench.studies.execution.scheduler import Scheduler
from aucbench.studies.execution.worker import labels_of
from aucbench.studies.import_paths import UntrustedError
from aucbench.studies.plugin_metadata import GROUPS, plugin
from aucbench.studies.provenance import changed_versions, missing_packages
from aucbench.studies.record import CellRecord, PluginRecord
from aucbench.studies.rerun_command import words
from aucbench.studies.result import CellResult, common
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
    `entry_of` gives the entry of some overrides, `seed` draws the sample, `tolerance` is the allowed
    difference of AUCs under different versions or on different processors. Only cells of `method` are drawn,
    if one is given.
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
            here, labels = _run(record, entry_of)
        except (_UnfitError, UntrustedError) as error:
            left_out[f"{name}: {error}"] += 1
            continue
        except AucbenchError as error:
            different[f"{name}: {error}{_other_versions(record)}"] += 1
            continue
        is_other = here.record.key != record.key
        comparisons.append(compare(record, here.record, tolerance, other_code=is_other))
        allowed = comparisons[-1].allowed
        if deviating := _deviating(cell, here, labels, allowed, tolerance, is_cut=archive.compact):
            different[f"{name}: its {' and '.join(deviating)} are others{_other_versions(record)}"] += 1
    return Verification(comparisons, _counted(left_out), _counted(different))


def _counted(reasons: Counter[str]) -> list[str]:
    return [f"{why} ({counted(count, 'cell')})" for why, count in reasons.items()]


def _other_versions(record: CellRecord) -> str:
    """Packages of the method that have another version here, in words."""
    changed = [
        f"{name} {there} there and {here or 'not installed'} here"
        for name, (there, here) in changed_versions(record).items()
    ]
    return f"; versions differ: {', '.join(changed)}" if changed else ""


def _check_installed(record: CellRecord) -> None:
    """Refuse a cell whose plugins, or the packages that they need, are not installed."""
    for group, field in GROUPS.items():
        own: PluginRecord | None = getattr(record, field)
        if own is None:
            continue
        if (cls := plugin(group, own.name)) is None:
            raise _UnfitError(
                f"{own.name} comes from the distribution {own.distribution or 'of an unknown name'} "
                f"{own.version}, which is not installed here or does not provide it"
            )
        if group == "algo" and (missing := missing_packages(cls)):
            raise _UnfitError(f"{own.name} {missing}")


def _run(
    record: CellRecord, entry_of: Callable[[Sequence[str]], Entry]
) -> tuple[CellResult, NDArray[np.int8]]:
    """A cell run again, and the labels of its test rows.

    AucbenchError says why it cannot be run, or is another here.
    """
    if reads_own_file(record):  # chosen by the sender, and untrusted
        raise _UnfitError("its data come from a file of its own, which is not read")
    if record.budget.seconds is not None:
        raise _UnfitError("its budget is in seconds, so that no equal result is to be expected")
    _check_installed(record)
    measures = tuple(each for each in common([record]) if not isinstance(each, TrainingObjective))
    entry = replace(
        entry_of(words(record, [record.seeds])), measures=measures, keep_weights=False, keep_model=False
    )
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
        return found, labels_of(entry, found)


def _deviating(
    there: CellResult,
    here: CellResult,
    labels: NDArray[np.int8],
    allowed: float,
    tolerance: float,
    is_cut: bool,
) -> list[str]:
    """Deviations besides the final AUC: rows, iterations, hyperparameters, curve, measures, scores.

    `allowed` is the difference of the final AUCs that is allowed; scores must be equal where it is zero, and
    give the AUC of the cell in any case. Of a curve that may be cut, the checkpoints that are there count.
    """
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
    theirs, ours = there.curve[AUC.name], here.curve[AUC.name]
    if not _are_close(theirs, ours[-len(theirs) :] if is_cut else ours, tolerance):
        found.append("AUCs at checkpoints")
    values = [[own.measures[name].value for name in two.measures] for own in (one, two)]
    if not _are_close(values[0], values[1], tolerance):
        found.append("measures")
    if there.scores is not None and not there.diverged:
        try:
            check_scores(there, labels)
        except DataError:
            found.append("scores")
        else:
            if not allowed and here.scores is not None and not np.array_equal(there.scores, here.scores):
                found.append("scores")
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
    seeds = [record.seeds]
    if not own or sorted(words(entry.describe(), seeds)) != sorted(words(record, seeds)):
        raise AucbenchError("the settings here are others")
    here, there = (
        [each and each.version for each in (getattr(made, field) for field in GROUPS.values())]
        for made in (entry.describe(), record)
    )
    if (entry.source_digest, here) == (record.source, there):
        raise AucbenchError("its key is not that of its settings, data and code")
