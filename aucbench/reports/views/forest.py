"""The forest plot: the gains of all methods with their intervals, verdicts, times and means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.reports.columns import VERDICT_COLOURS, VERDICTS, signed
from aucbench.reports.report import Report
from aucbench.reports.views.figure_style import (
    MOST_ROWS,
    NARROW,
    begin,
    fitted,
    fitted_rows,
    span,
    width,
    width_of,
)

if TYPE_CHECKING:
    import pandas as pd


def verdict_rows(report: Report, setting: str) -> "pd.DataFrame":
    """The verdicts over all data sets, the best gain first; on a single data set, those over its runs."""
    table, own = report.over_all(setting), report.part("gains", setting)
    if own["data_set"].nunique() == 1:
        known = own.set_index("method")
        table = table.assign(
            **{name: table["method"].map(known[name]) for name in ("low", "high", "verdict")}
        )
    return table.astype(dict.fromkeys(("gain", "low", "high", "mean", "time_ratio"), float))


def forest(report: Report, setting: str, table: "pd.DataFrame") -> tuple[Any, str]:
    """The gains with their intervals over the band of the rope, and beside them verdicts, times and means."""
    reference, rope, narrow = report.references[setting], report.rope, width() < NARROW
    if table["gain"].notna().sum() == 0:
        return None, "no method has a gain over the reference" + ", which was not run" * (not reference)
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
    clipped = False
    for place, row in enumerate(rows):
        clipped |= _gain(axes, place, row, (low, high), row["method"] == reference, size)
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
    within = "families of data sets" if report.gains["data_set"].nunique() > 1 else "runs of the data set"
    sentence = (
        f"Mean gain in test {report.measure.title} over {reference} with its 95 % interval over the "
        f"{within}; further right is better."
    )
    if rope:
        sentence += f" Differences inside the grey band (±{rope:g}) do not matter in practice."
    sentence += f" Time is the training time relative to {reference}."
    if clipped:
        sentence += " Arrows mark gains and intervals that go on beyond the axis."
    if missing := len(table) - len(kept):
        sentence += f" There is no room for {missing} other method{'s' * (missing > 1)}."
    return figure, sentence


def _gain(
    axes: Any, place: int, row: dict[str, Any], limits: tuple[float, float], is_reference: bool, size: float
) -> bool:
    """Draw a gain and its interval; whether some of it is beyond the limits."""
    low, high = limits
    gain, verdict = row["gain"], row["verdict"]
    if is_reference:
        axes.plot([0.0], [place], "|", color="0.2", markersize=size)
    if is_reference or np.isnan(gain):
        return False
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
    return not inside or any(beyond for _, _, beyond in edges)


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
