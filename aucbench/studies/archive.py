"""An archive: the cells, failures and plans of studies, with a manifest of their origin."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from aucbench.errors import ParameterError
from aucbench.studies.provenance import PACKAGES
from aucbench.studies.record import (
    CellRecord,
    Environment,
    FailureRecord,
    ReplicationRecord,
    ReportedTrial,
    StudyPlan,
    decode,
    encode,
)
from aucbench.studies.replications import (
    TOLERANCE,
    Comparison,
    agrees,
    compare,
    machine_of,
    replication_of,
    without_twins,
)
from aucbench.studies.result import CellResult
from aucbench.studies.store import Store

TRIAL_DIGITS = {"auc": 7, "value": 7, "train_seconds": 3}  # significant digits in compact archives
FORMAT = 2  # archive format, 2 since archives have scores; a reader accepts this one and all earlier ones


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


class Versioned(Struct, frozen=True, kw_only=True):
    """Manifest fields common to all formats."""

    format: Annotated[int, Meta(ge=1)] = FORMAT


class Manifest(Versioned, frozen=True, kw_only=True):
    """Manifest of an archive."""

    aucbench: str
    made: str  # ISO date and time
    studies: tuple[str, ...]
    cells: int
    failures: int
    machines: tuple[MachineRecord, ...]
    sources: dict[str, tuple[str, ...]]  # method name to digests of the code that ran
    confirmed: dict[str, str] = {}  # method name to the author who confirmed the results, and where
    compact: bool = False  # curves in single precision, numbers of trials rounded
    # Versions of what the plugins of the cells need, by distribution; unset in format 1.
    distributions: dict[str, tuple[str, ...]] | UnsetType = UNSET
    entries: dict[str, EntryDigest] = {}
    digest: str = ""  # of all other fields


@dataclass(frozen=True)
class Archive:
    """Read-only results with the interface of `Store`."""

    path: str  # of the file or store, for messages
    cells: Mapping[str, CellResult]
    studies: tuple[StudyPlan, ...]
    failed: Mapping[str, FailureRecord] = field(default_factory=dict)
    others: Mapping[str, tuple[ReplicationRecord, ...]] = field(default_factory=dict)
    compact: bool = False
    withheld: int = 0  # cells whose scores are left out, since they are those of a file of one's own

    def __iter__(self) -> Iterator[CellResult]:
        return iter(self.cells.values())

    def plans(self) -> list[StudyPlan]:
        """The plans of its studies."""
        return list(self.studies)

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
        machines = Counter(encode(_machine(cell.record.environment)) for cell in self)
        entries = (entry for plan in self.studies for entry in plan.entries)
        sources: dict[str, set[str]] = {}
        needed: dict[str, set[str]] = {}
        for cell in self:
            sources.setdefault(cell.record.algorithm.name, set()).add(cell.record.source or "")
            for name, version in distributions_of(cell.record).items():
                needed.setdefault(name, set()).add(version)
        return {
            "studies": tuple(plan.study for plan in self.studies),
            "cells": len(self.cells),
            "failures": len(self.failed),
            "machines": tuple(
                replace(decode(text, MachineRecord), cells=count) for text, count in machines.items()
            ),
            "sources": {name: tuple(sorted(digests)) for name, digests in sorted(sources.items())},
            "confirmed": {entry.algorithm: entry.confirmed for entry in entries if entry.confirmed},
            "compact": self.compact,
            "distributions": {name: tuple(sorted(versions)) for name, versions in sorted(needed.items())},
        }


def distributions_of(record: CellRecord) -> dict[str, str]:
    """Versions of the distributions of a cell's plugins, and of the packages that only its method needs."""
    plugins = (record.algorithm, record.dataset, record.loss, record.features)
    own = {plugin.distribution: plugin.version for plugin in plugins if plugin and plugin.distribution}
    return own | {name: found for name, found in record.environment.packages.items() if name not in PACKAGES}


def _machine(environment: Environment) -> MachineRecord:
    return MachineRecord(
        machine=machine_of(environment),
        cpu=environment.cpu,
        cores=environment.cores_physical,
        memory_bytes=environment.memory_bytes,
        platform=environment.platform,
        python=environment.python,
        packages=environment.packages,
        cells=0,
    )


def from_store(
    store: Store,
    study: str,
    *,
    weights: bool = False,
    scores: bool | None = None,
    compact: bool = False,
    confirmed: Mapping[str, str] | None = None,
) -> Archive:
    """The cells of a study in a store.

    Commands and tracebacks are left out, since they may contain addresses and folder names, and models, since
    reading one may run code. `scores` are those of methods that are not linear: with None, those of files of
    one's own are left out. `confirmed` maps
    a method to the author who confirmed its results, and where. Raises ParameterError if the store lacks the
    study, or the study lacks a confirmed method.
    """
    plans = [plan for plan in store.plans() if plan.study == study]
    if not plans:
        known = ", ".join(plan.study for plan in store.plans()) or "none"
        raise ParameterError(f"The store at {store.path} has no study '{study}'. Known: {known}.")
    methods = {entry.algorithm for plan in plans for entry in plan.entries}
    for name in confirmed or {}:
        if name not in methods:
            raise ParameterError(
                f"--confirmed: the study has no method '{name}'. Known: {', '.join(sorted(methods))}."
            )
    keys = dict.fromkeys(key for plan in plans for entry in plan.entries for key in entry.cells)
    cells, withheld = {}, 0
    for key in keys:
        if (cell := store.get(key)) is not None:
            is_own = scores is None and reads_own_file(cell.record)
            withheld += is_own and cell.scores is not None
            cells[key] = _private(cell, weights, scores is not False and not is_own, compact)
    if not cells:
        raise ParameterError(f"The study '{study}' in the store at {store.path} has no finished cell.")
    failed = {
        key: replace(failure, traceback="", environment=replace(failure.environment, command=""))
        for key in keys
        if key not in cells and (failure := store.failure(key)) is not None
    }
    return Archive(
        path=str(store.path),
        cells=cells,
        studies=tuple(_public(plan, confirmed or {}) for plan in plans),
        failed=failed,
        others={key: found for key in cells if (found := store.replications(key))},
        compact=compact,
        withheld=withheld,
    )


