"""Cells of a column, in arrays of pyarrow: which are numbers, texts or missing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types


def _in_any_case(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({way for word in words for way in (word, word.lower(), word.upper(), word.title())}))


GAPS = ("", "?")  # what is missing in any column, and the only such in a column of declared categories
LABEL_GAPS = (*GAPS, "NA", "N/A", "NaN", "nan", "null", "NULL")  # a class may well be called none
MISSING = (
    *GAPS,
    *_in_any_case(("NA", "N/A", "NaN", "null", "None", "<NA>", "<null>", "#N/A", "#NA", "-")),
)
# Among numbers, these stand for missing values too, in any case of letters: those of SAS, Stata and SPSS, of
# databases and of spreadsheets, and common English words.
_BESIDE_NUMBERS = (
    *(".", "..", "...", "--", "---", "\\N", "*", "n.a.", "n.a", "n/d", "n.d.", "nil", "missing", "unknown"),
    *("not available", "not applicable", "unavailable", "undefined", "undef", "no data", "(null)", "(blank)"),
    *(f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz_"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN"),
    *("-nan", "#N/D", "NaT", "<null>"),
)
MISSING_NUMBERS = (*MISSING, *_in_any_case(_BESIDE_NUMBERS))


def numbers_or_missing(array: Any, missing: Sequence[str] = MISSING_NUMBERS) -> NDArray[np.float64] | None:
    """The values of a column, NaN where they are missing; None when some are no numbers."""
    values = None if array.null_count and is_text(array) else _numbers(array)
    if values is None or np.isnan(values).any():  # the long way, which knows blanks and words for missing
        try:
            values = _numbers(plain_texts(array, missing))
        except pyarrow.ArrowInvalid:  # bytes that are not text
            return None
    return values


def words_for_missing(array: Any, missing: Sequence[str]) -> Counter[str]:
    """How often a word stands in the place of a number; empty cells do not count."""
    if not is_text(array):
        return Counter()
    texts = pc.utf8_trim_whitespace(array)
    found = pc.value_counts(texts.filter(pc.is_in(texts, pyarrow.array(missing[len(GAPS) :]))))
    return Counter(dict(zip(*(part.to_pylist() for part in found.flatten()), strict=True)))


def _numbers(array: Any) -> NDArray[np.float64] | None:
    if types.is_boolean(array.type):
        array = array.cast(pyarrow.int8())
    if types.is_temporal(array.type):
        return None
    try:
        # Whole numbers beyond 2^53 are rounded, as they are in text.
        array = array.cast(pyarrow.float64(), safe=not types.is_integer(array.type))
        return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return None


def plain_texts(array: Any, missing: Sequence[str] = MISSING) -> Any:
    """Dictionaries and views of text as plain text, missing texts as null."""
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (is_text(array) or types.is_binary(array.type)):
        return array
    array = pc.utf8_trim_whitespace(array.cast(pyarrow.string()))
    return pc.if_else(pc.is_in(array, pyarrow.array(missing)), None, array)


def coded(texts: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct values of an array, and which of them each cell has; -1 where it is null."""
    found = pc.dictionary_encode(texts)
    return found.dictionary.to_pylist(), np.asarray(pc.fill_null(found.indices, -1), np.int64)


def is_text(array: Any) -> bool:
    """Whether the array is one of texts."""
    return bool(types.is_string(array.type) or types.is_large_string(array.type))


def is_number(text: Any) -> bool:
    """Whether a text is read as a number: as Python does, but without 1_000 and digits of other scripts."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return str(text).isascii() and "_" not in str(text)
