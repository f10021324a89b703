"""Verdicts and speed of one method for ``aucbench try``."""

import math
from typing import Any

from aucbench.evaluation.delong import chance_half_width
from aucbench.reports.columns import RESULTS
from aucbench.reports.report import Report
from aucbench.reports.views.text import results_on


def verdict(report: Report, method: str) -> list[str]:
    """Sentences on a method: its AUC and verdict on every data set, and its speed.

    The scores look reversed if the mean AUC is below chance by more than noise. Runs may share test rows, so
    they count as one run.
    """
    lines, below = [], []
    for setting, data_set in report.data_sets[["setting", "data_set"]].itertuples(index=False):
        rows, cells = results_on(report, setting, data_set), report.part("cells", setting, data_set)
        tests = cells.loc[cells["method"] == method, ["test_positives", "test_rows"]]
        positives, total = map(int, tests.min().fillna(0))
        for row in rows[rows["method"] == method].to_dict("records"):
            lines.append(_standing(row, rows.iloc[0], report.references[setting]))
            result = f"AUC {row['mean']:.4f} on {data_set}"
            if row["mean"] < 0.5 - chance_half_width(positives, total - positives):
                changed = f"or {1.0 - row['mean']:.4f} with the sign changed"
                below.append(
                    f"The scores look reversed: {result}, {changed}. Higher scores must mean positive."
                )
            elif row["mean"] < 0.5:
                detail = f"{positives:,} positive test rows" if positives else "the test rows are not known"
                below.append(f"Not above chance: {result}; {detail}.")
    return [*lines, *below, *_speed(report, method)]


def _standing(row: dict[Any, Any], best: Any, reference: str) -> str:
    """The result of the method on a data set, its gain, and the best method on the data set."""
    data_set = row["data_set"]
    if row["gaps"]:
        clause = "" if math.isnan(row["mean"]) else f"; the others have AUC {row['mean']:.4f}"
        advice = f" Advice: {row['advice']}." if row["advice"] else ""
        return f"{data_set}: {row['gaps']}{clause}, so the method is not compared.{advice}"
    sentence = f"{data_set}: test AUC {row['mean']:.4f}" + (" (one run)" if row["runs"] == 1 else "")
    if row["verdict"]:
        sentence += f", {RESULTS['gain'].shown(row)} against {reference}: {row['verdict']}"
    if best["method"] != row["method"] and best["mean"] > row["mean"]:
        sentence += f"; the best, {best['method']}, has {best['mean']:.4f}"
    return f"{sentence}."


def _speed(report: Report, method: str) -> list[str]:
    """Median time per row seen, in ns and relative to each stochastic method."""
    curves = report.curves[report.curves["samples"] > 0]
    ends = curves.groupby(["data_set", "method"], sort=False).agg(
        seconds=("seconds", "last"), samples=("samples", "last"), first=("passes", "first")
    )
    times = (1e9 * ends["seconds"] / ends["samples"]).unstack("method")
    if method not in times:
        return []
    rivals = times.where(ends["first"].unstack("method") < 1.0).drop(columns=method).clip(lower=1.0)
    ratios = (1.0 / rivals).mul(times[method], axis=0).median().dropna()
    comparison = ", ".join(f"{ratio:.3g} times {name}'s" for name, ratio in ratios.items())
    speed = f"Speed: {times[method].median():,.0f} ns per row seen"
    return [f"{speed}, {comparison} (medians over the data sets)."] if comparison else []
