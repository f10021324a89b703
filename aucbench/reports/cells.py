"""Cells of a store or of MLflow as boards see them, grouped into boards that can be compared."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.validation import Family
from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.measures import AUC, Measure, listed, named, restored
from aucbench.reports.labels import (
    dataset_names,
    dataset_of,
    is_tuned,
    labels,
    method_of,
    setting_of,
)
from aucbench.studies.archives.archive import Archive
from aucbench.studies.archives.replications import replication_of, without_twins
from aucbench.studies.codec import canonical
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
from aucbench.suggestions import suggest

REFERENCE, TUNED_REFERENCE = "log_reg", "log_reg_cv"  # the second chooses its C itself
UNAVAILABLE = "Skipped in study '{study}' because the data could not be obtained"
T = TypeVar("T")


@dataclass(frozen=True)
class BoardCell:
    """A cell as boards see it."""

    key: str
    described: EntryDescription  # complete also where a version wrote it that knew fewer settings
    run: Seeds  # equal for all methods, so that runs are paired
    status: CellStatus
    record: CellRecord | None  # of a finished or diverged cell
    curve: dict[str, NDArray[Any]]  # of that cell: iteration, samples, train_seconds, cpu_seconds, measures
    ruleset: RulesetRecord | None = None  # under which it was planned
    replications: tuple[ReplicationRecord, ...] = ()  # what other runs of it gave

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
    found: dict[str, BoardCell] = {}
    if study is None:
        found = {cell.record.key: _finished(cell, store) for cell in store}
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
                known,
                ruleset=known.ruleset or cell.ruleset,
                replications=without_twins(known.record, others),
            )
    return list(found.values())


class Fixed(NamedTuple):
    """What was fixed when a study was planned; None for what was not."""

    reference: str | None = None
    rope: float | None = None  # for the AUC


NOTHING_FIXED = Fixed()


def gathered(sources: Sequence[Store | Archive], study: str | None = None) -> dict[str, Any]:
    """What `build` needs of a study in some stores and archives, or of everything in them.

    Without a name the study is the one that all plans belong to, if there is one. The reference and the rope
    are fixed where all plans of the study agree. ParameterError, when there is no cell or no such study.
    """
    every = {plan.study for source in sources for plan in source.plans()}
    study = study or (every.pop() if len(every) == 1 else None)
    plans = {id(each): [own for own in each.plans() if study in (None, own.study)] for each in sources}
    having = [each for each in sources if study is None or plans[id(each)]]
    cells = joined(from_store(each, study) for each in having or sources[:1])
    if not cells and study is None:
        raise ParameterError(f"{sources[0].path} holds no finished cell yet: run aucbench first.")
    if not cells and study is not None:
        raise ParameterError(
            f"The study '{study}' in {sources[0].path} has no cells: its data may be lacking, or every run "
            f"of it was refused. aucbench status --study {shlex.quote(study)} says more."
        )
    known = [plan for own in plans.values() for plan in own]
    references, ropes = {plan.reference or None for plan in known}, {plan.rope or None for plan in known}
    return {
        "cells": cells,
        "title": study or Path(sources[0].path).stem,
        "one_study": study is not None,
        # What follows the names are paths and addresses, which are not for readers of a board.
        "remarks": tuple(
            f"{UNAVAILABLE.format(study=plan.study)}: {text.partition(': ')[0]}."
            for plan in known
            for text in plan.unavailable
        ),
        "planned": Fixed(
            references.pop() if len(references) == 1 else None, ropes.pop() if len(ropes) == 1 else None
        ),
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
    if result.auc < 0.0 or result.auc > 1.0:  # not of a diverged cell, which has none
        raise DataError(f"The AUC of cell {record.key} is {result.auc}, expected a number from 0 to 1.")
    status = CellStatus.finished if np.isfinite(result.auc) else CellStatus.diverged
    curve = with_suboptimality(record, result.curve)
    curve |= {"passes": curve["samples"] / record.data.train_rows}
    others = source.replications(record.key) if source else ()
    described = described or completed(record)
    return BoardCell(record.key, described, record.seeds, status, record, curve, replications=others)


@dataclass(frozen=True)
class Group:
    """Boards whose methods can be ranked together."""

    tuned: bool
    boards: dict[str, list[BoardCell]]  # by the name of a data set, unique in the group
    labels: dict[str, str]  # key of a cell to the label of its method, the same on all boards

    def label(self, cell: BoardCell) -> str:
        """Label of the cell's method."""
        return self.labels[cell.key]

    def by_method(self, *datasets: str) -> dict[str, list[BoardCell]]:
        """The cells of some boards, or of all, by the label of their method."""
        found: dict[str, list[BoardCell]] = {}
        for cell in (cell for dataset in datasets or self.boards for cell in self.boards[dataset]):
            found.setdefault(self.label(cell), []).append(cell)
        return found


def measures_of(cells: Iterable[BoardCell]) -> dict[str, set[Measure]]:
    """The measures that cells have, by name; several where they differ in parameters. All have the AUC."""
    found: dict[str, set[Measure]] = {AUC.name: {AUC()}}
    for cell in cells:
        for name, known in cell.record.measures.items() if cell.record else ():
            found.setdefault(name, set()).add(restored(name, known.parameters))
    return found


def measure_of(measures: Mapping[str, set[Measure]], name: str) -> Measure:
    """The measure of that name; ParameterError where no cell has it, or cells have several."""
    named(name, "--by")
    found = sorted(measures.get(name, ()), key=lambda each: listed([each]))
    if len(found) != 1:
        known = " and ".join(listed([each]) for each in found) or f"no {name}"
        raise ParameterError(
            f"--by: the cells have {known}, expected one measure of that name; aucbench rescore computes it "
            f"from stored weights, metrics=[{name}] measures it in a run."
        )
    return found[0]