def reads_own_file(record: CellRecord) -> bool:
    """Whether the data of a cell are in a file that its user named."""
    return "path" in record.dataset.parameters


def _private(cell: CellResult, weights: bool, scores: bool, compact: bool) -> CellResult:
    """A cell without its command and its model; weights and scores are optional, trials rounded if asked."""
    record: CellRecord = replace(cell.record, environment=replace(cell.record.environment, command=""))
    if compact and record.tuned and record.tuned.trials:
        rounded = tuple(_rounded(trial) for trial in record.tuned.trials)
        record = replace(record, tuned=replace(record.tuned, trials=rounded))
    return CellResult(
        record, cell.curve, cell.weights if weights else None, scores=cell.scores if scores else None
    )


def _rounded(trial: ReportedTrial) -> ReportedTrial:
    """A trial rounded to the digits that distinguish settings; digits take most of a trial's space."""
    found = {
        name: float(f"{number:.{digits}g}")
        for name, digits in TRIAL_DIGITS.items()
        if isinstance(number := getattr(trial, name), float)
    }
    return replace(trial, **found)


def _public(plan: StudyPlan, confirmed: Mapping[str, str]) -> StudyPlan:
    entries = (
        replace(entry, confirmed=confirmed.get(entry.algorithm, entry.confirmed)) for entry in plan.entries
    )
    unavailable = tuple(text.partition(": ")[0] for text in plan.unavailable)
    return replace(plan, command="", entries=tuple(entries), unavailable=unavailable, replaced=UNSET)


class Imported(NamedTuple):
    """Numbers of imported records."""

    cells: int
    replications: int  # of cells already in the store
    failures: int


def into_store(archive: Archive, store: Store) -> Imported:
    """Put an archive into a store; cells that the store already has become replications."""
    known = {key: record for key in archive.cells if (record := store.record(key)) is not None}
    others, plans = _joined(known, store, archive, TOLERANCE)
    for key, cell in archive.cells.items():
        if key not in known:
            store.put(key, cell)
    again = 0
    for key, found in others.items():
        again += len(found) - len(store.replications(key))
        store.put_replications(key, found)
    failures = [
        failure
        for key, failure in archive.failed.items()
        if not store.has(key) and store.failure(key) is None
    ]
    for failure in failures:
        store.put_failure(failure)
    for plan in plans:
        store.put_plan(plan)
    return Imported(len(archive.cells) - len(known), again, len(failures))


def merged(first: Archive, other: Archive, tolerance: float = TOLERANCE) -> tuple[Archive, list[Comparison]]:
    """All cells of two archives, preferring the first, and comparisons with their replications."""
    records = {key: cell.record for key, cell in first.cells.items()}
    others, plans = _joined(records, first, other, tolerance)
    others = {**others, **{key: found for key, found in first.others.items() if key not in other.cells}}
    cells = {**other.cells, **first.cells}
    archive = Archive(
        path=f"{first.path} and {other.path}",
        cells=cells,
        studies=tuple({plan.study: plan for plan in (*first.studies, *plans)}.values()),
        failed={key: each for key, each in {**other.failed, **first.failed}.items() if key not in cells},
        others=others,
        compact=first.compact or other.compact,
    )
    comparisons = [
        compare(cells[key].record, each, tolerance) for key, found in others.items() for each in found
    ]
    return archive, comparisons


def _joined(
    records: Mapping[str, CellRecord], first: Store | Archive, other: Archive, tolerance: float
) -> tuple[dict[str, tuple[ReplicationRecord, ...]], list[StudyPlan]]:
    """The replications of the cells in `other`, and its plans joined with those of `first`."""
    others = {}
    different = set()
    for key, cell in other.cells.items():
        own, found = records.get(key), [*first.replications(key), *other.replications(key)]
        if own is not None:
            found.append(replication_of(cell.record))
            if not agrees(own, cell.record, tolerance):
                different.add(key)
        if kept := without_twins(own or cell.record, found):
            others[key] = kept
    plans = {plan.study: plan for plan in first.plans()}
    joined = [_joined_plan(plans.get(plan.study), plan, different) for plan in other.studies]
    return others, joined


def _joined_plan(first: StudyPlan | None, other: StudyPlan, different: Container[str]) -> StudyPlan:
    """Join two plans of one study: entries with equal settings become one entry with the cells of both.

    A confirmed entry stays confirmed if its author saw every cell; cells in `different` have other results
    than the author saw.
    """
    entries = {repr(entry.described): entry for entry in first.entries} if first else {}
    for entry in other.entries:
        if any(key in different for key in entry.cells):
            entry = replace(entry, confirmed=UNSET)
        described = repr(entry.described)
        if (before := entries.get(described)) is not None:
            seen = [each for each in (before, entry) if each.confirmed]
            cells = {**before.cells, **entry.cells}
            is_seen = all(any(key in each.cells for each in seen) for key in cells)
            entry = replace(
                before,
                cells=cells,
                ruleset=before.ruleset or entry.ruleset,
                confirmed=seen[0].confirmed if seen and is_seen else UNSET,
            )
        entries[described] = entry
    first = first or other
    unavailable = dict.fromkeys((*first.unavailable, *other.unavailable))
    return replace(first, entries=tuple(entries.values()), unavailable=tuple(unavailable))
