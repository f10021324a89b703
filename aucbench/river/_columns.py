"""The columns of named features: numbered in order of first appearance, or hashed."""

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import blake2b
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LAYOUTS = 64  # cached combinations of names
HASHED_NAMES = 1 << 16  # cached hashes of names


class RowLayout(NamedTuple):
    """The columns of one combination of names, and the reordering of row values into these columns."""

    columns: "array[int]"  # ascending and distinct
    arrange: Callable[[Sequence[float]], Iterable[float]] | None  # reorders values; None if they are in order
    places: NDArray[np.intp]  # position in `columns` per name

    def gather(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Reorder the values of rows (n, names) into the columns."""
        if self.arrange is None:
            return X
        gathered = np.zeros((X.shape[0], len(self.columns)))
        if len(self.columns) == len(self.places):
            gathered[:, self.places] = X
        else:
            np.add.at(gathered.T, self.places, X.T)
        return gathered


class Columns(dict[Any, int]):
    """Map from names to columns, numbered in order of first appearance or hashed."""

    def __init__(self, hashed: int | None = None) -> None:
        self._hashed = hashed  # number of columns into which names are hashed
        self._layouts: dict[tuple[Any, ...], RowLayout] = {}

    def __missing__(self, name: Any) -> int:
        if self._hashed is None:
            column = len(self)
        else:
            text = name if isinstance(name, str) else repr(name)
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            column = int.from_bytes(digest, "little") % self._hashed
            if len(self) == HASHED_NAMES:
                self.clear()
        self[name] = column
        return column

    @property
    def count(self) -> int:
        """Number of columns so far."""
        return len(self) if self._hashed is None else self._hashed

    def known(self, name: Any) -> int | None:
        """The column of a feature; None for a new feature, unless names are hashed."""
        return self.get(name) if self._hashed is None else self[name]

    def remembered(self, names: tuple[Any, ...]) -> RowLayout | None:
        """The cached layout of a combination of names, or None."""
        return self._layouts.get(names)

    def layout(self, names: tuple[Any, ...]) -> RowLayout:
        """The layout of a combination of names; new names get new columns."""
        found = self._layouts.get(names)
        if found is None:
            found = self._new_layout(names)
            if len(self._layouts) == LAYOUTS:
                self._layouts.clear()
            self._layouts[names] = found
        return found

    def _new_layout(self, names: tuple[Any, ...]) -> RowLayout:
        numbers = [self[name] for name in names]
        columns = sorted(set(numbers))
        place = {column: number for number, column in enumerate(columns)}
        places = np.array([place[number] for number in numbers], np.intp)
        arrange: Callable[[Sequence[float]], Iterable[float]] | None = None
        if len(columns) < len(names):
            arrange = partial(_sums, places.tolist(), len(columns))
        elif numbers != columns:
            arrange = itemgetter(*np.argsort(places).tolist())
        return RowLayout(array("i", columns), arrange, places)


def _sums(places: list[int], count: int, values: Sequence[float]) -> list[float]:
    """Sum the values that share a column, exactly, so that the order of the features has no effect."""
    groups: list[list[float]] = [[] for _ in range(count)]
    for place, value in zip(places, values, strict=True):
        groups[place].append(value)
    return [math.fsum(group) for group in groups]
