"""An archive: the cells, failures and plans of studies, with a manifest of their origin."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from aucbench.errors import ParameterError
from aucbench.studies.archives.replications import (
    TOLERANCE,
    Comparison,
    compare,
    machine_of,
    replication_of,
    without_twins,
)
from aucbench.studies.codec import canonical, subset
from aucbench.studies.provenance import PACKAGES
from aucbench.studies.record import (
    CellRecord,
    EntryPlan,
    FailureRecord,
    ReplicationRecord,
    StudyPlan,
    Trial,
)
from aucbench.studies.result import CellResult
from aucbench.studies.store import Store, of_study

TRIAL_DIGITS = {"auc": 7, "value": 7, "train_seconds": 3}  # significant digits in compact archives
R = TypeVar("R", CellRecord, FailureRecord)
FORMAT = 2  # archive format, 2 since archives have scores; readers accept earlier formats, too


class EntryDigest(Struct, frozen=True):
    """Size and digest of one entry in the file."""

    bytes: int
    sha256: str


class MachineRecord(Struct, frozen=True, kw_only=True):
    """A machine on which cells ran, from their environments."""

    machine: str
    cpu: str
    cores: int | None
    memory_bytes: int | None
    platform: str
    python: str
    packages: dict[str, str]
    cells: int


class Manifest(Struct, frozen=True, kw_only=True):
    """Manifest of an archive."""

    format: int = FORMAT
    aucbench: str
    made: str  # ISO date and time
    studies: tuple[str, ...]
    cells: int
    failures: int
    machines: tuple[MachineRecord, ...]
    sources: dict[str, tuple[str, ...]]  # method name to digests of the code that ran
    compact: bool = False  # only the first runs' curves are whole; single precision; rounded trials
    # Versions of the distributions that the plugins of the cells need; unset in format 1.
    distributions: dict[str, tuple[str, ...]] | UnsetType = UNSET
    entries: dict[str, EntryDigest] = {}
    digest: str = ""  # digest of all other fields


@dataclass(frozen=True)
class Archive:
    """Read-only results with the interface of `Store`."""

    path: str  # path of the file or store, for messages
    cells: Mapping[str, CellResult]
    studies: tuple[StudyPlan, ...]
    failed: Mapping[str, FailureRecord] = field(default_factory=dict)
    others: Mapping[str, tuple[ReplicationRecord, ...]] = field(default_factory=dict)
    compact: bool = False

    def __iter__(self) -> Iterator[CellResult]:
        return iter(self.cells.values())

    def plans(self, study: str | None = None) -> list[StudyPlan]:
        """The plans of all studies, or of one study; ParameterError if there is no such study."""
        return of_study(list(self.studies), study, self.path)

    def get(self, key: str) -> CellResult | None:
        """The finished cell with this key, or None."""
        return self.cells.get(key)

    measured = get

    def failure(self, key: str) -> FailureRecord | None:
        """The failure of the cell with this key; None if it did not fail."""
        return self.failed.get(key)

    def replications(self, key: str) -> tuple[ReplicationRecord, ...]:
        """Results of other runs of a cell."""
        return self.others.get(key, ())

    def summary(self) -> dict[str, Any]:
        """The fields of a manifest that describe the content."""
        machines: dict[str, MachineRecord] = {}
        sources: dict[str, set[str]] = {}
        needed: dict[str, set[str]] = {}
        for record in (cell.record for cell in self):
            environment = record.environment
            fields = subset(environment, ("cpu", "memory_bytes", "platform", "python", "packages"))
            fields |= {"machine": machine_of(environment), "cores": environment.cores_physical}
            machine = machines.setdefault(canonical(fields), MachineRecord(**fields, cells=0))
            machines[canonical(fields)] = replace(machine, cells=machine.cells + 1)
            sources.setdefault(record.algorithm.name, set()).add(record.source or "")
            for name, version in distributions_of(record).items():
                needed.setdefault(name, set()).add(version)
        return {
            "studies": tuple(plan.study for plan in self.studies),
            "cells": len(self.cells),
            "failures": len(self.failed),
            "machines": tuple(machines.values()),
            "sources": {name: tuple(sorted(digests)) for name, digests in sorted(sources.items())},
            "compact": self.compact,
            "distributions": {name: tuple(sorted(versions)) for name, versions in sorted(needed.items())},
        }


def distributions_of(record: CellRecord) -> dict[str, str]:
    """Versions of the distributions of a cell's plugins, and of the packages that only its method needs."""
    plugins = (record.algorithm, record.dataset, record.loss, record.features)
    versions = {plugin.distribution: plugin.version for plugin in plugins if plugin and plugin.distribution}
    return versions | {name: pin for name, pin in record.environment.packages.items() if name not in PACKAGES}


def reads_own_file(record: CellRecord) -> bool:
    """Whether the data of a cell come from a user's file."""
    return "path" in record.dataset.parameters


