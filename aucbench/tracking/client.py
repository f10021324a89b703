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
SQLITE_MARK = b"SQLite format 3\0"  # the first bytes of every such file
SCHEMES = ("sqlite", "http", "https", "file", "postgresql", "mysql", "mssql", "databricks")

WHOLE = ("FINISHED", "FAILED")  # statuses of runs that were logged to their end; FAILED: some cell diverged
LOCK_SECONDS = 60.0
PROBE_SECONDS = 5.0
KIND = {"mlflow.experimentKind": "custom_model_development"}  # else its pages are those of language models
# With MLflow's own limits a dead server blocks for minutes. The transport must not repeat a request, which
# would create a second run if an answer was lost; instead the whole entry is sent again, by its key.
ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",  # no usage data are sent
}


def check_address(uri: str) -> None:
    """Refuse an address of an unknown kind, or a file that cannot be written, before training."""
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
    file = sqlite_file(uri)
    try:
        if file is not None:
            _check_file(file)
    except PermissionError as error:  # a folder on the way that cannot be entered
        raise TrackingError(f"tracking.uri: {error.filename} cannot be reached.") from error


def _check_file(file: Path) -> None:
    existing = next(place for place in (file, *file.absolute().parents) if place.exists())
    if existing.is_dir() == (existing == file):
        expected = "an SQLite file" if existing == file else "a folder"
        raise TrackingError(f"tracking.uri: {existing} is not {expected}.")
    for place in (existing, existing.absolute().parent) if existing == file else (existing,):
        if not os.access(place, os.W_OK):  # SQLite writes its log beside the file
            raise TrackingError(f"tracking.uri: {place} cannot be written to.")
    if existing == file:
        with open(file, "rb") as handle:
            if handle.read(len(SQLITE_MARK)) not in (b"", SQLITE_MARK):
                raise TrackingError(f"tracking.uri: {file} is not an SQLite file.")


def absolute(uri: str) -> str:
    """The address with absolute paths, because MLflow caches a store per address."""
    file = sqlite_file(uri)
    return _address(file.resolve()) if file else uri.rstrip("/")


def sqlite_file(uri: str) -> Path | None:
    """The file of an SQLite address, None for any other."""
    if not uri.startswith(SQLITE):
        return None
    if "%" not in uri and "?" not in uri:
        return Path(uri.removeprefix(SQLITE))
    from sqlalchemy.engine import make_url  # MLflow opens what this says, which changes with its versions

    return Path(make_url(uri).database or "")


def reason(error: Exception, uri: str) -> str:
    """The first line of an error of an MLflow store or server, without a password."""
    if "database is locked" in str(error):  # below a line on SQLAlchemy's flushes
        return "another process keeps the file locked; end it (a database browser, perhaps)"
    line = without_secrets(str(error).strip().split("\n")[0])[:300].removesuffix(".")
    # Of a password with a slash, a library may show the beginning, which it takes for a port.
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
    """An MLflow client of an address, with the experiments it has met.

    A missing SQLite file is created only if `create` is true; otherwise its name is taken to be mistyped. An
    unusable address raises a `TrackingError`; a server without an answer raises an error of MLflow.
    """

    def __init__(self, uri: str, create: bool = True):
        check_address(uri)
        file = sqlite_file(uri)
        if file is not None and not create and not file.exists():
            raise TrackingError(f"tracking address {uri}: there is no file {file}.")
        self.address = absolute(uri)
        self._experiments: dict[str, str] = {}
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        if self.address.startswith(("http://", "https://")):
            import requests

            # Any answer, even an error, shows that the server is alive.
            requests.get(self.address, timeout=PROBE_SECONDS, stream=True, allow_redirects=False).close()
        self.client = _client(self.address)

    def experiment(self, name: str, tags: Callable[[str], dict[str, str]] = lambda _: {}) -> str:
        """The id of the experiment of that name, which is created or restored if necessary.

        `tags` gives tags for an id. Only missing tags are set, because existing tags may be a user's.
        """
        if name not in self._experiments:
            found = self.client.get_experiment_by_name(name) or self._created(name)
            number = str(found.experiment_id)
            if found.lifecycle_stage != "active":
                self.client.restore_experiment(number)
            for key, value in tags(number).items():
                if key not in found.tags:
                    self.client.set_experiment_tag(number, key, value)
            self._experiments[name] = number
        return self._experiments[name]

    def runs(self, experiment: str, condition: str) -> list[Any]:
        """The runs of an experiment that are not deleted and fulfil a condition, 1,000 at most."""
        return list(self.client.search_runs([experiment], condition, max_results=1000))

    def _created(self, name: str) -> Any:
        file = sqlite_file(self.address)
        folder = re.sub(r"^\.+|[/\\\0]", "_", name)  # a name in a store makes no path
        location = (file.parent / "mlruns" / folder).as_uri() if file else None  # a server decides for itself
        try:
            self.client.create_experiment(name, artifact_location=location, tags=KIND)
        except Exception:
            if self.client.get_experiment_by_name(name) is None:  # no other process was faster
                raise
        return self.client.get_experiment_by_name(name)


def _client(address: str) -> Any:
    import logging

    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)  # errors are raised as well
    if (file := sqlite_file(address)) is not None:
        return _sqlite_client(address, file)
    from mlflow import MlflowClient

    return MlflowClient(address)


def _sqlite_client(address: str, file: Path) -> Any:
    """A client of an SQLite file.

    Processes that open a new SQLite store at once leave it unusable for good, so it is created under a file
    lock, and switched to write-ahead logging once.
    """
    lock = Path(f"{file}.lock")
    try:  # FileLock would try again and again
        file.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(lock, os.O_CREAT | os.O_RDWR, 0o666))
    except OSError as error:
        raise TrackingError(f"{file.parent} cannot be written to ({error.strerror})") from error
    from mlflow import MlflowClient

    with file_lock(lock, LOCK_SECONDS):
        is_new = not file.exists() or not file.stat().st_size
        for ending in ("-wal", "-shm", "-journal") if is_new else ():  # of a removed file, not to be replayed
            Path(f"{file}{ending}").unlink(missing_ok=True)
        file.touch()  # by the umask; SQLite would make it 0644
        try:
            client = MlflowClient(address)
            client.search_experiments(max_results=1)
            if is_new:
                with contextlib.closing(sqlite3.connect(file)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
        except BaseException as error:
            if is_new:  # MLflow can make nothing more of it
                file.unlink(missing_ok=True)
            elif isinstance(error, Exception) and not _holds_runs(file):
                raise TrackingError(
                    f"{file} holds no run and MLflow cannot open it ({reason(error, address)}), as after a "
                    f"process was killed that made it; remove it, and the next run or sync makes a new one"
                ) from error
            raise
    return client


def _address(file: Path) -> str:
    from sqlalchemy.engine import URL

    return URL.create("sqlite", database=str(file)).render_as_string()


def has_run(address: str, run_id: str) -> bool:
    """Whether a recorded run still exists; checked in SQLite files only, which users can remove."""
    file = sqlite_file(address)
    return file is None or _holds_runs(file, "WHERE run_uuid = ?", run_id)


def _holds_runs(file: Path, condition: str = "", *values: str) -> bool:
    """Whether an SQLite file is there and holds runs; false also where it cannot be read."""
    if not file.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(file)) as connection:
            return connection.execute(f"SELECT 1 FROM runs {condition}", values).fetchone() is not None
    except sqlite3.DatabaseError:
        return False
