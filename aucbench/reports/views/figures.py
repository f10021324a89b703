"""Pictures of a report as PDF, PNG and SVG: the forest plot of each setting, and curves of data sets."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aucbench.humanize import counted
from aucbench.reports.columns import VERDICT_COLOURS, VERDICTS, signed
from aucbench.reports.report import Report
from aucbench.reports.views.figure_style import (
    LETTER,
    NARROW,
    begin,
    logarithmic,
    look,
    shortened,
    span,
    type_size,
    width,
)
from aucbench.studies import method_look
from aucbench.studies.method_look import Look, shown_looks

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("png", "svg", "pdf")
NAMED = 8  # largest number of methods of a picture with colour and name
OTHERS: dict[str, Any] = {"color": "0.78", "linewidth": 0.5, "zorder": 1}  # lines of methods without a name
LARGEST = 5  # number of data sets of a setting with curves, unless data sets are named
TALLEST = 7.6  # largest height in inches of the rows of a forest plot, to fit a page
COSTS = {"seconds": ("training time", "s"), "passes": ("passes over the training rows", "")}  # title, unit
MARKERS = dict(zip(method_look.MARKERS, "os^DvXP*", strict=True))


class Drawn(NamedTuple):
    """The files of the pictures, and the titles of pictures without numbers."""

    files: list[Path]
    lacking: list[str]


def draw_all(
    report: Report, folder: Path, width: str = "page", font: str = "sans", data_sets: Collection[str] = ()
) -> Drawn:
    """Write the forest plot of each setting, and curves of some data sets, by default of the largest five.

    The pictures have no titles, because papers have captions. `width` is one of
    `figure_style.WIDTHS` and `font` one of `figure_style.FONTS`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()  # names of files in lower case
    drawn = Drawn([], [])
    with look(width, font):
        for title, figure in pictures(report, data_sets):
            if figure is None:
                drawn.lacking.append(title)
                continue
            safe = re.sub(r"[^A-Za-z0-9.=_-]+", "-", title).strip("-.")[:100]
            names = [safe, *(f"{safe}-{number}" for number in range(2, len(taken) + 3))]
            name = next(candidate for candidate in names if candidate.lower() not in taken)
            taken.add(name.lower())
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # freezes the layout for every format
            for form in FORMATS:
                drawn.files.append(folder / f"{name}.{form}")
                figure.savefig(drawn.files[-1], dpi=150, metadata={"Date": None} if form == "svg" else None)
    return drawn


