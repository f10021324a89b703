"""A column of features of a table: how its cells are read, learned from the training part, and encoded.

Row numbers reveal the class in a file that is sorted by class. A column that counts the rows is left out with
a note. A column that ascends or descends from row to row in another way is refused, since it may be a
feature.
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
HASHED_COLUMNS = 1 << 18  # columns shared by all hashed columns
FEW_ROWS = 20  # fewer rows may be sorted by a column by chance
CATEGORIES, HASHED = "categories", "hashed"


@dataclass
class RowOrder:
    """Whether the values of a column ascend, or descend, from row to row."""

    rows: int = 0
    ties: int = 0  # rows with the same value as the previous row
    direction: float = 0.0  # 1 ascending, -1 descending, 0 unknown
    counts: bool = True  # every value is the previous value plus one
    sorted: bool = True
    last: tuple[float, ...] = ()

    def add(self, values: NDArray[np.float64]) -> None:
        """Update the counts with the values of the next rows."""
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
        self.sorted = bool((steps * self.direction >= 0).all())  # false if a value is missing

    @property
    def is_suspect(self) -> bool:
        """Whether the column is sorted and most rows have a new value."""
        return self.sorted and self.rows >= FEW_ROWS and 2 * self.ties < self.rows


@dataclass
class Feature:
    """A column of features: its position, its type, and its statistics in the training part.

    Cells are read as numbers, or as codes of texts, by the first of the `readings` that suits all cells. If a
    reading fails after the first rows, the column must be read `again`.
    """

    name: str
    place: int
    declared: str | None = None  # type declared by the user
    stated: str | None = None  # type stated in the file: number or categories
    missing_words: tuple[str, ...] = ()  # missing values declared by the user
    kept: bool = False  # not a feature: its values decide on splits
    readings: list[str] = field(default_factory=list)  # possible types, in order of preference
    again: bool = False
    problem: str = ""  # why the column is refused
    indicates: bool = False  # the last encoded column is 1 where a cell is missing
    words: Counter[str] = field(default_factory=Counter)  # words that stand for missing numbers
    texts: TextCounts = field(default_factory=TextCounts)
    rows: int = 0
    missing: int = 0
    median: float = float("nan")
    order: RowOrder = field(default_factory=RowOrder)
    table: NDArray[np.float64] | None = None  # `_places` of the texts in the order of codes

    def __post_init__(self) -> None:
        kind, notations = self.declared or self.stated, ["date"] if self.kept else [*NOTATIONS]
        self.readings = self.readings or ([kind] if kind else ["number", *notations, CATEGORIES])

    def before_again(self) -> "Feature":
        """A new state of the column, to read all cells again by the remaining readings."""
        settings = self.name, self.place, self.declared, self.stated, self.missing_words, self.kept
        return Feature(*settings, self.readings, problem=self.problem)

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
        """Whether neither the user nor the file declares the type."""
        return not self.declared and self.stated != "categories"

    @property
    def missing_in_words(self) -> str:
        """The number of missing cells, with the words for missing numbers."""
        listing = ", ".join(repr(word) for word, _ in self.words.most_common(SHOWN_TEXTS))
        return f"{self.missing}, as {listing}" if listing else f"{self.missing}"

    @cached_property
    def categories(self) -> list[str]:
        """Texts in alphabetic order."""
        return sorted(self.texts.counts)

    @property
    def width(self) -> int:
        """Number of encoded columns of this feature alone."""
        n_columns = 1 if self.numeric else 0 if self.hashed else len(self.categories)
        return n_columns + self.indicates

    @property
    def is_plain(self) -> bool:
        """Whether the feature is encoded as one column of numbers."""
        return self.numeric and not self.indicates

    @property
    def key(self) -> str:
        """The column in an override: its name, or its number if the name would need quotes."""
        return self.name if re.fullmatch(r"[A-Za-z_]\w*", self.name) else str(self.place)

    @property
    def leave_out(self) -> str:
        """The override that drops the column, in words."""
        return f"leave it out with dataset.drop=[{self.key}]"

    def values(self, array: Any) -> NDArray[np.float64] | None:
        """The cells of an array as numbers, NaN if missing; None if a cell is not a number."""
        values = read_numbers(self.kind, array, self._missing)
        sentinels = [float(word) for word in self.missing_words if is_number(word)]
        if values is not None and sentinels:
            values = np.where(np.isin(values, sentinels), np.nan, values)
        return values

    def first_other(self, array: Any, kind: str) -> tuple[int, str]:
        """The row (from 1) and the text of the first cell that is not a number of this kind."""
        texts = enumerate(plain_texts(array, self._missing).to_pylist(), 1)
        cells = ((row, str(text)) for row, text in texts if text is not None)
        invalid = (cell for cell in cells if read_numbers(kind, pyarrow.array([cell[1]]), MISSING) is None)
        return next(invalid, (0, ""))

    def learn(self, array: Any) -> NDArray[np.float64]:
        """Learn from the next cells; returns numbers or codes of texts, NaN for missing cells."""
        offset, self.rows = self.rows, self.rows + len(array)
        values = None
        if self.numeric and is_day(array.type):
            self.readings = ["date"]
        while self.numeric and not (self.problem or self.again):
            values = self.values(array)
            if values is not None:
                self._learn_numbers(array, values, offset)
                break
            self._refuse_or_go_on(array, offset)
        if not self.numeric and not (self.problem or self.again):
            values = self._learn_texts(array, offset)
        return np.full(len(array), np.nan) if values is None else values

    def _refuse_or_go_on(self, array: Any, offset: int) -> None:
        """Refuse a cell that the last reading cannot read, or go on to the next reading."""
        if len(self.readings) == 1:
            row, text = self.first_other(array, self.kind)
            expected = f"expected {self.declared} (dataset.types)"
            if not self.declared:
                expected = f"and the file declares numbers; {self.ways_out([text])}"
            self.problem = f"has {text!r} in row {offset + row}, {expected}."
        elif self.kind == "date" and is_written_as("date", array, self._missing):
            self.problem = f"has a date that there is not; correct it, or {self.leave_out}."
        else:
            self.readings, self.again = self.readings[1:], offset > 0

    def _learn_numbers(self, array: Any, values: NDArray[np.float64], offset: int) -> None:
        self.order.add(values)
        if np.isinf(values).any():
            row = offset + int(np.argmax(np.isinf(values))) + 1
            self.problem = (
                f"has an infinite value in row {row}; correct or empty such cells, or {self.leave_out}."
            )
        if n_missing := int(np.count_nonzero(np.isnan(values))):
            self.missing += n_missing
            self.words += words_for_missing(array, self._missing)
        if self.kind == "thousands" and "decimal_comma" in self.readings:
            if not is_written_as("decimal_comma", array, self._missing):
                self.readings.remove("decimal_comma")
            elif not self.texts.first[0]:
                row, text = self.first_other(array, "number")
                self.texts.first = offset + row if row else 0, text

    def _learn_texts(self, array: Any, offset: int) -> NDArray[np.float64] | None:
        """The codes of texts, or `_places` of hashed texts; columns of other types are refused."""
        try:
            if types.is_temporal(array.type) or types.is_nested(array.type):
                raise pyarrow.ArrowNotImplementedError("no category")
            texts = self.as_texts(array)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            self.problem = f"is of type {array.type}, expected numbers or texts; {self.leave_out}."
            return None
        self.missing += texts.null_count
        distinct, indices = coded(texts)
        codes = np.array([*self.texts.add(distinct, indices, offset), np.nan])
        return (self._places(distinct) if self.hashed else codes)[indices]

    def finish(self) -> None:
        """Decide on the type after all cells: refuse a doubtful column, or set `again`."""
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
        may_hash = self.declared != CATEGORIES or self.texts.many
        if not self.texts.are_all or (len(self.texts.counts) > HASHED_LEVELS and may_hash and not self.kept):
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
            verb = "ascends" if self.order.direction > 0 else "descends"
            self.problem = (
                f"{verb} from row to row, as an identifier or a time does, and tells where in the file a row "
                f"stands; {self.leave_out}, or use it with 'dataset.types={{{self.key}: {self.kind}}}'."
            )
        elif not self.numeric and self.undeclared and (problem := doubt(self.texts)):
            reason, texts = problem
            hint = f", {self.ways_out(texts)}" if texts else f"; {self.leave_out}, or {self._as_categories}"
            self.problem = f"{reason}{hint}."

    def ways_out(self, words: list[str]) -> str:
        """The overrides that make words missing, or all values of the column categories, in words."""
        listed = ",".join(text if re.fullmatch(r"[\w.+-]+", text) else repr(text) for text in words)
        return f'read such texts as missing with "dataset.missing_words=[{listed}]", or {self._as_categories}'

    @property
    def _as_categories(self) -> str:
        override = f"'dataset.types={{{self.key}: categories}}'"
        return f"make a column of zeros and ones for each text with {override}"

    def placed(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """The result of `cells` for the training part, from the result of `learn`."""
        if self.table is None:
            return cells
        return self.table[np.where(np.isnan(cells), -1.0, cells).astype(np.int64)]

    def cells(self, path: Path, array: Any) -> NDArray[np.float64]:
        """The cells of an array as numbers, or `_places` of texts; NaN for missing cells."""
        if not self.numeric:
            distinct, indices = coded(self.as_texts(array))
            return self._places(distinct)[indices]
        values = self.values(array)
        if values is None:
            text = self.first_other(array, self.kind)[1]
            raise DataError(
                f"{path}: column {self.name!r} has {text!r}, expected numbers as in the training part."
            )
        return values

    def as_texts(self, array: Any) -> Any:
        """The cells of an array as texts, missing cells as null."""
        words = GAPS if self.stated == "categories" and not self.declared else MISSING
        return plain_texts(array, (*words, *self.missing_words)).cast(pyarrow.string())

    def _places(self, texts: list[str]) -> NDArray[np.float64]:
        """Numbers that encode the texts, followed by NaN.

        A category is encoded as its column from 0, an unknown category as -1. A hashed text is encoded as its
        column from 1 with the sign of the value, as in `FeatureHasher` of scikit-learn. A text of a kept
        column is encoded as a hash of 53 bits.
        """
        if self.kept:
            digests = (hashlib.sha256(text.encode()).digest()[:8] for text in texts)
            return np.array([*(float(int.from_bytes(digest, "big") >> 11) for digest in digests), np.nan])
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
        """A mask of the missing cells, which are refused unless `fills`; `row` rows precede the cells."""
        bad = ~np.isfinite(cells)
        if bad.any() and not (fills and np.isnan(cells[bad]).all()):
            where, count = row + int(np.argmax(bad)) + 1, int(np.count_nonzero(bad))
            flaw = "missing" if np.isnan(cells[bad]).any() else "infinite"
            hint = "; fill them in, or leave such rows out" if self.kept else ""
            raise DataError(f"{path}: {count} values of column {self.name!r} are {flaw} (row {where}){hint}.")
        return bad

    def encoded(
        self, cells: NDArray[np.float64], bad: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], Any, Any]:
        """Rows, columns from 0, and values of the nonzero cells; `bad` is the mask of missing cells."""
        if self.hashed:
            rows = np.flatnonzero(~bad)
            return rows, np.abs(cells[rows]).astype(np.int64) - 1, np.sign(cells[rows])
        if not self.numeric:
            columns = np.where(bad, self.width - 1 if self.indicates else -1, cells).astype(np.int64)
            rows = np.flatnonzero(columns >= 0)
            return rows, columns[rows], np.ones(len(rows))
        values = np.where(bad, self.median, cells)
        rows, missing = np.flatnonzero(values), np.flatnonzero(bad & self.indicates)
        columns = np.repeat([0, 1], [len(rows), len(missing)])
        return np.append(rows, missing), columns, np.append(values[rows], np.ones(len(missing)))

    def describe(self) -> ColumnRecord:
        """The type as which the column is read."""
        kind = self.kind
        if self.kept:
            kind = f"{KEPT}: {kind if self.numeric else 'text'}"
            return ColumnRecord(self.name, kind, note="is no feature, since the protocol names it")
        median = None if np.isnan(self.median) else self.median
        categories = tuple(self.categories) if kind == CATEGORIES else ()
        listing = ", ".join(f"{word!r} ({count})" for word, count in self.words.most_common(SHOWN_TEXTS))
        note = f"has {listing} for missing values" if listing else ""
        if self.hashed:
            note = f"has {self.texts.levels} texts, which are hashed into {HASHED_COLUMNS:,} columns"
        return ColumnRecord(self.name, kind, self.missing, note, categories, median, self.indicates)

    def left_out(self, reason: str) -> ColumnRecord:
        """The record of a column that is left out automatically."""
        note = f"is left out because it {reason}; 'dataset.types={{{self.key}: number}}' keeps it"
        return ColumnRecord(self.name, "dropped", note=note)
