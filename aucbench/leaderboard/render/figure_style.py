"""Colours, markers, axes and labels, for matplotlib."""

import contextlib
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.leaderboard.render.display import line
from aucbench.leaderboard.report import Report

MARKERS = {"circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "cross": "X"}
DASHES: dict[str, Any] = {
    "solid": "-", "dashed": (0, (5, 2)), "dotted": (0, (1, 1.5)), "dashdot": (0, (5, 1.5, 1, 1.5)),
    "short": (0, (2.5, 1.5)),
}  # fmt: skip
LUMINANCE = 0.45  # lighter colours cannot be seen on white
LINES = 3  # of a label
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Style(NamedTuple):
    """Of one method."""

    colour: str
    marker: str
    dashes: Any


def styles(report: Report) -> dict[str, Style]:
    """Method labels to what they are drawn with."""
    return {
        label: Style(legible(look.colour), MARKERS[look.marker], DASHES[look.dashes])
        for label, look in report.looks.items()
    }


def legible(colour: str) -> str:
    """The same hue, as dark as it must be to stand out from white."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = to_rgb(colour)
    share = min(1.0, LUMINANCE / max(1e-9, 0.2126 * red + 0.7152 * green + 0.0722 * blue))
    return to_hex((share * red, share * green, share * blue))


def begin(width: float = 7.0, height: float = 4.6, columns: int = 1) -> tuple[Any, Any]:
    """A figure and its axes (an array of several columns), made without the display's help."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns)


@contextlib.contextmanager
def look() -> Iterator[None]:
    """The style of everything drawn while it lasts; dollars in names are no formulas."""
    import matplotlib
    import seaborn as sns

    with (
        sns.axes_style("whitegrid", {"axes.edgecolor": "0.4"}),
        sns.plotting_context("paper", 1.15),
        matplotlib.rc_context({"text.parse_math": False, "text.usetex": False}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def logarithmic(axis: Any, low: float, high: float) -> None:
    """Ticks of a logarithmic axis, plain numbers where it spans little."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    narrow = high < 100 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if narrow or 1e-3 < value < 1e4 else power(value))
    )


def power(value: float) -> str:
    """A power of ten."""
    return f"10{str(round(np.log10(value))).translate(SUPERSCRIPTS)}" if value > 0 else f"{value:g}"


def height(labels: Sequence[str]) -> float:
    """Of a figure with a legend of these labels."""
    return max(4.6, 1.0 + 0.185 * sum(label.count("\n") + 1 for label in labels))


def short(labels: Sequence[str], length: int = 30) -> list[str]:
    """Labels in a few lines of a length; where the end would tell them apart, the middle is left out."""
    found = []
    for label in map(line, labels):
        lines = textwrap.wrap(label, length, break_on_hyphens=False) or [" "]
        if len(lines) > LINES:
            lines = [*lines[: LINES - 1], "…" + label[-length + 1 :]]
        text = "\n".join(lines)
        found.append(f" {text}" if text.startswith("_") else text)  # else a legend leaves it out
    return found
