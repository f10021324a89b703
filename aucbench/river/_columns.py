"""The columns of named features: numbered in order of first appearance, or hashed."""

import math
import warnings
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
    names: NDArray[np.intp]  # positions of the names that have a column
    places: NDArray[np.intp]  # position in `columns` of each of them

    def gather(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Reorder the values of rows (n, names) into the columns."""
        if self.arrange is None:
            return X
        gathered = np.zeros((X.shape[0], len(self.columns)))
        np.add.at(gathered.T, self.places, X[:, self.names].T)
        return gathered


class Columns(dict[Any, int]):
    """Map from names to columns, numbered in order of first appearance until they are closed, or hashed."""

    def __init__(self, hashed: int | None = None) -> None:
        self._hashed = hashed  # number of columns into which names are hashed
        self._is_closed = self._has_warned = False
        self.layouts: dict[tuple[Any, ...], RowLayout] = {}  # cached, by names

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

    def close(self) -> None:
        """Give no new columns from now on; the first new name that is ignored is warned of."""
        self._is_closed = True

    def layout(self, names: tuple[Any, ...]) -> RowLayout:
        """The layout of a combination of names; new names get new columns unless they are closed."""
        found = self.layouts.get(names)
        if found is None:
            found = self._new_layout(names)
            if len(self.layouts) == LAYOUTS:
                self.layouts.clear()
            self.layouts[names] = found
        return found

    def _new_layout(self, names: tuple[Any, ...]) -> RowLayout:
        found = [self.known(name) if self._is_closed else self[name] for name in names]
        numbers = {k: column for k, column in enumerate(found) if column is not None}
        if len(numbers) < len(names) and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"Features that first appear after the warm-up are ignored, such as "
                f"{names[found.index(None)]!r}; set n_features, so that features are hashed into a fixed "
                f"number of columns, or a longer warmup.",
                stacklevel=2,
            )
        columns = sorted(set(numbers.values()))
        place = {column: number for number, column in enumerate(columns)}
        places = np.array([place[number] for number in numbers.values()], np.intp)
        arrange: Callable[[Sequence[float]], Iterable[float]] | None = None
        if len(columns) < len(names):
            arrange = partial(_sums, [*numbers], places.tolist(), len(columns))
        elif [*numbers.values()] != columns:
            arrange = itemgetter(*np.argsort(places).tolist())
        return RowLayout(array("i", columns), arrange, np.array([*numbers], np.intp), places)


def _sums(names: list[int], places: list[int], count: int, values: Sequence[float]) -> list[float]:
    """Sum the values that share a column, exactly, so that the order of the features has no effect."""
    groups: list[list[float]] = [[] for _ in range(count)]
    for name, place in zip(names, places, strict=True):
        groups[place].append(values[name])
    return [math.fsum(group) for group in groups]
