"""Blocks of rows and records of columns, the results of every reader."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucbench.data.labels import Label
from aucbench.errors import DataError

DENSE_COLUMNS = 1024  # rows of at most that many columns are stored as dense
KEPT = "kept"  # prefix of the kind of a column that is stored beside the rows and is not a feature


class ZeroBasedError(DataError):
    """Raised for an index 0 in a LIBSVM file whose indices were assumed to count from 1."""


class Coded(NamedTuple):
    """The labels of a block: the distinct labels, and the code of each row."""

    distinct: list[Label]
    codes: NDArray[Any]  # integers


class Block(NamedTuple):
    """Some consecutive rows of a file."""

    labels: Coded
    X: Any  # (rows, d) finite float64: an array of at most `DENSE_COLUMNS`, or CSR with ascending columns
    kept: NDArray[np.float64] | None = None  # (rows, k) values of columns beside the features


class ColumnRecord(msgspec.Struct, frozen=True):
    """A column of a table, as it was read."""

    name: str
    kind: str  # label, dropped, number, categories, or a notation of numbers
    missing: int = 0  # cells
    note: str = ""  # an automatic choice and the override that undoes it
    categories: tuple[str, ...] = ()  # category of each indicator column
    median: float | None = None  # fills missing numbers, unless they are refused
    indicates: bool = False  # a further column is 1 where a cell is missing

    @property
    def is_feature(self) -> bool:
        """Whether the column became one or more features."""
        return self.kind not in ("label", "dropped") and not self.kind.startswith(KEPT)

    @property
    def width(self) -> int:
        """Number of encoded columns of this column alone."""
        if not self.is_feature or self.kind == "hashed":
            return 0
        return (self.levels if self.kind == "categories" else 1) + self.indicates

    @property
    def levels(self) -> int:
        """The number of categories."""
        return len(self.categories)


def columns_in_words(columns: Sequence[ColumnRecord], most: int = 8) -> list[str]:
    """The names of the columns of each kind, and a line for each column with a note."""
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
