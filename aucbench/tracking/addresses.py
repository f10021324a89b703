"""Tracking addresses: which ones are accepted, what they are called, and whether they can be written to."""

import os
import re
from pathlib import Path

from aucbench.errors import TrackingError

SQLITE = "sqlite:///"
SQLITE_MARK = b"SQLite format 3\0"  # the first bytes of every such file
SCHEMES = ("sqlite", "http", "https", "file", "postgresql", "mysql", "mssql", "databricks")


def check_address(uri: str) -> None:
    """Refuse, before anything is trained, an address that cannot be logged to.

    Raises
    ------
    TrackingError
        An unknown kind of address, or an SQLite address whose file is something else or cannot be written.
    """
    scheme = uri.partition(":")[0]
    if ":" not in uri or scheme.partition("+")[0] not in SCHEMES:
        raise TrackingError(f"tracking.uri: expected an address of {', '.join(SCHEMES)}, got {uri}.")
    file = sqlite_file(uri)
    if file is None:
        return
    try:
        _check_file(file)
    except PermissionError as error:  # a folder on the way that cannot be entered
        raise TrackingError(f"tracking.uri: {error.filename} cannot be reached.") from error


def _check_file(file: Path) -> None:
    if file.is_dir():
        raise TrackingError(f"tracking.uri: {file} is a folder, expected an SQLite file.")
    existing = next(place for place in (file, *file.absolute().parents) if place.exists())
    if existing != file and not existing.is_dir():
        raise TrackingError(f"tracking.uri: {existing} is a file, expected a folder.")
    for place in (existing, file.absolute().parent) if existing == file else (existing,):
        if not os.access(place, os.W_OK):  # beside the file SQLite keeps its log
            raise TrackingError(f"tracking.uri: {place} cannot be written to.")
    if existing == file and file.stat().st_size:
        with open(file, "rb") as handle:
            mark = handle.read(len(SQLITE_MARK))
        if mark != SQLITE_MARK:
            raise TrackingError(f"tracking.uri: {file} is not an SQLite file.")


def absolute(uri: str) -> str:
    """The address without relative paths: MLflow keeps a store per address."""
    file = sqlite_file(uri)
    return SQLITE + str(file.resolve()) if file else uri.rstrip("/")


def shown(uri: str) -> str:
    """The address as it is printed and remembered: without a password."""
    return re.sub(r"(://[^:/@]*):[^/@]*@", r"\1:***@", uri)


def sqlite_file(uri: str) -> Path | None:
    """The file of an SQLite address, None for any other."""
    return Path(uri.removeprefix(SQLITE)) if uri.startswith(SQLITE) else None


def artifact_folder(address: str) -> Path | None:
    """Beside the SQLite file; a server decides for itself."""
    file = sqlite_file(address)
    return file.parent / "mlruns" if file else None


def serving(uri: str) -> str | None:
    """The command that serves the pages of a file or data base, None where a server does."""
    if uri.startswith(("http://", "https://", "databricks")):
        return None
    file = sqlite_file(uri)
    return f"mlflow ui --backend-store-uri {uri if file is None else shown(uri)}"
