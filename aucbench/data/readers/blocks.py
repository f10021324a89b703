"""What all readers share: files as streams of bytes, and the blocks of rows that they give."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.data.labels import Label
from aucbench.errors import DataError

MOST_VALUES = 1 << 21  # of a block of dense rows, 16 MB
_OPENERS: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}
SUFFIXES = tuple(_OPENERS)


class Coded(NamedTuple):
    """The labels of a block: distinct ones, and which of them each row has."""

    distinct: list[Label]
    codes: NDArray[np.int64]


class Block(NamedTuple):
    """Some consecutive rows of a file; a reader may overwrite the arrays by the next block."""

    labels: Any  # (rows,) float64 array, or Coded
    lengths: NDArray[np.int64]  # (rows,) features in each row
    indices: NDArray[np.int32]  # (nnz,) column numbers from 0, ascending in each row
    values: NDArray[np.float64]  # (nnz,) finite
    width: int = 0  # number of columns, where the file tells


@contextmanager
def open_bytes(path: Path) -> Iterator[Any]:
    """The bytes of a plain or compressed file; what cannot be read or unpacked is a `DataError`."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            yield stream
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
    except OSError as error:
        if error.errno is None:  # the bz2 module's "Invalid data stream"
            raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
