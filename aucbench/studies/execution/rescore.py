"""More measures of the finished cells of a study, from stored weights or scores and without training."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aucbench.errors import AucbenchError
from aucbench.evaluation.measures import Measure, listed, restored
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.make_record import missing_measures
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.execution.worker import run_unit
from aucbench.studies.record import EntryPlan, Failure
from aucbench.studies.result import CellResult
from aucbench.studies.store import Store


@dataclass
class Rescored:
    """The outcome of `rescore`."""

    scored: int = 0  # cells that were measured
    known: int = 0  # cells that had the measures before
    diverged: int = 0  # cells that have no value of any measure
    kept: Counter[str] = field(default_factory=Counter)  # cells that keep a measure with other parameters
    # Cells with neither weights nor scores, which must be trained again, by method.
    without_scores: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)  # one sentence for each failure


def rescore_study(
    store: Store,
    study: str,
    measures: Sequence[Measure],
    entry_of: Callable[[EntryPlan], Entry],
    replace_others: bool,
) -> Rescored:
    """Compute measures of the finished cells of a study, and forget that MLflow has its entries.

    `entry_of` maps a planned entry to the entry that would run today with these measures. Measures that a
    cell has with other parameters are replaced only if `replace_others`.
    """
    result, plans = Rescored(), store.plans()
    entries = (entry for plan in store.plans(study) for entry in plan.entries)
    for planned in sorted(entries, key=lambda entry: entry.dataset):  # each data set is loaded once
        entry: Entry | None = None
        written = set()
        for cell in filter(None, map(store.get, planned.cells)):
            record, missing = cell.record, missing_measures(cell.record, measures)
            result.known += not missing and not cell.diverged
            result.diverged += cell.diverged
            if not replace_others:
                conflicts = {measure.name for measure in missing} & record.measures.keys()
                result.kept.update(
                    listed([restored(name, record.measures[name].parameters)]) for name in conflicts
                )
                missing = [measure for measure in missing if measure.name not in conflicts]
            if not missing:
                continue
            try:
                entry = entry or entry_of(planned)
            except AucbenchError as error:
                result.failed.append(f"{planned.algorithm} on {planned.dataset}: {error}")
                break
            if cell.weights is cell.scores is None and not cell.diverged:
                result.without_scores[planned.algorithm] += 1
                continue
            new_entry = replace(entry, measures=tuple(missing))
            state: Any = {"tuned": record.tuned, "scored": True, "stored": cell}
            outcome = run_unit(Unit(record.key, record.data.sha256, new_entry, record.seeds, **state))
            if isinstance(outcome, CellResult):
                store.put(record.key, outcome)
                written.add(record.key)
                result.scored += not cell.diverged
            else:
                reason = outcome.message if isinstance(outcome, Failure) else outcome
                result.failed.append(f"{entry}: {reason}")
        for entry_plan in (entry_plan for plan in plans for entry_plan in plan.entries):
            if written & entry_plan.cells.keys():
                store.forget_tracked(entry_plan.key)
    result.failed = list(dict.fromkeys(result.failed))
    return result
