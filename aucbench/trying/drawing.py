"""Curves drawn with characters: logarithmic x axis, braille dots or letters, colours if wanted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDTH = 80
LEFT, RIGHT = 7, 21  # columns of the y axis and of the labels
HEIGHT = 9
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille character, by row and column
BRAILLE = 0x2800
SOLID = (1, 1)
RESET = "\x1b[0m"


@dataclass(frozen=True)
class Series:
    """A curve.

    Parameters
    ----------
    label : str
        Stands where the curve ends.
    x, y : (n,) arrays
        Ascending positive x; a level has no x and one y.
    mark : str
        The letter that draws it where there are no braille dots.
    colour : int
        Of the terminal, 31 to 37; 0 for none.
    dash : (int, int)
        Dots drawn, of so many.
    """

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    mark: str
    colour: int = 0
    dash: tuple[int, int] = SOLID


def draw(series: Sequence[Series], *, braille: bool = True, colours: bool = False) -> list[str]:
    """The lines of a picture of at most 80 columns; the first series lies on top.

    Parameters
    ----------
    series : sequence of Series
        The curves.
    braille : bool
        Whether the output knows braille characters; else each curve is drawn with its letter.
    colours : bool
        Whether the output is a terminal that shows colours.
    """
    curves = [each for each in series if len(each.x)]
    if not curves:
        return []
    low, high = _range(series)
    left = min(float(each.x[0]) for each in curves)
    right = max(float(each.x[-1]) for each in curves)
    right = max(right, 2.0 * left)
    columns = WIDTH - LEFT - RIGHT
    # Without braille a character is one dot.
    wide, tall = (2, 4) if braille else (1, 1)
    grid = np.geomspace(left, right, columns * wide)
    dots = np.zeros((HEIGHT * tall, columns * wide), np.bool_)
    owner = np.full((HEIGHT, columns), -1)
    for number in reversed(range(len(series))):
        each = series[number]
        for column, row in _points(each, grid, low, high, HEIGHT * tall):
            dots[row, column] = True
            owner[row // tall, column // wide] = number
    labels = _labels(series, low, high)
    lines = []
    for row in range(HEIGHT):
        axis = {0: f"{high:.3f}", HEIGHT - 1: f"{low:.3f}"}.get(row, "")
        cells = [
            _cell(series, dots, owner, row, column, braille, colours) for column in range(columns)
        ]  # fmt: skip
        label = labels.get(row)
        text = "" if label is None else " " + _painted(_text(series[label]), series[label].colour, colours)
        bar = "│" if braille else "|"
        lines.append(f"{axis:>{LEFT - 1}}{bar}{''.join(cells)}{text}".rstrip())
    lines.append(_x_axis(left, right, columns, braille))
    return lines


def _range(series: Sequence[Series]) -> tuple[float, float]:
    """From below the lowest end of a curve to the highest point; what is lower runs along the floor."""
    high = max(float(each.y.max()) for each in series)
    low = min(float(np.quantile(each.y, 0.15)) for each in series)
    return min(low, high - 0.01), high


def _points(
    each: Series, grid: NDArray[np.float64], low: float, high: float, rows: int
) -> list[tuple[int, int]]:
    """(column, row) of its dots."""
    drawn, period = each.dash
    if not len(each.x):
        y = np.full(len(grid), each.y[0])
        reached = np.ones(len(grid), np.bool_)
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


def _cell(
    series: Sequence[Series],
    dots: NDArray[np.bool_],
    owner: NDArray[np.int_],
    row: int,
    column: int,
    braille: bool,
    colours: bool,
) -> str:
    number = owner[row, column]
    if number < 0:
        return " "
    if not braille:
        return series[number].mark
    code = BRAILLE
    for r, pair in enumerate(DOTS):
        for c, bit in enumerate(pair):
            code |= bit * bool(dots[4 * row + r, 2 * column + c])
    return _painted(chr(code), series[number].colour, colours)


def _labels(series: Sequence[Series], low: float, high: float) -> dict[int, int]:
    """The series that is named in each row: beside its end, as far as the others leave room."""
    rows: dict[int, int] = {}
    wanted = {
        number: round((high - min(max(float(each.y[-1]), low), high)) / (high - low) * (HEIGHT - 1))
        for number, each in enumerate(series)
    }
    for number in sorted(wanted, key=lambda number: -float(series[number].y[-1])):
        free = [row for row in range(HEIGHT) if row not in rows]
        below = [row for row in free if row > max(rows, default=-1)] or free
        if below:
            rows[min(below, key=lambda row: abs(row - wanted[number]))] = number
    return rows


def _text(each: Series) -> str:
    room = RIGHT - 1 - len(" 0.0000") - 2
    return f"{each.mark} {shortened(each.label, room)} {each.y[-1]:.4f}"


def shortened(text: str, room: int) -> str:
    """The text in at most `room` characters; it is cut in the middle, as names may differ at the end only."""
    if len(text) <= room:
        return text
    end = room * 3 // 5
    return text[: room - 1 - end] + "~" + text[len(text) - end :]


def _x_axis(left: float, right: float, columns: int, braille: bool) -> str:
    line = [" "] * (columns + RIGHT)
    position = -1
    for power in range(int(np.ceil(np.log10(left) - 1e-9)), int(np.floor(np.log10(right) + 1e-9)) + 1):
        text = f"{10**power:,}"
        at = round((power - np.log10(left)) / np.log10(right / left) * (columns - 1))
        if at > position and at + len(text) <= columns:
            line[at : at + len(text)] = text
            position = at + len(text)
    words = " samples seen"
    line[columns : columns + len(words)] = words
    return (" " * LEFT + "".join(line)).rstrip()


def _painted(text: str, colour: int, colours: bool) -> str:
    return f"\x1b[{colour}m{text}{RESET}" if colours and colour else text
