"""A column of features of a table: its type, learned from the training cells, and its encoded values."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import types

from aucbench.data.readers import doubtful_texts
from aucbench.data.readers.blocks import KEPT, ColumnRecord
from aucbench.data.readers.cells import (
    GAPS,
    MISSING,
    MISSING_NUMBERS,
    coded,
    is_number,
    numbers_or_missing,
    plain_texts,
    words_for_missing,
)
from aucbench.data.readers.doubtful_texts import (
    SHOWN_TEXTS,
    first_of,
    refuse_errors,
    refuse_identifiers,
    ways_out,
)
from aucbench.data.readers.notations import DETECTED, NOTATIONS, days, is_written_as, read_numbers, units
from aucbench.data.readers.row_numbers import RowOrder
from aucbench.data.readers.table_files import Columns
from aucbench.errors import DataError

HASHED_LEVELS = 1000  # categories up to this number have a column each, unless the user declares them
HASHED_COLUMNS = 1 << 18  # that all hashed columns share


@dataclass
class Feature:
    """A column of features: where it is, and what was learned about it from the training part."""

    name: str
    place: int
    declared: str | None = None  # its type, where the user says
    stated: str | None = None  # its type, where the file says: number or categories
    missing_words: tuple[str, ...] = ()  # of the user
    kept: bool = False  # beside the features, since it decides on splits
    indicates: bool = False  # whether a last column of its own is 1 where a cell is missing
    numeric: bool = True
    hashed: bool = False  # whether its texts share the columns of all hashed texts
    words: Counter[str] = field(default_factory=Counter)  # that stand for missing numbers
    counts: Counter[str] = field(default_factory=Counter)  # of texts, without numbers once there are many
    numbers: int = 0  # cells with numbers that `counts` left out, as there were too many
    many_texts: bool = False  # more than can be counted
    identifying: bool = False  # most of these occurred once
    missing: int = 0
    median: float = float("nan")
    order: RowOrder = field(default_factory=RowOrder)
    rows: int = 0  # whose numbers were learned
    late: bool = False  # whether it became one of texts behind cells with numbers, which must be read again
    notation: str | None = None  # of the numbers, where they are not plain
    units: set[str] = field(default_factory=set)  # beside its quantities
    notations: list[str] = field(default_factory=lambda: list(DETECTED))  # that all texts so far agree with

    def __post_init__(self) -> None:
        self.notation = self.declared if self.declared in NOTATIONS else None
        self.numeric = not self.nominal and self.declared not in ("categories", "hashed")
        self.hashed = self.declared == "hashed"
        if self.kept:
            self.notations = ["date"]

    @property
    def nominal(self) -> bool:
        """Whether the file declares categories, and the user nothing else."""
        return self.stated == "categories" and not self.declared

    @property
    def missing_in_words(self) -> str:
        """The number of missing cells, with the words that stand for them."""
        words = ", ".join(repr(word) for word, _ in self.words.most_common(SHOWN_TEXTS))
        return f"{self.missing}, as {words}" if words else f"{self.missing}"

    @property
    def _missing_numbers(self) -> tuple[str, ...]:
        return (*MISSING_NUMBERS, *self.missing_words)

    @cached_property
    def categories(self) -> list[str]:
        """Texts in alphabetic order."""
        return sorted(self.counts)

    @property
    def width(self) -> int:
        """Columns of the encoded rows that belong to it alone."""
        own = 1 if self.numeric else 0 if self.hashed else len(self.categories)
        return own + self.indicates

    @property
    def is_plain(self) -> bool:
        """Whether its numbers are its only column of the encoded rows."""
        return self.numeric and not self.indicates

    @property
    def key(self) -> str:
        """What an override calls the column: its name, or its number where the name would need quotes."""
        return self.name if re.fullmatch(r"[A-Za-z_]\w*", self.name) else str(self.place)

    def values(self, array: Any) -> NDArray[np.float64] | None:
        """The numbers of an array of cells, NaN where they are missing; None where some are no numbers."""
        if types.is_timestamp(array.type) or types.is_date(array.type):
            self.notation = "date"
            return np.asarray(days(array).to_numpy(zero_copy_only=False), np.float64)
        if self.notation:
            texts = plain_texts(array, self._missing_numbers).cast(pyarrow.string())
            values = read_numbers(self.notation, texts)
            if values is not None and self.notation.startswith("quantity"):
                self.units |= units(texts)
        else:
            values = numbers_or_missing(array, self._missing_numbers)
        if values is not None and self._sentinels:
            values = np.where(np.isin(values, self._sentinels), np.nan, values)
        return values

    @cached_property
    def _sentinels(self) -> list[float]:
        """Numbers that stand for missing values."""
        return [float(word) for word in self.missing_words if is_number(word)]

    def first_other(self, array: Any) -> tuple[int, str]:
        """The row from 1 and the text of the first cell that is not a number."""
        texts = enumerate(plain_texts(array, self._missing_numbers).to_pylist(), 1)
        return next((i, str(text)) for i, text in texts if text is not None and not self._is_number(text))

    def _is_number(self, text: Any) -> bool:
        if self.notation:
            return read_numbers(self.notation, pyarrow.array([str(text)])) is not None
        return is_number(text)

    def learn(self, path: Path, array: Any) -> NDArray[np.float64]:
        """Learn from the next cells; gives their numbers, NaN where one is missing or a text."""
        values = self._learn_numbers(path, array) if self.numeric else None
        if values is None and not self.late:  # else the others are read again in any case
            self._learn_texts(path, array)
        return np.full(len(array), np.nan) if values is None else values

    def _learn_numbers(self, path: Path, array: Any) -> NDArray[np.float64] | None:
        """Count missing cells; None if one is no number: the column is one of texts then."""
        values = self.values(array)
        self.rows += len(array)
        if values is None and (self.declared or self.stated):
            row, text = self.first_other(array)
            expected = f"expected {self.declared} (dataset.types)"
            if not self.declared:
                expected = f"and the file declares numbers; {ways_out(self, [text])}"
            raise self.error(path, f"has {text!r} in row {self.rows - len(array) + row}, {expected}.")
        if values is None and self.notation:
            raise self.error(path, f"has a date that there is not; correct it, or {self.leave_out}.")
        if values is None:
            self.numeric, self.late = False, self.rows > len(array)
            return None
        self._refuse_units(path)
        self.order.add(values)
        if np.isinf(values).any():
            row = self.rows - len(array) + int(np.argmax(np.isinf(values))) + 1
            what = f"has an infinite value in row {row}; correct or empty such cells, or"
            raise self.error(path, f"{what} {self.leave_out}.")
        if missing := int(np.count_nonzero(np.isnan(values))):
            self.missing += missing
            self.words += words_for_missing(array, self._missing_numbers)
        return values

    def _learn_texts(self, path: Path, array: Any) -> None:
        """Count the texts; refuses types that are not texts, and too many texts."""
        try:
            if types.is_temporal(array.type) or types.is_nested(array.type):
                raise pyarrow.ArrowNotImplementedError("no category")
            texts = self.texts(array)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            what = f"is of type {array.type}, expected numbers or texts; {self.leave_out}."
            raise self.error(path, what) from None
        self.missing += texts.null_count
        if self.notations:
            known = plain_texts(texts, self._missing_numbers)
            self.notations = [name for name in self.notations if is_written_as(name, known)]
        distinct, places = coded(texts)
        times = np.bincount(places[places >= 0], minlength=len(distinct)).tolist()
        self.counts.update(dict(zip(distinct, times, strict=True)))
        if len(self.counts) > doubtful_texts.MAX_CATEGORIES:  # perhaps numbers with some errors between
            for text in [text for text in self.counts if is_number(text)]:
                self.numbers += self.counts.pop(text)
        if len(self.counts) > doubtful_texts.MAX_CATEGORIES:
            self.many_texts = True
            self.identifying |= 2 * len(self.counts) > self.counts.total()
            self.counts.clear()

    def error(self, path: Path, what: str) -> DataError:
        """That the column has or is something else than its type."""
        return DataError(f"{path}: column {self.name!r} {what}")

    @property
    def leave_out(self) -> str:
        """The override without the column, in words."""
        return f"leave it out with dataset.drop=[{self.key}]"

    def begins_again(self, opened: Sequence[Columns]) -> bool:
        """Whether to learn anew: as texts after cells with numbers, or as numbers in one notation.

        `opened` are the files from which the column was learned.
        """
        if self.late:
            self.late = False
        elif self.numeric or self.nominal or self.declared or not self.notations:
            return False
        elif self.notations[0] == "thousands" and len(self.notations) > 1:
            path, row, text = first_of(self, {text for text in self.counts if "," in text}, opened)
            raise self.error(
                path,
                f"has numbers with commas ({text!r} in row {row}), which may stand between thousands or "
                f"before decimals; say which with 'dataset.types={{{self.key}: thousands}}' or "
                f"'dataset.types={{{self.key}: decimal_comma}}'.",
            )
        else:
            self.numeric, self.notation = True, self.notations[0]
            self.counts.clear()
        self.missing, self.words, self.rows, self.order = 0, Counter(), 0, RowOrder()
        return True

    @property
    def _is_sorted(self) -> bool:
        return self.numeric and not self.declared and self.order.is_suspect

    @property
    def numbers_the_rows(self) -> bool:
        """Whether the column counts the rows."""
        return self._is_sorted and self.order.counts and not self.notation

    def check_type(self, opened: Sequence[Columns]) -> None:
        """Refuse a sorted column, and texts that look like numbers with errors, identifiers or dates."""
        path = opened[0].path
        if self._is_sorted and not self.numbers_the_rows:
            way = "ascends" if self.order.direction > 0 else "descends"
            raise self.error(
                path,
                f"{way} from row to row, as an identifier or a time does, and tells where in the file a row "
                f"stands; {self.leave_out}, or use it with "
                f"'dataset.types={{{self.key}: {self.notation or 'number'}}}'.",
            )
        if self.numeric:
            return
        if not (self.nominal or self.declared):
            refuse_errors(self, opened)
            refuse_identifiers(self, path)
        many = self.many_texts or self.numbers or len(self.counts) > HASHED_LEVELS
        self.hashed |= bool(many) and (self.declared != "categories" or self.many_texts)

    def cells(self, path: Path, array: Any) -> NDArray[np.float64]:
        """The numbers of an array of cells, or the places of texts; NaN where a cell is missing."""
        if not self.numeric:
            distinct, places = coded(self.texts(array))
            return self._places(distinct)[places]
        values = self.values(array)
        if values is None:
            text = self.first_other(array)[1]
            raise self.error(path, f"has {text!r}, expected numbers as in the training part.")
        self._refuse_units(path)
        return values

    def _refuse_units(self, path: Path) -> None:
        if len(self.units) > 1:
            shown = " and ".join(map(repr, sorted(self.units)[:SHOWN_TEXTS]))
            what = f"has quantities in {shown}, whose numbers cannot be compared; write one unit, or"
            raise self.error(path, f"{what} {self.leave_out}.")

    def _places(self, texts: list[str]) -> NDArray[np.float64]:
        """The places of texts, with NaN behind them.

        A category's place is its column, from 0, and -1 if it is not known; that of a hashed text is its
        column from 1 with the sign of the value, as by `FeatureHasher` of scikit-learn. The texts of a kept
        column are told apart by a hash of 53 bits each.
        """
        if self.kept:
            return np.array([_hash(text) for text in texts] + [np.nan])
        if not self.hashed:
            return np.array([self._columns.get(text, -1) for text in texts] + [np.nan])
        from sklearn.feature_extraction import FeatureHasher

        if not texts:
            return np.array([np.nan])
        hasher = FeatureHasher(HASHED_COLUMNS, input_type="string")
        hashes = hasher.transform([[f"{self.name}={text}"] for text in texts])
        return np.append((hashes.indices + 1.0) * hashes.data, np.nan)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {text: column for column, text in enumerate(self.categories)}

    def filled(self, path: Path, cells: NDArray[np.float64], fills: bool, row: int) -> NDArray[np.float64]:
        """Numbers with the median in place of those that are missing."""
        bad = self._bad(path, cells, fills, row)
        return np.where(bad, self.median, cells) if bad.any() else cells

    def _bad(self, path: Path, cells: NDArray[np.float64], fills: bool, row: int) -> NDArray[np.bool_]:
        """A mask of the missing cells; refused unless they are filled in."""
        bad = ~np.isfinite(cells)
        if bad.any() and not (fills and np.isnan(cells[bad]).all()):
            where, count = row + int(np.argmax(bad)) + 1, int(np.count_nonzero(bad))
            what = "missing" if np.isnan(cells[bad]).any() else "infinite"
            way = "; fill them in, or leave such rows out" if self.kept else ""
            raise DataError(f"{path}: {count} values of column {self.name!r} are {what} (row {where}){way}.")
        return bad

    def encoded(
        self, path: Path, cells: NDArray[np.float64], fills: bool, row: int
    ) -> tuple[NDArray[np.int64], Any, Any]:
        """Of the cells that are not zero: their rows, columns from 0, and values; `row` rows precede them."""
        bad = self._bad(path, cells, fills, row)
        if self.hashed:
            rows = np.flatnonzero(~bad)
            return rows, np.abs(cells[rows]).astype(np.int64) - 1, np.sign(cells[rows])
        if not self.numeric:
            places = np.where(bad, self.width - 1 if self.indicates else -1, cells).astype(np.int64)
            rows = np.flatnonzero(places >= 0)
            return rows, places[rows], 1.0
        values = np.where(bad, self.median, cells)
        rows, missing = np.flatnonzero(values), np.flatnonzero(bad & self.indicates)
        places = np.repeat([0, 1], [len(rows), len(missing)])
        return np.append(rows, missing), places, np.append(values[rows], np.ones(len(missing)))

    def texts(self, array: Any) -> Any:
        """An array of cells as texts, missing ones as null."""
        missing = (*(GAPS if self.nominal else MISSING), *self.missing_words)
        return plain_texts(array, missing).cast(pyarrow.string())

    def describe(self) -> ColumnRecord:
        """The type as which the column is read."""
        kind = self.notation or "number" if self.numeric else "hashed" if self.hashed else "categories"
        if self.kept:
            kind = f"{KEPT}: {kind if self.numeric else 'text'}"
            return ColumnRecord(self.name, kind, note="is no feature, since the protocol names it")
        median = None if np.isnan(self.median) else self.median
        categories = () if self.numeric or self.hashed else tuple(self.categories)
        words = ", ".join(f"{word!r} ({count})" for word, count in self.words.most_common(SHOWN_TEXTS))
        note = f"has {words} for missing values" if words else ""
        if self.hashed:
            known = self.counts and not (self.many_texts or self.numbers)
            levels = f"{len(self.counts):,}" if known else f"more than {doubtful_texts.MAX_CATEGORIES:,}"
            note = f"has {levels} texts, which are hashed into {HASHED_COLUMNS:,} columns"
        return ColumnRecord(self.name, kind, self.missing, note, categories, median, self.indicates)

    def left_out(self, reason: str) -> ColumnRecord:
        """The description of a column that is left out without having been asked to."""
        note = f"is left out because it {reason}; 'dataset.types={{{self.key}: number}}' keeps it"
        return ColumnRecord(self.name, "dropped", note=note)


def _hash(text: str) -> float:
    return float(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 11)
