"""Colours, markers, axes and measured text, for matplotlib."""

import contextlib
import textwrap
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.humanize import counted
from aucbench.reports.columns import text
from aucbench.studies.method_look import shown_looks

MARKERS = {
    "circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "cross": "X", "plus": "P",
    "star": "*"}  # fmt: skip
DASHES: dict[str, Any] = {
    "solid": "-", "dashed": (0, (5, 2)), "dotted": (0, (1, 1.5)), "dashdot": (0, (5, 1.5, 1, 1.5)),
    "short": (0, (2.5, 1.5)), "dashdotdot": (0, (5, 1.5, 1, 1.5, 1, 1.5)),
}  # fmt: skip
WIDTHS = {"column": 3.35, "page": 7.0}  # inches, of one column and of both in the templates of most venues
# The first of each is what papers are set in; the second has the letters that the first lacks.
FONTS = {"sans": ["DejaVu Sans"], "serif": ["STIXGeneral", "DejaVu Serif"]}
NARROW = 5.0  # inches; a narrower figure has its legend below
OTHERS: dict[str, Any] = {"color": "0.78", "linewidth": 0.5, "zorder": 1}  # lines of methods without a name
LINES = 3  # of a label, at most
TALLEST = 7.6  # inches of the rows of a figure: a page of a paper without axis and caption
SMALLEST, LEADING = 5.0, 1.25  # points of type, and how many times these a line takes
MOST_ROWS = int(72 * TALLEST / (LEADING * SMALLEST))  # labels that stand one above the other


class Style(NamedTuple):
    """The look of one method."""

    colour: str
    marker: str
    dashes: Any
    is_named: bool = True  # one of the few in colour and in the legend; all others are grey, thin and behind

    def line(self, is_batch: bool = False) -> dict[str, Any]:
        """Options of its line, some of whose points have a marker.

        A method whose iterations go through all rows has an open marker at each of its points.
        """
        if not self.is_named:
            return OTHERS
        marks: dict[str, Any] = {"marker": self.marker, "markersize": 3.5, "markevery": 0.15}
        if is_batch:
            marks |= {"markerfacecolor": "white", "markeredgewidth": 0.8, "markevery": None}
        return {"color": self.colour, "linestyle": self.dashes, "linewidth": 1.2, "zorder": 2.5} | marks


def styles(methods: Sequence[str], named: Sequence[str]) -> dict[str, Style]:
    """Methods to their looks, the named ones first and in their order, so that these differ most."""
    order = list(dict.fromkeys([*named, *methods]))
    return {
        name: Style(own.colour, MARKERS[own.marker], DASHES[own.dashes], name in named)
        for name, own in shown_looks(order).items()
    }


@contextlib.contextmanager
def look(width: str = "page", font: str = "sans") -> Iterator[None]:
    """The style of everything drawn while it lasts, in a width of `WIDTHS`; dollars in names are no formulas.

    `font` is one of `FONTS`, each of which comes with matplotlib.

    Fonts are written as TrueType, which venues ask for; matplotlib's default in PDF is Type 3.
    """
    import matplotlib
    import seaborn as sns

    inches = WIDTHS[width]
    fonts: Any = {"pdf.fonttype": 42, "ps.fonttype": 42}
    fonts |= {"font.family": FONTS[font]}
    size: Any = {"figure.figsize": (inches, inches * 0.65), "axes.linewidth": 0.7, "grid.linewidth": 0.5}
    with (
        sns.axes_style("whitegrid", {"axes.edgecolor": "0.4", "grid.color": "0.9"}),
        sns.plotting_context("paper", 0.9 if inches > NARROW else 0.72),
        matplotlib.rc_context({"text.parse_math": False, "text.usetex": False} | fonts | size),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def width() -> float:
    """Inches that a figure is wide, as `look` says."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0])


def type_size() -> float:
    """Points of small type, as `look` says."""
    return 7.5 if width() > NARROW else 6.0


def begin(height: float = 3.4, rows: int = 1, columns: int = 1, **shared: Any) -> tuple[Any, Any]:
    """A figure as wide as `look` says and its axes (an array of several), made without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width(), height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **shared)


