"""Colours, markers, axes and labels, for matplotlib."""

import contextlib
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.reports.render.display import line
from aucbench.reports.report import Overall, Pairwise, Report

Picture = tuple[Any, str]  # the figure, and how to read it

MARKERS = {
    "circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "cross": "X", "plus": "P",
    "star": "*"}  # fmt: skip
DASHES: dict[str, Any] = {
    "solid": "-", "dashed": (0, (5, 2)), "dotted": (0, (1, 1.5)), "dashdot": (0, (5, 1.5, 1, 1.5)),
    "short": (0, (2.5, 1.5)), "dashdotdot": (0, (5, 1.5, 1, 1.5, 1, 1.5)),
}  # fmt: skip
WIDTHS = {"column": 3.35, "page": 7.0}  # inches, of one column and of both in the templates of most venues
NARROW = 5.0  # inches; a narrower figure has its legend below
HIGHLIGHTED = 8  # methods in one picture, at most
GREY, OTHERS = "0.78", " other method"  # colour of the other methods, and their label after their number
HIDDEN = "_"  # a label that no legend shows
LINES = 3  # of a label
TALLEST = 8.5  # inches of a figure: a page of a paper and a caption
BESIDE_ROWS = 1.0  # inches of it above and below its rows
SMALLEST, LEADING = 5.0, 1.2  # points of type, and how many times these a line takes
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Style(NamedTuple):
    """Of one method."""

    colour: str
    marker: str
    dashes: Any
    is_grey: bool = False  # one of many: thin, behind the others, and without a name in the legend

    def line(self, marked: bool = False, points: int = 0) -> dict[str, Any]:
        """Options of its line, of so many points; a marker on some of them if `marked`."""
        if self.is_grey:
            return {"color": self.colour, "linewidth": 0.6, "zorder": 1}
        marks = {"marker": self.marker, "markersize": 4, "markevery": max(1, points // 8)} if marked else {}
        return {"color": self.colour, "linestyle": self.dashes, "linewidth": 1.4, "zorder": 2.5} | marks


def foremost(methods: Sequence[str], baseline: str, most: int) -> list[str]:
    """At most so many of the methods: the baseline, if it is one of them, and the first."""
    first = [baseline] if baseline in methods else []
    kept = list(dict.fromkeys([*first, *methods]))[:most]
    return [method for method in methods if method in kept]


def highlighted(styles: Mapping[str, Style], overall: Overall) -> dict[str, Style]:
    """Grey for all but a few methods of a group: the baseline and those with the best mean ranks."""
    kept = foremost(overall.methods, overall.baseline, HIGHLIGHTED)
    return {
        method: style if method in kept else Style(GREY, "o", "-", is_grey=True)
        for method, style in styles.items()
    }


def legend(styles: Mapping[str, Style], methods: Sequence[str], names: Sequence[str] = ()) -> list[str]:
    """Labels of lines for a legend: names, and on the first of the grey ones how many these are."""
    labels = short(names or methods)
    grey = [at for at, method in enumerate(methods) if styles[method].is_grey]
    for at in grey:
        labels[at] = _others(len(grey)) if at == grey[0] else HIDDEN
    return labels


def _others(count: int) -> str:
    return f"{count}{OTHERS}{'s' * (count > 1)}"


def styles(report: Report) -> dict[str, Style]:
    """Method labels to what they are drawn with."""
    return {
        label: Style(look.colour, MARKERS[look.marker], DASHES[look.dashes])
        for label, look in report.looks.items()
    }


def begin(height: float = 4.2, columns: int = 1) -> tuple[Any, Any]:
    """A figure as wide as `look` says and its axes (an array of several columns), made without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width(), height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns)


def fitting(
    methods: Sequence[str], baseline: str, inches: float = TALLEST - BESIDE_ROWS, length: int = 30
) -> tuple[list[str], str]:
    """The methods whose labels fit one above the other in so many inches, and a sentence on the others.

    Where there is no room for all, these are the baseline and the first; the sentence is empty if there is.
    """
    lines = _lines(short(methods, length))
    shown = foremost(methods, baseline, int(72 * inches / (LEADING * SMALLEST * lines)))
    others = len(methods) - len(shown)
    if not others:
        return shown, ""
    return shown, f" The baseline and the best are shown; there is no room for {_others(others)}."


def type_size(labels: Sequence[str], inches: float) -> float:
    """Points in which labels stand one above the other in so many inches; the usual ones at most."""
    import matplotlib

    usual = float(matplotlib.rcParams["ytick.labelsize"])
    return min(usual, 72 * inches / (LEADING * len(labels) * _lines(labels)))


def _lines(labels: Sequence[str]) -> int:
    return max((label.count("\n") + 1 for label in labels), default=1)


def begin_rows(methods: Sequence[str]) -> tuple[Any, Any]:
    """A figure with a row for each method, the first on top; many rows are close to each other."""
    from matplotlib.ticker import MaxNLocator

    labels = short(methods)
    inches = min((0.22 + 0.12 * _lines(labels)) * len(labels), TALLEST - BESIDE_ROWS)
    figure, axes = begin(BESIDE_ROWS + inches)
    axes.set_yticks(range(len(labels)), labels, fontsize=type_size(labels, inches))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(axis="y", color="0.93", linewidth=0.5)  # fainter than what is drawn in grey
    axes.xaxis.set_major_locator(MaxNLocator(4 if width() < NARROW else 8))
    return figure, axes


def width() -> float:
    """Inches that a figure is wide, as `look` says."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0])


@contextlib.contextmanager
def look(width: str = "page") -> Iterator[None]:
    """The style of everything drawn while it lasts, in a width of `WIDTHS`; dollars in names are no formulas.

    Fonts are written as TrueType, which venues ask for; matplotlib's default in PDF is Type 3.
    """
    import matplotlib
    import seaborn as sns

    inches = WIDTHS[width]
    fonts: Any = {"pdf.fonttype": 42, "ps.fonttype": 42}
    size: Any = {"figure.figsize": (inches, inches * 0.65)}
    with (
        sns.axes_style("whitegrid", {"axes.edgecolor": "0.4"}),
        sns.plotting_context("paper", 1.0 if inches > NARROW else 0.8),
        matplotlib.rc_context({"text.parse_math": False, "text.usetex": False} | fonts | size),
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


def against_log(axes: Any, x: str, y: str, title: str) -> None:
    """A logarithmic x axis, headings, and a legend beside the axes or below, where it hides nothing."""
    axes.set_xscale("log")
    logarithmic(axes.xaxis, *axes.get_xlim())
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(line(title))
    figure, narrow = axes.figure, axes.figure.get_figwidth() < NARROW
    place = "outside lower center" if narrow else "outside right center"
    # The sort is stable: lines keep their order, and the other methods come last.
    found = sorted(zip(*axes.get_legend_handles_labels(), strict=True), key=lambda item: OTHERS in item[1])
    figure.legend(
        *zip(*found, strict=True), loc=place, ncols=2 if narrow else 1, frameon=False, fontsize="small"
    )


def power(value: float) -> str:
    """A power of ten."""
    return f"10{str(round(np.log10(value))).translate(SUPERSCRIPTS)}" if value > 0 else f"{value:g}"


def height(labels: Sequence[str]) -> float:
    """Of a figure with a legend of these labels."""
    lines = sum(label.count("\n") + 1 for label in labels if label != HIDDEN)
    return 2.4 + 0.07 * lines if width() < NARROW else max(4.2, 1.0 + 0.165 * lines)


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


def p_values(
    methods: Sequence[str], baseline: str, pairwise: Pairwise, title: str, sentence: str
) -> Picture | None:
    """P-values of all pairs, of as many methods as fit; None with fewer than two or no test at all."""
    import seaborn as sns

    longest = max((len(part) for label in short(methods, 24) for part in label.split("\n")), default=0)
    inches = width() - 0.9 - 0.6 * SMALLEST / 72 * longest  # of the matrix: without the scale and labels
    shown, missing = fitting(methods, baseline, inches, 24)
    size, names = len(shown), short(shown, 24)
    values = np.array([[pairwise.get((one, other), np.nan) for other in shown] for one in shown])
    if size < 2 or np.isnan(values).all():
        return None
    written = np.array([["<.01" if p < 0.01 else f"{p:.2f}" for p in row] for row in values])
    figure, axes = begin(0.85 * width())
    sns.heatmap(
        values, vmin=0.0, vmax=0.2, cmap="viridis", annot=written if size <= 2 * width() else None, fmt="",
        annot_kws={"fontsize": "x-small"}, xticklabels=names, yticklabels=names, ax=axes, square=True,
        cbar_kws={"label": "p-value", "shrink": 0.7, "extend": "max"}, linewidths=0.5, linecolor="white",
    )  # fmt: skip
    axes.set_title(line(title))
    points = type_size(names, inches)
    axes.tick_params(axis="x", rotation=90, labelsize=points)
    axes.tick_params(axis="y", rotation=0, labelsize=points)
    axes.grid(visible=False)
    return figure, sentence + missing
