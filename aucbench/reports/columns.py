"""Descriptions of the columns of a report's frames: heading, meaning and format."""

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from aucbench.humanize import duration, filesize

NONE = "-"


def line(value: Any) -> str:
    """Text in one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split())


def text(value: Any) -> str:
    """Text in one line; a dash if it is empty."""
    return line(value) or NONE


def signed(value: float) -> str:
    """A difference with its sign and four decimals, never -0.0000."""
    return f"{round(value, 4) + 0.0:+.4f}"


def number(value: float) -> str:
    """A number with three significant digits."""
    return "never" if math.isinf(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share from 0 to 1, with three significant digits."""
    return f"{100 * share:.3g} %"


FORMS: dict[str, Callable[[Any], str]] = {  # the page's script uses the same names
    "text": text,
    "fixed": "{:.4f}".format,
    "signed": signed,
    "number": number,
    "percent": percent,
    "whole": "{:,.0f}".format,
    "tiny": "{:.1e}".format,
    "duration": duration,
    "nanoseconds": lambda value: duration(1e-9 * value),
    "filesize": filesize,
}


@dataclass(frozen=True)
class Column:
    """The format of a column of a frame in every view, a line of ``columns.csv``.

    `low`, `high`, `spread`, `mark` and `note` name other columns of the same frame. The value is shown with
    its interval if `low` and `high` are set, with its standard deviation if `spread` is set, with an asterisk
    if the column `mark` is not empty, and with the text of the column `note` in brackets.
    """

    frame: str
    name: str
    heading: str  # {measure} is replaced by the symbol of the measure, {reference} by the reference
    form: str  # one of `FORMS`
    descending: str  # "yes" if the largest value comes first
    low: str
    high: str
    spread: str
    mark: str
    note: str
    hint: str

    def shown(self, row: Mapping[Any, Any]) -> str:
        """The value of a row as text, with its interval or deviation; a dash if there is no value."""
        value, form = row[self.name], FORMS[self.form]
        if _is_none(value):
            return NONE
        low, high, spread, mark, note = map(row.get, (self.low, self.high, self.spread, self.mark, self.note))
        formatted = form(value)
        formatted += "" if _is_none(low) or _is_none(high) else f" ({form(low)} to {form(high)})"
        formatted += "" if _is_none(spread) else f" ± {form(spread)}"
        formatted += "" if _is_none(mark) else "*"
        return formatted if _is_none(note) else f"{formatted} ({note})"

    @property
    def is_text(self) -> bool:
        """Whether the column is text, which is aligned to the left."""
        return self.form == "text"


def _is_none(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def described(frame: str) -> dict[str, Column]:
    """The columns of one of the frames in ``columns.csv``, by their names."""
    lines = files("aucbench.reports").joinpath("columns.csv").read_text("utf-8").splitlines()
    columns = [Column(**row) for row in csv.DictReader(lines)]
    return {column.name: column for column in columns if column.frame == frame}


VERDICTS, RESULTS, DATA_SETS, SLOPES = map(described, ("verdicts", "results", "data_sets", "slopes"))
VERDICT_COLOURS = {  # colours on light and dark background, distinct for colour-blind readers
    "better": ("#0b57b0", "#7fb4ff"),
    "slightly better": ("#4a86c8", "#a9cdfb"),
    "equivalent": ("#2f6f4f", "#86d1a8"),
    "not worse": ("#5d7a8c", "#a8c3d4"),
    "undecided": ("#767676", "#a8a8a8"),
    "slightly worse": ("#c77a3a", "#f0b27d"),
    "worse": ("#a83a08", "#ff9a63"),
}
