"""What ``aucbench try`` says of one method: verdicts, speed, and next steps."""

import math
from typing import Any

import numpy as np

from aucbench.evaluation.delong import chance_half_width
from aucbench.reports.answer import listed
from aucbench.reports.columns import RESULTS
from aucbench.reports.report import Report
from aucbench.reports.views.text import results_on

SLOW = 20.0  # times the time of the others
RISING = 0.003  # gain in the last half of log samples of a curve that still rises


def verdict(report: Report, method: str) -> list[str]:
    """Sentences on a method: its AUC and verdict on every data set, and how fast it is."""
    every = _own(report, method)
    lines = [_standing(report, row) for row in every]
    for row in every:
        positives, _ = row["tested"]
        if row["reversed"]:
            lines.append(
                f"The scores look reversed: AUC {row['mean']:.4f} on {row['data_set']}, "
                f"with the sign changed {1.0 - row['mean']:.4f}."
            )
        elif row["mean"] < 0.5:
            rows = f"{positives:,} positive test rows" if positives else "the test rows are not known"
            lines.append(f"Not above chance: AUC {row['mean']:.4f} on {row['data_set']}; {rows}.")
    ratios, own = _speed(report, method)
    if ratios:
        told = ", ".join(f"{ratio:.3g} times {name}'s" for name, ratio in ratios.items())
        lines.append(f"Speed: {own:,.0f} ns per row seen, {told} (medians over the data sets).")
    return lines


def next_steps(report: Report, method: str, epochs: float | None, failed: bool = False) -> list[str]:
    """What to look at next, the gravest first; three at most.

    `epochs` are the passes that the method was given, None where there was no time for all of them; `failed`
    says whether a run of it failed.
    """
    steps = []
    every = _own(report, method)
    if failed:
        steps.append(f"aucbench check {method} shows on small inputs what goes wrong.")
    if any(row["reversed"] for row in every):
        steps.append("change the sign of what score returns: higher must mean more likely positive.")
    if any(row["diverged"] for row in every):
        advice = next((row["advice"] for row in every if row["advice"]), "")
        steps.append(f"it diverges: {advice or 'a smaller default step keeps its weights finite'}.")
    ratios, _ = _speed(report, method)
    if ratios and min(ratios.values()) > SLOW:
        steps.append(
            f"a row takes over {SLOW:g} times what the others take: a loop of plain Python over the rows is "
            f"far faster when it is compiled by aucbench.kernels.kernel."
        )
    rising = [row["data_set"] for row in every if _rises(report, row)]
    if rising and epochs is not None:
        steps.append(f"it still rises on {listed(rising)}: aucbench try {method} --epochs {4 * epochs:g}.")
    if not steps:
        algos = ",".join(dict.fromkeys([method, "psam", "opauc", "log_reg"]))
        steps.append(f"larger data: aucbench -m algo={algos} dataset=a9a,ijcnn1 runs=5 tuning=grid")
    return steps[:3]


def _own(report: Report, method: str) -> list[dict[Any, Any]]:
    """The results of the method with their gains, in the order of settings and data sets.

    `tested` are positive and negative test rows of a run: the runs may share rows, and count as one. The
    scores look `reversed` where the mean AUC is below chance by more than noise.
    """
    found = []
    for setting, data_set in report.data_sets[["setting", "data_set"]].itertuples(index=False):
        rows, cells = results_on(report, setting, data_set), report.part("cells", setting, data_set)
        tests = cells.loc[cells["method"] == method, ["test_positives", "test_rows"]]
        positives, every = map(int, tests.min().fillna(0))
        for row in rows[rows["method"] == method].to_dict("records"):
            row["tested"] = positives, every - positives
            row["reversed"] = row["mean"] < 0.5 - chance_half_width(*row["tested"])
            found.append(row)
    return found


def _standing(report: Report, row: dict[Any, Any]) -> str:
    where = row["data_set"]
    reference = report.references[row["setting"]]
    if row["gaps"]:
        rest = "" if math.isnan(row["mean"]) else f"; the others have AUC {row['mean']:.4f}"
        return f"{where}: {row['gaps']}{rest}, so it is not compared."
    words = f"{where}: test AUC {row['mean']:.4f}" + (" of one run" if row["runs"] == 1 else "")
    if row["verdict"]:
        at = RESULTS["gain"].shown(row)
        words += f", {at} against {reference}: {row['verdict']}"
    rivals = results_on(report, row["setting"], row["data_set"])
    best = rivals.iloc[0]
    if best["method"] != row["method"] and best["mean"] > row["mean"]:
        words += f"; the best, {best['method']}, has {best['mean']:.4f}"
    return f"{words}."


def _speed(report: Report, method: str) -> tuple[dict[str, float], float]:
    """Its time per row seen as a multiple of that of each stochastic method, and in ns; medians."""
    curves = report.curves[report.curves["samples"] > 0]
    ends = curves.groupby(["data_set", "method"], sort=False).agg(
        seconds=("seconds", "last"), samples=("samples", "last"), first=("passes", "first")
    )
    times = (1e9 * ends["seconds"] / ends["samples"]).unstack("method")
    if method not in times:
        return {}, math.nan
    others = times.where(ends["first"].unstack("method") < 1.0).drop(columns=method).clip(lower=1.0)
    ratios = (1.0 / others).mul(times[method], axis=0).median().dropna()
    return {str(name): float(ratio) for name, ratio in ratios.items()}, float(times[method].median())


def _rises(report: Report, row: dict[Any, Any]) -> bool:
    own = report.part("curves", row["setting"], row["data_set"])
    own = own[(own["method"] == row["method"]) & (own["samples"] > 0)].dropna(subset=["mean"])
    if len(own) < 4:
        return False
    x, auc = np.log(own["samples"].to_numpy(float)), own["mean"].to_numpy(float)
    return bool(auc[-1] - np.interp(x[-1] - math.log(2.0), x, auc) > RISING)
