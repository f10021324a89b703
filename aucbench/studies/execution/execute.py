"""Run a study, or only plan it."""

import contextlib
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import psutil

from aucbench import data
from aucbench.errors import VersionWarning
from aucbench.studies.default_settings import Isolation
from aucbench.studies.execution.cost_estimate import Estimate, estimate
from aucbench.studies.execution.executor import Executor, LocalExecutor
from aucbench.studies.execution.plan import Plan, plan_study
from aucbench.studies.execution.scheduler import Listener, Scheduler
from aucbench.studies.record import CellStatus
from aucbench.studies.result import StudyResult
from aucbench.studies.store import SERIES, Store
from aucbench.studies.study import Observer, Study

SERVERS_ASKED = 16  # concurrent requests


def execute_study(
    study: Study, store: Store, observer: Observer | None = None, listeners: Sequence[Listener] = ()
) -> StudyResult:
    """Plan a study, store the plan, and run the cells that the store lacks.

    Finished entries are passed to the observer, then to the listeners.
    """
    observer = observer or Observer()
    store.tidy()
    if store.take_over():
        warnings.warn(
            f"The store {store.path} holds results of an earlier version. They stay there and on its boards, "
            f"but {SERIES} gives cells other keys and runs them again (docs/upgrading.md says more).",
            VersionWarning,
            stacklevel=2,
        )
    plan = _planned(study, store, observer)
    entries = [planned.entry for planned in plan.entries]
    for entry in {f"{item.dataset.description} {item.protocol.columns}": item for item in entries}.values():
        if columns := data.columns_of(entry.dataset.instance, entry.protocol.columns):
            observer.data_read(entry.dataset.title, columns)
    described = plan.describe(datetime.now(UTC).isoformat())
    with contextlib.closing(_executor_for(plan, observer)) as executor:
        scheduler = Scheduler(plan, store, executor, observer, partial(store.put_plan, described), listeners)
        return scheduler.run(study.running.stop_after)


def _planned(study: Study, store: Store, observer: Observer) -> Plan:
    """Plan a study; before the first download, report files that a suite lacks, or that no source has."""
    if study.running.suite is not None:
        datasets = {entry.dataset.title: entry.dataset.instance for entry in study.entries}
        with ThreadPoolExecutor(SERVERS_ASKED) as pool:
            sizes = zip(datasets, pool.map(data.missing_bytes, datasets.values()), strict=True)
            if missing := {title: size for title, size in sizes if size != 0}:
                observer.files_missing(missing)
    return plan_study(study, store)


def _executor_for(plan: Plan, observer: Observer) -> Executor:
    """The executor of a study; local unless a scheduler is set."""
    entries, running = [planned.entry for planned in plan.entries], plan.study.running
    count = len({cell.key for planned in plan.entries for cell in plan.to_run(planned)})
    workers, isolated = running.parallel or cores(), running.isolation is Isolation.distribution
    if count and running.scheduler:
        from aucbench.studies.execution.dask_executor import DaskExecutor

        return DaskExecutor(running.scheduler, isolated)
    if not any(entry.tuning.chooses for entry in entries):
        workers = max(1, min(workers, count))
    limited = any((entry.limits.seconds, entry.limits.memory) != (None, None) for entry in entries)
    return LocalExecutor(observer, workers, isolated, limited)


@dataclass(frozen=True)
class PlannedStudy:
    """The plan of a study, and the estimated cost of running it."""

    plan: Plan
    estimates: list[Estimate]  # remaining work of each entry
    workers: int  # concurrent trainings

    @property
    def trainings(self) -> int:
        """Remaining cells, and the trials of their tunings."""
        return sum(cost.trainings for cost in self.estimates)

    @property
    def seconds(self) -> float | None:
        """Seconds of training on all workers; None if unknown for some entry."""
        durations = [cost.seconds for cost in self.estimates if cost.seconds is not None]
        return sum(durations) / self.workers if len(durations) == len(self.estimates) else None

    @property
    def memory(self) -> int:
        """Largest size of the data held by all workers, in bytes."""
        return self.workers * max((cost.memory for cost in self.estimates), default=0)


def estimate_study(study: Study, store: Store, observer: Observer) -> PlannedStudy:
    """Plan a study and estimate its remaining work; nothing is stored."""
    plan = _planned(study, store, observer)
    observer.planned(len(plan.cells()), plan.count(CellStatus.finished))
    return PlannedStudy(plan, estimate(plan, store, observer.started), study.running.parallel or cores())


@contextlib.contextmanager
def opened_store(path: str | None) -> Iterator[Store]:
    """The store in a folder, or a temporary store."""
    if path is not None:
        yield Store(path)
        return
    with tempfile.TemporaryDirectory(prefix="aucbench-") as folder:
        yield Store(folder)


def cores() -> int:
    """Physical cores of this machine."""
    return psutil.cpu_count(logical=False) or 1
