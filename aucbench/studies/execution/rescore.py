"""More measures of the finished cells of a study, from stored weights or scores and without training."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

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
    failed: list[str] = field(default_factory=list)  # what went wrong, in sentences


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
        units = _units(store, planned, measures, entry_of, replace_others, done)
        written = set()
        for unit in units:
            stored = store.get(unit.key)
            if stored is None or (stored.weights is stored.scores is None and not stored.diverged):
                done.without_scores[planned.algorithm] += 1
                continue
            outcome = run_unit(replace(unit, stored=stored))
            if isinstance(outcome, CellResult):
                store.put(unit.key, outcome)
                written.add(unit.key)
                done.scored += not stored.diverged
            else:
                why = outcome.message if isinstance(outcome, Failure) else outcome
                done.failed.append(f"{unit.entry}: {why}")
        for entry in (entry for plan in plans for entry in plan.entries):
            if written & entry.cells.keys():
                store.forget_tracked(entry.key)
    done.failed = list(dict.fromkeys(done.failed))
    return done


def _units(
    store: Store,
    planned: EntryPlan,
    measures: Sequence[Measure],
    entry_of: Callable[[EntryPlan], Entry],
    replace_others: bool,
    done: Rescored,
) -> list[Unit]:
    """The cells of a planned entry that lack measures; the others are counted."""
    units: list[Unit] = []
    entry: Entry | None = None
    for record in filter(None, map(store.record, planned.cells)):
        new = lacking(record, measures)
        done.known += not new and not record.diverged
        done.diverged += record.diverged
        if not replace_others:
            others = {own.name for own in new} & record.measures.keys()
            done.kept.update(listed([restored(name, record.measures[name].parameters)]) for name in others)
            new = [own for own in new if own.name not in others]
        if not new:
            continue
        try:
            entry = entry or entry_of(planned)
        except AucbenchError as error:
            done.failed.append(f"{planned.algorithm} on {planned.dataset}: {error}")
            break
        wanted = replace(entry, measures=tuple(new))
        seeds, tuned = record.seeds, record.tuned
        units.append(Unit(record.key, record.data.sha256, wanted, seeds, tuned=tuned, scored=True))
    return units
