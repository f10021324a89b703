"""Data for the script of the page: the frames of a report in columns, and verdicts for every reference."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import to_builtins

from aucbench.evaluation.measures import Measure
from aucbench.reports.answer import answer
from aucbench.reports.columns import DATA_SETS, RESULTS, SLOPES, VERDICT_COLOURS, VERDICTS, Column
from aucbench.reports.gains import compared, gains_of, groups_of_data, slopes_of
from aucbench.reports.report import Report

if TYPE_CHECKING:
    import pandas as pd

# Measures and their differences have as many decimals as tables show, so that no view rounds another number;
# other numbers have so many significant digits. Points of curves are only drawn.
DECIMALS, DIGITS = 4, 6
CURVE_DECIMALS, CURVE_DIGITS = 5, 4
MEASURED = re.compile("gain|slope|low|high|median|best|target|(.*_)?(mean|std)")
POINTS = 50_000  # most points of curves
THINNED = "The curves on this page are drawn through every {step}th checkpoint and the last one."
Packed = dict[str, list[Any]]


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON knows it: each frame as lists, one a column; NaN are written as null.

    Gains and verdicts are those over every method as the reference, by every measure that all finished
    cells have.
    """
    measures = [report.measure, *_everywhere(report)]
    every: dict[str, Any] = {
        str(name): list(own["method"]) for name, own in report.methods.groupby("setting", sort=False)
    }
    found = [_compared(report, each, every) for each in measures]
    curves, step = _curves(report.curves)
    notes = list(report.notes)
    if step > 1:
        notes.append(THINNED.format(step=step))
    return {
        "title": report.title,
        "notes": notes,
        "measures": [{"name": each.name, "title": each.title, "symbol": each.symbol} for each in measures],
        "colours": VERDICT_COLOURS,
        "columns": {
            name: _described(own)
            for name, own in (("verdicts", VERDICTS), ("results", RESULTS), ("data_sets", DATA_SETS),
                              ("slopes", SLOPES))
        },
        "plugins": {name: to_builtins(own) for name, own in report.plugins.items()},
        "settings": [
            {
                "name": setting,
                "reference": report.references[setting],
                "answer": answer(report, setting),
                "groups": _groups(report.data_sets, setting),
                "methods": _table(_of(report.methods, setting)),
                "data_sets": _table(_of(report.data_sets, setting)),
                "results": _table(_of(report.results, setting)),
                "curves": curves.get(setting, {}),
                "compared": [
                    {"rope": rope} | {name: _table(_of(frame, setting)) for name, frame in frames.items()}
                    for rope, frames in found
                ],
            }
            for setting in report.settings
        ],
    }  # fmt: skip


def _everywhere(report: Report) -> list[Measure]:
    """The other measures that all finished cells have."""
    done = report.cells[report.cells["status"] == "finished"]
    return [each for each in report.others if each.name in done and done[each.name].notna().all()]


def _compared(
    report: Report, measure: Measure, references: Mapping[str, Any]
) -> "tuple[float | None, dict[str, pd.DataFrame]]":
    """The rope of a measure, and gains and verdicts by it over each of some references."""
    own = measure is report.measure
    rope = report.rope if own else None
    results = report.results if own else report.results.assign(mean=report.results[f"{measure.name}_mean"])
    gains = gains_of(report.cells, report.data_sets, references, rope, measure.name)
    verdicts = compared(gains, results, report.data_sets, rope)
    verdicts["front"] = verdicts["front"].astype(int)
    return rope, {"gains": gains, "verdicts": verdicts, "slopes": slopes_of(gains, report.data_sets)}


def _described(columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """What the script needs of columns; `form` is the name of the format, which the script has, too."""
    return [vars(each) | {"form": each.form.__name__} for each in columns.values()]


def _groups(data_sets: "pd.DataFrame", setting: str) -> dict[str, list[str]]:
    """The groups of the data sets of a setting, each in the order of the data sets."""
    own = _of(data_sets, setting)
    return {name: [each for each in own["data_set"] if each in members]
            for name, members in groups_of_data(own).items()}  # fmt: skip


def _curves(curves: "pd.DataFrame") -> tuple[dict[str, Packed], int]:
    """A line a curve by setting, each with lists of its points; every so many-th checkpoint and the last."""
    step = max(1, -(-len(curves) // POINTS))
    keys = ["setting", "data_set", "method"]
    found: dict[str, Packed] = {}
    kept = curves[curves.groupby(keys).cumcount(ascending=False) % step == 0]
    points = {
        str(name): _column(str(name), kept[name], CURVE_DECIMALS, CURVE_DIGITS)
        for name in kept
        if name not in keys
    }
    places: Any = kept.groupby(keys, sort=False).indices
    for (setting, data_set, method), at in places.items():
        empty: Packed = {name: [] for name in ("data_set", "method", *points)}
        table = found.setdefault(str(setting), empty)
        table["data_set"].append(data_set)
        table["method"].append(method)
        for name, values in points.items():
            table[name].append([values[place] for place in at])
    return found, step


def _of(frame: "pd.DataFrame", setting: str) -> "pd.DataFrame":
    """The lines of one setting, without its name."""
    return frame[frame["setting"] == setting].drop(columns="setting")


def _table(frame: "pd.DataFrame") -> Packed:
    return {str(name): _column(str(name), frame[name]) for name in frame}


def _column(name: str, values: "pd.Series[Any]", decimals: int = DECIMALS, digits: int = DIGITS) -> list[Any]:
    """A column as JSON knows it: rounded numbers, null for NaN; an infinite cost is the word "never"."""
    if values.dtype.kind != "f":
        return values.tolist()
    array = values.to_numpy(float)
    rounded = np.round(array, decimals) if MEASURED.fullmatch(name) else array
    every, places = np.unique(rounded, return_inverse=True)
    texts = [
        float(f"{each:.{digits}g}") if np.isfinite(each) else "never" if each > 0 else None for each in every
    ]
    return np.array(texts, dtype=object)[places].tolist()
