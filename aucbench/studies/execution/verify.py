"""Cells of an archive run again here: a random sample, compared with what the archive has."""

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aucbench.errors import AucbenchError, DataError, ParameterError
from aucbench.evaluation.measures import AUC, TrainingObjective
from aucbench.humanize import counted
from aucbench.studies.archives.archive import Archive, reads_own_file
from aucbench.studies.archives.replications import Comparison, compare
from aucbench.studies.codec import canonical, subset
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.execute import opened_store
from aucbench.studies.execution.executor import LocalExecutor
from aucbench.studies.execution.make_record import check_scores
from aucbench.studies.execution.plan import Plan, plan_study
from aucbench.studies.execution.scheduler import Scheduler
from aucbench.studies.execution.worker import labels_of
from aucbench.studies.import_paths import UntrustedError
from aucbench.studies.plugin_metadata import GROUPS, plugin
from aucbench.studies.provenance import changed_versions, missing_packages
from aucbench.studies.record import CellRecord, PluginRecord
from aucbench.studies.rerun_command import words
from aucbench.studies.result import CellResult, common
from aucbench.studies.study import Observer, Study

ROWS = ("sha256", "train_rows", "test_rows", "features", "train_positives")


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
    keys = sorted(key for key, cell in archive.cells.items() if method in (None, cell.record.algorithm.name))
    if method is not None and not keys:
        raise ParameterError(f"{archive.path} has no cell of a method '{method}'.")
    comparisons: list[Comparison] = []
    left_out, different = Counter[str](), Counter[str]()
    for at in np.random.default_rng(seed).permutation(len(keys)):
        if len(comparisons) == cells:
            break
        there = archive.cells[keys[at]]
        record = there.record
        name = f"{record.algorithm.name} on {record.dataset.title}"
        try:
            entry, here = _run(record, entry_of)
        except (_UnfitError, UntrustedError) as error:
            left_out[f"{name}: {error}"] += 1
            continue
        except AucbenchError as error:
            found = str(error)
        else:
            comparison = compare(record, here.record, tolerance, here.record.key != record.key)
            comparisons.append(comparison)
            found = _deviations(there, here, entry, tolerance, archive.compact, not comparison.allowed)
        if found:
            changed = [
                f"{package} {made} there and {own or 'not installed'} here"
                for package, (made, own) in changed_versions(record).items()
            ]
            different[f"{name}: {found}" + f"; versions differ: {', '.join(changed)}" * bool(changed)] += 1
    sentences = (
        [f"{why} ({counted(n, 'cell')})" for why, n in each.items()] for each in (left_out, different)
    )
    return Verification(comparisons, *sentences)


def _run(record: CellRecord, entry_of: Callable[[Sequence[str]], Entry]) -> tuple[Entry, CellResult]:
    """A cell run again, and its entry; an AucbenchError says why it cannot be run, or is another here."""
    if reads_own_file(record):  # chosen by the sender, and untrusted
        raise _UnfitError("its data come from a file of its own, which is not read")
    if record.budget.seconds is not None:
        raise _UnfitError("its budget is in seconds, so that no equal result is to be expected")
    for group, field in GROUPS.items():
        own: PluginRecord | None = getattr(record, field)
        if own is not None and (cls := plugin(group, own.name)) is None:
            raise _UnfitError(
                f"{own.name} comes from the distribution {own.distribution or 'of an unknown name'} "
                f"{own.version}, which is not installed here or does not provide it"
            )
        if group == "algo" and (missing := missing_packages(cls)):
            raise _UnfitError(f"{record.algorithm.name} {missing}")
    measures = tuple(each for each in common([record]) if not isinstance(each, TrainingObjective))
    entry = replace(
        entry_of(words(record, [record.seeds])), measures=measures, keep_weights=False, keep_model=False
    )
    with opened_store(None) as store:
        plan = plan_study(study := Study([entry]), store)
        if plan.refused:
            raise _UnfitError(plan.refused[0].why)
        (planned,) = plan.entries
        own_cells = tuple(cell for cell in planned.cells if cell.seeds == record.seeds)
        if not own_cells or own_cells[0].key != record.key:
            _check_equal(record, entry, planned.digests, bool(own_cells))
        plan = Plan(study, (replace(planned, cells=own_cells),))
        result = Scheduler(plan, store, LocalExecutor(Observer())).run()
        if (found := store.get(own_cells[0].key)) is None:
            reasons = [f"{failure.reason}: {failure.message}" for failure in result.failures]
            reasons += [refused.why for refused in result.refused]
            raise AucbenchError(f"it has a result there, and here: {reasons[0]}")
        return entry, found


def _deviations(
    there: CellResult, here: CellResult, entry: Entry, tolerance: float, is_cut: bool, is_exact: bool
) -> str:
    """What differs besides the final AUC, in words; of a curve that may be cut, its end counts."""
    one, two = there.record, here.record
    theirs, ours = there.curve[AUC.name], here.curve[AUC.name]
    values = [[each.measures[name].value for name in two.measures] for each in (one, two)]
    same = {
        "rows": subset(one.data, ROWS) == subset(two.data, ROWS),
        "iterations": (one.result.iterations, one.result.stop_reason)
        == (two.result.iterations, two.result.stop_reason),
    }
    if one.tuned and two.tuned:
        same["chosen hyperparameters"] = canonical(one.tuned.parameters) == canonical(two.tuned.parameters)
        aucs, own = (
            {(e.number, e.fold): e.auc for e in each.trials or ()} for each in (one.tuned, two.tuned)
        )
        same["AUCs of trials"] = _are_close(aucs.values(), map(own.get, aucs), tolerance)
    same["AUCs at checkpoints"] = _are_close(theirs, ours[-len(theirs) :] if is_cut else ours, tolerance)
    same["measures"] = _are_close(values[0], values[1], tolerance)
    if there.scores is not None and not there.diverged:
        equal = here.scores is None or not is_exact or np.array_equal(there.scores, here.scores)
        same["scores"] = False
        with contextlib.suppress(DataError):
            check_scores(there, labels_of(entry, here))
            same["scores"] = bool(equal)
    differing = [name for name, is_same in same.items() if not is_same]
    return f"its {' and '.join(differing)} are others" if differing else ""


def _are_close(there: Any, here: Any, tolerance: float) -> bool:
    one, two = (np.array(list(each), np.float64) for each in (there, here))  # None becomes NaN
    return len(one) == len(two) and bool(np.allclose(one, two, rtol=0.0, atol=tolerance, equal_nan=True))


def _check_equal(record: CellRecord, entry: Entry, digests: Sequence[str], has_seeds: bool) -> None:
    """Refuse a cell of another key that differs here in more than the code."""
    if tuple(digests) != record.data.sha256:
        raise AucbenchError("the data here are others")
    seeds = [record.seeds]
    if not has_seeds or sorted(words(entry.describe(), seeds)) != sorted(words(record, seeds)):
        raise AucbenchError("the settings here are others")
    plugins = [[getattr(made, field) for field in GROUPS.values()] for made in (entry.describe(), record)]
    here, there = ([each and each.version for each in made] for made in plugins)
    if (entry.source_digest, here) == (record.source, there):
        raise AucbenchError("its key is not that of its settings, data and code")
