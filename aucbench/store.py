"""The content-addressed store of finished cells: one file a cell, written aside, synced and renamed.

Beside the cells lie the trials of tunings (one append-only file each), the cells that failed, the plans of
studies, and notes of what was tracked where.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote
from zipfile import BadZipFile

import numpy as np

from aucbench.errors import DataError
from aucbench.result import CellResult

FORMAT = 2
PART = ".part"  # ends the names of files that are being written
STALE_SECONDS = 3600.0
CURVE_PREFIX = "curve_"
RECORD = (
    "algorithm",
    "dataset",
    "loss",
    "features",
    "scaling",
    "protocol",
    "tuning",
    "max_train_rows",
    "budget",
    "order",
    "dtype",
    "result",
)


class Store:
    """A folder of finished cells, found by key; it can be moved, copied and renamed.

    One process writes at a time; any number may read.

    Parameters
    ----------
    path : str or Path
        The folder; made when the first cell is kept.
    writable : bool
        Whether it must be possible to write there.
    """

    def __init__(self, path: str | Path, writable: bool = True):
        self.path = Path(path)
        existing = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
        if not existing.is_dir():
            raise DataError(f"store.path: {existing} is a file, expected a folder.")
        if writable and not os.access(existing, os.W_OK):
            raise DataError(f"store.path: {existing} cannot be written to.")

    def __iter__(self) -> Iterator[CellResult]:
        for file in sorted((self.path / "cells").glob("*/*.npz")):
            yield self._read(file)

    def tidy(self) -> None:
        """Remove what killed processes left half-written, an hour ago or more."""
        for file in self.path.rglob(f"*{PART}"):
            with contextlib.suppress(OSError):
                if time() - file.stat().st_mtime > STALE_SECONDS:
                    file.unlink()

    def has(self, key: str) -> bool:
        """Whether the cell of that key is finished."""
        return self._file(key).exists()

    def get(self, key: str) -> CellResult | None:
        """The finished cell of that key, None when there is none."""
        file = self._file(key)
        return self._read(file) if file.exists() else None

    def record(self, key: str) -> dict[str, Any] | None:
        """The record alone of the finished cell of that key, None when there is none."""
        file = self._file(key)
        return self._read(file, arrays=False).record if file.exists() else None

    def put(self, key: str, cell: CellResult) -> None:
        """Keep a finished cell; a reader never sees half of it."""
        arrays: dict[str, Any] = {CURVE_PREFIX + name: values for name, values in cell.curve.items()}
        if cell.weights is not None:
            arrays["weights"] = cell.weights
        arrays["record"] = np.frombuffer(json.dumps({"format": FORMAT} | cell.record).encode(), np.uint8)
        try:
            with _replacing(self._file(key)) as handle:
                np.savez(handle, **arrays)
        except OSError as error:
            raise DataError(
                f"store.path: the cell cannot be kept in {self.path}: {error.strerror}."
            ) from error
        self._failure_file(key).unlink(missing_ok=True)

    def failure(self, key: str) -> dict[str, Any] | None:
        """How the cell of that key failed when it was last run, None when it did not."""
        return _json(self._failure_file(key))

    def failures(self) -> Iterator[dict[str, Any]]:
        """All recorded failures."""
        for file in sorted((self.path / "failures").glob("*/*.json")):
            if (failure := _json(file)) is not None:
                yield failure

    def put_failure(self, key: str, failure: dict[str, Any]) -> None:
        """Keep how a cell failed; a later success replaces it."""
        with _replacing(self._failure_file(key)) as handle:
            handle.write(json.dumps({"key": key} | failure).encode())

    def trials(self, key: str) -> list[dict[str, Any]]:
        """The trials of a tuning so far, each once; a line cut short by a killed process is left out."""
        try:
            lines = self._trials_file(key).read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        found = [trial for trial in map(_parsed, lines) if trial is not None]
        return list({(trial["number"], trial["fold"]): trial for trial in found}.values())

    def add_trials(self, key: str, trials: Iterable[dict[str, Any]]) -> None:
        """Append trials, synced."""
        file = self._trials_file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "ab+") as handle:
            if handle.tell() and file.read_bytes()[-1:] != b"\n":
                handle.write(b"\n")  # behind half a line of a killed process
            handle.write(b"".join(json.dumps(trial).encode() + b"\n" for trial in trials))
            handle.flush()
            os.fsync(handle.fileno())

    def remove_trials(self, key: str) -> None:
        """Forget the trials of a tuning whose choice is kept beside its cells."""
        self._trials_file(key).unlink(missing_ok=True)

    def plans(self) -> list[dict[str, Any]]:
        """The plans of all studies, the oldest first."""
        files = (self.path / "plans").glob("*.json")
        found = [plan for plan in map(_json, files) if plan is not None]
        return sorted(found, key=lambda plan: str(plan["planned"]))

    def board_folder(self, study: str) -> Path:
        """Where the leaderboard of a study is written."""
        return self.path / "boards" / quote(study, safe=" ")

    def put_plan(self, name: str, plan: dict[str, Any]) -> None:
        """Keep the plan of a study.

        A study may be run in parts, by data set or method: entries of an earlier plan stay, unless the new
        one has the same method under the same setting.
        """
        file = self._plan_file(name)
        known = _json(file) or {"entries": []}
        plan = json.loads(json.dumps(plan))
        described = [entry["described"] for entry in plan["entries"]]
        before = [entry for entry in known["entries"] if entry["described"] not in described]
        plan = plan | {"entries": [*before, *plan["entries"]]}
        with _replacing(file) as handle:
            handle.write(json.dumps(plan).encode())

    def tracked(self, address: str, entry_key: str) -> str | None:
        """The MLflow run under which an entry was logged at an address, None when it was not."""
        note = _json(
            self._marker(address, entry_key)
        )  # None, too, of a damaged note: no harm in tracking twice
        return str(note["run_id"]) if note and "run_id" in note else None

    def mark_tracked(self, address: str, entry_key: str, run_id: str) -> None:
        """Remember that an entry was logged at an address."""
        with _replacing(self._marker(address, entry_key)) as handle:
            handle.write(json.dumps({"address": address, "run_id": run_id}).encode())

    def _file(self, key: str) -> Path:
        return self.path / "cells" / key[:2] / f"{key}.npz"

    def _plan_file(self, name: str) -> Path:
        # A name such as a/b is that of a study, not of a folder.
        return self.path / "plans" / f"{quote(name, safe=' ')}.json"

    def _failure_file(self, key: str) -> Path:
        return self.path / "failures" / key[:2] / f"{key}.json"

    def _trials_file(self, key: str) -> Path:
        return self.path / "trials" / key[:2] / f"{key}.jsonl"

    def _marker(self, address: str, entry_key: str) -> Path:
        from hashlib import sha256

        return self.path / "tracked" / sha256(address.encode()).hexdigest()[:16] / f"{entry_key}.json"

    def _read(self, file: Path, arrays: bool = True) -> CellResult:
        try:
            with np.load(file) as content:
                record = json.loads(content["record"].tobytes())
                curve = {
                    name.removeprefix(CURVE_PREFIX): content[name]
                    for name in content.files
                    if arrays and name.startswith(CURVE_PREFIX)
                }
                weights = content["weights"] if arrays and "weights" in content.files else None
            version = record["format"]
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
            raise _damaged(file, str(error)) from None
        if version != FORMAT:
            raise DataError(
                f"{file} was written in format {version}, expected {FORMAT}: "
                f"use the aucbench that wrote it, or another store.path."
            )
        missing = [name for name in RECORD if name not in record]
        if missing:
            raise _damaged(file, f"its record lacks {', '.join(missing)}")
        return CellResult(record, curve, weights)


def _json(file: Path) -> dict[str, Any] | None:
    """The mapping in a file, None when there is no such file or something else in it."""
    try:
        return _parsed(file.read_bytes())
    except OSError:
        return None


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _damaged(file: Path, why: str) -> DataError:
    return DataError(f"The store holds a damaged cell, {file} ({why}): remove that file.")


class _replacing:  # noqa: N801  # reads as a verb where it is used
    """A context manager giving a file handle whose content replaces `file` at once when all went well."""

    def __init__(self, file: Path):
        self._file = file

    def __enter__(self) -> Any:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._handle = tempfile.NamedTemporaryFile(dir=self._file.parent, suffix=PART, delete=False)
        return self._handle

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._handle.flush()
                os.fsync(self._handle.fileno())
        finally:
            self._handle.close()
            if kind is None:
                try:
                    os.replace(self._handle.name, self._file)
                except OSError:
                    os.unlink(self._handle.name)
                    raise
            else:
                os.unlink(self._handle.name)
