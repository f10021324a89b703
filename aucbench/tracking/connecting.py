"""One connection to an MLflow store or server, made once and used for many entries."""

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Any

from filelock import FileLock

from aucbench.errors import TrackingError
from aucbench.tracking.addresses import absolute, artifact_folder, check_address, sqlite_file

WHOLE = ("FINISHED", "FAILED")  # statuses of runs that were logged to their end; FAILED: all cells diverged
LOCK_SECONDS = 60.0
PROBE_SECONDS = 5.0
KIND = {"mlflow.experimentKind": "custom_model_development"}  # else its pages are those of language models
# MLflow's own limits let a dead server block for minutes. A request is not repeated by the transport: it
# would make a second run where an answer was lost; the entry as a whole is tried again, by its key.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",  # a benchmark tells nobody what is run
}


class Connection:
    """An MLflow client of an address, with the experiments it has met.

    Parameters
    ----------
    uri : str
        A tracking address.
    create : bool
        Whether an SQLite file that is not there is made: who reads has mistyped its name.

    Raises
    ------
    TrackingError
        The address is none, cannot be written to, or has no file.
    Exception
        Whatever an address that does not answer makes of itself.
    """

    def __init__(self, uri: str, create: bool = True):
        check_address(uri)
        file = sqlite_file(uri)
        if file is not None and not create and not file.exists():
            raise TrackingError(f"tracking address {uri}: there is no file {file}.")
        self.address = absolute(uri)
        self._artifacts = artifact_folder(self.address)
        self._experiments: dict[str, str] = {}
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        if self.address.startswith(("http://", "https://")):
            _probe(self.address)
        self.client = _client(self.address)

    def experiment(self, name: str) -> str:
        """The id of the experiment of that name, which is made, or restored, where it is missing."""
        if name not in self._experiments:
            self._experiments[name] = self._find(name) or self._create(name)
        return self._experiments[name]

    def runs(self, experiment: str, condition: str) -> list[Any]:
        """The runs of an experiment that are not deleted and fulfil a condition."""
        return list(self.client.search_runs([experiment], condition, max_results=1000))

    def _find(self, name: str) -> str | None:
        found = self.client.get_experiment_by_name(name)
        if found is None:
            return None
        if found.lifecycle_stage != "active":
            self.client.restore_experiment(found.experiment_id)
        return str(found.experiment_id)

    def _create(self, name: str) -> str:
        location = (self._artifacts / name).as_uri() if self._artifacts else None
        try:
            return str(self.client.create_experiment(name, artifact_location=location, tags=KIND))
        except Exception:  # another process was faster
            found = self._find(name)
            if found is None:
                raise
            return found


def _probe(address: str) -> None:
    """Ask for anything at all: any answer, an error too, comes from something that lives."""
    import requests

    requests.get(address, timeout=PROBE_SECONDS, stream=True, allow_redirects=False).close()


def _client(address: str) -> Any:
    import logging

    for name in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(name).setLevel(logging.WARNING)
    file = sqlite_file(address)
    if file is None:
        from mlflow import MlflowClient

        return MlflowClient(address)
    return _sqlite_client(address, file)


def _sqlite_client(address: str, file: Path) -> Any:
    """A client of an SQLite file.

    Processes that open a new SQLite store at once leave it unusable for good, so it is created under a file
    lock and switched to write-ahead logging once.
    """
    lock = Path(f"{file}.lock")
    try:  # FileLock would try again and again
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(lock, os.O_CREAT | os.O_RDWR, 0o644))
    except OSError as error:
        raise TrackingError(f"{file.parent} cannot be written to ({error.strerror})") from error
    from mlflow import MlflowClient

    with FileLock(lock, timeout=LOCK_SECONDS):
        new = not file.exists()
        client = MlflowClient(address)
        client.search_experiments(max_results=1)
        if new:
            with contextlib.closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
    return client


def has_run(address: str, run_id: str) -> bool:
    """Whether a remembered run is still in an SQLite file, which a user can remove; servers are trusted."""
    file = sqlite_file(address)
    if file is None:
        return True
    if not file.exists():
        return False
    with contextlib.closing(sqlite3.connect(file)) as connection:
        try:
            found = connection.execute("SELECT 1 FROM runs WHERE run_uuid = ?", (run_id,)).fetchone()
        except sqlite3.DatabaseError:
            return False
    return found is not None
