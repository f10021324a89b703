"""Replications: equal cells that were run several times, and whether their results agree.

Equal keys mean equal code, data, splits, orders and settings. Under equal versions of the numerical packages,
and on equal processors, the AUC is then the same bit for bit; other compilers and processors may round
differently, and a tolerance is allowed. Where the clock decides how long a method trains, nothing can be
expected.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from aucbench.studies.codec import canonical
from aucbench.studies.provenance import PACKAGES
from aucbench.studies.record import CellRecord, Environment, ReplicationRecord

TOLERANCE = 1e-4  # between AUCs under different versions or on different processors
NUMERICAL = ("aucbench", "numpy", "scipy", "numba", "llvmlite", "scikit-learn")  # that every method may use
Run = CellRecord | ReplicationRecord


class Agreement(StrEnum):
    """Comparison of two runs of a cell."""

    identical = "identical"
    close = "close"  # within the tolerance, under different versions or code, or on different processors
    differs = "differs"
    timed = "timed"  # budget in seconds: results cannot be compared


class Comparison(NamedTuple):
    """Two runs of one cell."""

    agreement: Agreement
    allowed: float  # difference of the AUCs
    first: ReplicationRecord
    other: ReplicationRecord
    other_code: bool = False  # whether the runs are of two versions of the code, so that rounding may differ

    @property
    def difference(self) -> float:
        """Difference of the AUCs; NaN where one of them has none."""
        one, two = self.first.auc, self.other.auc
        return float("nan") if one is None or two is None else abs(one - two)


def compare(first: Run, other: Run, tolerance: float = TOLERANCE, other_code: bool = False) -> Comparison:
    """Whether two runs of one cell agree; `tolerance` holds where versions, processors or code differ."""
    one, two = replication_of(first), replication_of(other)
    is_exact = not other_code and _rounding(one.environment) == _rounding(two.environment)
    allowed = 0.0 if is_exact else tolerance
    found = Comparison(Agreement.differs, allowed, one, two, other_code)
    if one.timed or two.timed:
        return found._replace(agreement=Agreement.timed)
    if one.auc == two.auc:
        return found._replace(agreement=Agreement.identical)
    return found._replace(agreement=Agreement.close) if found.difference <= allowed else found


def replication_of(record: Run) -> ReplicationRecord:
    """A run of a cell as a replication of another one."""
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
    """Identifier of a machine; of one that cannot keep its number, its processor and memory."""
    return environment.machine or canonical(
        [environment.cpu, environment.cores_physical, environment.memory_bytes]
    )


def without_twins(own: Run, others: Iterable[ReplicationRecord]) -> tuple[ReplicationRecord, ...]:
    """The distinct other runs of a cell, without the cell's own run."""
    found = {_identity(each): each for each in others}
    found.pop(_identity(replication_of(own)), None)
    return tuple(found.values())


def _identity(run: ReplicationRecord) -> str:
    return canonical(
        [machine_of(run.environment), run.environment.finished_at or "", run.auc, run.train_seconds]
    )


def machines(own: Run, others: Iterable[ReplicationRecord], tolerance: float = TOLERANCE) -> set[str]:
    """The machine of a cell, and all machines with agreeing runs of it."""
    agree = (Agreement.identical, Agreement.close)
    agreeing = [each for each in others if compare(own, each, tolerance).agreement in agree]
    return {machine_of(each.environment) for each in (own, *agreeing)}


def describe(environment: Environment) -> str:
    """An environment in words, for lists of disagreements."""
    packages = " ".join(_that_round(environment))
    return f"{environment.cpu}, {environment.platform}, Python {environment.python}, {packages}"


def _rounding(environment: Environment) -> list[str]:
    """Everything that decides rounding: processor, libraries of the system, versions of packages."""
    system, *_, library = environment.platform.split("-")
    return [environment.cpu, system, library, *_that_round(environment)]


def _that_round(environment: Environment) -> list[str]:
    """Packages that may round, with versions: the usual ones, and those that only the method needs."""
    known = environment.packages
    names = [*(name for name in NUMERICAL if name in known), *sorted(known.keys() - PACKAGES)]
    return [f"{name} {known[name]}" for name in names]
