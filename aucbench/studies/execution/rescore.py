"""More measures of the finished cells of a study, from stored weights or scores and without training."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aucbench.errors import AucbenchError
from aucbench.evaluation.measures import Measure, listed, restored
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.make_record import lacking
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
    # Cells with neither weights nor scores, which need a training, by method.
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
    done, plans = Rescored(), store.plans()
    entries = (entry for plan in store.plans(study) for entry in plan.entries)
    for planned in sorted(entries, key=lambda entry: entry.dataset):  # each data set is loaded once
        entry: Entry | None = None
        written = set()
        for cell in filter(None, map(store.get, planned.cells)):
            record, new = cell.record, lacking(cell.record, measures)
            done.known += not new and not cell.diverged
            done.diverged += cell.diverged
            if not replace_others:
                others = {own.name for own in new} & record.measures.keys()
                done.kept.update(
                    listed([restored(name, record.measures[name].parameters)]) for name in others
                )
                new = [own for own in new if own.name not in others]
            if not new:
                continue
            try:
                entry = entry or entry_of(planned)
            except AucbenchError as error:
                done.failed.append(f"{planned.algorithm} on {planned.dataset}: {error}")
                break
            if cell.weights is cell.scores is None and not cell.diverged:
                done.without_scores[planned.algorithm] += 1
                continue
            wanted = replace(entry, measures=tuple(new))
            state: Any = {"tuned": record.tuned, "scored": True, "stored": cell}
            outcome = run_unit(Unit(record.key, record.data.sha256, wanted, record.seeds, **state))
            if isinstance(outcome, CellResult):
                store.put(record.key, outcome)
                written.add(record.key)
                done.scored += not cell.diverged
            else:
                why = outcome.message if isinstance(outcome, Failure) else outcome
                done.failed.append(f"{entry}: {why}")
        for other in (other for plan in plans for other in plan.entries):
            if written & other.cells.keys():
                store.forget_tracked(other.key)
    done.failed = list(dict.fromkeys(done.failed))
    return done