def logarithmic(axes: Any, which: str, values: Iterable[float], unit: str = "") -> None:
    """A logarithmic axis around the positive ones of some values; it stays linear where there are none.

    `which` is ``x`` or ``y``. The axis spans a decade at least, so that it always has ticks. A `unit` of
    ``s`` is written at each of them, with its prefixes: ms, µs, ns.
    """
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator, StrMethodFormatter

    known = np.array([value for value in values if np.isfinite(value) and value > 0])
    if not known.size:
        return
    low, high = np.clip([known.min(), known.max()], 1e-60, 1e60)
    margin = max((high / low) ** 0.04, (10 * low / high) ** 0.5)
    getattr(axes, f"set_{which}lim")(low / margin, high * margin)  # limits first: a scale needs positive ones
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(EngFormatter(unit) if unit else StrMethodFormatter("{x:g}"))


def span(values: Iterable[float], always: Iterable[float] = (), reach: float = 2.5) -> tuple[float, float]:
    """The range of an axis around the bulk of some values, and around all of those that must be seen.

    Values further from the middle half than `reach` times its width are outside.
    """
    known = np.array([value for value in values if np.isfinite(value)])
    kept = [value for value in always if np.isfinite(value)]
    if known.size:
        lower, upper = np.quantile(known, [0.25, 0.75])
        far = reach * (upper - lower)
        kept += [max(known.min(), lower - far), min(known.max(), upper + far)]
    low, high = (min(kept), max(kept)) if kept else (0.0, 1.0)
    margin = 0.05 * (high - low) or max(0.01 * abs(high), 1e-3)
    return float(low - margin), float(high + margin)


def width_of(words: str, size: float) -> float:
    """Inches that the widest line of a text takes in a size of type."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    lines = words.split("\n")
    return float(max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines)) / 72


def fitted(label: str, inches: float, size: float, lines: int = LINES) -> str:
    """A label in a few lines of at most so many inches; if they do not hold it, its middle is left out.

    Variants of a method differ at the end of their labels, which is therefore kept.
    """
    label = text(label)
    label = f" {label}" if label.startswith("_") else label  # a legend would leave it out
    letters = max(4, int(1.3 * len(label) * inches / width_of(label, size)))
    while True:
        parts = textwrap.wrap(label, letters, break_on_hyphens=False, drop_whitespace=len(label) > letters)
        if len(parts) > lines:
            end = (letters - 1) // 2
            parts[lines - 1 :] = [f"{parts[lines - 1][: letters - 1 - end]}…{label[len(label) - end :]}"]
        found = "\n".join(parts)
        if letters <= 4 or width_of(found, size) <= inches:
            return found
        letters -= 1


def fitted_rows(labels: Sequence[str], inches: float) -> tuple[list[str], float, float]:
    """Labels that stand one above the other, their size of type, and the inches from one to the next.

    They have as many lines as hold them whole, and type as large as `TALLEST` and the lines allow.
    """
    room = 72 * TALLEST / max(1, len(labels))  # points for each
    for lines in range(1, LINES + 1):
        largest = (room - 2.0) / (lines * LEADING)
        if lines > 1 and largest < SMALLEST:
            break
        size = float(np.clip(largest, SMALLEST, type_size()))
        pitch = min(room, lines * LEADING * size + 2.0) / 72
        found = [fitted(label, inches, size, lines) for label in labels]
        if not any("…" in own for own in found):
            break
    return found, size, pitch


def legend(figure: Any, looks: Mapping[str, Style], batch: Collection[str] = ()) -> None:
    """A legend of the named methods, and of how many others there are; the figure grows where it needs room.

    Methods in `batch` have open marks.
    """
    from matplotlib.lines import Line2D

    narrow, size = width() < NARROW, type_size()
    inches = width() / 2 - 0.55 if narrow else 0.27 * width()
    named = {name: own for name, own in looks.items() if own.is_named}
    labels = [fitted(name, inches, size) for name in named]
    lines = [own.line(name in batch) for name, own in named.items()]
    if others := len(looks) - len(named):
        labels, lines = [*labels, counted(others, "other method")], [*lines, OTHERS]
    handles = [Line2D([], [], **{k: v for k, v in own.items() if k != "markevery"}) for own in lines]
    place = "outside lower center" if narrow else "outside right center"
    figure.legend(handles, labels, loc=place, ncols=2 if narrow else 1, frameon=False, fontsize=size)
    height = sum(label.count("\n") + 1.4 for label in labels) * LEADING * size / 72
    own = figure.get_figheight()
    figure.set_figheight(own + 0.6 * height + 0.1 if narrow else max(own, height + 0.2))
