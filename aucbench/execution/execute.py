"""Running a study from its entries to its end, or only planning it."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from aucbench.execution.cost_estimate import Estimate, estimate, total_seconds
from aucbench.execution.executor import Executor, SerialExecutor
from aucbench.execution.plan import Plan, make_plan
from aucbench.execution.scheduler import Scheduler
from aucbench.execution.worker import prepared_data
from aucbench.studies.result import StudyResult
from aucbench.studies.settings import Running, Timing
from aucbench.studies.store import Store
from aucbench.studies.study import UNNAMED, Observer, Study


@dataclass(frozen=True)
class PlannedStudy:
    """What a study would run, and what that would take.

    Parameters
    ----------
    study : Study
        The study.
    plan : Plan
        Its entries and cells, and what the store has of each; what was refused.
    estimates : list of Estimate
        What is left of each entry of the plan.
    workers : int
        Trainings at the same time.
    """

    study: Study
    plan: Plan
    estimates: list[Estimate]
    workers: int

    @property
    def trainings(self) -> int:
        """Cells that are left, and the trials of their tunings."""
        return sum(each.trainings for each in self.estimates)

    @property
    def seconds(self) -> float | None:
        """Of training; None where it is not known for some entry."""
        return total_seconds(self.estimates, self.workers)

    @property
    def memory(self) -> int:
        """Bytes of data that all workers hold at most."""
        return self.workers * max((each.memory for each in self.estimates), default=0)


def execute_study(study: Study, store: Store, observer: Observer | None = None) -> StudyResult:
    """Plan a study, keep the plan, and run what is missing.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store
        Where finished cells are found and kept.
    observer : Observer
        Told about the progress.
    """
    observer = observer or Observer()
    store.tidy()
    plan = plan_study(study, store)
    name = study.name or UNNAMED + _short([planned.key for planned in plan.entries])
    planned = datetime.now(UTC).isoformat()

    def keep_plan() -> None:
        store.put_plan(plan.describe(name, planned, study.command))

    exclusive = study.running.timing is Timing.exclusive
    with executor_for(plan, study.running, observer) as executor:
        scheduler = Scheduler(plan, store, executor, observer, keep_plan)
        return scheduler.run(exclusive, study.running.stop_after)


def estimate_study(study: Study, store: Store) -> PlannedStudy:
    """Plan a study and estimate what is left of it; nothing is kept."""
    plan = plan_study(study, store)
    return PlannedStudy(
        study, plan, estimate(plan, store, prepared_data()), study.running.parallel or cores()
    )


def plan_study(study: Study, store: Store) -> Plan:
    """What there is to run."""
    plan = make_plan(
        study.entries,
        store,
        prepared_data(),
        skip_missing_data=study.skip_missing_data,
        only_failed=study.only_failed,
    )
    return Plan(plan.entries, (*study.refused, *plan.refused), plan.unavailable, study.only_failed)


@contextlib.contextmanager
def executor_for(plan: Plan, running: Running, observer: Observer) -> Iterator[Executor]:
    """This process where that will do, else a cluster, which is ended again."""
    wanted = sum(cell.is_wanted(plan.only_failed) for cell in plan.cells())
    tuned = any(planned.entry.tuning.chooses for planned in plan.entries)
    limited = any(
        limit is not None
        for planned in plan.entries
        for limit in (planned.entry.limits.seconds, planned.entry.limits.memory)
    )
    workers = running.parallel or cores()
    if not tuned:
        workers = min(workers, wanted)
    if not wanted or not (running.scheduler or limited or workers > 1):
        yield SerialExecutor(observer)
        return
    from aucbench.execution.dask_executor import DaskExecutor

    cluster = DaskExecutor(max(1, workers), running.scheduler)
    try:
        yield cluster
    finally:
        cluster.close()


@contextlib.contextmanager
def opened_store(path: str | None) -> Iterator[Store]:
    """The store in a folder; without one, a store that is gone afterwards."""
    if path is not None:
        yield Store(path)
        return
    with tempfile.TemporaryDirectory(prefix="aucbench-") as folder:
        yield Store(folder)


def cores() -> int:
    """Physical cores of this machine."""
    import psutil

    return psutil.cpu_count(logical=False) or 1


def _short(keys: Sequence[str]) -> str:
    return sha256("".join(keys).encode()).hexdigest()[:8]