def pictures(report: Report, data_sets: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Every picture with its title; None for a picture without numbers."""
    for setting in report.settings:
        table = report.ranking(setting)
        names = report.references[setting], *table.loc[table["front"], "method"], *table["method"]
        named = shown_looks(list(dict.fromkeys(filter(None, names)))[:NAMED])
        yield f"forest {setting}", forest(report, setting, table)
        facts = report.part("data_sets", setting)
        if "rows" in facts:  # the largest data sets have the most informative curves
            facts = facts.sort_values("rows", ascending=False, kind="stable")
        facts = facts[facts["data_set"].isin(data_sets)] if data_sets else facts[:LARGEST]
        for record in facts.to_dict("records"):
            yield f"curves {record['data_set']} {setting}", curves(report, record, named)


def forest(report: Report, setting: str, table: "pd.DataFrame") -> Any:
    """The gains with their intervals over the band of the rope, and beside them verdicts, times and means.

    Times are relative to the reference. Arrows mark gains and intervals that extend beyond the axis. None if
    no method has a gain.
    """
    reference, rope, narrow = report.references[setting], report.rope, width() < NARROW
    if table["gain"].isna().all():
        return None
    rows: Any = table.to_dict("records")
    pitch = min(0.16, TALLEST / len(rows))
    size = min(type_size(), 72 * pitch / 1.2)
    figure, axes = begin(0.65 + pitch * len(rows))
    limits = span(
        [row[name] for row in rows for name in ("low", "high", "gain")],
        [0.0, *((-1.5 * rope, 1.5 * rope) if rope else ())],
    )
    if rope:
        axes.axvspan(-rope, rope, color="0.9", linewidth=0, zorder=0)
    axes.axvline(0.0, color="0.45", linewidth=0.8, zorder=1)
    for index, row in enumerate(rows):
        if row["method"] == reference:
            axes.plot([0.0], [index], "|", color="0.2", markersize=size)
            row["verdict"] = "reference"
        elif row["gain"] == row["gain"]:
            _gain(axes, index, row, limits, size)
    axes.set_xlim(*limits)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    labels = [shortened(row["method"], 0.36 * width(), size) for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=size)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=4 if narrow else 7)
    axes.tick_params(axis="x", labelsize=size)
    gain = f"gain in {report.measure.symbol} over "
    axes.set_xlabel(gain + shortened(reference, 0.3 * width(), size), fontsize=size)
    columns = {"class_of_model": "model"} if table["class_of_model"].nunique() > 1 else {}
    columns |= {"verdict": "verdict", "time_ratio": "time"}
    columns |= {} if narrow else {"mean": report.measure.symbol}
    _write_columns(axes, rows, columns, size)
    return figure


def _gain(axes: Any, index: int, row: Mapping[str, Any], limits: tuple[float, float], size: float) -> None:
    """Draw a gain and its interval, with arrows if they extend beyond the limits."""
    low, high = limits
    gain, verdict = row["gain"], row["verdict"]
    colour = VERDICT_COLOURS.get(verdict, VERDICT_COLOURS["undecided"])[0]
    style: Any = {"color": colour, "markersize": 0.55 * size, "zorder": 3}
    if low <= gain <= high:
        ends = np.clip([row["low"], row["high"]], low, high)
        axes.plot(ends, [index, index], color=colour, linewidth=1.1, solid_capstyle="butt", zorder=2)
        fill = "white" if verdict in ("undecided", "not worse") else colour
        axes.plot([gain], [index], "o", markerfacecolor=fill, **style)
    else:
        at, side, offset = (low, "left", size) if gain < low else (high, "right", -size)
        axes.annotate(
            signed(gain), (at, index), (offset, 0), textcoords="offset points", ha=side, va="center",
            fontsize=size - 0.5, color=colour, zorder=4,
        )  # fmt: skip
    if min(row["low"], gain) < low:
        axes.plot([low], [index], "<", clip_on=False, **style)
    if max(row["high"], gain) > high:
        axes.plot([high], [index], ">", clip_on=False, **style)


def _write_columns(
    axes: Any, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], size: float
) -> None:
    """Columns of text to the right of the rows."""
    offset = size
    for name, heading in columns.items():
        texts = [VERDICTS[name].shown(row) for row in rows]
        points = LETTER * size * max(map(len, [heading, *texts]))
        side, at = ("left", offset) if VERDICTS[name].is_text else ("right", offset + points)
        common: Any = {"textcoords": "offset points", "ha": side, "fontsize": size, "annotation_clip": False}
        for index, text in enumerate(texts):
            colour = VERDICT_COLOURS.get(text, ("0.3",))[0]
            axes.annotate(
                text, (1.0, index), (at, 0), xycoords=axes.get_yaxis_transform(), va="center", color=colour,
                **common,
            )  # fmt: skip
        axes.annotate(
            heading, (1.0, 1.0), (at, 2), xycoords="axes fraction", va="bottom", color="0.45", **common
        )
        offset += points + size


def curves(report: Report, facts: Mapping[Any, Any], named: Mapping[str, Look]) -> Any:
    """Mean test values over the runs with whole curves, against training time and passes over the rows.

    Bands are one standard deviation on either side. Values far below the final values are outside; open
    markers are iterations over all rows, such as Newton steps; the dotted line is the target; methods that
    are not `named` are grey. None if no checkpoint has a value.
    """
    points = report.part("curves", facts["setting"], facts["data_set"]).dropna(subset=["mean"])
    if not len(points):
        return None
    final, target = points.groupby("method", sort=False)["mean"].last(), facts["target"]
    named = {name: named[name] for name in named if name in final}
    others = [name for name in final.index if name not in named]
    limits = span(final, [*final[list(named)], target])
    results = report.part("results", facts["setting"], facts["data_set"])
    batch = set(results.loc[results["iteration"] != "", "method"])
    narrow, size = width() < NARROW, type_size()
    figure, panels = begin(*((4.4, 2, 1) if narrow else (2.9, 1, 2)), sharey=True)
    for axes, (column, (heading, unit)) in zip(panels, COSTS.items(), strict=True):
        # Without any positive cost the axis is linear and shows zeros.
        visible = points[points[column].gt(0)] if points[column].gt(0).any() else points
        for name, style in named.items():
            part = visible[visible["method"] == name]
            short = shortened(name, (0.37 if narrow else 0.24) * width(), size)
            axes.plot(part[column], part["mean"], **_line(style, name in batch), label=short)
            low, high = part["mean"] - part["std"], part["mean"] + part["std"]
            axes.fill_between(part[column], low, high, color=style.colour, alpha=0.12, linewidth=0)
        for name in others:
            part = visible[visible["method"] == name]
            label = counted(len(others), "other method") if name == others[0] else None
            axes.plot(part[column], part["mean"], **OTHERS, label=label)
        logarithmic(axes, points.loc[points["mean"].between(*limits), column], unit)
        axes.set_xlabel(heading, fontsize=size)
        axes.tick_params(labelsize=size)
        axes.set_ylim(*limits)
        if np.isfinite(target):
            axes.axhline(target, color="0.4", linewidth=0.8, linestyle=":", zorder=1)
    panels[0].set_ylabel(f"test {report.measure.symbol}", fontsize=size)
    location = "outside lower center" if narrow else "outside right center"
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc=location, ncols=2 if narrow else 1, frameon=False, fontsize=size)
    return figure


def _line(look: Look, is_batch: bool) -> dict[str, Any]:
    """The style of a line, with markers at some of its points.

    A method whose iterations go through all rows has an open marker at each point.
    """
    style = {"color": look.colour, "marker": MARKERS[look.marker], "markersize": 3.5, "linewidth": 1.2}
    fill: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 0.8}
    return style | (fill if is_batch else {"markevery": 0.15}) | {"zorder": 2.5}
