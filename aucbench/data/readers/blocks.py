"""Parts shared by all readers: files as streams of bytes, and the blocks of rows that they give."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucbench.data.labels import Label
from aucbench.errors import DataError

_OPENERS: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}
SUFFIXES = tuple(_OPENERS)


class ZeroBasedError(DataError):
    """A LIBSVM file whose indices were taken to count from 1 has an index 0."""


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


class ColumnRecord(msgspec.Struct, frozen=True):
    """A column of a table, as it was read."""

    name: str
    kind: str  # label, dropped, refused, number, categories, or a notation of numbers
    missing: int = 0  # cells
    note: str = ""  # what was not asked for, and the override that undoes it
    categories: tuple[str, ...] = ()  # of each of its columns of zeros and ones
    median: float | None = None  # in place of missing numbers, where they are not refused

    @property
    def levels(self) -> int:
        """How many categories there are."""
        return len(self.categories)


def columns_in_words(columns: Sequence[ColumnRecord], most: int = 8) -> list[str]:
    """How many columns were read as what, and a line for each of which something is to be noted."""
    by_kind: dict[str, list[str]] = {}
    for column in columns:
        levels = f" ({column.levels})" if column.levels else ""
        by_kind.setdefault(column.kind, []).append(f"{column.name or repr('')}{levels}")
    texts = []
    for kind, names in sorted(by_kind.items()):
        more = f" and {len(names) - most} more" if len(names) > most else ""
        texts.append(f"{kind}: {', '.join(names[:most])}{more}")
    notes = [column for column in columns if column.note]
    lines = ["; ".join(texts), *(f"column {column.name!r} {column.note}" for column in notes[:most])]
    return [*lines, f"{len(notes) - most} more columns like these"] if len(notes) > most else lines


class RefusedColumnsError(DataError):
    """Columns of a table cannot be used as they are; `columns` describes all columns, these as refused."""

    def __init__(self, message: str, columns: Sequence[ColumnRecord] = ()):
        super().__init__(message)
        self.columns = list(columns)


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


def skip_keel_header(stream: Any) -> int:
    """Move to the first row of a KEEL file, behind the lines that begin with @; returns their number."""
    skipped, begin = 0, 0
    while (line := stream.readline()) and (line.startswith(b"@") or not line.strip()):
        skipped, begin = skipped + 1, stream.tell()
    stream.seek(begin)
    return skipped


def reader_of(path: str) -> str:
    """The data set that reads a file, by the ending of its name."""
    file = Path(path)
    ending = (file.with_suffix("") if file.suffix in SUFFIXES else file).suffix.lower()
    readers = {
        ".csv": "csv",
        ".tsv": "csv",
        ".parquet": "parquet",
        ".pq": "parquet",
        ".arff": "arff",
        ".npz": "npz",
    }
    return readers.get(ending, "libsvm")
