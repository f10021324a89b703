"""How methods look in pictures: colour, marker and dashes; the colour is the method's in every view."""

import contextlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from aucbench.boards.report import Report

MARKERS = "osD^vP*X<>pdh8"
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))


class Style(NamedTuple):
    """Of one method."""

    colour: str
    marker: str
    dashes: Any


def styles(report: Report) -> dict[str, Style]:
    """Method labels to styles.

    Methods of like colour, or readers who see few colours, are told apart by marker and dashes, which go by
    the name of the algorithm, too; rows of one algorithm differ in dashes.
    """
    found: dict[str, Style] = {}
    seen: dict[str, int] = {}
    for board in report.boards:
        for row in board.rows:
            if row.method in found:
                continue
            number = seen.get(row.algorithm, 0)
            seen[row.algorithm] = number + 1
            digest = sha256(row.algorithm.encode()).digest()
            found[row.method] = Style(
                report.colours.get(row.algorithm, "#444444"),
                MARKERS[(digest[0] + number) % len(MARKERS)],
                DASHES[(digest[1] + number) % len(DASHES)],
            )
    return found


def begin(width: float = 7.0, height: float = 4.6) -> tuple[Any, Any]:
    """A figure and its axes, made without the display's help."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


@contextlib.contextmanager
def look() -> Iterator[None]:
    """The style of everything drawn while it lasts."""
    import seaborn as sns

    with sns.axes_style("whitegrid", {"axes.edgecolor": "0.4"}), sns.plotting_context("paper", 1.15):
        yield


def logarithmic(axis: Any, low: float, high: float) -> None:
    """Ticks of a logarithmic axis, plain numbers where it spans little."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    narrow = high < 100 * max(low, 1e-300)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
    axis.set_minor_locator(NullLocator())
    if narrow:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def legend(axes: Any, entries: int) -> None:
    """Beside the axes, so that it hides nothing."""
    if entries:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")


def wrapped(text: str, width: float) -> str:
    """A sentence in lines as long as a figure of that many inches is wide."""
    import textwrap

    return "\n".join(textwrap.wrap(text, int(width * 14)))


def short(labels: Sequence[str], length: int = 28) -> list[str]:
    """Labels cut to a length."""
    return [label if len(label) <= length else label[: length - 1] + "…" for label in labels]
