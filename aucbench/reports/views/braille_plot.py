"""Curves in the terminal: a logarithmic x axis, braille dots or letters, colours if wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucbench.reports.report import Report

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
WIDTH = 80
LEFT, RIGHT = 7, 21  # columns of the y axis and of the labels
HEIGHT = 9
COLUMNS = WIDTH - LEFT - RIGHT
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille character, by row and column
BRAILLE = 0x2800
# Dots drawn of so many, and the terminal's colour, of the first curve, the second ...; and of the level.
STYLES = (((1, 1), 31), ((4, 6), 34), ((2, 4), 35), ((1, 3), 32), ((3, 5), 33), ((2, 5), 36))
LEVEL = ((1, 6), 37)


@dataclass(frozen=True)
class Series:
    """A curve."""

    label: str  # stands where the curve ends
    x: Floats  # (n,) ascending, positive; a level has no x and one y
    y: Floats
    mark: str  # the letter that draws it where there are no braille dots
    dash: tuple[int, int] = (1, 1)  # dots drawn, of so many
    colour: int = 37  # of the terminal, 31 to 37


def data_set_series(report: Report, setting: str, data_set: str, method: str) -> list[Series]:
    """The curves on a data set over the rows seen: those of a method, of its rivals, and the best AUC.

    Methods whose first checkpoint comes after a whole pass have no curve to be compared with the others'; the
    best of them is a level.
    """
    own, lines = report.part("results", setting, data_set), report.part("curves", setting, data_set)
    means = dict(zip(own["method"], own["mean"], strict=True))
    names = sorted(means, key=lambda name: (name != method, -np.nan_to_num(means[name], nan=-1.0)))
    batch = [name for name in names if name != method and is_batch(lines[lines["method"] == name])]
    found: list[Series] = []
    for name in names:
        x, y = seen(report, setting, data_set, name)
        if len(x) and name not in batch and len(found) < len(STYLES):
            dash, colour = STYLES[len(found)]
            mark = "*" if name == method else _letter(name, [each.mark for each in found])
            found.append(Series(name, x, y, mark, dash, colour))
    levels = [name for name in batch if means[name] > 0]
    if found and levels:
        best = max(levels, key=means.__getitem__)
        found.append(Series(best, np.empty(0), np.array([means[best]]), "-", *LEVEL))
    return found


def seen(report: Report, setting: str, data_set: str, method: str) -> tuple[Floats, Floats]:
    """Rows seen and mean AUC at the checkpoints of a method after its first row."""
    own = report.part("curves", setting, data_set)
    at = (own["method"] == method) & (own["samples"] > 0) & np.isfinite(own["mean"])
    return own.loc[at, "samples"].to_numpy(np.float64), own.loc[at, "mean"].to_numpy(np.float64)


def is_batch(curve: "pd.DataFrame") -> bool:
    """Whether an iteration of a method goes through all training rows, by its first checkpoint."""
    passes = curve.loc[curve["samples"] > 0, "passes"]
    return bool(len(passes) and passes.iloc[0] >= 1.0)


def draw(series: Sequence[Series], *, braille: bool = True, colours: bool = False) -> list[str]:
    """The lines of a picture of at most 80 columns; the first series lies on top.

    Without braille characters each curve is drawn with its letter; `colours` are those of a terminal.
    """
    curves = [each for each in series if len(each.x)]
    if not curves:
        return []
    # From below the lowest end of a curve to the highest point; what is lower runs along the floor.
    high = max(float(each.y.max()) for each in series)
    low = min(high - 0.01, *(float(np.quantile(each.y, 0.15)) for each in series))
    left = min(float(each.x[0]) for each in curves)
    right = max(2.0 * left, *(float(each.x[-1]) for each in curves))
    wide, tall = (2, 4) if braille else (1, 1)  # dots of a character
    grid = np.geomspace(left, right, COLUMNS * wide)
    dots = np.zeros((HEIGHT, COLUMNS), np.int64)  # bits of the characters
    owner = np.full((HEIGHT, COLUMNS), -1)
    for number in reversed(range(len(series))):
        for column, row in _points(series[number], grid, low, high, HEIGHT * tall):
            dots[row // tall, column // wide] |= DOTS[row % tall][column % wide]
            owner[row // tall, column // wide] = number

    def painted(text: str, number: int) -> str:
        return f"\x1b[{series[number].colour}m{text}\x1b[0m" if colours else text

    def cell(row: int, column: int) -> str:
        number = int(owner[row, column])
        if number < 0:
            return " "
        return painted(chr(BRAILLE | dots[row, column]) if braille else series[number].mark, number)

    labels = _labels(series, low, high)
    ends = {0: f"{high:.3f}", HEIGHT - 1: f"{low:.3f}"}
    bar = "│" if braille else "|"
    lines = []
    for row in range(HEIGHT):
        canvas = "".join(cell(row, column) for column in range(COLUMNS))
        label = f" {painted(_text(series[labels[row]]), labels[row])}" if row in labels else ""
        lines.append(f"{ends.get(row, ''):>{LEFT - 1}}{bar}{canvas}{label}".rstrip())
    return [*lines, _x_axis(left, right)]


def _points(each: Series, grid: Floats, low: float, high: float, rows: int) -> list[tuple[int, int]]:
    """(column, row) of its dots."""
    drawn, period = each.dash
    if not len(each.x):
        y, reached = np.full(len(grid), each.y[0]), np.ones(len(grid), np.bool_)
    else:
        y = np.interp(np.log(grid), np.log(each.x), each.y)
        reached = (grid >= each.x[0] * (1 - 1e-9)) & (grid <= each.x[-1] * (1 + 1e-9))
    row = np.rint((high - np.clip(y, low, high)) / (high - low) * (rows - 1)).astype(int)
    found, last = [], None
    for column in np.flatnonzero(reached):
        if column % period < drawn:
            begin, end = (row[column], row[column]) if last is None else sorted((last, row[column]))
            # A solid curve is connected from column to column.
            span = range(begin, end + 1) if drawn == period else (row[column],)
            found += [(int(column), int(r)) for r in span]
        last = row[column]
    return found


def _labels(series: Sequence[Series], low: float, high: float) -> dict[int, int]:
    """The series that is named in each row: beside its end, as far as the others leave room."""
    rows: dict[int, int] = {}
    for number in sorted(range(len(series)), key=lambda number: -float(series[number].y[-1])):
        end = min(max(float(series[number].y[-1]), low), high)
        wanted = round((high - end) / (high - low) * (HEIGHT - 1))
        free = [row for row in range(HEIGHT) if row not in rows]
        below = [row for row in free if row > max(rows, default=-1)] or free
        if below:
            rows[min(below, key=lambda row: abs(row - wanted))] = number
    return rows


def _text(each: Series) -> str:
    """Mark, label and last value; a long label is cut in the middle, as names may differ at the end only."""
    room, label = RIGHT - 1 - len(" 0.0000") - 2, each.label
    if len(label) > room:
        end = room * 3 // 5
        label = f"{label[: room - 1 - end]}~{label[-end:]}"
    return f"{each.mark} {label} {each.y[-1]:.4f}"


def _x_axis(left: float, right: float) -> str:
    line, position = [" "] * COLUMNS, -1
    for power in range(int(np.ceil(np.log10(left) - 1e-9)), int(np.floor(np.log10(right) + 1e-9)) + 1):
        text = f"{10**power:,}"
        at = round((power - np.log10(left)) / np.log10(right / left) * (COLUMNS - 1))
        if at > position and at + len(text) <= COLUMNS:
            line[at : at + len(text)] = text
            position = at + len(text)
    return f"{' ' * LEFT}{''.join(line)} samples seen"


def _letter(name: str, taken: Sequence[str]) -> str:
    """The first letter of a name that no other curve has."""
    return next((letter for letter in name if letter.isalpha() and letter not in taken), "o")
