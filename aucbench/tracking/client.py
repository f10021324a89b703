"""The connection to an MLflow store or server, and the check of its address."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aucbench.errors import TrackingError
from aucbench.humanize import without_secrets
from aucbench.pool import file_lock

SQLITE = "sqlite:///"
SQLITE_MARK = b"SQLite format 3\0"  # the first bytes of an SQLite file
SCHEMES = ("sqlite", "http", "https", "file", "postgresql", "mysql", "mssql", "databricks")

WHOLE = ("FINISHED", "FAILED")  # statuses of completely logged runs; FAILED: some cell diverged
LOCK_SECONDS = 60.0
PROBE_SECONDS = 5.0
KIND = {"mlflow.experimentKind": "custom_model_development"}  # otherwise the pages are for language models
# With MLflow's default limits a dead server blocks for minutes. The transport must not repeat requests, which
# would create a second run if an answer was lost; instead the whole entry is sent again, by its key.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",  # no usage data are sent
}


def check_address(uri: str) -> None:
    """Raise TrackingError for an unknown kind of address or an unwritable file, before training."""
    scheme = uri.partition(":")[0]
    if (":" not in uri and uri != "databricks") or scheme.partition("+")[0] not in SCHEMES:
        raise TrackingError(
            f"tracking.uri: expected an address of {', '.join(SCHEMES)}, got {without_secrets(uri)}."
        )
    if re.search(r"""[\s'"]""", uri.rpartition("@")[0]):
        raise TrackingError(
            f"tracking.uri: blanks and quotes in a password are written as %20, %27 and %22, or give it by "
            f"MLFLOW_TRACKING_PASSWORD; the address ends with {uri.rpartition('@')[2]}."
        )
    if (file := sqlite_file(uri)) is not None and (trouble := _trouble(file)):
        raise TrackingError(f"tracking.uri: {trouble}.")


def _trouble(file: Path) -> str:
    """Why MLflow cannot write an SQLite file; "" if it can."""
    try:
        is_new = not file.exists()
        # SQLite writes its log beside the file, in a folder that is made if necessary.
        folder = next(parent for parent in file.absolute().parents if parent.exists())
        if not (folder.is_dir() and os.access(folder, os.W_OK) and (is_new or os.access(file, os.W_OK))):
            return f"{folder if is_new else file} cannot be written to"
        if is_new:
            return ""
        with open(file, "rb") as handle:
            is_sqlite = handle.read(len(SQLITE_MARK)) in (b"", SQLITE_MARK)
        return "" if is_sqlite else f"{file} is not an SQLite file"
    except OSError as error:  # the path is a folder, or a parent folder cannot be entered
        return f"{error.filename} is not an SQLite file that can be read"


def absolute(uri: str) -> str:
    """The address with absolute paths, because MLflow caches a store per address."""
    file = sqlite_file(uri)
    return uri.rstrip("/") if file is None else _address(file)


def _address(file: Path) -> str:
    from sqlalchemy.engine import URL

    return URL.create("sqlite", database=str(file.resolve())).render_as_string()


def sqlite_file(uri: str) -> Path | None:
    """The file of an SQLite address, None for any other."""
    if not uri.startswith(SQLITE):
        return None
    if "%" not in uri and "?" not in uri:
        return Path(uri.removeprefix(SQLITE))
    from sqlalchemy.engine import make_url  # as in MLflow; the parsing depends on the version

    return Path(make_url(uri).database or "")


def reason(error: Exception, uri: str) -> str:
    """The first line of an error of an MLflow store or server, without a password."""
    if "database is locked" in str(error):  # not in the first line of the error
        return "another process keeps the file locked; end it (a database browser, perhaps)"
    line = without_secrets(str(error).strip().split("\n")[0])[:300].removesuffix(".")
    # A library may show the beginning of a password with a slash, mistaken for a port.
    password = uri.rpartition("@")[0].partition("://")[2].partition(":")[2]
    if begin := re.split("[/?#]", password)[0]:
        line = line.replace(f":{begin}", ":***")
    return line if isinstance(error, TrackingError) else f"{type(error).__name__}: {line}"


@contextlib.contextmanager
def reads(uri: str) -> Iterator["Connection"]:
    """Connect to an existing address; any error becomes a `TrackingError`."""
    try:
        yield Connection(uri, create=False)
    except TrackingError:
        raise
    except Exception as error:
        raise TrackingError(
            f"The runs cannot be read from {without_secrets(uri)} ({reason(error, uri)})."
        ) from error


def serving(uri: str) -> str | None:
    """The command that serves the pages of a file or database; None for a server."""
    if uri.startswith(("http://", "https://", "databricks")):
        return None
    return f"mlflow ui --backend-store-uri {without_secrets(uri)}"


class Connection:
    """An MLflow client of an address, with a cache of experiments.

    A missing SQLite file is created only if `create` is true; otherwise its name is probably mistyped. An
    unusable address raises a `TrackingError`; a server that does not answer raises an error of MLflow.
    """

    def __init__(self, uri: str, create: bool = True):
        check_address(uri)
        self._file = sqlite_file(uri)
        if self._file is not None and not create and not self._file.exists():
            raise TrackingError(f"tracking address {uri}: there is no file {self._file}.")
        self.address = absolute(uri)
        self._experiments: dict[str, str] = {}
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        if self.address.startswith(("http://", "https://")):
            import requests

            # Any answer, even an error, shows that the server is alive.
            requests.get(self.address, timeout=PROBE_SECONDS, stream=True, allow_redirects=False).close()
        self.client = _client(self.address, self._file)

    def experiment(self, name: str, tags: Callable[[str], dict[str, str]] = lambda _: {}) -> str:
        """The id of the experiment named `name`, which is created or restored if necessary.

        `tags` returns the tags for an id. Only missing tags are set, because existing tags may be a user's.
        """
        if name not in self._experiments:
            experiment = self.client.get_experiment_by_name(name) or self._created(name)
            number = str(experiment.experiment_id)
            if experiment.lifecycle_stage != "active":
                self.client.restore_experiment(number)
            for key, value in tags(number).items():
                if key not in experiment.tags:
                    self.client.set_experiment_tag(number, key, value)
            self._experiments[name] = number
        return self._experiments[name]

    def runs(self, experiment: str, condition: str) -> list[Any]:
        """The runs of an experiment that are not deleted and satisfy a condition, at most 1,000."""
        return list(self.client.search_runs([experiment], condition, max_results=1000))

    def _created(self, name: str) -> Any:
        folder = re.sub(r"^\.+|[/\\\0]", "_", name)  # safe as the name of one folder
        # A server chooses its location.
        location = (self._file.absolute().parent / "mlruns" / folder).as_uri() if self._file else None
        try:
            self.client.create_experiment(name, artifact_location=location, tags=KIND)
        except Exception:
            if self.client.get_experiment_by_name(name) is None:  # not created by another process meanwhile
                raise
        return self.client.get_experiment_by_name(name)


def _client(address: str, file: Path | None) -> Any:
    """A client of an address.

    An SQLite file becomes permanently unusable if a process is killed while MLflow creates it, or if several
    processes open it at that time. Therefore it is created under a lock with another name, and renamed.
    """
    import logging

    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)  # errors are raised as well
    from mlflow import MlflowClient

    if file is None:
        return MlflowClient(address)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(Path(f"{file}.lock"), LOCK_SECONDS):
        if not file.exists() or not file.stat().st_size:
            aside = file.with_name(f"{file.name}.new")
            for ending in ("", "-wal", "-shm", "-journal"):  # of a killed process; must not be replayed
                for path in (aside, file):
                    Path(f"{path}{ending}").unlink(missing_ok=True)
            aside.touch()  # the mode follows the umask; SQLite would use 0644
            MlflowClient(_address(aside)).search_experiments(max_results=1)
            aside.rename(file)
            with contextlib.closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
        return MlflowClient(address)


def has_run(address: str, run_id: str) -> bool:
    """Whether a recorded run still exists; only SQLite files, which users can delete, are checked."""
    file = sqlite_file(address)
    if file is None or not file.exists():
        return file is None
    try:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            cursor = connection.execute("SELECT 1 FROM runs WHERE run_uuid = ?", [run_id])
            return cursor.fetchone() is not None
    except sqlite3.DatabaseError:
        return False
