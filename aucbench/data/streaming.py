"""Rows that do not fit into memory: written block by block to a file that nobody else sees, then mapped."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import Matrix
from aucbench.data.memory import scratch
from aucbench.data.npy import NpyWriter, open_npy

BLOCK_BYTES = 1 << 25


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
