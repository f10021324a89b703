"""Cells of stores and archives in the form that reports use, with their measures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.measures import AUC, MEASURES, Measure, listed, named, restored
from aucbench.studies.archives.archive import Archive
from aucbench.studies.archives.replications import replication_of, without_twins
from aucbench.studies.plugin_metadata import completed
from aucbench.studies.record import (
    CellRecord,
    CellStatus,
    EntryDescription,
    ReplicationRecord,
    RulesetRecord,
    Seeds,
)
from aucbench.studies.result import CellResult, with_suboptimality
from aucbench.studies.store import Store

UNAVAILABLE = "Skipped in study '{study}' because the data could not be obtained"


@dataclass(frozen=True)
class BoardCell:
    """A cell of a report."""

    key: str
    described: EntryDescription  # completed with settings that the writing version lacked
    run: Seeds  # equal for all methods, so that runs are paired
    status: CellStatus
    record: CellRecord | None  # set for a finished or diverged cell
    curve: dict[str, NDArray[Any]]  # columns iteration, samples, train_seconds, cpu_seconds and measures
    ruleset: RulesetRecord | None = None  # the ruleset of the plan
    replications: tuple[ReplicationRecord, ...] = ()  # results of other runs

    def value(self, name: str) -> float | None:
        """The final value of a measure; None if the cell has no value."""
        if self.record is None:
            return None
        if name == AUC.name:
            return self.record.result.auc
        measure = self.record.measures.get(name)
        return measure.value if measure else None


def from_store(store: Store | Archive, study: str | None = None) -> list[BoardCell]:
    """The cells of one study, or all cells of a store or an archive.

    Raises ParameterError if the source has no study of this name.
    """
    plans = store.plans(study)
    cells = {} if study else {cell.record.key: _finished(cell, store) for cell in store}
    for entry in (entry for plan in plans for entry in plan.entries):
        described = completed(entry.described)
        for key, seeds in entry.cells.items():
            if key not in cells:
                cells[key] = _look_up(store, key, described, seeds)
            if entry.ruleset:
                cells[key] = replace(cells[key], ruleset=entry.ruleset)
    return list(cells.values())


def joined(sources: Iterable[Iterable[BoardCell]]) -> list[BoardCell]:
    """The cells of several stores and archives; equal cells become one cell with replications."""
    by_key: dict[str, BoardCell] = {}
    for cell in (cell for cells in sources for cell in cells):
        first = by_key.get(cell.key)
        if first is None or first.record is None:
            by_key[cell.key] = cell if first is None or cell.record else first
        elif cell.record is not None:
            copies = (*first.replications, *cell.replications, replication_of(cell.record))
            by_key[cell.key] = replace(
                first, ruleset=first.ruleset or cell.ruleset, replications=without_twins(first.record, copies)
            )
    return list(by_key.values())


def gathered(sources: Sequence[Store | Archive], study: str | None = None) -> dict[str, Any]:
    """The arguments of `build` for a study in some stores and archives, or for all of their cells.

    Without a name, the study is the common study of all plans, if there is one. The reference and the rope
    are fixed if all plans of the study agree. Raises ParameterError if there is no cell or no such study.
    """
    plans = [plan for source in sources for plan in source.plans()]
    studies = {plan.study for plan in plans}
    study = study or (studies.pop() if len(studies) == 1 else None)
    plans = [plan for plan in plans if study in (None, plan.study)]
    with_study = [source for source in sources if study in {None, *(plan.study for plan in source.plans())}]
    cells = joined(from_store(source, study) for source in with_study or sources[:1])
    if not cells:
        raise ParameterError(
            f"{sources[0].path} has no cells{f' of the study {study!r}' if study else ''}: run aucbench "
            f"first; aucbench status shows data that are lacking and runs that failed."
        )
    references, ropes = {plan.reference or None for plan in plans}, {plan.rope or None for plan in plans}
    return {
        "cells": cells,
        "title": study or Path(sources[0].path).stem,
        "one_study": study is not None,
        # The names are followed by paths and addresses, which do not belong in a report.
        "remarks": tuple(
            f"{UNAVAILABLE.format(study=plan.study)}: {text.partition(': ')[0]}."
            for plan in plans
            for text in plan.unavailable
        ),
        "planned_reference": references.pop() if len(references) == 1 else None,
        "planned_rope": ropes.pop() if len(ropes) == 1 else None,
    }


def of_results(results: Iterable[CellResult]) -> list[BoardCell]:
    """Finished cells from their results."""
    return [_finished(result) for result in results]


def _look_up(store: Store | Archive, key: str, described: EntryDescription, seeds: Seeds) -> BoardCell:
    result = store.measured(key)
    if result is not None:
        return _finished(result, store, described)
    failure = store.failure(key)
    return BoardCell(key, described, seeds, failure.reason if failure else CellStatus.missing, None, {})


def _finished(
    result: CellResult, source: Store | Archive | None = None, described: EntryDescription | None = None
) -> BoardCell:
    """The cell of a result; cells of one entry share its description, which is processed only once."""
    record = result.record
    if result.auc < 0.0 or result.auc > 1.0:  # false for NaN, the AUC of a diverged cell
        raise DataError(f"The AUC of cell {record.key} is {result.auc}, expected a number from 0 to 1.")
    status = CellStatus.finished if np.isfinite(result.auc) else CellStatus.diverged
    curve = with_suboptimality(record, result.curve)
    curve |= {"passes": curve["samples"] / record.data.train_rows}
    copies = source.replications(record.key) if source else ()
    described = described or completed(record)
    return BoardCell(record.key, described, record.seeds, status, record, curve, replications=copies)


def measures_of(cells: Iterable[BoardCell], by: str) -> list[Measure]:
    """The measure named `by`, and the other measures whose parameters agree in all cells.

    Raises ParameterError if no cell has the measure `by`, or if its parameters differ between cells.
    """
    named(by, "--by")
    by_name: dict[str, set[Measure]] = {AUC.name: {AUC()}}
    for cell in cells:
        for name, record in cell.record.measures.items() if cell.record else ():
            by_name.setdefault(name, set()).add(restored(name, record.parameters))
    candidates = by_name.pop(by, set())
    if len(candidates) != 1:
        text = " and ".join(sorted(listed([measure]) for measure in candidates)) or f"no {by}"
        raise ParameterError(
            f"--by: the cells have {text}, expected one measure of that name; aucbench rescore computes it "
            f"from stored weights, metrics=[{by}] measures it in a run."
        )
    extras = [by_name[name] for name in MEASURES if name in by_name]
    return [*candidates, *(measure for variants in extras if len(variants) == 1 for measure in variants)]


def judged_by(cells: Sequence[BoardCell], name: str) -> list[BoardCell]:
    """The cells for a report by a measure: finished cells without the measure become missing."""
    return [
        replace(cell, status=CellStatus.missing)
        if cell.status is CellStatus.finished and cell.value(name) is None
        else cell
        for cell in cells
    ]
