"""Cells of a column in arrays of pyarrow: numbers in any notation, texts, and missing values.

Numbers may have a notation that Python does not read: 12.5%, 1,234,567.8, 1.234,5 and 2024-02-29. A column is
read in a notation if all its cells have it, and no other notation would give other numbers.
"""

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


GAPS = ("", "?")  # missing in every column; nothing else is missing in declared categories
LABEL_GAPS = (*GAPS, "NA", "N/A", "NaN", "nan", "null", "NULL")  # a class may be named "none"
MISSING = (
    *GAPS,
    *_in_any_case(("NA", "N/A", "NaN", "null", "None", "<NA>", "<null>", "#N/A", "#NA", "-")),
)
# Further words for missing numbers, in any case of letters: those of SAS, Stata and SPSS, of databases and of
# spreadsheets, and common English words.
_BESIDE_NUMBERS = (
    *(".", "..", "...", "--", "---", "\\N", "*", "n.a.", "n.a", "n/d", "n.d.", "nil", "missing", "unknown"),
    *("not available", "not applicable", "unavailable", "undefined", "undef", "no data", "(null)", "(blank)"),
    *(f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz_"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN"),
    *("-nan", "#N/D", "NaT", "<null>"),
)
MISSING_NUMBERS = (*MISSING, *_in_any_case(_BESIDE_NUMBERS))
_NOT_READ = (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError)


MICROSECONDS_A_DAY = 86_400e6
NOTATIONS = {  # regular expressions of RE2, of whole cells
    "percent": r"[+-]?[0-9]*\.?[0-9]+ ?%",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?",
    "thousands": r"[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?",
    "decimal_comma": r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+|)(,[0-9]+)?([eE][+-]?[0-9]+)?",
}


def read_numbers(kind: str, array: Any, missing: Sequence[str]) -> NDArray[np.float64] | None:
    """The values of cells, NaN if missing; None unless all cells are numbers, or of the notation `kind`."""
    try:
        if is_day(array.type):
            values = _days(array)
        elif types.is_temporal(array.type):
            return None
        elif kind != "number":
            values = _in_notation(kind, plain_texts(array, missing).cast(pyarrow.string()))
        else:
            values = None if array.null_count and is_text(array) else _numbers(array)
            if values is None or np.isnan(values).any():  # `plain_texts` handles blanks, NA and the like
                values = _numbers(plain_texts(array, missing))
            return values
    except _NOT_READ:  # the 30th of February, or bytes that are not text
        return None
    return None if values is None else np.asarray(values.to_numpy(zero_copy_only=False), np.float64)


def is_written_as(kind: str, array: Any, missing: Sequence[str]) -> bool:
    """Whether all texts of an array, except missing texts, have the notation `kind`."""
    try:
        return _matches(kind, plain_texts(array, missing).cast(pyarrow.string()))
    except _NOT_READ:  # no texts
        return False


def _matches(kind: str, texts: Any) -> bool:
    return pc.all(pc.match_substring_regex(texts, f"^({NOTATIONS[kind]})$")).as_py() is not False


def is_day(kind: Any) -> bool:
    """Whether an array of this type has dates, with or without the time of day."""
    return bool(types.is_timestamp(kind) or types.is_date(kind))


def _in_notation(kind: str, texts: Any) -> Any:
    if not _matches(kind, texts):
        return None
    if kind == "date":
        texts = pc.replace_substring_regex(texts, r"(\.[0-9]{6})[0-9]+", r"\1")
        zoned = pc.match_substring_regex(texts, r":.*(Z|[+-][0-9:]+)$")
        local = pc.if_else(zoned, None, texts).cast(pyarrow.timestamp("us"))
        moments = pc.if_else(zoned, texts, None).cast(pyarrow.timestamp("us", tz="UTC"))
        return pc.coalesce(_days(local), _days(moments))
    signs = {"thousands": ",", "decimal_comma": r"\."}.get(kind, "[% ]")
    texts = pc.replace_substring(pc.replace_substring_regex(texts, signs, ""), ",", ".")
    values = texts.cast(pyarrow.float64())
    return pc.divide(values, 100.0) if kind == "percent" else values


def _days(times: Any) -> Any:
    """Days since 1970 of an array of dates or times, with the time of day as a fraction."""
    zone = getattr(times.type, "tz", None)
    moments = times.cast(pyarrow.timestamp("us", tz=zone), safe=False).cast(pyarrow.int64())
    return pc.divide(moments.cast(pyarrow.float64(), safe=False), MICROSECONDS_A_DAY)


def words_for_missing(array: Any, missing: Sequence[str]) -> Counter[str]:
    """The counts of words for missing numbers; empty cells do not count."""
    if not is_text(array):
        return Counter()
    texts = pc.utf8_trim_whitespace(array)
    counts = pc.value_counts(texts.filter(pc.is_in(texts, pyarrow.array(missing[len(GAPS) :]))))
    return Counter(dict(zip(*(part.to_pylist() for part in counts.flatten()), strict=True)))


def _numbers(array: Any) -> NDArray[np.float64] | None:
    if types.is_boolean(array.type):
        array = array.cast(pyarrow.int8())
    if types.is_temporal(array.type):
        return None
    try:
        # Whole numbers beyond 2^53 are rounded, as they are in text.
        array = array.cast(pyarrow.float64(), safe=not types.is_integer(array.type))
        return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)
    except _NOT_READ:
        return None


def plain_texts(array: Any, missing: Sequence[str] = MISSING) -> Any:
    """Convert dictionaries and views of text to plain text, with missing texts as null."""
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (is_text(array) or types.is_binary(array.type)):
        return array
    array = pc.utf8_trim_whitespace(array.cast(pyarrow.string()))
    return pc.if_else(pc.is_in(array, pyarrow.array(missing)), None, array)


def coded(texts: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct values of an array, and the index of each cell's value; -1 for null."""
    encoded = pc.dictionary_encode(texts)
    return encoded.dictionary.to_pylist(), np.asarray(pc.fill_null(encoded.indices, -1), np.int64)


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
