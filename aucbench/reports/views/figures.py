"""Pictures of a report as PDF, PNG and SVG: the forest plot of each setting, and curves of each data set."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aucbench.reports.columns import VERDICT_COLOURS, VERDICTS, signed
from aucbench.reports.report import Report
from aucbench.reports.views.figure_style import (
    MOST_ROWS,
    NARROW,
    Style,
    begin,
    fitted,
    fitted_rows,
    legend,
    logarithmic,
    look,
    span,
    styles,
    type_size,
    width,
    width_of,
)

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("png", "svg", "pdf")
NAMED = 8  # methods of a picture that have a colour and a name, at most
START = 6  # pictures that come first
COSTS = {"seconds": ("training time", "s"), "passes": ("passes over the training rows", "")}  # title, unit


class Drawn(NamedTuple):
    """The pictures that were drawn."""

    files: list[Path]
    start: list[str]  # names of the pictures to start with, `START` at most
    lacking: list[str]  # titles of those for which there are no numbers


def draw_all(report: Report, folder: Path, width: str = "page", font: str = "sans") -> Drawn:
    """Draw and write every picture that the report has numbers for.

    They have no titles, since a paper has captions of its own. `width` is one of `figure_style.WIDTHS` and
    `font` one of `figure_style.FONTS`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    names: list[str] = []
    lacking: list[str] = []
    with look(width, font):
        for title, figure in pictures(report):
            if figure is None:
                lacking.append(title)
                continue
            names.append(_file_name(title, {each.lower() for each in names}))
            for form in FORMATS:
                files.append(folder / f"{names[-1]}.{form}")
                figure.savefig(files[-1], dpi=150, metadata={"Date": None} if form == "svg" else None)
    return Drawn(files, names[:START], lacking)


def pictures(report: Report) -> Iterator[tuple[str, Any]]:
    """Every picture with its title, those to start with first; None without numbers."""
    looks: dict[str, dict[str, Style]] = {}
    for setting in report.settings:
        table = report.ranking(setting)
        names = report.references[setting], *table.loc[table["front"], "method"], *table["method"]
        first = [name for name in names if name]
        looks[setting] = styles(first, list(dict.fromkeys(first))[:NAMED])
        yield f"forest {setting}", forest(report, setting, table)
    data_sets = report.data_sets  # the largest have the most to show between the first row and the last
    if "rows" in data_sets:
        data_sets = data_sets.sort_values("rows", ascending=False, kind="stable")
    for facts in data_sets.to_dict("records"):
        yield f"curves {facts['data_set']} {facts['setting']}", curves(report, facts, looks[facts["setting"]])


def _file_name(title: str, taken: Collection[str]) -> str:
    """A name that every file system takes, and no other picture has."""
    safe = re.sub(r"[^A-Za-z0-9.=_-]+", "-", title).strip("-.")[:100] or "picture"
    names = chain([safe], (f"{safe}-{number}" for number in count(2)))
    return next(name for name in names if name.lower() not in taken)


def forest(report: Report, setting: str, table: "pd.DataFrame") -> Any:
    """The gains with their intervals over the band of the rope, and beside them verdicts, times and means.

    Times are relative to the reference. Arrows mark gains and intervals that go on beyond the axis. None
    where no method has a gain.
    """
    reference, rope, narrow = report.references[setting], report.rope, width() < NARROW
    if table["gain"].notna().sum() == 0:
        return None
    kept = table[(table["method"] == reference) | (np.arange(len(table)) < MOST_ROWS - 1)]
    rows: Any = kept.to_dict("records")
    labels, size, pitch = fitted_rows([row["method"] for row in rows], (0.33 if narrow else 0.4) * width())
    figure, axes = begin(0.65 + pitch * len(rows))
    low, high = span(
        [row[name] for row in rows for name in ("low", "high", "gain")],
        [0.0, *((-1.5 * rope, 1.5 * rope) if rope else ())],
    )
    if rope:
        axes.axvspan(-rope, rope, color="0.9", linewidth=0, zorder=0)
    axes.axvline(0.0, color="0.45", linewidth=0.8, zorder=1)
    for place, row in enumerate(rows):
        _gain(axes, place, row, (low, high), row["method"] == reference, size)
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), labels, fontsize=size)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=4 if narrow else 7)
    axes.tick_params(axis="x", labelsize=size)
    axes.set_xlabel(
        fitted(f"gain in {report.measure.symbol} over {reference}", 0.9 * width(), size, 2), fontsize=size
    )
    columns = {"class_of_model": "model"} if table["class_of_model"].nunique() > 1 else {}
    columns |= {"verdict": "verdict", "time_ratio": "time"} | (
        {} if narrow else {"mean": report.measure.symbol}
    )
    _write_columns(axes, rows, columns, reference, size)
    if missing := len(table) - len(kept):
        axes.set_title(f"without {missing} other method{'s' * (missing > 1)}", fontsize=size, color="0.45")
    return figure


