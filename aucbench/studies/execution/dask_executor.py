"""Running units on the workers of a Dask scheduler."""

import contextlib
import json
import logging
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from aucbench.errors import ParameterError
from aucbench.pool import Pool, ProcessEnded, dumped
from aucbench.studies.execution.executor import late_report, other_distributions, time_limit
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.execution.worker import Conditions, prepared_data, run_pickled
from aucbench.studies.record import CellStatus, Failure

ASK_SECONDS = 10.0  # interval between checks that workers still process their units
ANSWER_SECONDS = 120.0  # timeout for an answer of the scheduler
FETCH_SECONDS = 5.0  # timeout for a result, after which its worker is checked
POLL_SECONDS = 0.5  # interval between checks of limits and workers
WAIT_SECONDS = 60.0  # timeout for a first worker, or for a new one after the last was lost
CONNECT_SECONDS = 10.0
FILE = "file://"
CERTIFICATES = ("ca", "cert", "key")  # names of .pem files in a folder


@dataclass
class _Running:
    unit: Unit
    future: Any
    end: float | None  # when the worker is killed
    is_stray: bool = False  # its worker was not processing it at the last check


class DaskExecutor:
    """Runs units on the single-threaded workers of a running scheduler.

    - A worker has at most one unit; no other unit waits there.
    - A unit leaves `_running` with exactly one report: its own, a timeout, or a lost worker.
    - A unit is reported as lost if Dask reports it lost, if its worker is gone, or if its worker was not
      processing it at two consecutive checks.
    - A unit that exceeds its time limit is killed with its worker's process. A worker without a nanny cannot
      be killed, and gets no more units.
    - `ParameterError` is raised if no scheduler answers, or no worker joins.
    """

    def __init__(
        self,
        scheduler: str,
        isolated: bool = False,
        certificates: str | None = None,
    ):
        self._isolated = isolated
        self._running: dict[str, _Running] = {}
        self._asked = monotonic()
        self._fetched: list[Any] = []
        self._abandoned: set[str] = set()  # hanging workers that cannot be killed
        self._seen: set[str] = set()  # workers at the last call of `free`
        self._stack = contextlib.ExitStack()
        for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._client = self._stack.enter_context(_connected_client(scheduler, certificates))

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
            dumped(unit),
            other_distributions(unit) if self._isolated else frozenset(),
            Conditions(concurrency, worker=True, isolated=self._isolated, command=shlex.join(sys.argv)),
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        seconds = time_limit(unit)
        self._running[worker] = _Running(unit, future, None if seconds is None else monotonic() + seconds)

    def wait(self) -> Iterable[tuple[str, Report]]:
        """The reports of units that ended, timed out or lost their worker; none if a worker joined."""
        import distributed

        self._fetched.clear()
        reports: list[tuple[str, Report]] = []
        while not reports:
            futures = [running.future for running in self._running.values()]
            with contextlib.suppress(TimeoutError), self._client.as_current():
                try:
                    distributed.wait(futures, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
                except distributed.client.FuturesCancelledError as error:
                    raise self._disconnected() from error
            done = [worker for worker, running in self._running.items() if running.future.done()]
            # The client reports a deleted future at once, and then nothing for 10 ms: futures are kept until
            # the next units have started.
            self._fetched += [self._running[worker].future for worker in done]
            reports = [(worker, self._report(worker, self._running.pop(worker).future)) for worker in done]
            reports += self._end_overdue()
            if not reports:
                known = set(self._workers())
                reports += [self._lose(worker) for worker in set(self._running) - known]
            if not reports and monotonic() - self._asked > ASK_SECONDS:
                reports += self._take_stray()
            if not reports and not self._seen.issuperset(self._workers()):
                break
        return reports

    def close(self) -> None:
        """Disconnect from the scheduler, and end the processes that its workers have started."""
        with contextlib.suppress(Exception):  # such as a lost worker
            if self._isolated:
                self._client.run(end_processes, on_error="ignore")
        self._stack.close()

    def _workers(self) -> list[str]:
        # The client's `scheduler_info` is refreshed by a timer, which leaves it without workers.
        try:
            known = self._client.sync(
                self._client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS
            )["workers"]
        except (OSError, RuntimeError) as error:
            raise self._disconnected() from error
        return [address for address in known if address not in self._abandoned]

    def _disconnected(self) -> ParameterError:
        return ParameterError(
            "scheduler: the connection to it was lost; finished cells are in the store, "
            "and the same command goes on once a scheduler is there."
        )

    def _end_overdue(self) -> Iterator[tuple[str, Report]]:
        """Kill the workers of overdue units; yield the timeout reports."""
        now = monotonic()
        late = [w for w, running in self._running.items() if running.end is not None and now > running.end]
        for worker in late:
            running = self._running.pop(worker)
            running.future.cancel()
            try:  # the nanny kills the process from outside, whatever the unit does
                self._client.restart_workers([worker], timeout=WAIT_SECONDS, raise_for_error=False)
            except ValueError:  # a worker without a nanny cannot be killed
                self._abandoned.add(worker)
            yield worker, late_report(running.unit)

    def _report(self, worker: str, future: Any) -> Report:
        """The report of a future that is done; its result is on the worker, which may have been lost."""
        from concurrent.futures import CancelledError

        from distributed.client import FuturesCancelledError
        from distributed.scheduler import KilledWorker

        gone = (KilledWorker, CancelledError, FuturesCancelledError)

        while future.status == "finished":
            try:
                report: Report = future.result(timeout=FETCH_SECONDS)
                return report
            except gone:
                return Report()
            except TimeoutError:
                if worker not in self._workers():
                    future.cancel()
                    return Report()
        error = future.exception(timeout=FETCH_SECONDS) if future.status == "error" else None
        if error is None or isinstance(error, gone):
            future.cancel()
            return Report()
        message = f"the worker could not run it: {type(error).__name__}: {error}"
        return Report(Failure(CellStatus.failed, message))

    def _take_stray(self) -> Iterator[tuple[str, Report]]:
        """Report units as lost if their worker was not processing them at two consecutive checks."""
        self._asked = monotonic()
        known = self._client.processing()
        for worker, running in list(self._running.items()):
            strayed = running.future.key not in known.get(worker, ()) and not running.future.done()
            if strayed and running.is_stray:
                yield self._lose(worker)
            running.is_stray = strayed

    def _lose(self, worker: str) -> tuple[str, Report]:
        self._running.pop(worker).future.cancel()
        return worker, Report()


def _connected_client(scheduler: str, certificates: str | None) -> Any:
    """A client of a running scheduler, with certificates from a folder or from Dask's settings."""
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
    if certificates is not None:
        files = {name: Path(certificates) / f"{name}.pem" for name in CERTIFICATES}
        for file in files.values():
            if not file.is_file():
                raise ParameterError(f"certificates: there is no file {file}.")
        where["security"] = distributed.Security(
            tls_ca_file=str(files["ca"]),
            tls_client_cert=str(files["cert"]),
            tls_client_key=str(files["key"]),
            require_encryption=True,
        )
    try:
        return distributed.Client(**where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # also for invalid certificates
        why = str(error).split("\n")[0]
        raise ParameterError(f"scheduler: nothing answers at {scheduler} ({why}).") from None


_pool = Pool()  # of this worker process


def run_on_worker(content: bytes, others: frozenset[str], conditions: Conditions) -> Report:
    """Run a pickled unit here, or in a separate process if it has plugins of other distributions."""
    prepared_data().isolates = conditions.isolated
    if not others:
        return run_pickled(content, conditions)
    try:
        report: Report = _pool.submit(run_pickled, content, conditions, key=others).result()
    except ProcessEnded:
        return Report()
    return report


def end_processes() -> None:
    """End the processes started here for plugins of other distributions."""
    _pool.shutdown()
