"""The cache of parsed data: a folder per part of a data set, made aside and renamed when it is complete."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import File
from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.files.npy import open_npy
from aucbench.data.labels import Label, ordered
from aucbench.data.readers.blocks import ColumnRecord
from aucbench.errors import DataError
from aucbench.pool import file_lock

FORMAT = 3  # of the files in a cache folder, and how tables are read; caches of another format are made anew
COLUMNS, META = "columns.json", "meta.json"
CHECKED_BYTES = 1 << 22  # read at a time
KEPT = "kept.npy"  # values of columns beside the features
TABLE_KINDS = ("csv", "parquet", "arff", "keel")


class FileRecord(msgspec.Struct, frozen=True):
    """One parsed file of a part."""

    path: str  # as it is declared
    part: str
    source: str
    rows: int
    labels: list[tuple[Label, int]]  # each with the number of its rows, ascending


class PartRecord(msgspec.Struct, frozen=True):
    """The file meta.json of a cached part."""

    dataset: str
    part: str
    rows: int
    features: int
    nonzeros: int
    dense: bool
    labels: list[Label]  # of each code
    files: list[FileRecord]
    sha256: str  # of the values, their places and the labels
    format: int = FORMAT


class CachedPart(NamedTuple):
    """A part of a data set as it lies in the cache."""

    X: Any  # (n, d) float64 ndarray over a private memory map, or CSR over three of them
    codes: NDArray[np.uint16]  # (n,) class numbers
    record: PartRecord
    kept: Any = None  # (n, k) values of columns beside the features, None where there are none


def files_of(files: Sequence[File], part: str) -> list[File]:
    """The files of a part; of "all", those of the training part first."""
    parts = ("train", "test") if part == "all" else (part,)
    return [file for each in parts for file in files if file.part == each]


def depend(files: Iterable[File], features: int | None) -> bool:
    """Whether parts depend on each other: the number or the meaning of columns is learned from the data."""
    return features is None or any(
        file.kind != "libsvm" or isinstance(file.topic, str) or file.zero_based is None for file in files
    )


def part_folder(name: str, files: Sequence[File], features: int | None, part: str) -> Path:
    """The folder of one part, named by a hash of the format and of everything declared.

    Files of one's own (absolute paths) count with their size and time of change, and those of all parts where
    parts depend on each other.
    """
    declared: list[Any] = [FORMAT, part, features]
    for file in files if depend(files, features) else files_of(files, part):
        path = Path(file.path)
        state = [path.stat().st_size, path.stat().st_mtime_ns] if path.is_absolute() else []
        labels = [(label, file.labels[label]) for label in ordered(file.labels)]
        reading = [file.kind, asdict(file.table), file.topic, file.zero_based, file.partitions]
        facts = [file.rows, labels, file.sha256, list(file.urls)]
        declared.append([file.path, file.part, *facts, *state, *reading])
    key = hashlib.sha256(json.dumps(declared).encode()).hexdigest()[:20]
    return cache_folder() / "data" / name / key


def read_columns(folder: Path) -> list[ColumnRecord]:
    """The columns of a table as they were read; none where there are no columns with names."""
    try:
        return msgspec.json.decode((folder / COLUMNS).read_bytes(), type=list[ColumnRecord])
    except (OSError, ValueError):
        return []


def read_record(folder: Path) -> PartRecord | None:
    """The record of a cached part; None when it is missing, damaged or of another format."""
    try:
        found = json.loads((folder / META).read_text())
        check = found.pop("check")
        record = msgspec.convert(found, PartRecord)
        return record if record.format == FORMAT and check == _hash_of(found) else None
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return None


def _hash_of(record: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def open_part(folder: Path) -> CachedPart | None:
    """The arrays of a cached part; None when it is missing, cut short or of another format."""
    record = read_record(folder)
    if record is None:
        return None
    shape = record.rows, record.features
    try:
        codes = open_npy(folder / "codes.npy")
        X: Any = open_npy(folder / "X.npy") if record.dense else _open_csr(folder, shape)
        kept = open_npy(folder / KEPT) if (folder / KEPT).exists() else None
    except (OSError, ValueError, TypeError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:  # making it anew would not help
            raise DataError(
                f"{folder} cannot be mapped: the address space of the process is limited."
            ) from None
        return None
    return CachedPart(X, codes, record, kept) if X.shape == shape and len(codes) == record.rows else None


def _open_csr(folder: Path, shape: tuple[int, int]) -> Any:
    data, indices, indptr = (open_npy(folder / f"{name}.npy") for name in ("data", "indices", "indptr"))
    if len(data) < 2**31:  # SciPy wants both index arrays of one type
        indptr = indptr.astype(np.int32, copy=False)
    X = sparse.csr_matrix((data, indices, indptr), shape=shape, copy=False)  # refuses other lengths
    X.has_canonical_format = True  # the parser saw to it; SciPy would read everything to find out
    return X


def publish(staging: Path, folder: Path, record: PartRecord) -> None:
    """Make a complete folder visible under its name, in place of an older or damaged one."""
    checksums = {path.name: _crc32(path) for path in sorted(staging.iterdir())}
    found = {**msgspec.to_builtins(record), "crc32": checksums}
    (staging / META).write_text(json.dumps({**found, "check": _hash_of(found)}, indent=1))
    for path in staging.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    if folder.exists():
        shutil.rmtree(folder)
    staging.rename(folder)


def damaged_files(folder: Path) -> list[str]:
    """The names of the files of a part that are missing or other than what was written; all are read."""
    if read_record(folder) is None:
        return [META]
    known = json.loads((folder / META).read_text())["crc32"]
    is_there = {path.name for path in folder.iterdir()}
    return [name for name, crc32 in known.items() if name not in is_there or _crc32(folder / name) != crc32]


def _crc32(path: Path) -> int:
    """The checksum of a file."""
    found = 0
    with path.open("rb") as file:
        while block := file.read(CHECKED_BYTES):
            found = zlib.crc32(block, found)
    return found


@contextmanager
def locked_folder(name: str) -> Iterator[Path]:
    """Hold the lock of a data set's cache and yield an empty folder in it, which is removed in the end."""
    home = cache_folder() / "data" / name
    with refuse_unwritable(f"{name}: the data cache {cache_folder()}"), file_lock(home / ".lock"):
        for left_over in home.glob(".building-*"):  # by a process that was killed: we hold the lock
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=home) as aside:
            yield Path(aside)


@contextmanager
def refuse_unwritable(folder: str) -> Iterator[None]:
    """A DataError when the operating system cannot write to a folder in the cache, named in these words."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # not the operating system's
            raise
        raise DataError(
            f"{folder} cannot be written ({error.strerror}); free some space there, or set AUCBENCH_CACHE to "
            "another folder."
        ) from None
