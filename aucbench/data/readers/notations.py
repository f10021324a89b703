"""Numbers that are not written as Python writes them: 12.5%, 1,234,567.8, 1.234,5 and 2024-02-29.

A column is read so when all its cells are of one notation, and no other notation would give other numbers.
"""

from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as pc
from numpy.typing import NDArray

MICROSECONDS_A_DAY = 86_400e6
NOTATIONS = {  # regular expressions of RE2, of whole cells
    "percent": r"[+-]?[0-9]*\.?[0-9]+ ?%",
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?",
    "thousands": r"[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]*)?",
    "decimal_comma": r"[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+|)(,[0-9]+)?([eE][+-]?[0-9]+)?",
}


def is_written_as(name: str, texts: Any) -> bool:
    """Whether all texts of an array are of this notation; missing ones may be."""
    return pc.all(pc.match_substring_regex(texts, f"^({NOTATIONS[name]})$")).as_py() is not False


def read_numbers(name: str, texts: Any) -> NDArray[np.float64] | None:
    """The numbers of an array of texts, NaN where they are missing; None where one is of another notation."""
    if not is_written_as(name, texts):
        return None
    try:
        if name == "date":
            values = _read_dates(texts)
        else:
            texts = pc.replace_substring_regex(
                texts, {"thousands": ",", "decimal_comma": r"\."}.get(name, "[% ]"), ""
            )
            values = pc.replace_substring(texts, ",", ".").cast(pyarrow.float64())
    except pyarrow.ArrowInvalid:  # the 30th of February
        return None
    return np.asarray(
        (pc.divide(values, 100.0) if name == "percent" else values).to_numpy(zero_copy_only=False)
    )


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
