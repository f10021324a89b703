"""Replications: equal cells that were run several times, and whether their results agree.

Equal keys mean equal code, data, splits, orders and settings. Under equal versions of the numerical packages,
and on equal processors, the AUC is then the same bit for bit; other compilers and processors may round
differently, and a tolerance is allowed. Under a time budget, runs differ in length and their results
cannot be compared.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from aucbench.studies.codec import canonical
from aucbench.studies.provenance import PACKAGES
from aucbench.studies.record import CellRecord, Environment, ReplicationRecord

TOLERANCE = 1e-4  # between AUCs under different versions or on different processors
NUMERICAL = ("aucbench", "numpy", "scipy", "numba", "llvmlite", "scikit-learn")  # used by every method
Run = CellRecord | ReplicationRecord


class Agreement(StrEnum):
    """Comparison of two runs of a cell."""

    identical = "identical"
    close = "close"  # within the tolerance, with other versions, code or processors
    differs = "differs"
    timed = "timed"  # budget in seconds: results cannot be compared


class Comparison(NamedTuple):
    """Two runs of one cell."""

    agreement: Agreement
    allowed: float  # allowed difference of the AUCs
    first: ReplicationRecord
    other: ReplicationRecord
    other_code: bool = False  # the runs used different code, so rounding may differ

    @property
    def difference(self) -> float:
        """Difference of the AUCs; NaN if either run has no AUC."""
        first_auc, other_auc = self.first.auc, self.other.auc
        return float("nan") if first_auc is None or other_auc is None else abs(first_auc - other_auc)


def compare(first: Run, other: Run, tolerance: float = TOLERANCE, other_code: bool = False) -> Comparison:
    """Whether two runs of a cell agree; `tolerance` applies if versions, processors or code differ."""
    first_run, other_run = replication_of(first), replication_of(other)
    is_exact = not other_code and _rounding(first_run.environment) == _rounding(other_run.environment)
    allowed = 0.0 if is_exact else tolerance
    comparison = Comparison(Agreement.differs, allowed, first_run, other_run, other_code)
    if first_run.timed or other_run.timed:
        return comparison._replace(agreement=Agreement.timed)
    if first_run.auc == other_run.auc:
        return comparison._replace(agreement=Agreement.identical)
    return comparison._replace(agreement=Agreement.close) if comparison.difference <= allowed else comparison


def replication_of(record: Run) -> ReplicationRecord:
    """The record of a run as a replication of another run."""
    if isinstance(record, ReplicationRecord):
        return record
    result = record.result
    return ReplicationRecord(
        key=record.key,
        auc=result.auc,
        stop_reason=result.stop_reason,
        timed=record.budget.seconds is not None,
        train_seconds=result.train_seconds,
        ns_per_iteration=result.ns_per_iteration,
        environment=record.environment,
    )


def machine_of(environment: Environment) -> str:
    """Identifier of a machine: its number, else its processor and memory."""
    return environment.machine or canonical(
        [environment.cpu, environment.cores_physical, environment.memory_bytes]
    )


def without_twins(run: Run, others: Iterable[ReplicationRecord]) -> tuple[ReplicationRecord, ...]:
    """The distinct other runs of a cell, without the cell's own run."""
    distinct = {_identity(other): other for other in others}
    distinct.pop(_identity(replication_of(run)), None)
    return tuple(distinct.values())


def _identity(run: ReplicationRecord) -> str:
    return canonical(
        [machine_of(run.environment), run.environment.finished_at or "", run.auc, run.train_seconds]
    )


def machines(run: Run, others: Iterable[ReplicationRecord], tolerance: float = TOLERANCE) -> set[str]:
    """The machine of a cell, and all machines with agreeing runs of the cell."""
    agreements = (Agreement.identical, Agreement.close)
    agreeing = [other for other in others if compare(run, other, tolerance).agreement in agreements]
    return {machine_of(record.environment) for record in (run, *agreeing)}


def describe(environment: Environment) -> str:
    """An environment in words, for lists of disagreements."""
    packages = " ".join(_rounding_packages(environment))
    return f"{environment.cpu}, {environment.platform}, Python {environment.python}, {packages}"


def _rounding(environment: Environment) -> list[str]:
    """Everything that decides rounding: processor, libraries of the system, versions of packages."""
    system, *_, library = environment.platform.split("-")
    return [environment.cpu, system, library, *_rounding_packages(environment)]


def _rounding_packages(environment: Environment) -> list[str]:
    """Packages that may round, with versions: numerical packages, and packages that only the method needs."""
    versions = environment.packages
    names = [*(name for name in NUMERICAL if name in versions), *sorted(versions.keys() - PACKAGES)]
    return [f"{name} {versions[name]}" for name in names]
