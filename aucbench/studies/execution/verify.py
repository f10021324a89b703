"""Rerun a random sample of an archive's cells here, and compare the results with the archive."""

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
    """Rerun up to `cells` cells, drawn at random; cells that cannot be run are left out, with the reasons.

    A cell made by other code is run with the installed code, and must agree within the tolerance: the same
    formulas may be summed in another order. Its settings and its data must be equal. `entry_of` composes an
    entry from overrides, `seed` draws the sample, `tolerance` is the allowed difference of AUCs under
    different versions or on different processors. If `method` is set, only its cells are drawn.
    """
    keys = sorted(key for key, cell in archive.cells.items() if method in (None, cell.record.algorithm.name))
    if method is not None and not keys:
        raise ParameterError(f"{archive.path} has no cell of a method '{method}'.")
    comparisons: list[Comparison] = []
    left_out, different = Counter[str](), Counter[str]()
    for at in np.random.default_rng(seed).permutation(len(keys)):
        if len(comparisons) == cells:
            break
        archived = archive.cells[keys[at]]
        record = archived.record
        name = f"{record.algorithm.name} on {record.dataset.title}"
        try:
            entry, rerun = _run(record, entry_of)
        except (_UnfitError, UntrustedError) as error:
            left_out[f"{name}: {error}"] += 1
            continue
        except AucbenchError as error:
            problem = str(error)
        else:
            comparison = compare(record, rerun.record, tolerance, rerun.record.key != record.key)
            comparisons.append(comparison)
            problem = _deviations(archived, rerun, entry, tolerance, archive.compact, not comparison.allowed)
        if problem:
            changed = [
                f"{package} {version} there and {installed or 'not installed'} here"
                for package, (version, installed) in changed_versions(record).items()
            ]
            different[f"{name}: {problem}" + f"; versions differ: {', '.join(changed)}" * bool(changed)] += 1
    sentences = (
        [f"{text} ({counted(n, 'cell')})" for text, n in counts.items()] for counts in (left_out, different)
    )
    return Verification(comparisons, *sentences)


def _run(record: CellRecord, entry_of: Callable[[Sequence[str]], Entry]) -> tuple[Entry, CellResult]:
    """The entry and the rerun of a cell; AucbenchError if the cell cannot be run or differs here."""
    if reads_own_file(record):  # a file chosen by the sender is untrusted
        raise _UnfitError("its data come from a file of its own, which is not read")
    if record.budget.seconds is not None:
        raise _UnfitError("its budget is in seconds, so that no equal result is to be expected")
    for group, field in GROUPS.items():
        part: PluginRecord | None = getattr(record, field)
        if part is not None and (cls := plugin(group, part.name)) is None:
            raise _UnfitError(
                f"{part.name} comes from the distribution {part.distribution or 'of an unknown name'} "
                f"{part.version}, which is not installed here or does not provide it"
            )
        if group == "algo" and (missing := missing_packages(cls)):
            raise _UnfitError(f"{record.algorithm.name} {missing}")
    measures = tuple(measure for measure in common([record]) if not isinstance(measure, TrainingObjective))
    entry = replace(
        entry_of(words(record, [record.seeds])), measures=measures, keep_weights=False, keep_model=False
    )
    with opened_store(None) as store:
        plan = plan_study(study := Study([entry]), store)
        if plan.refused:
            raise _UnfitError(plan.refused[0].why)
        (planned,) = plan.entries
        cells = tuple(cell for cell in planned.cells if cell.seeds == record.seeds)
        if not cells or cells[0].key != record.key:
            _check_equal(record, entry, planned.digests, bool(cells))
        plan = Plan(study, (replace(planned, cells=cells),))
        result = Scheduler(plan, store, LocalExecutor(Observer())).run()
        if (rerun := store.get(cells[0].key)) is None:
            reasons = [f"{failure.reason}: {failure.message}" for failure in result.failures]
            reasons += [refused.why for refused in result.refused]
            raise AucbenchError(f"it has a result there, and here: {reasons[0]}")
        return entry, rerun


def _deviations(
    archived: CellResult, rerun: CellResult, entry: Entry, tolerance: float, is_cut: bool, is_exact: bool
) -> str:
    """The differences besides the final AUC, in words; a curve that may be cut is compared at its end."""
    old, new = archived.record, rerun.record
    theirs, ours = archived.curve[AUC.name], rerun.curve[AUC.name]
    values = [[record.measures[name].value for name in new.measures] for record in (old, new)]
    same = {
        "rows": subset(old.data, ROWS) == subset(new.data, ROWS),
        "iterations": (old.result.iterations, old.result.stop_reason)
        == (new.result.iterations, new.result.stop_reason),
    }
    if old.tuned and new.tuned:
        same["chosen hyperparameters"] = canonical(old.tuned.parameters) == canonical(new.tuned.parameters)
        aucs, our_aucs = (
            {(e.number, e.fold): e.auc for e in choice.trials or ()} for choice in (old.tuned, new.tuned)
        )
        same["AUCs of trials"] = _are_close(aucs.values(), map(our_aucs.get, aucs), tolerance)
    same["AUCs at checkpoints"] = _are_close(theirs, ours[-len(theirs) :] if is_cut else ours, tolerance)
    same["measures"] = _are_close(values[0], values[1], tolerance)
    if archived.scores is not None and not archived.diverged:
        equal = rerun.scores is None or not is_exact or np.array_equal(archived.scores, rerun.scores)
        same["scores"] = False
        with contextlib.suppress(DataError):
            check_scores(archived, labels_of(entry, rerun))
            same["scores"] = bool(equal)
    differing = [name for name, is_same in same.items() if not is_same]
    return f"its {' and '.join(differing)} are others" if differing else ""


def _are_close(theirs: Any, ours: Any, tolerance: float) -> bool:
    a, b = (np.array(list(values), np.float64) for values in (theirs, ours))  # None becomes NaN
    return len(a) == len(b) and bool(np.allclose(a, b, rtol=0.0, atol=tolerance, equal_nan=True))


def _check_equal(record: CellRecord, entry: Entry, digests: Sequence[str], has_seeds: bool) -> None:
    """Refuse a cell of another key that differs here in more than the code."""
    if tuple(digests) != record.data.sha256:
        raise AucbenchError("the data here are others")
    seeds = [record.seeds]
    if not has_seeds or sorted(words(entry.describe(), seeds)) != sorted(words(record, seeds)):
        raise AucbenchError("the settings here are others")
    plugins = [[getattr(side, field) for field in GROUPS.values()] for side in (entry.describe(), record)]
    current, recorded = ([described and described.version for described in group] for group in plugins)
    if (entry.source_digest, current) == (record.source, recorded):
        raise AucbenchError("its key is not that of its settings, data and code")