def from_store(
    store: Store, study: str, *, weights: bool = False, scores: bool = True, compact: bool = False
) -> Archive:
    """The cells of a study in a store.

    Commands and tracebacks are left out because they may contain addresses and folder names, and models
    because reading a model may run code. `scores` keeps the scores of methods that are not linear, except
    scores on users' files. A compact archive has the whole curve of the first finished run of each entry, and
    the last checkpoint of the other runs. Raises ParameterError if the store lacks the study.
    """
    plans = store.plans(study)
    entries = [entry.cells for plan in plans for entry in plan.entries]
    keys = dict.fromkeys(key for seeds in entries for key in seeds)
    finished = set(filter(store.has, keys))
    if not finished:
        raise ParameterError(f"The study '{study}' in the store at {store.path} has no finished cell.")
    first = {min(finished & seeds.keys(), key=seeds.__getitem__, default="") for seeds in entries}
    cells: dict[str, CellResult] = {}
    for key in keys:
        if (cell := store.get(key)) is None:  # one at a time, as all weights might not fit into memory
            continue
        is_whole = not compact or key in first
        record = _without_command(cell.record)
        if compact and record.tuned and record.tuned.trials:
            trials = tuple(map(_rounded, record.tuned.trials))
            record = replace(record, tuned=replace(record.tuned, trials=trials))
        if not is_whole:
            record = replace(record, result=replace(record.result, placements=UNSET))
        cells[key] = CellResult(
            record,
            cell.curve if is_whole else {name: values[-1:] for name, values in cell.curve.items()},
            cell.weights if weights else None,
            scores=cell.scores if scores and not reads_own_file(record) else None,
        )
    return Archive(
        path=str(store.path),
        cells=cells,
        studies=tuple(
            # The reasons after a colon may name folders.
            replace(
                plan,
                command="",
                unavailable=tuple(text.partition(": ")[0] for text in plan.unavailable),
                replaced=UNSET,
            )
            for plan in plans
        ),
        failed={
            key: replace(_without_command(failure), traceback="")
            for key in keys
            if key not in cells and (failure := store.failure(key)) is not None
        },
        others={key: runs for key in cells if (runs := store.replications(key))},
        compact=compact,
    )


def _without_command(record: R) -> R:
    return replace(record, environment=replace(record.environment, command=""))


def _rounded(trial: Trial) -> Trial:
    """A trial rounded to the digits that distinguish settings; digits take most of a trial's space."""
    numbers = {name: getattr(trial, name) for name in TRIAL_DIGITS}
    return replace(
        trial,
        **{
            name: float(f"{number:.{TRIAL_DIGITS[name]}g}")
            for name, number in numbers.items()
            if isinstance(number, float)
        },
    )


class Imported(NamedTuple):
    """Numbers of imported records."""

    cells: int
    replications: int  # replications of cells already in the store
    failures: int


def into_store(archive: Archive, store: Store) -> Imported:
    """Put an archive into a store; cells that the store already has become replications."""
    cells = replications = failures = 0
    for key, cell in archive.cells.items():
        record, stored, runs = store.record(key), store.replications(key), [*archive.replications(key)]
        if record is None:
            store.put(key, cell)
            cells += 1
        else:
            runs.append(replication_of(cell.record))
        distinct = without_twins(record or cell.record, [*stored, *runs])
        if distinct != stored:
            store.put_replications(key, distinct)
            replications += len(distinct) - len(stored)
    for key, failure in archive.failed.items():
        if not store.has(key) and store.failure(key) is None:
            store.put_failure(failure)
            failures += 1
    plans = {plan.study: plan for plan in store.plans()}
    for plan in archive.studies:
        store.put_plan(_joined(plans.get(plan.study, plan), plan))
    return Imported(cells, replications, failures)


def merged(first: Archive, other: Archive, tolerance: float = TOLERANCE) -> tuple[Archive, list[Comparison]]:
    """All cells of two archives, preferring the first, and comparisons with their replications."""
    cells, replications = {**other.cells, **first.cells}, {}
    for key, cell in cells.items():
        runs = [*first.replications(key), *other.replications(key)]
        if key in first.cells and key in other.cells:
            runs.append(replication_of(other.cells[key].record))
        if distinct := without_twins(cell.record, runs):
            replications[key] = distinct
    studies = {plan.study: plan for plan in first.studies}
    studies |= {plan.study: _joined(studies.get(plan.study, plan), plan) for plan in other.studies}
    archive = Archive(
        path=f"{first.path} and {other.path}",
        cells=cells,
        studies=tuple(studies.values()),
        failed={key: record for key, record in {**other.failed, **first.failed}.items() if key not in cells},
        others=replications,
        compact=first.compact or other.compact,
    )
    comparisons = [
        compare(cells[key].record, run, tolerance) for key, records in replications.items() for run in records
    ]
    return archive, comparisons


def _joined(first: StudyPlan, other: StudyPlan) -> StudyPlan:
    """Join two plans of one study: entries with equal settings become one entry with the cells of both."""
    entries: dict[str, EntryPlan] = {}
    for entry in (*first.entries, *other.entries):
        before = entries.get(repr(entry.described), entry)
        cells = {**before.cells, **entry.cells}
        entries[repr(entry.described)] = replace(before, cells=cells, ruleset=before.ruleset or entry.ruleset)
    unavailable = dict.fromkeys((*first.unavailable, *other.unavailable))
    return replace(first, entries=tuple(entries.values()), unavailable=tuple(unavailable))
