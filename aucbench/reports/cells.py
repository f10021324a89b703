"""Cells of stores and archives as reports see them, with the measures that they have."""

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
    """A cell as a report sees it."""

    key: str
    described: EntryDescription  # complete also where a version wrote it that knew fewer settings
    run: Seeds  # equal for all methods, so that runs are paired
    status: CellStatus
    record: CellRecord | None  # set for a finished or diverged cell
    curve: dict[str, NDArray[Any]]  # columns iteration, samples, train_seconds, cpu_seconds and measures
    ruleset: RulesetRecord | None = None  # under which it was planned
    replications: tuple[ReplicationRecord, ...] = ()  # results of other runs

    def value(self, name: str) -> float | None:
        """The final value of a measure; None where there is none."""
        if self.record is None:
            return None
        if name == AUC.name:
            return self.record.result.auc
        known = self.record.measures.get(name)
        return known.value if known else None


def from_store(store: Store | Archive, study: str | None = None) -> list[BoardCell]:
    """The cells of one study, or of everything in a store or an archive.

    ParameterError, when it has no such study.
    """
    plans = store.plans(study)
    found = {} if study else {cell.record.key: _finished(cell, store) for cell in store}
    for entry in (entry for plan in plans for entry in plan.entries):
        described = completed(entry.described)
        for key, seeds in entry.cells.items():
            if key not in found:
                found[key] = _look_up(store, key, described, seeds)
            if entry.ruleset:
                found[key] = replace(found[key], ruleset=entry.ruleset)
    return list(found.values())


def joined(sources: Iterable[Iterable[BoardCell]]) -> list[BoardCell]:
    """The cells of several stores and archives; equal ones are one cell and its replications."""
    found: dict[str, BoardCell] = {}
    for cell in (cell for cells in sources for cell in cells):
        known = found.get(cell.key)
        if known is None or known.record is None:
            found[cell.key] = cell if known is None or cell.record else known
        elif cell.record is not None:
            others = (*known.replications, *cell.replications, replication_of(cell.record))
            found[cell.key] = replace(
                known, ruleset=known.ruleset or cell.ruleset, replications=without_twins(known.record, others)
            )
    return list(found.values())


def gathered(sources: Sequence[Store | Archive], study: str | None = None) -> dict[str, Any]:
    """What `build` needs of a study in some stores and archives, or of everything in them.

    Without a name the study is the one that all plans belong to, if there is one. The reference and the rope
    are fixed where all plans of the study agree. ParameterError, when there is no cell or no such study.
    """
    plans = [plan for each in sources for plan in each.plans()]
    every = {plan.study for plan in plans}
    study = study or (every.pop() if len(every) == 1 else None)
    plans = [plan for plan in plans if study in (None, plan.study)]
    having = [each for each in sources if study in {None, *(plan.study for plan in each.plans())}]
    cells = joined(from_store(each, study) for each in having or sources[:1])
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
        # What follows the names are paths and addresses, which are not for readers of a report.
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
    """The cell of a result; those of one entry share its description, from which much is made once."""
    record = result.record
    if result.auc < 0.0 or result.auc > 1.0:  # false for NaN, the AUC of a diverged cell
        raise DataError(f"The AUC of cell {record.key} is {result.auc}, expected a number from 0 to 1.")
    status = CellStatus.finished if np.isfinite(result.auc) else CellStatus.diverged
    curve = with_suboptimality(record, result.curve)
    curve |= {"passes": curve["samples"] / record.data.train_rows}
    others = source.replications(record.key) if source else ()
    described = described or completed(record)
    return BoardCell(record.key, described, record.seeds, status, record, curve, replications=others)


def measures_of(cells: Iterable[BoardCell], by: str) -> list[Measure]:
    """The measure of that name, and the others that the cells have with the same parameters.

    ParameterError where no cell has the first, or cells have it with different parameters.
    """
    named(by, "--by")
    known: dict[str, set[Measure]] = {AUC.name: {AUC()}}
    for cell in cells:
        for name, own in cell.record.measures.items() if cell.record else ():
            known.setdefault(name, set()).add(restored(name, own.parameters))
    found = known.pop(by, set())
    if len(found) != 1:
        text = " and ".join(sorted(listed([each]) for each in found)) or f"no {by}"
        raise ParameterError(
            f"--by: the cells have {text}, expected one measure of that name; aucbench rescore computes it "
            f"from stored weights, metrics=[{by}] measures it in a run."
        )
    others = [known[name] for name in MEASURES if name in known]
    return [*found, *(each for alike in others if len(alike) == 1 for each in alike)]


def judged_by(cells: Sequence[BoardCell], name: str) -> list[BoardCell]:
    """The cells as a report by a measure sees them: finished ones that lack it are missing."""
    return [
        replace(cell, status=CellStatus.missing)
        if cell.status is CellStatus.finished and cell.value(name) is None
        else cell
        for cell in cells
    ]
