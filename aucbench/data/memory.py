"""Available memory, and memory-mapped scratch files for rows that exceed it."""

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts import Matrix
from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.files.cache import refuse_unwritable
from aucbench.data.files.npy import NpyWriter, open_npy
from aucbench.errors import DataError, ParameterError
from aucbench.humanize import filesize

VECTORS = 5  # least number of vectors (d,) held while a scaling is fitted, or a method trained
FEW_BYTES = 1 << 24  # vectors up to this size are never refused
SHARE = 0.75  # largest share of the available memory for one array
RESERVED = 400_000_000  # bytes that a large array leaves for the rest of the run
SMALL_SHARE = 1 / 16  # arrays up to this share of the available memory fit without the reserve
BLOCK_BYTES = 1 << 25  # bytes of rows written at a time


def available() -> int:
    """Bytes of memory that this process can still allocate, within its own limits."""
    import psutil

    room = [psutil.virtual_memory().available]
    if sys.platform == "linux":
        import resource

        for limit, taken in ((resource.RLIMIT_AS, "vms"), (resource.RLIMIT_DATA, "data")):
            soft, _ = resource.getrlimit(limit)
            if soft != resource.RLIM_INFINITY:
                room.append(soft - getattr(psutil.Process().memory_info(), taken))
        room += _room_in_control_groups()
    return max(0, min(room))


def _room_in_control_groups(system: Path = Path("/")) -> Iterator[int]:
    """Bytes left in the control groups, of version 2 or 1, of a container or a cluster job."""
    home = system / "sys/fs/cgroup"
    try:
        lines = (system / "proc/self/cgroup").read_text().splitlines()
        groups = [(controllers, group) for _, controllers, group in (line.split(":", 2) for line in lines)]
    except (OSError, ValueError):
        return
    for controllers, group in groups:
        if not controllers:
            folder = home / group.lstrip("/")
            for ancestor in [folder, *folder.parents]:
                with suppress(OSError, ValueError, KeyError):  # no limit is the text "max"
                    yield int((ancestor / "memory.max").read_text()) - _facts(ancestor)["anon"]
        elif "memory" in controllers.split(","):
            nested, top = (home / "memory" / path for path in (group.lstrip("/"), ""))
            with suppress(OSError, ValueError, KeyError):
                # A container sees its own group at the top.
                facts = _facts(nested if nested.exists() else top)
                yield facts["hierarchical_memory_limit"] - facts["total_rss"]


def _facts(group: Path) -> dict[str, int]:
    fields = (line.split() for line in (group / "memory.stat").read_text().splitlines())
    return {name: int(count) for name, count in fields}


def fits(size: int) -> bool:
    """Whether an array of `size` bytes can be held in memory."""
    room = available()
    return size <= max(SMALL_SHARE * room, min(SHARE * room, room - RESERVED))


def require_memory(owner: str, shape: tuple[int, ...], advice: str) -> None:
    """Refuse a float64 array that exceeds the available memory, before it is allocated.

    The limits of the process and of its container or job apply, too.

    Parameters
    ----------
    owner : str
        Name of the plugin that needs the array.
    shape : tuple of int
        Shape of the array.
    advice : str
        Advice at the end of the error message.

    Raises
    ------
    ParameterError
        If the array needs more than the available memory.
    """
    needed, room = 8 * math.prod(shape), available()
    if needed > room:
        raise ParameterError(
            f"{owner}: {' x '.join(map(str, shape))} numbers need {filesize(needed)}, and "
            f"{filesize(room)} are available; {advice}."
        )


def check_width(features: int, where: str = "") -> None:
    """Refuse a number of columns whose vectors exceed memory; the error message begins with `where`."""
    needed = VECTORS * 8 * features
    if needed > FEW_BYTES and needed > (room := available()):
        raise DataError(
            f"{where}{features:,} features need at least {filesize(needed)} for {VECTORS} vectors, "
            f"and {filesize(room)} are available; look for a wrong index in the data or dataset.features, "
            f"or use features=projection."
        )


def blocks(count: int, row_bytes: int) -> list[slice]:
    """Slices of `count` rows in blocks of about 32 MB."""
    at_once = max(1, BLOCK_BYTES // max(1, row_bytes))
    return [slice(start, min(start + at_once, count)) for start in range(0, count, at_once)]


def spill(parts: Iterable[slice], make: Callable[[slice], Matrix], dtype: np.dtype[Any]) -> Matrix:
    """Stack the blocks ``make(part)`` in memory-mapped files.

    The blocks are all dense or all CSR; at least one part is needed.
    """
    matrices: Iterator[Any] = (make(part) for part in parts)
    first = next(matrices)
    matrices, columns = chain([first], matrices), first.shape[1]
    with _scratch() as folder:
        if not sparse.issparse(first):
            with NpyWriter(folder / "X.npy", dtype, columns) as writer:
                for block in matrices:
                    writer.write(block)
            return open_npy(folder / "X.npy", shared=True)
        with (
            NpyWriter(folder / "data.npy", dtype) as data,
            NpyWriter(folder / "indices.npy", first.indices.dtype) as indices,
        ):
            ends = [np.zeros(1, np.int64)]
            for block in matrices:
                ends.append(block.indptr[1:].astype(np.int64) + data.size)
                data.write(block.data)
                indices.write(block.indices)
        indptr = np.concatenate(ends)
        indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
        stored = (open_npy(folder / f"{name}.npy", shared=True) for name in ("data", "indices"))
        X = sparse.csr_matrix((*stored, indptr), shape=(len(indptr) - 1, columns), copy=False)
        X.has_canonical_format = True  # like the blocks; otherwise SciPy reads the whole file to check
        return X


@contextmanager
def _scratch() -> Iterator[Path]:
    """Create a folder in the cache for arrays larger than memory, and remove it on exit.

    A mapped file keeps its disk space until the array is freed or the process ends.
    """
    import psutil

    home = cache_folder() / "scratch"
    with refuse_unwritable(f"The rows do not fit into memory, and {home}"):
        home.mkdir(parents=True, exist_ok=True)
        for folder in home.iterdir():  # leftovers of killed processes
            number = folder.name.partition("-")[0]
            if number.isdigit() and not psutil.pid_exists(int(number)):
                shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=f"{os.getpid()}-", dir=home) as path:
            yield Path(path)
