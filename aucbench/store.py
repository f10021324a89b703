"""The content-addressed store of finished cells: one file a cell, written aside, synced and renamed."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from aucbench.errors import DataError
from aucbench.result import CellResult

FORMAT = 1
CURVE_PREFIX = "curve_"
RECORD = (
    "algorithm",
    "dataset",
    "loss",
    "features",
    "scaling",
    "protocol",
    "tuning",
    "budget",
    "order",
    "dtype",
    "result",
)


class Store:
    """A folder of finished cells, found by key; it can be moved, copied and renamed.

    Parameters
    ----------
    path : str or Path
        The folder; made when the first cell is kept.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        existing = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
        if not existing.is_dir():
            raise DataError(f"store.path: {existing} is a file, expected a folder.")
        if not os.access(existing, os.W_OK):
            raise DataError(f"store.path: {existing} cannot be written to.")

    def __iter__(self) -> Iterator[CellResult]:
        for file in sorted((self.path / "cells").glob("*/*.npz")):
            yield self._read(file)

    def get(self, key: str) -> CellResult | None:
        """The finished cell of that key, None when there is none."""
        file = self._file(key)
        return self._read(file) if file.exists() else None

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

    def tracked(self, address: str, entry_key: str) -> str | None:
        """The MLflow run under which an entry was logged at an address, None when it was not."""
        file = self._marker(address, entry_key)
        try:
            return str(json.loads(file.read_text())["run_id"])
        except (OSError, ValueError, KeyError, TypeError):
            return None  # never tracked, or the note is damaged: tracking once more loses nothing

    def mark_tracked(self, address: str, entry_key: str, run_id: str) -> None:
        """Remember that an entry was logged at an address."""
        with _replacing(self._marker(address, entry_key)) as handle:
            handle.write(json.dumps({"address": address, "run_id": run_id}).encode())

    def _file(self, key: str) -> Path:
        return self.path / "cells" / key[:2] / f"{key}.npz"

    def _marker(self, address: str, entry_key: str) -> Path:
        from hashlib import sha256

        return self.path / "tracked" / sha256(address.encode()).hexdigest()[:16] / f"{entry_key}.json"

    def _read(self, file: Path) -> CellResult:
        try:
            with np.load(file) as content:
                record = json.loads(content["record"].tobytes())
                curve = {
                    name.removeprefix(CURVE_PREFIX): content[name]
                    for name in content.files
                    if name.startswith(CURVE_PREFIX)
                }
                weights = content["weights"] if "weights" in content.files else None
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


def _damaged(file: Path, why: str) -> DataError:
    return DataError(f"The store holds a damaged cell, {file} ({why}): remove that file.")


class _replacing:  # noqa: N801  # reads as a verb where it is used
    """A context manager giving a file handle whose content replaces `file` at once when all went well."""

    def __init__(self, file: Path):
        self._file = file

    def __enter__(self) -> Any:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._handle = tempfile.NamedTemporaryFile(dir=self._file.parent, suffix=".part", delete=False)
        return self._handle

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._handle.flush()
                os.fsync(self._handle.fileno())
        finally:
            self._handle.close()
            if kind is None:
                os.replace(self._handle.name, self._file)
            else:
                os.unlink(self._handle.name)
