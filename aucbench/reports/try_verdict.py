"""What ``aucbench try`` prints on one method: curves as lines of blocks, verdicts, speed, and next steps."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.evaluation.delong import chance_half_width
from aucbench.reports.answer import listed
from aucbench.reports.columns import RESULTS, fixed
from aucbench.reports.report import Report
from aucbench.reports.views.text import TextTable, results_on

FAR = 0.02  # that an AUC is below the best
SLOW = 20.0  # times the time of the others
RISING = 0.003  # that a curve gains in its last half of log samples
BLOCKS, LETTERS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
COLUMNS = 44

Floats = NDArray[np.float64]


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
        told = ", ".join(
            f"{ratio:.3g} times {name}'s" if ratio >= 1 else f"1/{1 / ratio:.3g} of {name}'s"
            for name, ratio in ratios.items()
        )
        lines.append(f"Speed: {own:,.0f} ns per row seen, {told} (medians over the data sets).")
    return lines


def next_steps(report: Report, method: str, epochs: float | None, failed: bool = False) -> list[str]:
    """What to look at next, the gravest first; three at most.

    `epochs` are the passes that the method was given, None where there was no time for all of them; `failed`
    says whether a run of it failed.
    """
    steps = []
    every = _own(report, method)
    known = [row for row in every if not math.isnan(row["mean"])]
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
    rising = [row["data_set"] for row in known if _rises(report, row)]
    if rising and epochs is not None:
        steps.append(f"it still rises on {listed(rising)}: aucbench try {method} --epochs {4 * epochs:g}.")
    best = report.results.groupby(["setting", "data_set"])["mean"].max()
    far = [
        row["data_set"]
        for row in known
        if not row["reversed"]
        and row["mean"] < best[row["setting"], row["data_set"]] - FAR
        and row["data_set"] not in rising
    ]
    if far:
        steps.append(f"it stays far below the best on {listed(far)}: does its objective fit the AUC?")
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
        tests = cells.loc[cells["method"] == method, ["test_positives", "test_rows"]].dropna()
        # Cells of an earlier version have none.
        positives, every = (0, 0) if tests.empty else map(int, tests.min())
        for row in rows[rows["method"] == method].to_dict("records"):
            row["tested"] = positives, every - positives
            row["reversed"] = row["mean"] < 0.5 - chance_half_width(positives, every - positives)
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
    x, auc = seen(report, row["setting"], row["data_set"], row["method"])
    if len(auc) < 4:
        return False
    middle = np.interp(np.log(x[-1]) - math.log(2.0), np.log(x), auc)
    return bool(auc[-1] - middle > RISING)


def curves_table(
    report: Report, setting: str, data_set: str, first: str, blocks: str = BLOCKS
) -> tuple[str, TextTable]:
    """A title, and the mean curves on a data set: that of the method `first`, then the others by their mean.

    The lowest block stands for the lowest AUC that is shown and for all below it. A line is blank where a
    method has no checkpoint yet or any more.
    """
    means = report.part("results", setting, data_set).set_index("method")["mean"]
    order = sorted(means.index, key=lambda name: (name != first, -np.nan_to_num(means[name], nan=-1.0)))
    found = {}
    for name in order:
        x, y = seen(report, setting, data_set, name)
        if len(x):
            found[name] = x, y
    if not found:
        return "", TextTable([], [], [])
    high = max(y.max() for _, y in found.values())
    low = min(high - 0.01, *(np.quantile(y, 0.15) for _, y in found.values()))
    left, right = min(x[0] for x, _ in found.values()), max(x[-1] for x, _ in found.values())
    grid = np.geomspace(left, max(right, 2.0 * left), COLUMNS)
    step = (grid[1] / grid[0]) ** 0.5
    lines = []
    for name, (x, y) in found.items():
        heights = (np.interp(np.log(grid), np.log(x), y) - low) / (high - low) * (len(blocks) - 1)
        places = np.clip(np.rint(heights), 0, len(blocks) - 1).astype(int)
        reached = (grid * step >= x[0]) & (grid <= x[-1] * step)
        drawn = "".join(blocks[at] if there else " " for at, there in zip(places, reached, strict=True))
        lines.append([name, drawn, fixed(y[-1])])
    title = f"test AUC on {data_set}, from {fixed(low, 3)} to {fixed(high, 3)}"
    return title, TextTable(
        ["Method", f"{left:,.0f} to {right:,.0f} rows seen, log scale", "End"], [True, True, False], lines
    )


def seen(report: Report, setting: str, data_set: str, method: str) -> tuple[Floats, Floats]:
    """Rows seen and mean AUC at the checkpoints of a method after its first row."""
    own = report.part("curves", setting, data_set)
    at = (own["method"] == method) & (own["samples"] > 0) & np.isfinite(own["mean"])
    return own.loc[at, "samples"].to_numpy(np.float64), own.loc[at, "mean"].to_numpy(np.float64)
