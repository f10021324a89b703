"""Running a study from its entries to its end: plan, engine, conduct."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from aucbench.config.settings import Running, Timing
from aucbench.studies.conducting import conduct
from aucbench.studies.engine import Engine, Here
from aucbench.studies.entry import Entry
from aucbench.studies.observing import Observer
from aucbench.studies.performing import workshop
from aucbench.studies.planning import Plan, make_plan
from aucbench.studies.result import FinishedEntry, Refused, StudyResult
from aucbench.studies.store import Store

UNNAMED = "unnamed-"  # begins the names of studies that were given none


@dataclass(frozen=True)
class Study:
    """Entries and how they are run.

    Parameters
    ----------
    entries : sequence of Entry
        In the order in which they are shown.
    running : Running
        Where cells run.
    name : str, optional
        Under which its plan is kept.
    command : str
        That started it, kept with the plan.
    skip_missing_data : bool
        Whether entries whose data cannot be had are left out.
    only_failed : bool
        Run only cells that failed before.
    refused : sequence of Refused
        Entries that were refused before, to be counted with the others.
    """

    entries: Sequence[Entry]
    running: Running = field(default_factory=Running)
    name: str | None = None
    command: str = ""
    skip_missing_data: bool = False
    only_failed: bool = False
    refused: Sequence[Refused] = ()

    def plan(self, store: Store) -> Plan:
        """What there is to run."""
        plan = make_plan(
            self.entries,
            store,
            workshop(),
            skip_missing_data=self.skip_missing_data,
            only_failed=self.only_failed,
        )
        return Plan(plan.entries, (*self.refused, *plan.refused), plan.unavailable, self.only_failed)


def run_study(
    study: Study,
    store: Store,
    observer: Observer | None = None,
    on_entry: Callable[[FinishedEntry], None] = lambda entry: None,
) -> tuple[Plan, StudyResult]:
    """Plan a study, keep the plan, and run what is missing.

    Parameters
    ----------
    study : Study
        What to run.
    store : Store
        Where finished cells are found and kept.
    observer : Observer
        Told about the progress.
    on_entry : callable
        Gets every entry once nothing of it is left to be run.
    """
    observer = observer or Observer()
    store.tidy()
    plan = study.plan(store)
    name = study.name or UNNAMED + _short([planned.key for planned in plan.entries])
    planned = datetime.now(UTC).isoformat()

    def keep_plan() -> None:
        store.put_plan(plan.describe(name, planned, study.command))

    exclusive = study.running.timing is Timing.exclusive
    with engine_for(plan, study.running, observer) as engine:
        stop_after = study.running.stop_after
        return plan, conduct(plan, store, engine, observer, on_entry, exclusive, keep_plan, stop_after)


@contextlib.contextmanager
def engine_for(plan: Plan, running: Running, observer: Observer) -> Iterator[Engine]:
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
        yield Here(observer)
        return
    from aucbench.studies.cluster import Cluster

    cluster = Cluster(max(1, workers), running.scheduler)
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
