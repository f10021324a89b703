"""Columns that are not features but decide on splits: groups of rows, and times.

Their values are numbers: those of a column of numbers or dates (days since 1970), else a hash of 53 bits of
each text, by which rows can be told apart and not ordered.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from aucbench.data.readers.blocks import KEPT, ColumnRecord
from aucbench.data.readers.feature_columns import Feature
from aucbench.errors import DataError

TEXT = "text"


class KeptColumn:
    """A column beside the features: how its values are read, learned from the training part."""

    def __init__(self, name: str, place: int, declared: str | None = None):
        self.name, self.place = name, place
        self._feature = Feature(name, place, declared)
        self._kinds = [self._feature.notation] if self._feature.notation else [None, "date"]
        self._is_text = declared == "categories"

    def learn(self, path: Path, array: Any) -> None:
        """Rule out the kinds of numbers that some cell is not."""
        if not self._is_text:
            self._kinds = [kind for kind in self._kinds if self._numbers(kind, array) is not None]
            self._is_text = not self._kinds

    def values(self, path: Path, array: Any, row: int) -> NDArray[np.float64]:
        """(n,) the values of some cells; `row` rows precede them."""
        if self._is_text:
            coded = pc.dictionary_encode(self._feature.texts(array))
            hashes = np.array([_hash(text) for text in coded.dictionary.to_pylist()] + [np.nan])
            codes = pc.fill_null(coded.indices, len(hashes) - 1).to_numpy(zero_copy_only=False)
            found = hashes[codes]
        else:
            numbers = self._numbers(self._kinds[0], array)
            if numbers is None:
                raise DataError(
                    f"{path}: column {self.name!r} has texts, expected numbers as in the training part."
                )
            found = numbers
        if np.isnan(found).any():
            where = row + int(np.argmax(np.isnan(found))) + 1
            raise DataError(
                f"{path}: column {self.name!r} decides on the split and has no "
                f"value in row {where}; fill it in, or leave such rows out."
            )
        return found

    def describe(self) -> ColumnRecord:
        """The type as which the column is read."""
        kind = TEXT if self._is_text else self._kinds[0] or "number"
        return ColumnRecord(self.name, f"{KEPT}: {kind}", note="is no feature, since the protocol names it")

    def _numbers(self, kind: str | None, array: Any) -> NDArray[np.float64] | None:
        self._feature.notation = kind
        return self._feature.values(array)


def _hash(text: str) -> float:
    return float(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11)
