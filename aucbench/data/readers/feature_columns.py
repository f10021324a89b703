"""A column of features of a table: how its cells are read, learned from the training part, and encoded.

A column that numbers the rows tells where a row stands in the file, and in a file that is sorted by class it
tells the class. One that counts the rows is left out with a note; one that ascends or descends from row to
row in another way is refused, since it may be a feature.
"""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import types

from aucbench.data.readers.blocks import KEPT, ColumnRecord
from aucbench.data.readers.cells import (
    GAPS,
    MISSING,
    MISSING_NUMBERS,
    NOTATIONS,
    coded,
    is_day,
    is_number,
    is_written_as,
    plain_texts,
    read_numbers,
    words_for_missing,
)
from aucbench.data.readers.doubtful_texts import SHOWN_TEXTS, TextCounts, doubt
from aucbench.errors import DataError

HASHED_LEVELS = 1000  # categories up to this number have a column each, unless the user declares them
HASHED_COLUMNS = 1 << 18  # that all hashed columns share
FEW_ROWS = 20  # of fewer rows it is no surprise that they are sorted by some column
CATEGORIES, HASHED = "categories", "hashed"


@dataclass
class RowOrder:
    """Whether the values of a column ascend, or descend, from row to row."""

    rows: int = 0
    ties: int = 0  # rows whose value is that of the row before
    direction: float = 0.0  # 1 ascending, -1 descending, 0 not known yet
    counts: bool = True  # every value is that of the row before plus one
    sorted: bool = True
    last: tuple[float, ...] = ()

    def add(self, values: NDArray[np.float64]) -> None:
        """Go on with the next rows."""
        if not self.sorted or not len(values):
            return
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.diff(values, prepend=np.array(self.last))
        self.last = (float(values[-1]),)
        self.rows += len(values)
        self.ties += int(np.count_nonzero(steps == 0))
        self.counts = self.counts and bool((steps == 1).all())
        if len(steps) and self.direction == 0:
            self.direction = float(np.sign(steps.max() if steps.max() > 0 else steps.min()))
        self.sorted = bool((steps * self.direction >= 0).all())  # not where one is missing

    @property
    def is_suspect(self) -> bool:
        """Whether the column is sorted and most rows have a value of their own."""
        return self.sorted and self.rows >= FEW_ROWS and 2 * self.ties < self.rows


