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

FORMAT = 3  # version of the cache files and of the reading of tables; other caches are built again
COLUMNS, META = "columns.json", "meta.json"
CHECKED_BYTES = 1 << 22  # bytes read at a time for a checksum
KEPT = "kept.npy"  # values of columns beside the features
TABLE_KINDS = ("csv", "parquet", "arff", "keel")


class FileRecord(msgspec.Struct, frozen=True):
    """One parsed file of a part."""

    path: str  # declared path
    part: str
    source: str
    rows: int
    labels: list[tuple[Label, int]]  # ascending labels with their numbers of rows


class PartRecord(msgspec.Struct, frozen=True):
    """The file meta.json of a cached part."""

    dataset: str
    part: str
    rows: int
    features: int
    nonzeros: int
    dense: bool
    labels: list[Label]  # label of each code
    files: list[FileRecord]
    sha256: str  # SHA-256 of values, positions and labels
    format: int = FORMAT


class CachedPart(NamedTuple):
    """A part of a data set in the cache."""

    X: Any  # (n, d) float64 ndarray over a private memory map, or CSR over three of them
    codes: NDArray[np.uint16]  # (n,) class numbers
    record: PartRecord
    kept: Any = None  # (n, k) values of columns beside the features, None without such columns


def files_of(files: Sequence[File], part: str) -> list[File]:
    """The files of a part; for "all", training files come first."""
    parts = ("train", "test") if part == "all" else (part,)
    return [file for name in parts for file in files if file.part == name]


def depend(files: Iterable[File], features: int | None) -> bool:
    """Whether parts depend on each other: the number or the meaning of columns is learned from the data."""
    return features is None or any(
        file.kind != "libsvm" or isinstance(file.topic, str) or file.zero_based is None for file in files
    )


def part_folder(name: str, files: Sequence[File], features: int | None, part: str) -> Path:
    """The folder of one part, named by a hash of the format and of all declarations.

    The hash includes size and modification time of a user's files (absolute paths), and the files of all
    parts if parts depend on each other.
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
    """The records of the columns of a table; empty for files without named columns."""
    try:
        return msgspec.json.decode((folder / COLUMNS).read_bytes(), type=list[ColumnRecord])
    except (OSError, ValueError):
        return []


def read_record(folder: Path) -> PartRecord | None:
    """The record of a cached part; None when it is missing, damaged or of another format."""
    try:
        content = json.loads((folder / META).read_text())
        check = content.pop("check")
        record = msgspec.convert(content, PartRecord)
        return record if record.format == FORMAT and check == _hash_of(content) else None
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
        values = open_npy(folder / KEPT) if (folder / KEPT).exists() else None
    except (OSError, ValueError, TypeError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:  # building it again would not help
            raise DataError(
                f"{folder} cannot be mapped: the address space of the process is limited."
            ) from None
        return None
    return CachedPart(X, codes, record, values) if X.shape == shape and len(codes) == record.rows else None


def _open_csr(folder: Path, shape: tuple[int, int]) -> Any:
    data, indices, indptr = (open_npy(folder / f"{name}.npy") for name in ("data", "indices", "indptr"))
    if len(data) < 2**31:  # SciPy requires both index arrays to have one type
        indptr = indptr.astype(np.int32, copy=False)
    X = sparse.csr_matrix((data, indices, indptr), shape=shape, copy=False)  # checks the lengths
    X.has_canonical_format = True  # ensured by the parser; SciPy would read all indices to check
    return X


def publish(staging: Path, folder: Path, record: PartRecord) -> None:
    """Move a complete folder to its final name, replacing an older or damaged folder."""
    checksums = {path.name: _crc32(path) for path in sorted(staging.iterdir())}
    content = {**msgspec.to_builtins(record), "crc32": checksums}
    (staging / META).write_text(json.dumps({**content, "check": _hash_of(content)}, indent=1))
    for path in staging.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    if folder.exists():
        shutil.rmtree(folder)
    staging.rename(folder)


def damaged_files(folder: Path) -> list[str]:
    """The names of the missing or changed files of a part; all files are read."""
    if read_record(folder) is None:
        return [META]
    checksums = json.loads((folder / META).read_text())["crc32"]
    names = {path.name for path in folder.iterdir()}
    return [name for name, crc32 in checksums.items() if name not in names or _crc32(folder / name) != crc32]


def _crc32(path: Path) -> int:
    """The checksum of a file."""
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(CHECKED_BYTES):
            checksum = zlib.crc32(block, checksum)
    return checksum


@contextmanager
def locked_folder(name: str) -> Iterator[Path]:
    """Hold the lock of a data set's cache and yield an empty folder in it, which is removed on exit."""
    home = cache_folder() / "data" / name
    with refuse_unwritable(f"{name}: the data cache {cache_folder()}"), file_lock(home / ".lock"):
        for left_over in home.glob(".building-*"):  # left by a killed process, since we hold the lock
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=home) as aside:
            yield Path(aside)


@contextmanager
def refuse_unwritable(folder: str) -> Iterator[None]:
    """Raise a DataError if the operating system cannot write to the cache; `folder` begins the message."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # not raised by the operating system
            raise
        raise DataError(
            f"{folder} cannot be written ({error.strerror}); free some space there, or set AUCBENCH_CACHE to "
            "another folder."
        ) from None
