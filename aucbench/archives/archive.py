"""An archive: the cells, failures and plans of studies, with a manifest that says where they come from."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, Struct
from msgspec.structs import replace

from aucbench.archives.replications import (
    TOLERANCE,
    Comparison,
    agrees,
    compare,
    machine_of,
    replication_of,
    without_twins,
)
from aucbench.errors import ParameterError
from aucbench.studies.record import (
    CellRecord,
    Environment,
    FailureRecord,
    ReplicationRecord,
    ReportedTrial,
    StudyPlan,
)
from aucbench.studies.result import CellResult
from aucbench.studies.store import Store

TRIAL_DIGITS = {"auc": 7, "value": 7, "train_seconds": 3}  # significant ones in compact archives
FORMAT = 1  # of archives; a reader knows this one and all before it


class EntryDigest(Struct, frozen=True):
    """Size and digest of one entry of the file."""

    bytes: int
    sha256: str


class MachineRecord(Struct, frozen=True, kw_only=True):
    """A machine on which cells ran, as their environments describe it."""

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
    made: str  # date and time, as ISO text
    studies: tuple[str, ...]
    cells: int
    failures: int
    machines: tuple[MachineRecord, ...]
    sources: dict[str, tuple[str, ...]]  # methods by name to the digests of the code that ran
    confirmed: dict[str, str] = {}  # methods by name to who of their authors confirmed the results, and where
    compact: bool = False  # whether curves are in single precision and numbers of trials rounded
    entries: dict[str, EntryDigest] = {}
    digest: str = ""  # of all that stands above


@dataclass(frozen=True)
class Archive:
    """Cells by key, and what belongs to them; it is asked like a store."""

    path: str  # of the file, for messages
    cells: Mapping[str, CellResult]
    studies: tuple[StudyPlan, ...]
    failed: Mapping[str, FailureRecord] = field(default_factory=dict)
    others: Mapping[str, tuple[ReplicationRecord, ...]] = field(default_factory=dict)
    compact: bool = False

    def __iter__(self) -> Iterator[CellResult]:
        return iter(self.cells.values())

    def plans(self) -> list[StudyPlan]:
        """The plans of its studies."""
        return list(self.studies)

    def get(self, key: str) -> CellResult | None:
        """The finished cell of that key, None when there is none."""
        return self.cells.get(key)

    def failure(self, key: str) -> FailureRecord | None:
        """How the cell of that key failed, None when it did not."""
        return self.failed.get(key)

    def replications(self, key: str) -> tuple[ReplicationRecord, ...]:
        """Results of other runs of the cell of that key."""
        return self.others.get(key, ())

    @property
    def confirmed(self) -> dict[str, str]:
        """Methods whose results an author confirmed, and who did."""
        entries = (entry for plan in self.studies for entry in plan.entries)
        return {entry.algorithm: entry.confirmed for entry in entries if entry.confirmed}

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """Methods by name to the digests of the code that ran."""
        found: dict[str, set[str]] = {}
        for cell in self.cells.values():
            found.setdefault(cell.record.algorithm.name, set()).add(cell.record.source or "")
        return {name: tuple(sorted(digests)) for name, digests in sorted(found.items())}

    @property
    def machines(self) -> tuple[MachineRecord, ...]:
        """The machines on which the cells ran, each once for each set of versions."""
        found = {}
        counts = Counter[str]()
        for cell in self.cells.values():
            described = _machine(cell.record.environment)
            found[repr(described)] = described
            counts[repr(described)] += 1
        return tuple(replace(found[name], cells=count) for name, count in counts.items())


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
    compact: bool = False,
    confirmed: Mapping[str, str] | None = None,
) -> Archive:
    """The cells of a study of a store.

    Commands and tracebacks are left out, since they may hold addresses and names of folders; `confirmed` says
    of methods which author confirmed their results, and where. ParameterError when the store has no such
    study or the study no such method.
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
    cells = {key: _private(cell, weights, compact) for key in keys if (cell := store.get(key)) is not None}
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
    )


