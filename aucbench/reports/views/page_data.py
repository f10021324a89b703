"""Data for the script of the page: the frames of a report in columns, and verdicts for every reference."""

import re
from typing import Any

import numpy as np
import pandas as pd

from aucbench.evaluation.measures import Measure
from aucbench.reports.answer import answer
from aucbench.reports.columns import DATA_SETS, RESULTS, SLOPES, VERDICT_COLOURS, VERDICTS
from aucbench.reports.gains import comparison, groups_of_data
from aucbench.reports.report import Report

# Decimals of measures and their differences, as in tables, so that all views show the same numbers, and
# significant digits of other numbers. Points of curves are only drawn.
DECIMALS, DIGITS = 4, 6
CURVE_DECIMALS, CURVE_DIGITS = 5, 4
MEASURED = re.compile("gain|slope|low|high|median|best|target|(.*_)?(mean|std)")
POINTS = 50_000  # largest number of points of all curves
THINNED = "The curves on this page are drawn through every {step}th checkpoint and the last one."
FACTS = ("methods", "data_sets", "results")  # frames that do not depend on the reference
Packed = dict[str, list[Any]]


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON values: each frame as a list per column, with null for NaN.

    Gains and verdicts are computed over every method as the reference, for every measure that all finished
    cells have.
    """
    measures = [report.measure, *_everywhere(report)]
    comparisons = [_compared(report, measure) for measure in measures]
    curves, step = _curves(report.curves)
    columns = {"verdicts": VERDICTS, "results": RESULTS, "data_sets": DATA_SETS, "slopes": SLOPES}
    return {
        "title": report.title,
        "notes": [*report.notes, *[THINNED.format(step=step)] * (step > 1)],
        "measures": [{"name": item.name, "title": item.title, "symbol": item.symbol} for item in measures],
        "colours": VERDICT_COLOURS,
        "columns": {name: [vars(column) for column in group.values()] for name, group in columns.items()},
        "settings": [
            {
                "name": setting,
                "reference": report.references[setting],
                "answer": answer(report, setting),
                "groups": {
                    name: [data for data in report.part("data_sets", setting)["data_set"] if data in members]
                    for name, members in groups_of_data(report.part("data_sets", setting)).items()
                },
                **{name: _table(getattr(report, name), setting) for name in FACTS},
                "curves": curves.get(setting, {}),
                "compared": [
                    {"rope": rope} | {name: _table(frame, setting) for name, frame in frames.items()}
                    for rope, frames in comparisons
                ],
            }
            for setting in report.settings
        ],
    }


def _everywhere(report: Report) -> list[Measure]:
    """The other measures that all finished cells have."""
    rows = report.cells[report.cells["status"] == "finished"]
    return [measure for measure in report.others if measure.name in rows and rows[measure.name].notna().all()]


def _compared(report: Report, measure: Measure) -> tuple[float | None, dict[str, pd.DataFrame]]:
    """The rope of a measure, and its gains and verdicts over every method as the reference."""
    rope, results = report.rope, report.results
    if measure is not report.measure:
        rope, results = None, results.assign(mean=results[f"{measure.name}_mean"])
    references = {name: list(report.part("methods", name)["method"]) for name in report.settings}
    frames = comparison(report.cells, report.data_sets, results, references, rope, measure.name)
    return rope, frames | {"verdicts": frames["verdicts"].astype({"front": int})}


def _curves(curves: pd.DataFrame) -> tuple[dict[str, Packed], int]:
    """Curves by setting, a line each with lists of every `step`-th checkpoint and the last; and `step`."""
    step = max(1, -(-len(curves) // POINTS))
    keys = ["setting", "data_set", "method"]
    thinned = curves[curves.groupby(keys).cumcount(ascending=False) % step == 0].copy()
    for name in thinned.columns.difference(keys):
        thinned[name] = pd.Series(
            _column(str(name), thinned[name], CURVE_DECIMALS, CURVE_DIGITS), thinned.index, dtype=object
        )
    lists = thinned.groupby(keys, sort=False).agg(list).reset_index()
    parts = lists.groupby("setting", sort=False)
    by_setting: Any = {str(name): part.drop(columns="setting").to_dict("list") for name, part in parts}
    return by_setting, step


def _table(frame: pd.DataFrame, setting: str) -> Packed:
    """The lines of one setting, without the column `setting`."""
    frame = frame[frame["setting"] == setting].drop(columns="setting")
    return {str(name): _column(str(name), frame[name]) for name in frame}


def _column(name: str, values: "pd.Series[Any]", decimals: int = DECIMALS, digits: int = DIGITS) -> list[Any]:
    """A column as JSON values: rounded numbers, null for NaN, and "never" for an infinite cost."""
    if values.dtype.kind != "f":
        return values.tolist()
    array = values.to_numpy(float)
    rounded = np.round(array, decimals) if MEASURED.fullmatch(name) else array
    unique, inverse = np.unique(rounded, return_inverse=True)
    entries = [
        float(f"{item:.{digits}g}") if np.isfinite(item) else "never" if item > 0 else None for item in unique
    ]
    return np.array(entries, dtype=object)[inverse].tolist()