@dataclass
class Feature:
    """A column of features: where it is, how it is read, and what the training part told about it.

    Cells are read as numbers, or as places of texts, by the first of the `readings` that suits all of them.
    When it fails behind the first rows, the column is to be read `again`.
    """

    name: str
    place: int
    declared: str | None = None  # its type, where the user says
    stated: str | None = None  # its type, where the file says: number or categories
    missing_words: tuple[str, ...] = ()  # of the user
    kept: bool = False  # beside the features, since it decides on splits
    readings: list[str] = field(default_factory=list)  # types that are possible, those to be preferred first
    again: bool = False
    problem: str = ""  # why the column is refused
    indicates: bool = False  # whether a last column of its own is 1 where a cell is missing
    words: Counter[str] = field(default_factory=Counter)  # that stand for missing numbers
    texts: TextCounts = field(default_factory=TextCounts)
    rows: int = 0
    missing: int = 0
    median: float = float("nan")
    order: RowOrder = field(default_factory=RowOrder)
    table: NDArray[np.float64] | None = None  # the places of the texts by their codes, and NaN behind them

    def __post_init__(self) -> None:
        known, notations = self.declared or self.stated, ["date"] if self.kept else [*NOTATIONS]
        self.readings = self.readings or ([known] if known else ["number", *notations, CATEGORIES])

    def before_again(self) -> "Feature":
        """The column before all cells are read again by the readings that are left."""
        own = self.name, self.place, self.declared, self.stated, self.missing_words, self.kept
        return Feature(*own, self.readings, problem=self.problem)

    @property
    def kind(self) -> str:
        """The type as which the cells are read."""
        return self.readings[0]

    @property
    def numeric(self) -> bool:
        """Whether the cells are read as numbers."""
        return self.kind not in (CATEGORIES, HASHED)

    @property
    def hashed(self) -> bool:
        """Whether the texts share the columns of all hashed texts."""
        return self.kind == HASHED

    @property
    def _missing(self) -> tuple[str, ...]:
        """The words for missing numbers."""
        return (*MISSING_NUMBERS, *self.missing_words)

    @property
    def undeclared(self) -> bool:
        """Whether neither the user nor the file says the type."""
        return not self.declared and self.stated != "categories"

    @property
    def missing_in_words(self) -> str:
        """The number of missing cells, with the words that stand for them."""
        words = ", ".join(repr(word) for word, _ in self.words.most_common(SHOWN_TEXTS))
        return f"{self.missing}, as {words}" if words else f"{self.missing}"

    @cached_property
    def categories(self) -> list[str]:
        """Texts in alphabetic order."""
        return sorted(self.texts.counts)

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

    @property
    def leave_out(self) -> str:
        """The override without the column, in words."""
        return f"leave it out with dataset.drop=[{self.key}]"

    def values(self, array: Any) -> NDArray[np.float64] | None:
        """The numbers of an array of cells, NaN where they are missing; None where some are no numbers."""
        values = read_numbers(self.kind, array, self._missing)
        sentinels = [float(word) for word in self.missing_words if is_number(word)]
        if values is not None and sentinels:
            values = np.where(np.isin(values, sentinels), np.nan, values)
        return values

    def first_other(self, array: Any, kind: str) -> tuple[int, str]:
        """The row from 1 and the text of the first cell that is no number of this kind."""
        texts = enumerate(plain_texts(array, self._missing).to_pylist(), 1)
        cells = ((row, str(text)) for row, text in texts if text is not None)
        others = (each for each in cells if read_numbers(kind, pyarrow.array([each[1]]), MISSING) is None)
        return next(others, (0, ""))

    def learn(self, array: Any) -> NDArray[np.float64]:
        """Learn from the next cells; returns their numbers, or codes of texts, NaN where they are missing."""
        before, self.rows = self.rows, self.rows + len(array)
        values = None
        if self.numeric and is_day(array.type):
            self.readings = ["date"]
        while self.numeric and not (self.problem or self.again):
            values = self.values(array)
            if values is not None:
                self._learn_numbers(array, values, before)
                break
            self._refuse_or_go_on(array, before)
        if not self.numeric and not (self.problem or self.again):
            values = self._learn_texts(array, before)
        return np.full(len(array), np.nan) if values is None else values

    def _refuse_or_go_on(self, array: Any, before: int) -> None:
        """Refuse a cell that cannot be read as it must, or try the next of the readings."""
        if len(self.readings) == 1:
            row, text = self.first_other(array, self.kind)
            expected = f"expected {self.declared} (dataset.types)"
            if not self.declared:
                expected = f"and the file declares numbers; {self.ways_out([text])}"
            self.problem = f"has {text!r} in row {before + row}, {expected}."
        elif self.kind == "date" and is_written_as("date", array, self._missing):
            self.problem = f"has a date that there is not; correct it, or {self.leave_out}."
        else:
            self.readings, self.again = self.readings[1:], before > 0

    def _learn_numbers(self, array: Any, values: NDArray[np.float64], before: int) -> None:
        self.order.add(values)
        if np.isinf(values).any():
            row = before + int(np.argmax(np.isinf(values))) + 1
            self.problem = (
                f"has an infinite value in row {row}; correct or empty such cells, or {self.leave_out}."
            )
        if missing := int(np.count_nonzero(np.isnan(values))):
            self.missing += missing
            self.words += words_for_missing(array, self._missing)
        if self.kind == "thousands" and "decimal_comma" in self.readings:
            if not is_written_as("decimal_comma", array, self._missing):
                self.readings.remove("decimal_comma")
            elif not self.texts.first[0]:
                row, text = self.first_other(array, "number")
                self.texts.first = before + row if row else 0, text

    def _learn_texts(self, array: Any, before: int) -> NDArray[np.float64] | None:
        """The codes of texts, or their places if they are hashed; refuses types that are not texts."""
        try:
            if types.is_temporal(array.type) or types.is_nested(array.type):
                raise pyarrow.ArrowNotImplementedError("no category")
            texts = self.as_texts(array)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            self.problem = f"is of type {array.type}, expected numbers or texts; {self.leave_out}."
            return None
        self.missing += texts.null_count
        distinct, places = coded(texts)
        codes = np.array([*self.texts.add(distinct, places, before), np.nan])
        return (self._places(distinct) if self.hashed else codes)[places]

    def finish(self) -> None:
        """Decide on the type after all cells: refuse doubtful columns, or ask to read the column again."""
        if self.again or self.problem:
            return
        if self.kind == "thousands" and "decimal_comma" in self.readings:
            row, text = self.texts.first
            self.problem = (
                f"has numbers with commas ({text!r} in row {row}), which may stand between thousands or "
                f"before decimals; say which with 'dataset.types={{{self.key}: thousands}}' or "
                f"'dataset.types={{{self.key}: decimal_comma}}'."
            )
        elif not self.kept:
            self._check_type()
        if self.numeric or self.hashed or self.problem:
            return
        is_wanted = self.declared != CATEGORIES or self.texts.many
        if not self.texts.are_all or (len(self.texts.counts) > HASHED_LEVELS and is_wanted and not self.kept):
            self.readings, self.again = [HASHED], not self.texts.are_all
        if not self.again:
            self.table = self._places(list(self.texts.codes))

    @property
    def numbers_the_rows(self) -> bool:
        """Whether the column counts the rows."""
        return self._is_sorted and self.order.counts and self.kind == "number"

    @property
    def _is_sorted(self) -> bool:
        return self.numeric and not self.declared and self.order.is_suspect

    def _check_type(self) -> None:
        """Refuse a sorted column, and texts that look like numbers with errors, identifiers or dates."""
        if self._is_sorted and not self.numbers_the_rows:
            way = "ascends" if self.order.direction > 0 else "descends"
            self.problem = (
                f"{way} from row to row, as an identifier or a time does, and tells where in the file a row "
                f"stands; {self.leave_out}, or use it with 'dataset.types={{{self.key}: {self.kind}}}'."
            )
        elif not self.numeric and self.undeclared and (found := doubt(self.texts)):
            what, texts = found
            ways = f", {self.ways_out(texts)}" if texts else f"; {self.leave_out}, or {self._as_categories}"
            self.problem = f"{what}{ways}."

    def ways_out(self, words: list[str]) -> str:
        """The overrides that make words missing, or all values of the column categories, in words."""
        listed = ",".join(text if re.fullmatch(r"[\w.+-]+", text) else repr(text) for text in words)
        return f'read such texts as missing with "dataset.missing_words=[{listed}]", or {self._as_categories}'

    @property
    def _as_categories(self) -> str:
        way = f"'dataset.types={{{self.key}: categories}}'"
        return f"make a column of zeros and ones for each text with {way}"

    def placed(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cells of the training part as `cells` gives them, from those that `learn` gave."""
        if self.table is None:
            return cells
        return self.table[np.where(np.isnan(cells), -1.0, cells).astype(np.int64)]

    def cells(self, path: Path, array: Any) -> NDArray[np.float64]:
        """The numbers of an array of cells, or the places of texts; NaN where a cell is missing."""
        if not self.numeric:
            distinct, places = coded(self.as_texts(array))
            return self._places(distinct)[places]
        values = self.values(array)
        if values is None:
            text = self.first_other(array, self.kind)[1]
            raise DataError(
                f"{path}: column {self.name!r} has {text!r}, expected numbers as in the training part."
            )
        return values

    def as_texts(self, array: Any) -> Any:
        """An array of cells as texts, missing ones as null."""
        words = GAPS if self.stated == "categories" and not self.declared else MISSING
        return plain_texts(array, (*words, *self.missing_words)).cast(pyarrow.string())

    def _places(self, texts: list[str]) -> NDArray[np.float64]:
        """The places of texts, with NaN behind them.

        A category's place is its column, from 0, and -1 if it is not known; that of a hashed text is its
        column from 1 with the sign of the value, as by `FeatureHasher` of scikit-learn. The texts of a kept
        column are told apart by a hash of 53 bits each.
        """
        if self.kept:
            digests = (hashlib.sha256(text.encode()).digest()[:8] for text in texts)
            return np.array([*(float(int.from_bytes(each, "big") >> 11) for each in digests), np.nan])
        if not self.hashed:
            return np.array([*(self._columns.get(text, -1) for text in texts), np.nan])
        from sklearn.feature_extraction import FeatureHasher

        if not texts:
            return np.array([np.nan])
        hasher = FeatureHasher(HASHED_COLUMNS, input_type="string")
        hashes = hasher.transform([[f"{self.name}={text}"] for text in texts])
        return np.append((hashes.indices + 1.0) * hashes.data, np.nan)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {text: column for column, text in enumerate(self.categories)}

    def gaps(self, path: Path, cells: NDArray[np.float64], fills: bool, row: int) -> NDArray[np.bool_]:
        """A mask of the missing cells, refused unless they are filled in; `row` rows precede them."""
        bad = ~np.isfinite(cells)
        if bad.any() and not (fills and np.isnan(cells[bad]).all()):
            where, count = row + int(np.argmax(bad)) + 1, int(np.count_nonzero(bad))
            what = "missing" if np.isnan(cells[bad]).any() else "infinite"
            way = "; fill them in, or leave such rows out" if self.kept else ""
            raise DataError(f"{path}: {count} values of column {self.name!r} are {what} (row {where}){way}.")
        return bad

    def encoded(
        self, cells: NDArray[np.float64], bad: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], Any, Any]:
        """Of the cells that are not zero: their rows, columns from 0, and values; `bad` ones are missing."""
        if self.hashed:
            rows = np.flatnonzero(~bad)
            return rows, np.abs(cells[rows]).astype(np.int64) - 1, np.sign(cells[rows])
        if not self.numeric:
            places = np.where(bad, self.width - 1 if self.indicates else -1, cells).astype(np.int64)
            rows = np.flatnonzero(places >= 0)
            return rows, places[rows], np.ones(len(rows))
        values = np.where(bad, self.median, cells)
        rows, missing = np.flatnonzero(values), np.flatnonzero(bad & self.indicates)
        places = np.repeat([0, 1], [len(rows), len(missing)])
        return np.append(rows, missing), places, np.append(values[rows], np.ones(len(missing)))

    def describe(self) -> ColumnRecord:
        """The type as which the column is read."""
        kind = self.kind
        if self.kept:
            kind = f"{KEPT}: {kind if self.numeric else 'text'}"
            return ColumnRecord(self.name, kind, note="is no feature, since the protocol names it")
        median = None if np.isnan(self.median) else self.median
        categories = tuple(self.categories) if kind == CATEGORIES else ()
        words = ", ".join(f"{word!r} ({count})" for word, count in self.words.most_common(SHOWN_TEXTS))
        note = f"has {words} for missing values" if words else ""
        if self.hashed:
            note = f"has {self.texts.levels} texts, which are hashed into {HASHED_COLUMNS:,} columns"
        return ColumnRecord(self.name, kind, self.missing, note, categories, median, self.indicates)

    def left_out(self, reason: str) -> ColumnRecord:
        """The description of a column that is left out without having been asked to."""
        note = f"is left out because it {reason}; 'dataset.types={{{self.key}: number}}' keeps it"
        return ColumnRecord(self.name, "dropped", note=note)