def _private(cell: CellResult, weights: bool, compact: bool) -> CellResult:
    """A cell without what may tell more of its machine than its environment."""
    record: CellRecord = replace(cell.record, environment=replace(cell.record.environment, command=""))
    if compact and record.tuned and record.tuned.trials:
        rounded = tuple(_rounded(trial) for trial in record.tuned.trials)
        record = replace(record, tuned=replace(record.tuned, trials=rounded))
    return CellResult(record, cell.curve, cell.weights if weights else None)


def _rounded(trial: ReportedTrial) -> ReportedTrial:
    """A trial with so many digits as tell settings apart; digits are most of what trials take in a file."""
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


@dataclass(frozen=True)
class Imported:
    """Numbers of what an import put into a store."""

    cells: int
    replications: int  # of cells that the store had before
    failures: int


def into_store(archive: Archive, store: Store) -> Imported:
    """Put the content of an archive into a store; cells that the store has become replications of them."""
    new, again = 0, 0
    different = set()
    for key, cell in archive.cells.items():
        own = store.record(key)
        found = (*store.replications(key), *archive.replications(key))
        if own is None:
            store.put(key, cell)
            new += 1
        else:
            found = (*found, replication_of(cell.record))
            if not agrees(own, cell.record):
                different.add(key)
        kept = without_twins(own or cell.record, found)
        again += len(kept) - len(store.replications(key))
        if kept:
            store.put_replications(key, kept)
    failures = {
        key: failure
        for key, failure in archive.failed.items()
        if not store.has(key) and store.failure(key) is None
    }
    for failure in failures.values():
        store.put_failure(failure)
    known = {plan.study: plan for plan in store.plans()}
    for plan in archive.studies:
        plan = _less_confirmed(plan, different)
        store.put_plan(joined(known[plan.study], plan) if plan.study in known else plan)
    return Imported(new, again, len(failures))


def _less_confirmed(plan: StudyPlan, different: Container[str]) -> StudyPlan:
    """A plan without confirmations of entries of whose cells other results are shown."""
    entries = (
        replace(entry, confirmed=UNSET) if any(key in different for key in entry.cells) else entry
        for entry in plan.entries
    )
    return replace(plan, entries=tuple(entries))


def joined(first: StudyPlan, other: StudyPlan) -> StudyPlan:
    """One plan of two of one study: an entry under one setting has the cells of both.

    What an author confirmed stays confirmed if each cell is one that the author saw.
    """
    entries = {repr(entry.described): entry for entry in first.entries}
    for entry in other.entries:
        described = repr(entry.described)
        before = entries.get(described)
        if before is not None:
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
    unavailable = dict.fromkeys((*first.unavailable, *other.unavailable))
    return replace(first, entries=tuple(entries.values()), unavailable=tuple(unavailable))


def merged(first: Archive, other: Archive, tolerance: float = TOLERANCE) -> tuple[Archive, list[Comparison]]:
    """All cells of two archives, those of the first winning, and what their replications say."""
    others: dict[str, tuple[ReplicationRecord, ...]] = {}
    comparisons = []
    different = set()
    cells = {**other.cells, **first.cells}
    for key, cell in cells.items():
        found = [*first.replications(key), *other.replications(key)]
        if key in first.cells and key in other.cells:
            found.append(replication_of(other.cells[key].record))
            if not agrees(cell.record, other.cells[key].record, tolerance):
                different.add(key)
        kept = without_twins(cell.record, found)
        if kept:
            others[key] = kept
            comparisons += [compare(cell.record, each, tolerance) for each in kept]
    plans = {plan.study: plan for plan in first.studies}
    for plan in (_less_confirmed(each, different) for each in other.studies):
        plans[plan.study] = joined(plans[plan.study], plan) if plan.study in plans else plan
    archive = Archive(
        path=f"{first.path} and {other.path}",
        cells=cells,
        studies=tuple(plans.values()),
        failed={key: each for key, each in {**other.failed, **first.failed}.items() if key not in cells},
        others=others,
        compact=first.compact or other.compact,
    )
    return archive, comparisons
