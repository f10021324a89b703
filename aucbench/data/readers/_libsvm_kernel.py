"""The compiled part of the LIBSVM parser: complete lines of text in, numbers out.

A number is converted here when the result is certain to be the nearest double; the rest is left to
Python's ``float()``. Three cases are certain. (1) A mantissa m < 2^53 and a power of ten up to 10^22 are both
exact, so that one division or product rounds once (Clinger 1990). (2) A longer mantissa m = hi + lo is
divided by an exact 10^k in two steps, q1 + q2, whose error of some 2^-100 matters only where q1 + q2 lies
next to the middle between two doubles; this is tested. (3) Zero.
"""

from typing import Any

import numpy as np
from numba import njit

import aucbench.kernels  # noqa: F401  (sets the folder of compiled code before anything compiles)

FINE, BAD_LABEL, BAD_FEATURE, BAD_ORDER = 0, 1, 2, 3
MAX_INDEX = 2**31 - 1

_SHIFT53 = np.uint64(2**53)
_LIMIT = np.uint64(10**18)  # one more digit still fits 64 bits
_TEN = np.uint64(10)
_LOW_BITS = np.uint64(0x7FF)
_SPLITTER = 134217729.0  # 2^27 + 1, cuts a double into two halves of 26 bits
_POWERS = np.array([10.0**k for k in range(23)])

_BAD, _EXACT, _UNSURE = 0, 1, 2


@njit(cache=True, nogil=True, inline="always")
def _is_blank(c: int) -> bool:
    """Blanks inside a line, as ``bytes.split()`` knows them; a line ends with 10 only."""
    return c == 32 or (c != 10 and 9 <= c <= 13)


@njit(cache=True, nogil=True, inline="always")
def _is_end(c: int) -> bool:
    return c == 32 or 9 <= c <= 13 or c == 35


@njit(cache=True, nogil=True, error_model="numpy")
def _divide_long(mantissa: Any, power: Any) -> tuple[float, bool]:
    """The double nearest to mantissa / power, and whether that is certain."""
    high = float(mantissa & ~_LOW_BITS)
    low = float(mantissa & _LOW_BITS)
    q1 = (high + low) / power
    product = q1 * power
    # The rounding error of the product, by Dekker's exact product.
    t = _SPLITTER * q1
    a1 = t - (t - q1)
    a2 = q1 - a1
    t = _SPLITTER * power
    b1 = t - (t - power)
    b2 = power - b1
    error = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)
    q2 = (((high - product) - error) + low) / power
    value = q1 + q2
    rest = q2 - (value - q1)
    return value, value + rest * 1.0000001 == value


@njit(cache=True, nogil=True, error_model="numpy")
def _number(text: Any, i: int) -> tuple[int, float, int]:
    """(status, value, position behind) of the decimal number that begins at i."""
    negative = text[i] == 45
    if negative or text[i] == 43:
        i += 1
    mantissa = np.uint64(0)
    exponent = 0
    digits = 0
    behind_point = 0
    lost = False
    while True:
        c = text[i] - 48
        if c == -2 and not behind_point:
            behind_point = 1
        elif c < 0 or c > 9:
            break
        else:
            digits += 1
            if mantissa < _LIMIT:
                mantissa = mantissa * _TEN + np.uint64(c)
                exponent -= behind_point
            else:
                lost = lost or c != 0
                exponent += 1 - behind_point
        i += 1
    if digits == 0:
        return _BAD, 0.0, i
    if text[i] == 101 or text[i] == 69:
        i += 1
        minus = text[i] == 45
        if minus or text[i] == 43:
            i += 1
        power = 0
        digits = 0
        while True:
            c = text[i] - 48
            if c < 0 or c > 9:
                break
            digits += 1
            power = min(power * 10 + c, 1000000)
            i += 1
        if digits == 0:
            return _BAD, 0.0, i
        exponent += -power if minus else power
    status = _EXACT
    value = 0.0
    if lost or exponent > 22 or exponent < -22:
        status = _EXACT if mantissa == 0 else _UNSURE
    elif mantissa < _SHIFT53:
        value = float(mantissa)
        value = value / _POWERS[-exponent] if exponent < 0 else value * _POWERS[exponent]
    elif exponent < 0:
        value, certain = _divide_long(mantissa, _POWERS[-exponent])
        if not certain:
            status = _UNSURE
    else:
        status = _UNSURE
    return status, (-value if negative else value), i


