"""Numbers that are not written as Python writes them: 12.5%, 1,234,567.8, 1.234,5 and 2024-02-29.

A column is read so when all its cells are of one notation, and no other notation would give other numbers.
Times of the day, hexadecimal numbers and quantities with signs or one unit (14:05, 2:05 PM, 0x1F, 90+, < 0.3,
1.2 kg, $1,200, 1.200,50 EUR) are read if this is declared.
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
    is_detected: bool = True  # without a declaration


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


def _read_times(texts: Any) -> Any:
    shown = r"^(?P<h>[0-9]+):(?P<m>[0-9]{2})(?::(?P<s>[0-9]{2}(?:\.[0-9]*)?))?(?: ?[AaPp]\.?[Mm]\.?)?$"
    parts = pc.extract_regex(texts, shown)
    hours, minutes, seconds = (
        pc.if_else(pc.equal(part, ""), "0", part).cast(pyarrow.float64())
        for part in (pc.struct_field(parts, name) for name in "hms")
    )
    late, halves = (pc.match_substring_regex(texts, sign) for sign in ("[Pp]", "[AaPp]"))
    hours = pc.if_else(pc.and_(halves, pc.equal(hours, 12.0)), 0.0, hours)  # 12:30 AM is half past midnight
    hours = pc.add(hours, pc.if_else(late, 12.0, 0.0))
    return pc.add(hours, pc.divide(pc.add(pc.multiply(minutes, 60.0), seconds), 3600.0))


def _read_hexadecimal(texts: Any) -> Any:
    return texts.cast(pyarrow.uint64()).cast(pyarrow.float64(), safe=False)


def _read_comma_quantities(texts: Any) -> Any:
    texts = pc.replace_substring(texts, ".", "")
    return _read_quantities(pc.replace_substring(texts, ",", "."))


def units(texts: Any) -> set[str]:
    """The different units or currencies beside the numbers of an array of quantities."""
    plain = pc.replace_substring_regex(texts, r"([0-9])[eE][+-]?[0-9]+", r"\1")
    plain = pc.replace_substring_regex(
        plain, rf"[0-9.,()<>=~+\x{{2248}}\x{{2264}}\x{{2265}}\x{{b1}} ]|{_SIGN}", ""
    )
    return {unit for unit in pc.unique(plain).to_pylist() if unit}


def _read_quantities(texts: Any) -> Any:
    for sign in MINUS_SIGNS:
        texts = pc.replace_substring(texts, sign, "-")
    texts = pc.replace_substring_regex(texts, r"^\((.*)\)$", r"-\1")
    texts = pc.replace_substring_regex(texts, r"([0-9]),([0-9]{3})", r"\1\2")
    return pc.replace_substring_regex(
        texts, r"^[^0-9.-]*(-?)[^0-9.-]*([0-9.]+([eE][+-]?[0-9]+)?).*$", r"\1\2"
    ).cast(pyarrow.float64())


MINUS_SIGNS = ("\u2212", "\u2013")
# Signs of currencies, and the codes that tables have most often.
_CURRENCY = (
    "([$\u20ac\u00a3\u00a5\u20b9\u20bd]|"
    "USD|EUR|GBP|CHF|JPY|CNY|INR|RUB|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|TRY|KRW|SGD|HKD)"
)
_PLAIN = r"([0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?|[0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_WITH_COMMA = r"([0-9]{1,3}(\.[0-9]{3})+(,[0-9]*)?|[0-9]+,?[0-9]*)"
_SIGN = f"[-+{''.join(MINUS_SIGNS)}]"


def _quantity(number: str) -> str:
    """The pattern of signs before a number, and at most one unit of up to six letters behind it."""
    return (
        rf"([<>~=\x{{2248}}\x{{2264}}\x{{2265}}\x{{b1}}]*=? ?{_SIGN}? ?{_CURRENCY}? ?{_SIGN}?{number} ?"
        rf"(\+|%|{_CURRENCY}|\x{{b0}}?[A-Za-z\x{{b5}}\x{{b2}}\x{{b3}}/]{{0,6}})?|\({_CURRENCY}?{number}\))"
    )


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
    "spaces": Notation(
        r"[+-]?([1-9][0-9]{0,2}([ \x{a0}\x{202f}][0-9]{3})+|[0-9]+)(,[0-9]+)?",
        _without(" ", "\u00a0", "\u202f", decimal=","),
    ),
    "apostrophes": Notation(
        r"[+-]?([1-9][0-9]{0,2}(['\x{2019}][0-9]{3})+|[0-9]+)(\.[0-9]+)?", _without("'", "\u2019")
    ),
    "time": Notation(
        r"[0-9]{1,3}:[0-9]{2}(:[0-9]{2}(\.[0-9]*)?)?( ?[AaPp]\.?[Mm]\.?)?", _read_times, is_detected=False
    ),
    "hexadecimal": Notation(r"0[xX][0-9A-Fa-f]{1,16}", _read_hexadecimal, is_detected=False),
    "quantity": Notation(_quantity(_PLAIN), _read_quantities, is_detected=False),
    "quantity_comma": Notation(_quantity(_WITH_COMMA), _read_comma_quantities, is_detected=False),
}
DETECTED = [name for name, notation in NOTATIONS.items() if notation.is_detected]
DAY_AND_MONTH = r"[0-9]{1,4}([-/.])[0-9]{1,2}[-/.][0-9]{2,4}( .*)?"  # dates in an order that is not certain


def are_written_as(name: str, texts: Any) -> Any:
    """Of an array of texts, which are of this notation; null where they are missing."""
    return pc.match_substring_regex(texts, f"^({NOTATIONS[name].pattern})$")


def is_written_as(name: str, texts: Any) -> bool:
    """Whether all texts of an array are of this notation; missing ones may be."""
    return pc.all(are_written_as(name, texts)).as_py() is not False


def read_numbers(name: str, texts: Any) -> NDArray[np.float64] | None:
    """The numbers of an array of texts, NaN where they are missing; None where one is of another notation."""
    if not is_written_as(name, texts):
        return None
    try:
        return np.asarray(NOTATIONS[name].read(texts).to_numpy(zero_copy_only=False), np.float64)
    except pyarrow.ArrowInvalid:  # the 30th of February
        return None
