"""The content-addressed store of finished cells: one file per cell, written aside, synced and renamed.

The store also has the trials of tunings (one append-only file each), the failures of cells, the plans of
studies, and notes on the entries that were tracked.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
import numpy as np

from aucbench.errors import DataError, ParameterError
from aucbench.pool import file_lock
from aucbench.studies import npz
from aucbench.studies.codec import decode, encode
from aucbench.studies.leases import Leases
from aucbench.studies.record import CellRecord, FailureRecord, ReplicationRecord, StudyPlan, Trial
from aucbench.studies.result import CellResult

PART = ".part"  # suffix of files being written
RECORD = "record"  # name of a cell's record among its arrays
SERIES = "0.2"  # series of versions with the same cell keys
STALE_SECONDS = 3600.0
LONGEST = 150  # characters of a file's name without the ending; most file systems allow 255 bytes
CURVE_PREFIX = "curve_"
COMPRESSED = ("scores", "model")
OUTPUTS = ("weights", "checkpoint_weights", *COMPRESSED)  # arrays that leaderboards do not need
R = TypeVar("R")


class Store:
    """A folder of finished cells, found by key; it can be moved, copied and renamed.

    Any number of processes may read and write. Processes that run studies divide the work with `leases`. The
    folder is made when the first cell is stored. `writable`: whether the folder must be writable.

    A store is untrusted data. Nothing in it is executed: arrays are read without pickle. A key, name or link
    that leads out of the store is a `DataError`, and so is a file that cannot be read or is damaged.
    """

    def __init__(self, path: str | Path, writable: bool = True):
        self.path = Path(path)
        self._root = os.path.realpath(self.path)
        existing = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
        if not existing.is_dir():
            raise DataError(f"store.path: {existing} is a file, expected a folder.")
        if writable and not os.access(existing, os.W_OK):
            raise DataError(f"store.path: {existing} cannot be written to.")

    def __iter__(self) -> Iterator[CellResult]:
        yield from filter(None, map(self.get, self.keys()))

    def tidy(self) -> None:
        """Remove incomplete files that killed processes left an hour ago or more."""
        for file in self.path.rglob(f"*{PART}"):
            with contextlib.suppress(OSError):  # another process removes it
                if not file.is_symlink() and time() - file.stat().st_mtime > STALE_SECONDS:
                    file.unlink()

    def take_over(self) -> bool:
        """Mark a store with cells as a store of this series; True if it has cells of an earlier series."""
        marker = self._inside("series")
        if not (self.path / "cells").is_dir() or (marker.exists() and marker.read_text() == SERIES):
            return False
        _write(marker, SERIES.encode())
        return True

    def has(self, key: str) -> bool:
        """Whether the cell with this key is finished."""
        return self._keyed("cells", key, "npz").exists()

    def keys(self) -> list[str]:
        """The keys of all finished cells."""
        return [file.stem for file in self._files("cells", "*/*.npz")]

    def listed(self) -> tuple[set[str], set[str]]:
        """The keys of finished cells and of failed cells, for many look-ups."""
        names = {"cells": "*/*.npz", "failures": "*/*.json"}
        finished, failed = (
            {file.stem for file in (self.path / folder).glob(name)} for folder, name in names.items()
        )
        return finished, failed

    def get(self, key: str) -> CellResult | None:
        """The finished cell with this key, or None."""
        return self._cell(key, lambda name: True)

    def measured(self, key: str) -> CellResult | None:
        """The finished cell with this key, without its weights, scores and model; or None."""
        return self._cell(key, lambda name: name not in OUTPUTS)

    def record(self, key: str) -> CellRecord | None:
        """Only the record of the finished cell with this key, or None."""
        cell = self._cell(key, lambda name: False)
        return None if cell is None else cell.record

    def sizes(self, key: str) -> dict[str, int]:
        """Bytes of each array of the finished cell with this key, including its record and ``weights``."""
        return _read(self._keyed("cells", key, "npz"), npz.sizes) or {}

    def put(self, key: str, cell: CellResult) -> None:
        """Store a finished cell atomically."""
        arrays: dict[str, Any] = {CURVE_PREFIX + name: values for name, values in cell.curve.items()}
        model = None if cell.model is None else np.frombuffer(cell.model, np.uint8)
        outputs = (cell.weights, cell.checkpoint_weights, cell.scores, model)
        arrays |= {name: values for name, values in zip(OUTPUTS, outputs, strict=True) if values is not None}
        arrays[RECORD] = np.frombuffer(encode(cell.record), np.uint8)
        try:
            if not (self.path / "cells").is_dir():
                # Mark the series first: a cell without the mark would belong to an earlier series.
                _write(self._inside("series"), SERIES.encode())
            with replacing(self._keyed("cells", key, "npz")) as handle:
                npz.write(handle, arrays, COMPRESSED)
        except OSError as error:
            raise DataError(
                f"store.path: the cell cannot be kept in {self.path}: {error.strerror}."
            ) from error
        self._keyed("failures", key, "json").unlink(missing_ok=True)

    def failure(self, key: str) -> FailureRecord | None:
        """The failure of the cell with this key in its last run; None if it did not fail."""
        return _record(self._keyed("failures", key, "json"), FailureRecord)

    def put_failure(self, failure: FailureRecord) -> None:
        """Store the failure of a cell; a later success replaces it."""
        _write(self._keyed("failures", failure.key, "json"), encode(failure))

    def replications(self, key: str) -> tuple[ReplicationRecord, ...]:
        """Results of other runs of a finished cell."""
        return _record(self._keyed("replications", key, "json"), tuple[ReplicationRecord, ...]) or ()

    def put_replications(self, key: str, found: Iterable[ReplicationRecord]) -> None:
        """Store the results of other runs of a finished cell, replacing earlier ones."""
        _write(self._keyed("replications", key, "json"), encode(tuple(found)))

    def trials(self, key: str) -> list[Trial]:
        """The trials of a tuning so far, each once; a line cut short by a killed process is left out."""
        lines = _read(self._keyed("trials", key, "jsonl"), Path.read_bytes) or b""
        trials: dict[tuple[int, int], Trial] = {}
        for line in lines.split(b"\n")[:-1]:
            with contextlib.suppress(msgspec.DecodeError):
                trial = decode(line, Trial)
                trials[trial.number, trial.fold] = trial
        return list(trials.values())

    def add_trials(self, key: str, trials: Iterable[Trial]) -> None:
        """Append trials, synced."""
        file = self._keyed("trials", key, "jsonl")
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "ab+") as handle:
            if handle.tell() and file.read_bytes()[-1:] != b"\n":
                handle.write(b"\n")  # ends the incomplete line of a killed process
            handle.write(b"".join(encode(trial) + b"\n" for trial in trials))
            handle.flush()
            os.fsync(handle.fileno())

    def plans(self, study: str | None = None) -> list[StudyPlan]:
        """The plans of all studies, oldest first, or of one study; ParameterError if no study matches."""
        plans = (_record(file, StudyPlan) for file in self._files("plans", "*.json"))
        return of_study(sorted(filter(None, plans), key=lambda plan: plan.planned), study, self.path)

    def board_folder(self, study: str) -> Path:
        """The folder of the leaderboard of a study."""
        return self._inside("boards", _file_name(study))

    def put_plan(self, plan: StudyPlan) -> None:
        """Store the plan of a study.

        A study may be run in parts, by data set or method. Entries of an earlier plan stay, unless the new
        plan has the same method under the same setting. Such an entry replaces the earlier entry, which may
        have finished cells, with other seeds, that were not tracked yet.
        """
        file = self._inside("plans", f"{_file_name(plan.study)}.json")
        plan = decode(encode(plan), StudyPlan)  # decoded like the file's entries: lists, no tuples
        with file_lock(file.parent / "lock"):
            stored = _record(file, StudyPlan)
            earlier = stored.entries if stored else ()
            described = [entry.described for entry in plan.entries]
            entries = (*(entry for entry in earlier if entry.described not in described), *plan.entries)
            dropped = {entry.key: entry for entry in (*((stored and stored.replaced) or ()), *earlier)}
            for entry in entries:
                dropped.pop(entry.key, None)
            replaced = tuple(dropped.values()) or msgspec.UNSET
            _write(file, encode(msgspec.structs.replace(plan, entries=entries, replaced=replaced)))

    def leases(self) -> Leases:
        """The leases of this process, for cells and searches that no other process may run."""
        return Leases(self._inside("leases"))

    def tracked(self, address: str, entry_key: str) -> str | None:
        """The MLflow run under which an entry was logged at an address, None if it was not logged.

        Empty if its cells have changed since.
        """
        note = _record(self._note(address, entry_key), dict[str, str])
        return note["run_id"] if note else None

    def mark_tracked(self, address: str, entry_key: str, run_id: str) -> None:
        """Remember that an entry was logged at an address."""
        _write(self._note(address, entry_key), encode({"address": address, "run_id": run_id}))

    def forget_tracked(self, entry_key: str) -> None:
        """Forget the runs under which an entry was logged at any address: its cells have changed since."""
        for file in self._files("tracked", f"*/{entry_key}.json"):
            note = _record(file, dict[str, str]) or {}
            _write(file, encode(note | {"run_id": ""}))

    def _note(self, address: str, entry_key: str) -> Path:
        return self._inside("tracked", sha256(address.encode()).hexdigest()[:16], f"{entry_key}.json")

    def _keyed(self, folder: str, key: str, ending: str) -> Path:
        return self._inside(folder, key[:2], f"{key}.{ending}")

    def _inside(self, *names: str) -> Path:
        """The path of these names in the store; DataError if the path leads out of the store."""
        path = self.path.joinpath(*names)
        if not os.path.realpath(path).startswith(os.path.join(self._root, "")):
            raise DataError(f"The store holds a name or a link, {path}, that leads out of it: remove that.")
        return path

    def _files(self, folder: str, pattern: str) -> list[Path]:
        """The files of a folder that match a pattern; DataError if a file leads out of the store."""
        files = sorted((self.path / folder).glob(pattern))
        return [self._inside(*file.relative_to(self.path).parts) for file in files]

    def _cell(self, key: str, keep: Callable[[str], bool]) -> CellResult | None:
        """The record of a cell, and its arrays whose names `keep` accepts."""

        def reader(file: Path) -> CellResult:
            text, content = npz.read(file, RECORD, keep)
            record = decode(text, CellRecord)
            weights, checkpoint_weights, scores, model = (content.pop(name, None) for name in OUTPUTS)
            curve = {name.removeprefix(CURVE_PREFIX): values for name, values in content.items()}
            return CellResult(
                record, curve, weights, checkpoint_weights, scores, None if model is None else model.tobytes()
            )

        return _read(self._keyed("cells", key, "npz"), reader)


def _read(file: Path, reader: Callable[[Path], R]) -> R | None:
    """The result of `reader` for a file; None without the file, DataError if it is damaged or unreadable."""
    try:
        return reader(file)
    except FileNotFoundError:
        return None
    except (*npz.DAMAGE, msgspec.DecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # perhaps another user's umask
            raise DataError(f"{file} cannot be read: {error.strerror}.") from None
        raise DataError(f"The store holds a damaged file, {file} ({error}): remove that file.") from None


def _record(file: Path, kind: type[R]) -> R | None:
    return _read(file, lambda path: decode(path.read_bytes(), kind))


def _write(file: Path, content: bytes) -> None:
    with replacing(file) as handle:
        handle.write(content)


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Any]:
    """A file handle whose content replaces `file` atomically if no error occurs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # Created by `open`, so that the umask decides who may read the file.
    with (file.parent / f"{secrets.token_hex(8)}{PART}").open("xb+") as handle:
        try:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
            handle.close()
            os.replace(handle.name, file)
        except BaseException as error:
            with contextlib.suppress(OSError):  # the buffer cannot be written either
                handle.close()
            Path(handle.name).unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename is None:
                raise OSError(error.errno, error.strerror, str(file)) from error
            raise


def of_study(plans: list[StudyPlan], study: str | None, path: str | Path) -> list[StudyPlan]:
    """The plan of one study, or all plans of a store; ParameterError if it has no such study."""
    matches = [plan for plan in plans if study in (None, plan.study)]
    if study is not None and not matches:
        names = ", ".join(plan.study for plan in plans) or "none"
        raise ParameterError(f"The store at {path} has no study '{study}'. Known: {names}.")
    return matches


def _file_name(name: str) -> str:
    """The file name of a study: the study a/b has no folder a, and .. is no folder either."""
    quoted = quote(name, safe=" ")
    return quoted if name.strip(".") and len(quoted) <= LONGEST else sha256(name.encode()).hexdigest()