def judged_by(cells: Sequence[BoardCell], name: str) -> list[BoardCell]:
    """The cells as a board sees them that ranks by a measure: finished ones that lack it are missing."""
    return [
        replace(cell, status=CellStatus.missing)
        if cell.status is CellStatus.finished and cell.value(name) is None
        else cell
        for cell in cells
    ]


def groups(cells: Sequence[BoardCell], one_study: bool) -> list[Group]:
    """The groups of boards among some cells.

    In one study a data set is one board, whatever its budget. Otherwise cells share a board only when all
    but the method agrees, and boards are ranked together only when all but the data set agrees. Of cells
    that were run with several versions of the code, or with several numbers of checkpoints, a row takes the
    version that finished last.
    """
    places = once_for_each(
        cells, lambda each: (str(is_tuned(each)) if one_study else setting_of(each), dataset_of(each))
    )
    by_group: dict[str, dict[str, list[BoardCell]]] = {}
    for cell, (group, data_set) in zip(cells, places, strict=True):
        by_group.setdefault(group, {}).setdefault(data_set, []).append(cell)
    return [_group(list(members.values()), one_study) for members in by_group.values()]


def once_for_each(cells: Sequence[BoardCell], function: Callable[[EntryDescription], T]) -> list[T]:
    """The value of a function of the description of each cell; cells of one entry share theirs."""
    known: dict[int, T] = {}
    for described in (cell.described for cell in cells):
        if id(described) not in known:
            known[id(described)] = function(described)
    return [known[id(cell.described)] for cell in cells]


def _group(boards: list[list[BoardCell]], one_study: bool) -> Group:
    names = _names([board[0].described for board in boards])
    different = [list({id(cell.described): cell.described for cell in board}.values()) for board in boards]
    by_identity = labels(different, one_study)
    every = [cell for board in boards for cell in board]
    methods = once_for_each(every, lambda each: by_identity[method_of(each, one_study)])
    by_key = {cell.key: method for cell, method in zip(every, methods, strict=True)}
    kept = [_latest(board, by_key) for board in boards]
    return Group(
        tuned=is_tuned(boards[0][0].described),
        boards=dict(sorted(zip(names, kept, strict=True))),
        labels=by_key,
    )


def _latest(board: list[BoardCell], label: dict[str, str]) -> list[BoardCell]:
    """One cell a method and run: of the method's last version, or that there is none."""
    last: dict[str, tuple[str, str]] = {}  # method to the time and version of its last finished cell
    for cell in board:
        if cell.record:
            own = (_time(cell), _version(cell))
            last[label[cell.key]] = max(last.get(label[cell.key], ("", "")), own)
    found: dict[tuple[str, Seeds], BoardCell] = {}
    for cell in board:
        method = label[cell.key]
        if cell.record and _version(cell) != last[method][1]:
            continue
        other = found.get((method, cell.run))
        if other is None or (cell.record is not None, _time(cell)) > (other.record is not None, _time(other)):
            found[method, cell.run] = cell
    return list(found.values())


def _time(cell: BoardCell) -> str:
    """When it finished; empty where that was not kept."""
    return (cell.record.environment.finished_at if cell.record else None) or ""


def _version(cell: BoardCell) -> str:
    """Of the code, the data, and the checkpoints: cells of one row have equal ones."""
    record = cell.record
    return canonical([record.budget.checkpoints, record.source, record.data.sha256]) if record else ""


def _names(described: Sequence[EntryDescription]) -> list[str]:
    """Names of data sets, each once: with a number where parameters do not tell them apart."""
    names: list[str] = []
    for plain in dataset_names(described):
        name, number = plain, 1
        while name in names:
            number += 1
            name = f"{plain} #{number}"
        names.append(name)
    return names


def default_reference(groups: Sequence[Group], planned: str | None = None) -> str:
    """The planned one if it was run; else `log_reg_cv` if methods are tuned and it was run, or `log_reg`."""
    if planned and any(reference_of(group, planned) for group in groups):
        return planned
    cells = [cell for group in groups for board in group.boards.values() for cell in board]
    was_run = any(cell.described.algorithm.name == TUNED_REFERENCE for cell in cells)
    tuned = any(group.tuned for group in groups)
    return TUNED_REFERENCE if tuned and was_run else REFERENCE


def check_reference(name: str, groups: Sequence[Group]) -> None:
    """Raise ParameterError for a reference that is neither installed nor among the results."""
    from aucbench.registry import catalog

    known = {label for group in groups for label in group.labels.values()}
    boards = [cells for group in groups for cells in group.boards.values()]
    known |= {cell.described.algorithm.name for cells in boards for cell in cells}
    if name == REFERENCE or name in known:
        return
    known |= set(catalog().plugins[Family.algorithms])
    if name not in known:
        raise ParameterError(f"Unknown reference '{name}'. {suggest(name, sorted(known))}")


def reference_of(group: Group, name: str) -> str | None:
    """The label of the reference on the data sets of a group, None where it was not run.

    A label that is named in full is taken. Of several variants of a method, that without feature map and
    limit of the training rows is taken; then that on most data sets; then the first in alphabetical order.
    """
    boards: dict[str, set[str]] = {}
    special: set[str] = set()
    for dataset, cells in group.boards.items():
        for label, described in ((group.label(cell), cell.described) for cell in cells):
            if name in (label, described.algorithm.name):
                boards.setdefault(label, set()).add(dataset)
                if described.features.name != "identity" or described.max_train_rows is not None:
                    special.add(label)
    return min(
        boards, key=lambda each: (each != name, each in special, -len(boards[each]), each), default=None
    )
