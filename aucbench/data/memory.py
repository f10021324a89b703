"""Available memory, and rows that do not fit into it.

Such rows are written block by block to a file that nobody else sees, and mapped.
"""

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Matrix
from aucbench.data.files.cache import cache_folder
from aucbench.data.files.npy import NpyWriter, open_npy
from aucbench.errors import DataError, ParameterError

VECTORS = 5  # of all columns that fitting a scaling holds
FEW_BYTES = 1 << 24  # for vectors that are always tried
SHARE = 0.75  # of the available memory that one array may take

BLOCK_BYTES = 1 << 25


def available() -> int:
    """Bytes of memory that this process can still get: of the machine, and within its own limits."""
    import psutil

    process = psutil.Process()
    room = [psutil.virtual_memory().available]
    if sys.platform == "linux":
        import resource

        used = process.memory_info()
        for limit, taken in ((resource.RLIMIT_AS, used.vms), (resource.RLIMIT_DATA, used.data)):
            soft, _ = resource.getrlimit(limit)
            if soft != resource.RLIM_INFINITY:
                room.append(soft - taken)
        room += _room_in_group()
    return max(0, min(room))


def fits(size: int) -> bool:
    """Whether an array of that many bytes can be held in memory."""
    return size <= SHARE * available()


def require_memory(owner: str, shape: tuple[int, ...], advice: str) -> None:
    """Refuse a float64 array for which there is not enough memory, before it is made.

    Available is what the machine has left, within the limits of this process and of its container or job.

    Parameters
    ----------
    owner : str
        Name of the plugin that needs the array.
    shape : tuple of int
        Its dimensions.
    advice : str
        What to do instead.

    Raises
    ------
    ParameterError
        Names the dimensions, and both sizes in GB.
    """
    needed, room = 8 * math.prod(shape), available()
    if needed > room:
        raise ParameterError(
            f"{owner}: {' x '.join(map(str, shape))} numbers need {needed / 1e9:.1f} GB, and "
            f"{room / 1e9:.1f} GB are available; {advice}."
        )


def check_width(features: int) -> None:
    """Refuse more columns than there is memory for a few vectors of that length.

    Raises
    ------
    DataError
        With the number of columns and both sizes.
    """
    needed, room = VECTORS * 8 * features, available()
    if needed > max(room, FEW_BYTES):
        raise DataError(
            f"{features:,} features need at least {needed / 1e9:.1f} GB for {VECTORS} vectors, "
            f"and {room / 1e9:.1f} GB are available; look for a wrong index in the data or dataset.features."
        )


def _room_in_group() -> list[int]:
    """What the control group of a container or a cluster's job leaves (version 2)."""
    try:
        place = Path("/proc/self/cgroup").read_text().rpartition("0::")[2].splitlines()[0]
        folder = Path("/sys/fs/cgroup") / place.lstrip("/")
        largest = (folder / "memory.max").read_text().strip()
        facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return [] if largest == "max" else [int(largest) - int(facts["anon"])]
    except (OSError, ValueError, IndexError, KeyError):
        return []


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in the cache for arrays larger than memory, which is gone in the end.

    A file that was mapped meanwhile keeps its place on the disk until the array is gone, and no longer,
    however the process ends.

    Raises
    ------
    DataError
        The folder cannot be written (a full disk, no permission).
    """
    home = cache_folder() / "scratch"
    try:
        home.mkdir(parents=True, exist_ok=True)
        _sweep(home)
        with tempfile.TemporaryDirectory(prefix=f"{os.getpid()}-", dir=home) as folder:
            yield Path(folder)
    except OSError as error:
        if error.errno is None or isinstance(error, DataError):
            raise
        raise DataError(
            f"The rows do not fit into memory, and {home} cannot be written ({error.strerror}); free some "
            "space there, or set AUCBENCH_CACHE to another folder."
        ) from None


def _sweep(home: Path) -> None:
    """Remove what killed processes left behind."""
    import psutil

    for folder in home.iterdir():
        number = folder.name.partition("-")[0]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def blocks(count: int, row_bytes: int) -> list[slice]:
    """Slices that cut `count` rows into blocks of about 32 MB."""
    at_once = max(1, BLOCK_BYTES // max(1, row_bytes))
    return [slice(start, min(start + at_once, count)) for start in range(0, count, at_once)]


def spill(parts: Iterable[slice], make: Callable[[slice], Matrix], dtype: np.dtype[Any]) -> Matrix:
    """The blocks that `make` gives for `parts`, one below the other, over memory-mapped files.

    Parameters
    ----------
    parts : iterable of slice
        At least one.
    make : callable
        Gives the rows of a part, all dense or all CSR.
    dtype : dtype
        Of the values.

    Raises
    ------
    DataError
        The cache folder cannot be written.
    """
    first, *rest = parts
    begin = make(first)
    following = (make(part) for part in rest)
    return _sparse(begin, following, dtype) if sparse.issparse(begin) else _dense(begin, following, dtype)


def _dense(first: NDArray[Any], rest: Iterable[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    with scratch() as folder:
        with NpyWriter(folder / "X.npy", dtype, first.shape[1]) as writer:
            writer.write(first)
            for block in rest:
                writer.write(block)
        return open_npy(folder / "X.npy", shared=True)


def _sparse(first: Any, rest: Iterable[Any], dtype: np.dtype[Any]) -> Any:
    columns = first.shape[1]
    with scratch() as folder:
        with (
            NpyWriter(folder / "data.npy", dtype) as data,
            NpyWriter(folder / "indices.npy", first.indices.dtype) as indices,
        ):
            ends: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
            for block in chain([first], rest):
                ends.append(block.indptr[1:].astype(np.int64) + data.size)
                data.write(block.data)
                indices.write(block.indices)
        indptr = np.concatenate(ends)
        kind = np.int32 if indptr[-1] < 2**31 else np.int64
        parts = (open_npy(folder / f"{name}.npy", shared=True) for name in ("data", "indices"))
        X = sparse.csr_matrix((*parts, indptr.astype(kind)), shape=(len(indptr) - 1, columns), copy=False)
        X.has_canonical_format = True  # as the blocks are; SciPy would read everything to find out
        return X