def _gain(
    axes: Any, place: int, row: dict[str, Any], limits: tuple[float, float], is_reference: bool, size: float
) -> None:
    """Draw a gain and its interval, with arrows where they go on beyond the limits."""
    low, high = limits
    gain, verdict = row["gain"], row["verdict"]
    if is_reference:
        axes.plot([0.0], [place], "|", color="0.2", markersize=size)
    if is_reference or np.isnan(gain):
        return
    colour = VERDICT_COLOURS.get(verdict, VERDICT_COLOURS["undecided"])[0]
    ends = np.clip([row["low"], row["high"]], low, high)
    edges = [(low, "<", row["low"] < low), (high, ">", row["high"] > high)]
    inside = low <= gain <= high
    if inside:
        axes.plot(ends, [place, place], color=colour, linewidth=1.1, solid_capstyle="butt", zorder=2)
    for edge, marker, beyond in edges:
        if beyond or (not inside and (gain < low) == (marker == "<")):
            axes.plot([edge], [place], marker, color=colour, markersize=0.55 * size, clip_on=False, zorder=3)
    if inside:
        fill = "white" if verdict in ("undecided", "not worse") else colour
        axes.plot([gain], [place], "o", color=colour, markerfacecolor=fill, markersize=0.55 * size, zorder=3)
    else:
        at, side, offset = (low, "left", size) if gain < low else (high, "right", -size)
        words = signed(gain) if width() < NARROW else VERDICTS["gain"].shown(row)
        axes.annotate(
            words, (at, place), (offset, 0), textcoords="offset points", ha=side, va="center",
            fontsize=size - 0.5, color=colour, zorder=4,
        )  # fmt: skip


def _write_columns(
    axes: Any, rows: Sequence[dict[str, Any]], columns: dict[str, str], reference: str, size: float
) -> None:
    """Columns of text to the right of the rows."""
    offset = size
    for name, heading in columns.items():
        words = [VERDICTS[name].shown(row) for row in rows]
        points = 72 * max(width_of(own, size) for own in [heading, *words])
        side, at = ("left", offset) if VERDICTS[name].is_text else ("right", offset + points)
        for place, (own, row) in enumerate(zip(words, rows, strict=True)):
            if name == "verdict" and row["method"] == reference:
                own = "reference"
            colour = VERDICT_COLOURS.get(own, ("0.45",))[0] if name == "verdict" else "0.2"
            axes.annotate(
                own, (1.0, place), (at, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                ha=side, va="center", fontsize=size, color=colour, annotation_clip=False,
            )  # fmt: skip
        axes.annotate(
            heading, (1.0, 1.0), (at, 2), xycoords="axes fraction", textcoords="offset points", ha=side,
            va="bottom", fontsize=size, color="0.45", annotation_clip=False,
        )  # fmt: skip
        offset += points + size


def curves(report: Report, facts: Any, looks: dict[str, Style]) -> Any:
    """Mean test values over the runs with whole curves, against training time and passes over the rows.

    Bands are one standard deviation wide to either side. Values far below the final ones are outside; open
    marks are iterations over all rows, such as Newton steps; the dotted line is the target. None without a
    checkpoint that has a value.
    """
    own = report.part("curves", facts["setting"], facts["data_set"]).dropna(subset=["mean"])
    if not len(own):
        return None
    by_method = dict(list(own.groupby("method", sort=False)))
    drawn = {name: style for name, style in looks.items() if name in by_method}
    final, target = {name: part["mean"].iloc[-1] for name, part in by_method.items()}, facts["target"]
    limits = span(final.values(), [*(final[name] for name in drawn if drawn[name].is_named), target])
    results = report.part("results", facts["setting"], facts["data_set"])
    batch = set(results.loc[results["iteration"] != "", "method"]) & set(drawn)
    narrow, size = width() < NARROW, type_size()
    shape = (len(COSTS), 1) if narrow else (1, len(COSTS))
    figure, every = begin(3.6 if narrow else 2.9, *shape, sharey=True)
    for axes, (column, (heading, unit)) in zip(every, COSTS.items(), strict=True):
        any_cost = own[column].gt(0).any()  # else the axis is linear, and shows that there was none
        for name, style in drawn.items():
            part = by_method[name]
            part = part[part[column].gt(0)] if any_cost else part
            axes.plot(part[column], part["mean"], **style.line(name in batch))
            if style.is_named:
                low, high = part["mean"] - part["std"], part["mean"] + part["std"]
                axes.fill_between(part[column], low, high, color=style.colour, alpha=0.12, linewidth=0)
        logarithmic(axes, "x", own.loc[own["mean"].between(*limits), column], unit)
        axes.set_xlabel(heading, fontsize=size)
        axes.tick_params(labelsize=size)
        axes.set_ylim(*limits)
        if np.isfinite(target):
            axes.axhline(target, color="0.4", linewidth=0.8, linestyle=":", zorder=1)
    every[0].set_ylabel(f"test {report.measure.symbol}", fontsize=size)
    legend(figure, drawn, batch)
    return figure
