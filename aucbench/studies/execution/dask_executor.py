"""Running units on the workers of a Dask scheduler."""

import contextlib
import json
import logging
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aucbench.errors import ParameterError
from aucbench.pool import Pool, dumped
from aucbench.studies.execution.executor import other_distributions, report_of_error, time_limit
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.execution.worker import Conditions, run_pickled

ANSWER_SECONDS = 120.0  # timeout for an answer of the scheduler
FETCH_SECONDS = 5.0  # timeout for a result, after which its worker is checked
POLL_SECONDS = 0.5  # interval between checks of the workers
WAIT_SECONDS = 60.0  # timeout for a first worker, or for a new one after the last was lost
CONNECT_SECONDS = 10.0
FILE = "file://"


class DaskExecutor:
    """Runs units on the workers of a running scheduler.

    - A worker has at most one unit; no other unit waits there. It runs the unit in a process of its own,
      which ends with the unit's time limit.
    - A unit leaves `_running` with exactly one report: its own, or that of a lost worker, if Dask reports it
      lost or if its worker is gone.
    - `ParameterError` is raised if no scheduler answers, or no worker joins.
    """

    def __init__(self, scheduler: str, isolated: bool = False):
        self._isolated = isolated
        self._running: dict[str, tuple[Unit, Any]] = {}  # with the future, by worker
        self._fetched: list[Any] = []
        self._seen: set[str] = set()  # workers at the last call of `free`
        for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._client = _connected_client(scheduler)

    def free(self) -> Sequence[str]:
        """Idle workers; if the scheduler has no worker at all, wait for one."""
        known = self._workers()
        if not known and not self._running:
            try:
                self._client.wait_for_workers(1, timeout=WAIT_SECONDS)
            except TimeoutError:
                raise ParameterError(
                    f"scheduler: no worker joined within {WAIT_SECONDS:g} s; start some and run again."
                ) from None
            known = self._workers()
        self._seen = set(known)
        return [address for address in known if address not in self._running]

    def start(self, worker: str, unit: Unit, alone: bool = False) -> None:
        """Send the unit to this worker only."""
        hosts = [urlsplit(address).hostname for address in self._workers()]
        concurrency = 1 if alone else max(1, hosts.count(urlsplit(worker).hostname))
        future = self._client.submit(
            run_on_worker,
            self._client.id,
            dumped(unit),
            Conditions(concurrency, worker=True, command=shlex.join(sys.argv)),
            other_distributions(unit) if self._isolated else frozenset(),
            time_limit(unit),
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        self._running[worker] = unit, future

    def wait(self) -> Iterable[tuple[str, Report]]:
        """The reports of units that ended or lost their worker; none if a worker joined."""
        import distributed

        self._fetched.clear()
        reports: list[tuple[str, Report]] = []
        while not reports:
            futures = [future for _, future in self._running.values()]
            with contextlib.suppress(TimeoutError), self._client.as_current():
                try:
                    distributed.wait(futures, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
                except distributed.client.FuturesCancelledError as error:
                    raise self._disconnected() from error
            done = [worker for worker, (_, future) in self._running.items() if future.done()]
            # The client reports a deleted future at once, and then nothing for 10 ms: futures are kept until
            # the next units have started.
            self._fetched += [self._running[worker][1] for worker in done]
            reports = [(worker, self._report(worker, *self._running.pop(worker))) for worker in done]
            known = set(self._workers())
            for worker in self._running.keys() - known:
                self._running.pop(worker)[1].cancel()
                reports.append((worker, None))
            if not self._seen.issuperset(known):
                break
        return reports

    def close(self) -> None:
        """Disconnect from the scheduler, and end the processes that its workers started for this client.

        Those of clients that are gone, such as that of a killed study, end as well.
        """
        with contextlib.suppress(Exception):  # such as a lost worker
            served = set().union(*self._client.run(served_clients, on_error="ignore").values())
            # Dask passes the scheduler by the name of the parameter.
            known = self._client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.clients))
            connected = known - {self._client.id}
            self._client.run(end_processes, served - connected, on_error="ignore")
        self._client.close()

    def _workers(self) -> list[str]:
        # The client's `scheduler_info` is refreshed by a timer, which leaves it without workers.
        try:
            known = self._client.sync(
                self._client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS
            )["workers"]
        except (OSError, RuntimeError) as error:
            raise self._disconnected() from error
        return list(known)

    def _disconnected(self) -> ParameterError:
        return ParameterError(
            "scheduler: the connection to it was lost; finished cells are in the store, "
            "and the same command goes on once a scheduler is there."
        )

    def _report(self, worker: str, unit: Unit, future: Any) -> Report:
        """The report of a unit that is done; its result is on the worker, which may have been lost."""
        from concurrent.futures import CancelledError

        from distributed.client import FuturesCancelledError
        from distributed.scheduler import KilledWorker

        gone = (KilledWorker, CancelledError, FuturesCancelledError)
        while future.status in ("finished", "error"):
            try:
                error = future.exception(timeout=FETCH_SECONDS)
                if error is None:
                    report: Report = future.result(timeout=FETCH_SECONDS)
                    return report
            except gone:
                break
            except TimeoutError:
                if worker not in self._workers():
                    break
                continue
            if isinstance(error, gone):
                break
            return report_of_error(error, unit)
        future.cancel()
        return None


def _connected_client(scheduler: str) -> Any:
    """A client of a running scheduler."""
    import distributed

    where: dict[str, Any] = {"address": scheduler}
    if scheduler.startswith(FILE):
        where = {"scheduler_file": urlsplit(scheduler).path}
        if not Path(where["scheduler_file"]).is_file():
            raise ParameterError(f"scheduler: there is no file {where['scheduler_file']}.")
        try:  # Dask would wait for an address, and then for its own end
            json.loads(Path(where["scheduler_file"]).read_bytes())["address"]
        except (ValueError, KeyError, TypeError):
            raise ParameterError(
                f"scheduler: {where['scheduler_file']} is not what a scheduler writes, or not yet all of it."
            ) from None
    try:
        return distributed.Client(**where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # also for invalid certificates
        why = str(error).split("\n")[0]
        raise ParameterError(f"scheduler: nothing answers at {scheduler} ({why}).") from None


_pools: defaultdict[str, Pool] = defaultdict(Pool)  # of this worker, by the client of the study


def run_on_worker(
    client: str, content: bytes, conditions: Conditions, others: frozenset[str], seconds: float | None
) -> Report:
    """Run a pickled unit in a process of this worker, one for each client and set of other distributions."""
    future = _pools[client].submit(run_pickled, content, conditions, key=others, seconds=seconds)
    report: Report = future.result()
    return report


def served_clients() -> set[str]:
    """The clients for which this worker has processes."""
    return set(_pools)


def end_processes(clients: set[str]) -> None:
    """End the processes of this worker for these clients."""
    for client in clients & served_clients():
        _pools.pop(client).shutdown()
