"""Counts of the texts of a column, and texts that look like numbers with errors, like identifiers or dates.

A column of such texts is refused; the error message has examples, their counts, and the overrides to choose
from.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aucbench.data.readers.cells import is_number

STRAY_SHARE = 0.01  # texts among numbers up to this share are errors, even if few numbers are distinct
MANY_NUMBERS = 10  # more distinct numbers are not categories
SHOWN_TEXTS = 5
MAX_CATEGORIES = 1 << 16
MOST_LEVELS = 50  # most distinct texts of a column in which texts mostly occur once
_MONEY = r"[$\u20ac\u00a3\u00a5]|(USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD)\b"
# a number with signs before it, and signs, a currency or a unit of up to six letters behind it
_QUANTITY = re.compile(
    rf"[^\w.]*({_MONEY})?[^\w.]*"
    r"(0x[0-9a-f]+|[0-9.]+([,:' \u00a0\u202f\u2019][0-9]+)*\.?[0-9]*(e[-+]?[0-9]+)?)"
    rf"[^\w.]*({_MONEY}|[^\W0-9_]{{0,6}}[/\u00b2\u00b3]?[^\W0-9_]{{0,2}}|[ap]\.m\.)\W*",
    re.IGNORECASE,
)
_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{2,4}([ T].*)?")
_WITH_SIGNS = re.compile(r"[0-9]+([^A-Za-z0-9]+[0-9]+)+")  # 120/80, 40-49 or 1_000
# Numbers even if few of them are distinct: 1,2 or 1 234,5 or 1'234.5.
_GROUPED = re.compile(
    r"[+-]?([0-9]+(,[0-9]+)+|[1-9][0-9]{0,2}([ '\u00a0\u202f\u2019][0-9]{3})+([.,][0-9]+)?)"
)


@dataclass
class TextCounts:
    """The counts and the codes of the texts of a column, up to a number of distinct texts."""

    counts: Counter[str] = field(default_factory=Counter)  # numbers are removed above `MAX_CATEGORIES`
    codes: dict[str, int] = field(default_factory=dict)  # in order of the first occurrence
    numbers: int = 0  # cells with numbers that are not in `counts`
    many: bool = False  # more distinct texts than are counted
    identifying: bool = False  # most of the many texts occurred once
    first: tuple[int, str] = (0, "")  # row (from 1) and text of the first cell that is not a number

    @property
    def are_all(self) -> bool:
        """Whether every text so far is counted and has a code."""
        return not (self.many or self.numbers)

    @property
    def levels(self) -> str:
        """The number of different texts."""
        return f"{len(self.counts):,}" if self.counts and self.are_all else f"more than {MAX_CATEGORIES:,}"

    def add(self, distinct: list[str], places: NDArray[np.int64], before: int) -> list[float]:
        """Count the texts of further cells; `distinct` texts are in order of their first occurrence.

        Returns the code of each distinct text, which is valid only if `are_all`.
        """
        if not self.first[0]:
            stray = next((k for k, text in enumerate(distinct) if not is_number(text)), None)
            if stray is not None:
                self.first = before + int(np.argmax(places == stray)) + 1, distinct[stray]
        times = np.bincount(places[places >= 0], minlength=len(distinct)).tolist()
        self.counts.update(dict(zip(distinct, times, strict=True)))
        if len(self.counts) > MAX_CATEGORIES:  # perhaps numbers with a few errors
            for text in [text for text in self.counts if is_number(text)]:
                self.numbers += self.counts.pop(text)
        if len(self.counts) > MAX_CATEGORIES:
            self.many = True
            self.identifying |= 2 * len(self.counts) > self.counts.total()
            self.counts.clear()
        if not self.are_all:
            self.codes.clear()
        return [self.codes.setdefault(text, len(self.codes)) for text in distinct]


def doubt(texts: TextCounts) -> tuple[str, list[str]] | None:
    """The reason to refuse a column, and examples of texts where numbers are expected; None if it is valid.

    Texts are refused in a column of more than `MANY_NUMBERS` distinct numbers, or texts that look like
    numbers, unless most cells are other texts.
    """
    counts, cells = texts.counts, texts.counts.total()
    if texts.identifying:
        return f"has {texts.levels} different texts, as names and identifiers do", []
    if texts.many:
        return None
    strays = Counter({text: count for text, count in counts.items() if not is_number(text)})
    alike = Counter({t: n for t, n in strays.items() if _QUANTITY.fullmatch(t) or _DATE.fullmatch(t)})
    numbers, words = cells - strays.total() + texts.numbers, strays - alike
    different = len(counts) - len(strays)
    are_few = numbers > 0 and (
        strays.total() == 1 < numbers - 9 or strays.total() < STRAY_SHARE * (cells + texts.numbers)
    )
    are_words = len(strays) <= SHOWN_TEXTS and different > MANY_NUMBERS  # perhaps 'none' in half the rows
    are_few |= bool(strays) and all(map(_GROUPED.fullmatch, strays))
    are_most = are_words or numbers + alike.total() > words.total()
    if strays and (are_few or (are_most and (different + len(alike) > MANY_NUMBERS or texts.numbers > 0))):
        examples, count = (words, alike.total()) if words and not numbers else (strays, numbers)
        return _among_numbers(examples, count, texts.first), [*examples][: SHOWN_TEXTS if count else 0]
    if len(counts) > MOST_LEVELS and all(map(_WITH_SIGNS.fullmatch, counts)):
        return (
            f"has {len(counts):,} different texts of numbers with signs between, such as {min(counts)!r}",
            [],
        )
    if len(counts) > MOST_LEVELS and 2 * len(counts) > cells:
        return f"has {len(counts):,} different texts in {cells:,} rows, as names and identifiers do", []
    return None


def _among_numbers(strays: Counter[str], numbers: int, first: tuple[int, str]) -> str:
    text = ", ".join(f"{text!r} ({count})" for text, count in strays.most_common(SHOWN_TEXTS))
    text += f" and {len(strays) - SHOWN_TEXTS} other texts" if len(strays) > SHOWN_TEXTS else ""
    if any(re.match(rf"\W*({_MONEY})|\(", stray) for stray in strays):
        text += ", which look like money,"
    elif any(map(_DATE.fullmatch, strays)):
        text += ", which look like dates in an order that is not certain (write 2024-12-31),"
    where = f", first in row {first[0]}" if first[1] in strays else ""
    context = f"among {numbers} numbers" if numbers else "where numbers are expected"
    return f"has {text} {context}{where}; write plain numbers"