@njit(cache=True, nogil=True, error_model="numpy")
def _topic_label(text: Any, i: int, topic: float) -> tuple[int, float, int]:
    """(status, 1 or -1, position behind) of the labels that begin at i; there may be none."""
    begin = i
    value = -1.0
    while True:
        start = i
        status, label, i = _number(text, i)
        if text[i] == 58 and start == begin:  # the first feature: the row has no label
            return _EXACT, value, begin
        if status != _EXACT:
            return _BAD, value, i
        if label == topic:
            value = 1.0
        if text[i] != 44:
            return _EXACT, value, i
        i += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _is_qid(text: Any, i: int) -> Any:
    """Whether a ranking file's query number stands at i; it is no feature."""
    return text[i] == 113 and text[i + 1] == 105 and text[i + 2] == 100 and text[i + 3] == 58


@njit(cache=True, nogil=True, error_model="numpy")
def parse_lines(
    text: Any, labels: Any, lengths: Any, indices: Any, values: Any, unsure: Any, topic: float, first: int
) -> tuple[int, int, int, int, int, int]:
    """Parse complete lines, up to the first malformed one; the last byte of the text is a newline.

    Filled are `labels` and `lengths` (the number of features) of each row, and for all features `indices`
    (from 0, where the text counts from `first`) and `values`; `unsure` receives (slot, start, end) of the
    numbers that are left to ``float()``, where the slot is that of `values`, or ~row for a label.

    A NaN as topic means one label a row; else rows have any number of labels, with commas between, and
    receive 1 where this one is among them and -1 elsewhere.

    Returns how many rows, features and unsure numbers were filled, a malformed line not counted; `FINE`,
    `BAD_LABEL`, `BAD_FEATURE` or `BAD_ORDER`; where the malformed token begins; and the index before it
    (`BAD_ORDER`).
    """
    size = len(text)
    one_label = np.isnan(topic)
    i = rows = nnz = n_unsure = 0
    while i < size:
        while _is_blank(text[i]):
            i += 1
        if text[i] != 10 and text[i] != 35:
            begin, begin_unsure = nnz, n_unsure
            start = i
            if one_label:
                status, value, i = _number(text, i)
            else:
                status, value, i = _topic_label(text, i, topic)
            none = i == start  # of several labels there may be none, and what follows is the first feature
            if status == _BAD or not (none or _is_end(text[i])):
                return rows, begin, begin_unsure, BAD_LABEL, start, 0
            labels[rows] = value
            if status == _UNSURE:
                unsure[n_unsure, 0], unsure[n_unsure, 1], unsure[n_unsure, 2] = ~rows, start, i
                n_unsure += 1
            while _is_blank(text[i]):
                i += 1
            if _is_qid(text, i):
                while not _is_end(text[i]):
                    i += 1
            previous = first - 1
            while True:
                while _is_blank(text[i]):
                    i += 1
                if text[i] == 10 or text[i] == 35:
                    break
                start = i
                index = 0
                while True:
                    c = text[i] - 48
                    if c < 0 or c > 9 or index > MAX_INDEX:
                        break
                    index = index * 10 + c
                    i += 1
                if text[i] != 58 or i == start or index < first or index > MAX_INDEX:
                    return rows, begin, begin_unsure, BAD_FEATURE, start, 0
                number = i + 1
                status, value, i = _number(text, number)
                if status == _BAD or not _is_end(text[i]):
                    return rows, begin, begin_unsure, BAD_FEATURE, start, 0
                if index <= previous:
                    return rows, begin, begin_unsure, BAD_ORDER, start, previous
                previous = index
                indices[nnz] = index - first
                values[nnz] = value
                if status == _UNSURE:
                    unsure[n_unsure, 0], unsure[n_unsure, 1], unsure[n_unsure, 2] = nnz, number, i
                    n_unsure += 1
                nnz += 1
            lengths[rows] = nnz - begin
            rows += 1
        while text[i] != 10:
            i += 1
        i += 1
    return rows, nnz, n_unsure, FINE, 0, 0
