"""The cache of parsed data: a folder per part of a data set, made aside and renamed when it is complete."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import File
from aucbench.data.files.npy import open_npy
from aucbench.data.labels import ordered
from aucbench.errors import DataError, ParameterError

FORMAT = 2  # of the files in a cache folder; caches of another format are made anew


def folder_of(text: str, what: str) -> Path:
    """A folder by an absolute path; ~ is the user's home.

    Parameters
    ----------
    text : str
        What the user wrote.
    what : str
        Where it was written, for messages.

    Raises
    ------
    ParameterError
        The home of a user who does not exist.
    """
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise ParameterError(f"{what} is {text!r}, but the home of that user is not known.") from None


class Part(NamedTuple):
    """A part of a data set as it lies in the cache."""

    X: Any  # (n, d) float64 ndarray over a private memory map, or CSR over three of them
    codes: NDArray[np.uint16]  # (n,) class numbers
    meta: Mapping[str, Any]


def cache_folder() -> Path:
    """Where downloads and parsed data are kept: `AUCBENCH_CACHE`, else the platform's cache folder."""
    chosen = os.environ.get("AUCBENCH_CACHE")
    if chosen:
        return folder_of(chosen, "AUCBENCH_CACHE")
    from platformdirs import user_cache_path

    return user_cache_path("aucbench")


def part_folder(name: str, part: str, files: Sequence[File], features: int | None) -> Path:
    """The folder of one part, named by a hash of the format and of everything declared.

    Files of one's own (absolute paths) count with their size and time of change.
    """
    declared: list[Any] = [FORMAT, part, features]
    for file in files:
        path = Path(file.path)
        state = [path.stat().st_size, path.stat().st_mtime_ns] if path.is_absolute() else []
        labels = [(label, file.labels[label]) for label in ordered(file.labels)]
        reading = [file.kind, asdict(file.table), file.topic]
        facts = [file.rows, labels, file.sha256, list(file.urls)]
        declared.append([file.path, file.part, *facts, *state, *reading])
    key = hashlib.sha256(json.dumps(declared).encode()).hexdigest()[:20]
    return cache_folder() / "data" / name / key


def read_meta(folder: Path) -> Mapping[str, Any] | None:
    """What is written about a cached part; None when it is not there, of another format or damaged."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
        # The number of columns of sparse rows shows nowhere else; older caches have no check.
        check = meta.pop("check", None)
        same = check is None or check == _hash_of(meta)
        return meta if meta["format"] == FORMAT and same and _is_sound(meta) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _hash_of(meta: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()


def _is_sound(meta: Any) -> bool:
    """Whether all is there that is asked for later, of the right types, and agrees in itself."""
    kinds = {"dataset": str, "part": str, "rows": int, "features": int, "nonzeros": int, "dense": bool}
    kinds |= {"labels": list, "files": list, "sha256": str}
    if any(type(meta[key]) is not kind for key, kind in kinds.items()):
        return False
    seen: set[Any] = set()
    rows = 0
    for entry in meta["files"]:
        sound = all(type(entry[key]) is str for key in ("path", "part", "source"))
        if not sound or type(entry["rows"]) is not int or type(entry["labels"]) is not list:
            return False
        for label, count in entry["labels"]:
            if type(label) not in (int, float, str) or type(count) is not int:
                return False
            seen.add(label)
            rows += count
    return rows == meta["rows"] > 0 and meta["features"] > 0 and set(meta["labels"]) == seen


def open_part(folder: Path) -> Part | None:
    """The arrays of a cached part; None when it is not there, of another format or damaged.

    Raises
    ------
    DataError
        The process has no address space left for it.
    """
    meta = read_meta(folder)
    if meta is None:
        return None
    try:
        codes = open_npy(folder / "codes.npy")
        shape = (meta["rows"], meta["features"])
        X: Any = open_npy(folder / "X.npy") if meta["dense"] else _open_csr(folder, shape)
        kinds = bool(X.dtype == np.float64 and codes.dtype == np.uint16)
        whole = kinds and X.shape == shape and codes.shape == shape[:1]
        # Codes are few bytes and all of them are used soon; rows are not looked at here.
        whole = whole and int(codes.max()) < len(meta["labels"])
        whole = whole and (bool(meta["dense"]) or X.nnz == meta["nonzeros"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:  # making it anew would not help
            raise DataError(
                f"{folder} cannot be mapped: the address space of the process is limited."
            ) from None
        return None
    return Part(X, codes, meta) if whole else None


def _open_csr(folder: Path, shape: tuple[int, int]) -> Any:
    data, indices, indptr = (open_npy(folder / f"{name}.npy") for name in ("data", "indices", "indptr"))
    places = np.int32, np.int64
    if indptr.dtype not in places or indices.dtype not in places or indptr.shape != (shape[0] + 1,):
        raise ValueError(f"{folder} holds other arrays than this package writes.")
    if indptr[0] != 0 or indptr[-1] != len(data) or data.shape != indices.shape:
        raise ValueError(f"{folder} holds arrays that do not fit together.")
    X = sparse.csr_matrix((data, indices, indptr), shape=shape, copy=False)
    X.has_canonical_format = True  # the parser saw to it; SciPy would read everything to find out
    return X


def publish(staging: Path, folder: Path, meta: Mapping[str, Any]) -> None:
    """Make a complete folder visible under its name; what stood there (an older format) is removed."""
    whole = {"format": FORMAT, **meta}
    (staging / "meta.json").write_text(json.dumps({**whole, "check": _hash_of(whole)}, indent=1))
    for path in staging.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)
    staging.rename(folder)


@contextmanager
def writing(name: str) -> Iterator[Path]:
    """Hold the lock of a data set's cache and yield an empty folder in it, which is removed in the end.

    Raises
    ------
    DataError
        The cache cannot be written (a full disk, no permission); says where and what to do.
    """
    from filelock import FileLock

    home = cache_folder() / "data" / name
    try:
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / ".lock"):
            for left_over in home.glob(".building-*"):  # by a process that was killed: we hold the lock
                shutil.rmtree(left_over, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=".building-", dir=home) as aside:
                yield Path(aside)
    except OSError as error:
        if error.errno is None:  # not the operating system's
            raise
        raise DataError(
            f"{name}: the data cache {cache_folder()} cannot be written ({error.strerror}); free some space "
            "there, or set AUCBENCH_CACHE to another folder."
        ) from None
