"""Curves in the terminal: a line of blocks for each method, over the logarithm of the rows seen."""

import numpy as np
from numpy.typing import NDArray

from aucbench.reports.columns import fixed
from aucbench.reports.report import Report
from aucbench.reports.views.text import TextTable

BLOCKS, LETTERS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
COLUMNS = 44

Floats = NDArray[np.float64]


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
    for name in order if len(report.curves) else ():
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
