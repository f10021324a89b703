"""Running units on the workers of a Dask scheduler."""

import contextlib
import json
import logging
import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aucbench.errors import ParameterError
from aucbench.pool import Pool, called, dumped
from aucbench.studies.execution.executor import other_distributions, time_limit
from aucbench.studies.execution.work_units import Report, Unit
from aucbench.studies.execution.worker import run_in_process

ANSWER_SECONDS = 120.0  # timeout for an answer of the scheduler
WAIT_SECONDS = 60.0  # timeout for a first worker, or for a new one after the last was lost
CONNECT_SECONDS = 10.0


class DaskExecutor:
    """Runs units on the workers of a running scheduler.

    A worker runs a unit in a separate process, which ends at the unit's time limit. Dask repeats the work of
    a lost worker on another worker. Raises `ParameterError` if no scheduler answers, or no worker joins.
    """

    def __init__(self, scheduler: str, isolated: bool = False):
        self._isolated = isolated
        for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._client = _connected_client(scheduler)

    def workers(self) -> Sequence[str]:
        """The addresses of all workers; waits for a first worker."""
        try:
            if not self._known():
                self._client.wait_for_workers(1, timeout=WAIT_SECONDS)
            return self._known()
        except TimeoutError:
            reason = f"no worker joined within {WAIT_SECONDS:g} s; start some and run again"
        except (OSError, RuntimeError):
            reason = (
                "the connection to it was lost; finished cells are in the store, and the same command "
                "goes on once a scheduler is there"
            )
        raise ParameterError(f"scheduler: {reason}.")

    def submit(self, worker: str, unit: Unit, alone: bool = False) -> "Future[Report]":
        """Run the unit on this worker, or on another worker if this worker is lost."""
        hosts = [urlsplit(address).hostname for address in self.workers()]
        concurrency = 1 if alone else max(1, hosts.count(urlsplit(worker).hostname))
        future: Future[Report] = self._client.get_executor(pure=False, allow_other_workers=True).submit(
            run_on_worker,
            self._client.id,
            dumped((run_in_process, (unit, concurrency, shlex.join(sys.argv)))),
            other_distributions(unit) if self._isolated else frozenset(),
            time_limit(unit),
            workers=[worker],
        )
        return future

    def close(self) -> None:
        """Disconnect; end the workers' processes of this client, and of clients that have disconnected."""
        with contextlib.suppress(Exception):  # a worker may be lost
            # Dask passes the scheduler by the name of the parameter.
            clients = self._client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.clients))
            self._client.run(end_processes, clients - {self._client.id}, on_error="ignore")
        self._client.close()

    def _known(self) -> list[str]:
        # The client's `scheduler_info` is refreshed by a timer, which leaves it without workers.
        ask = self._client.scheduler.identity
        return list(self._client.sync(ask, n_workers=-1, callback_timeout=ANSWER_SECONDS)["workers"])


def _connected_client(scheduler: str) -> Any:
    """A client of a running scheduler."""
    import distributed

    target: dict[str, Any] = {"address": scheduler}
    if scheduler.startswith("file://"):
        target = {"scheduler_file": urlsplit(scheduler).path}
        try:  # Dask would wait for a file or an address, and then for its own end
            json.loads(Path(target["scheduler_file"]).read_bytes())["address"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ParameterError(
                f"scheduler: {target['scheduler_file']} is not what a scheduler writes, or not yet all of it."
            ) from None
    try:
        return distributed.Client(**target, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # includes invalid certificates
        reason = str(error).split("\n")[0]
        raise ParameterError(f"scheduler: nothing answers at {scheduler} ({reason}).") from None


_pools: defaultdict[str, Pool] = defaultdict(Pool)  # pools of this worker, by the client of the study


def run_on_worker(client: str, content: bytes, others: frozenset[str], seconds: float | None) -> Report:
    """Run a pickled unit in a process of this worker, one for each client and set of other distributions."""
    report: Report = _pools[client].submit(called, content, key=others, seconds=seconds).result()
    return report


def end_processes(clients: set[str]) -> None:
    """End the processes of this worker, except the processes of `clients`."""
    for client in _pools.keys() - clients:
        _pools.pop(client).shutdown()
