"""The style of pictures for papers: widths, fonts, axes and shortened labels."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from aucbench.reports.columns import text

WIDTHS = {"column": 3.35, "page": 7.0}  # inches: one column and two columns of common templates
# The first font of a list matches papers; the second font has letters that the first lacks.
FONTS = {"sans": ["DejaVu Sans"], "serif": ["STIXGeneral", "DejaVu Serif"]}
NARROW = 5.0  # inches; narrower figures have the legend below
LETTER = 0.62  # upper estimate of the width of a letter in ems


@contextlib.contextmanager
def look(width: str = "page", font: str = "sans") -> Iterator[None]:
    """A context with the style of figures, for a width of `WIDTHS` and a font of `FONTS`.

    Fonts are embedded as TrueType, which venues require; matplotlib's default in PDF is Type 3. Dollar signs
    in names do not start formulas.
    """
    import matplotlib
    import seaborn as sns

    inches = WIDTHS[width]
    options: Any = {
        "pdf.fonttype": 42, "ps.fonttype": 42, "font.family": FONTS[font], "text.parse_math": False,
        "figure.figsize": (inches, inches * 0.65), "axes.linewidth": 0.7, "grid.linewidth": 0.5,
    }  # fmt: skip
    with (
        sns.axes_style("whitegrid", {"axes.edgecolor": "0.4", "grid.color": "0.9"}),
        sns.plotting_context("paper", 0.9 if inches > NARROW else 0.72),
        matplotlib.rc_context(options),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def width() -> float:
    """The width of a figure in inches, as set by `look`."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0])


def type_size() -> float:
    """The size of small type in points, for the width of `look`."""
    return 7.0 if width() > NARROW else 5.5


def begin(height: float = 3.4, rows: int = 1, columns: int = 1, **shared: Any) -> tuple[Any, Any]:
    """A figure with the width of `look` and its axes (or an array of axes), without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width(), height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **shared)


def logarithmic(axes: Any, values: Iterable[float], unit: str = "") -> None:
    """A logarithmic x axis around the positive values; it stays linear if no value is positive.

    The axis spans at least a decade, so that it has ticks. The `unit` ``s`` is written at each tick with
    prefixes: ms, µs, ns.
    """
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator, StrMethodFormatter

    positives = np.array([value for value in values if np.isfinite(value) and value > 0])
    if not positives.size:
        return
    low, high = np.clip([positives.min(), positives.max()], 1e-60, 1e60)
    margin = max((high / low) ** 0.04, (10 * low / high) ** 0.5)
    axes.set_xlim(low / margin, high * margin)  # before the scale, which needs positive limits
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(EngFormatter(unit) if unit else StrMethodFormatter("{x:g}"))


def span(values: Iterable[float], always: Iterable[float] = (), reach: float = 2.5) -> tuple[float, float]:
    """The range of an axis around the bulk of `values`, and around all values of `always`.

    Values further from the interquartile range than `reach` times its width are outside.
    """
    data, anchors = (np.array([value for value in group if np.isfinite(value)]) for group in (values, always))
    if data.size:
        lower, upper = np.quantile(data, [0.25, 0.75])
        distance = reach * (upper - lower)
        anchors = np.append(anchors, np.clip([data.min(), data.max()], lower - distance, upper + distance))
    low, high = (anchors.min(), anchors.max()) if anchors.size else (0.0, 1.0)
    margin = 0.05 * (high - low) or max(0.01 * abs(high), 1e-3)
    return float(low - margin), float(high + margin)


def shortened(label: str, inches: float, size: float) -> str:
    """A label of about `inches` at most, cut in the middle, because variants differ at the end."""
    label = text(label)
    label = f" {label}" if label.startswith("_") else label  # a legend would leave it out
    letters = max(5, int(72 * inches / (LETTER * size)))
    return label if len(label) <= letters else f"{label[: letters // 2]}…{label[-((letters - 1) // 2) :]}"
