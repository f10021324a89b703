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

# Measures and their differences have as many decimals as tables show, so that no view rounds another number;
# other numbers have so many significant digits. Points of curves are only drawn.
DECIMALS, DIGITS = 4, 6
CURVE_DECIMALS, CURVE_DIGITS = 5, 4
MEASURED = re.compile("gain|slope|low|high|median|best|target|(.*_)?(mean|std)")
POINTS = 50_000  # most points of curves
THINNED = "The curves on this page are drawn through every {step}th checkpoint and the last one."
FACTS = ("methods", "data_sets", "results")  # frames that are the same over every reference
Packed = dict[str, list[Any]]


def packed(report: Report) -> dict[str, Any]:
    """The report as JSON knows it: each frame as lists, one a column; NaN are written as null.

    Gains and verdicts are those over every method as the reference, by every measure that all finished
    cells have.
    """
    measures = [report.measure, *_everywhere(report)]
    found = [_compared(report, each) for each in measures]
    curves, step = _curves(report.curves)
    columns = {"verdicts": VERDICTS, "results": RESULTS, "data_sets": DATA_SETS, "slopes": SLOPES}
    return {
        "title": report.title,
        "notes": [*report.notes, *[THINNED.format(step=step)] * (step > 1)],
        "measures": [{"name": each.name, "title": each.title, "symbol": each.symbol} for each in measures],
        "colours": VERDICT_COLOURS,
        "columns": {name: [vars(each) for each in own.values()] for name, own in columns.items()},
        "settings": [
            {
                "name": setting,
                "reference": report.references[setting],
                "answer": answer(report, setting),
                "groups": {
                    name: [each for each in report.part("data_sets", setting)["data_set"] if each in members]
                    for name, members in groups_of_data(report.part("data_sets", setting)).items()
                },
                **{name: _table(getattr(report, name), setting) for name in FACTS},
                "curves": curves.get(setting, {}),
                "compared": [
                    {"rope": rope} | {name: _table(frame, setting) for name, frame in frames.items()}
                    for rope, frames in found
                ],
            }
            for setting in report.settings
        ],
    }


def _everywhere(report: Report) -> list[Measure]:
    """The other measures that all finished cells have."""
    done = report.cells[report.cells["status"] == "finished"]
    return [each for each in report.others if each.name in done and done[each.name].notna().all()]


def _compared(report: Report, measure: Measure) -> tuple[float | None, dict[str, pd.DataFrame]]:
    """The rope of a measure, and gains and verdicts by it over every method as the reference."""
    rope, results = report.rope, report.results
    if measure is not report.measure:
        rope, results = None, results.assign(mean=results[f"{measure.name}_mean"])
    references = {name: list(report.part("methods", name)["method"]) for name in report.settings}
    found = comparison(report.cells, report.data_sets, results, references, rope, measure.name)
    return rope, found | {"verdicts": found["verdicts"].astype({"front": int})}


def _curves(curves: pd.DataFrame) -> tuple[dict[str, Packed], int]:
    """A line a curve by setting, each with lists of its points; every so many-th checkpoint and the last."""
    step = max(1, -(-len(curves) // POINTS))
    keys = ["setting", "data_set", "method"]
    kept = curves[curves.groupby(keys).cumcount(ascending=False) % step == 0].copy()
    for name in kept.columns.difference(keys):
        kept[name] = pd.Series(
            _column(str(name), kept[name], CURVE_DECIMALS, CURVE_DIGITS), kept.index, dtype=object
        )
    lists = kept.groupby(keys, sort=False).agg(list).reset_index()
    parts = lists.groupby("setting", sort=False)
    found: Any = {str(name): own.drop(columns="setting").to_dict("list") for name, own in parts}
    return found, step


def _table(frame: pd.DataFrame, setting: str) -> Packed:
    """The lines of one setting, without its name."""
    frame = frame[frame["setting"] == setting].drop(columns="setting")
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
