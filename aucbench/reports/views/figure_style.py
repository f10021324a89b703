"""The style of pictures for papers: widths, fonts, axes, and labels that fit."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from aucbench.reports.columns import text

WIDTHS = {"column": 3.35, "page": 7.0}  # inches: one column and both columns of common templates
# The first of each is what papers are set in; the second has the letters that the first lacks.
FONTS = {"sans": ["DejaVu Sans"], "serif": ["STIXGeneral", "DejaVu Serif"]}
NARROW = 5.0  # inches; narrower figures have their legend below
LETTER = 0.62  # width of a letter in ems, mostly less


@contextlib.contextmanager
def look(width: str = "page", font: str = "sans") -> Iterator[None]:
    """The style of everything drawn while it lasts, in a width of `WIDTHS` and one of the `FONTS`.

    Fonts are written as TrueType, which venues ask for; matplotlib's default in PDF is Type 3. Dollars in
    names are no formulas.
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
    """Inches that a figure is wide, as `look` says."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0])


def type_size() -> float:
    """Points of small type, as `look` says."""
    return 7.0 if width() > NARROW else 5.5


def begin(height: float = 3.4, rows: int = 1, columns: int = 1, **shared: Any) -> tuple[Any, Any]:
    """A figure as wide as `look` says and its axes (an array of several), made without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width(), height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **shared)


def logarithmic(axes: Any, values: Iterable[float], unit: str = "") -> None:
    """A logarithmic x axis around the positive ones of some values; it stays linear where there are none.

    It spans a decade at least, so that it has ticks. A `unit` of ``s`` is written at each of them, with its
    prefixes: ms, µs, ns.
    """
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator, StrMethodFormatter

    known = np.array([value for value in values if np.isfinite(value) and value > 0])
    if not known.size:
        return
    low, high = np.clip([known.min(), known.max()], 1e-60, 1e60)
    margin = max((high / low) ** 0.04, (10 * low / high) ** 0.5)
    axes.set_xlim(low / margin, high * margin)  # before the scale, which needs positive limits
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(EngFormatter(unit) if unit else StrMethodFormatter("{x:g}"))


def span(values: Iterable[float], always: Iterable[float] = (), reach: float = 2.5) -> tuple[float, float]:
    """The range of an axis around the bulk of some values, and around all of those that must be seen.

    Values further from the middle half than `reach` times its width are outside.
    """
    known, kept = (np.array([each for each in own if np.isfinite(each)]) for own in (values, always))
    if known.size:
        lower, upper = np.quantile(known, [0.25, 0.75])
        far = reach * (upper - lower)
        kept = np.append(kept, np.clip([known.min(), known.max()], lower - far, upper + far))
    low, high = (kept.min(), kept.max()) if kept.size else (0.0, 1.0)
    margin = 0.05 * (high - low) or max(0.01 * abs(high), 1e-3)
    return float(low - margin), float(high + margin)


def shortened(label: str, inches: float, size: float) -> str:
    """A label that takes about so many inches: its middle is left out, since variants differ at the end."""
    label = text(label)
    label = f" {label}" if label.startswith("_") else label  # a legend would leave it out
    letters = max(5, int(72 * inches / (LETTER * size)))
    return label if len(label) <= letters else f"{label[: letters // 2]}…{label[-((letters - 1) // 2) :]}"
