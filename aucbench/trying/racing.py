"""Running the methods of a trial: in this process, or apart from it where one may hang."""

import contextlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import NamedTuple

from aucbench.config.build import build_entry
from aucbench.config.compose import compose_words
from aucbench.entry import Entry
from aucbench.execution.execute import opened_store, plan_study
from aucbench.registry import Catalog
from aucbench.studies import forking
from aucbench.studies.conducting import Executed, conduct
from aucbench.studies.engine import Engine, Here
from aucbench.studies.settings import Limits
from aucbench.studies.study import Observer, Study
from aucbench.studies.units import FailureReason
from aucbench.trying import contest, faults
from aucbench.trying.contest import Standing

NO_TIME = "there was no time left for it"
Key = tuple[str, str]  # label and data set


class Job(NamedTuple):
    """A method on a data set, and words of the command line."""

    label: str
    dataset: str
    words: tuple[str, ...] = ()


class _TimeUpError(Exception):
    """Nothing more may begin."""


@dataclass
class _Watcher(Observer):
    told: Callable[[str], None]
    end: float
    found: "dict[Key, Standing]"

    def started(self, entry: Entry) -> None:
        if monotonic() > self.end:
            raise _TimeUpError
        self.told(f"{entry.algorithm.name} on {entry.dataset.title}")

    def entry_finished(self, executed: Executed) -> None:
        key = executed.entry.algorithm.name, executed.entry.dataset.name
        self.found[key] = _standing(key, executed)


class Race:
    """Runs entries and keeps or logs nothing; a context manager.

    Parameters
    ----------
    catalog : Catalog
        Where plugins are found.
    end : float
        Of the monotonic clock: when nothing more begins.
    told : callable
        Is told which method runs on which data.
    """

    def __init__(self, catalog: Catalog, end: float, told: Callable[[str], None]):
        self._catalog, self._end, self._told = catalog, end, told
        self._stack = contextlib.ExitStack()
        self._apart: Engine | None = None

    def __enter__(self) -> "Race":
        forking.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def entries(self, jobs: Iterable[Job]) -> dict[Key, Entry]:
        """The entry of each job.

        Raises
        ------
        AucbenchError
            A method cannot be made, or its words do not suit it.
        """
        jobs = list(jobs)
        words = [
            [f"algo={label}", f"dataset={dataset}", *contest.DATASETS[dataset][1], *more, "tracking=none"]
            for label, dataset, more in jobs
        ]
        composed = zip(jobs, compose_words(self._catalog, words), strict=True)
        return {(job.label, job.dataset): build_entry(self._catalog, cfg) for job, cfg in composed}

    def run(
        self, entries: Mapping[Key, Entry], limits: Limits | None = None, end: float | None = None
    ) -> dict[Key, Standing]:
        """What came of the entries.

        Parameters
        ----------
        entries : mapping
            What to run.
        limits : Limits, optional
            With them the entries run in a process of their own, which is ended when they are exceeded.
        end : float, optional
            When nothing more of these begins, in place of that of the race.
        """
        if limits is not None:
            entries = {key: replace(entry, limits=limits) for key, entry in entries.items()}
        found: dict[Key, Standing] = {}

        watcher = _Watcher(self._told, self._end if end is None else end, found)
        with opened_store(None) as store, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a diverging method's overflows are said in the verdict
            plan = plan_study(Study(list(entries.values())), store)
            refused = list(plan.refused)
            engine = Here(watcher) if limits is None else self._cluster()
            with contextlib.suppress(_TimeUpError):
                refused = conduct(plan, store, engine, watcher).refused
        reasons = {each.entry: each.error for each in refused}
        for key, entry in entries.items():
            error = reasons.get(f"{entry.algorithm.name} on {entry.dataset.title}")
            if error is not None:
                trouble, fault = faults.refusal(entry.algorithm, error)
                found[key] = Standing(*key, trouble=trouble, failed=fault)
            found.setdefault(key, Standing(*key, trouble=NO_TIME))
        return found

    def _cluster(self) -> Engine:
        if self._apart is None:
            from aucbench.studies.cluster import Cluster

            cluster = Cluster(1)
            self._stack.callback(cluster.close)
            self._apart = cluster
        return self._apart


def _standing(key: Key, executed: Executed) -> Standing:
    entry = executed.entry
    troubles = dict.fromkeys(faults.failure(entry, each) for each in executed.failures)
    hung = any(each["reason"] == FailureReason.timeout for each in executed.failures)
    return Standing(*key, executed.cells, "; ".join(troubles), failed=bool(troubles), hung=hung)
