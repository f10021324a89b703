"""Numbers that are not written as Python writes them: 12.5%, 1,234,567.8, 1.234,5 and 2024-02-29.

A column is read so when all its cells are of one notation, and no other notation would give other numbers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.compute as pc
from numpy.typing import NDArray

MICROSECONDS_A_DAY = 86_400e6


class Notation(NamedTuple):
    """A way to write numbers: what a cell looks like, and the numbers of an array of such cells."""

    pattern: str  # a regular expression of RE2, of whole cells
    read: Callable[[Any], Any]  # from an array of texts to one of float64; missing stays missing


def _without(*signs: str, decimal: str = ".") -> Callable[[Any], Any]:
    def read(texts: Any) -> Any:
        for sign in signs:
            texts = pc.replace_substring(texts, sign, "")
        return pc.replace_substring(texts, decimal, ".").cast(pyarrow.float64())

    return read


def _percent(texts: Any) -> Any:
    return pc.divide(_without("%", " ")(texts), 100.0)


def days(times: Any) -> Any:
    """Days since 1970 of an array of dates or times, with the time of day as a fraction."""
    zone = getattr(times.type, "tz", None)
    moments = times.cast(pyarrow.timestamp("us", tz=zone), safe=False).cast(pyarrow.int64())
    return pc.divide(moments.cast(pyarrow.float64(), safe=False), MICROSECONDS_A_DAY)


def _read_dates(texts: Any) -> Any:
    texts = pc.replace_substring_regex(texts, r"(\.[0-9]{6})[0-9]+", r"\1")
    zoned = pc.match_substring_regex(texts, r":.*(Z|[+-][0-9:]+)$")
    local = pc.if_else(zoned, None, texts).cast(pyarrow.timestamp("us"))
    moments = pc.if_else(zoned, texts, None).cast(pyarrow.timestamp("us", tz="UTC"))
    return pc.coalesce(days(local), days(moments))


NOTATIONS = {
    "percent": Notation(r"[+-]?[0-9]*\.?[0-9]+ ?%", _percent),
    "date": Notation(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
        r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?",
        _read_dates,
    ),
    "thousands": Notation(r"[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?", _without(",")),
    "decimal_comma": Notation(
        r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+|)(,[0-9]+)?([eE][+-]?[0-9]+)?", _without(".", decimal=",")
    ),
}
DAY_AND_MONTH = r"[0-9]{1,4}([-/.])[0-9]{1,2}[-/.][0-9]{2,4}( .*)?"  # dates in an order that is not certain


def is_written_as(name: str, texts: Any) -> bool:
    """Whether all texts of an array are of this notation; missing ones may be."""
    return pc.all(pc.match_substring_regex(texts, f"^({NOTATIONS[name].pattern})$")).as_py() is not False


def read_numbers(name: str, texts: Any) -> NDArray[np.float64] | None:
    """The numbers of an array of texts, NaN where they are missing; None where one is of another notation."""
    if not is_written_as(name, texts):
        return None
    try:
        return np.asarray(NOTATIONS[name].read(texts).to_numpy(zero_copy_only=False), np.float64)
    except pyarrow.ArrowInvalid:  # the 30th of February
        return None
