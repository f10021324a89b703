"""The runs of each method on each data set: mean, spread, interval, and gain over a baseline."""

from collections.abc import Hashable
from itertools import repeat

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import blocks, dataset_means
from aucbench.reports.statistics.paired_t_test import t_statistics


def summarise(
    cells: pd.DataFrame,
    test_train_ratio: float | None,
    confidence: float = 0.95,
    baseline: Hashable | None = None,
) -> pd.DataFrame:
    """Mean, spread, interval and gain of each method on each data set, by `t_statistics`.

    There is one row per `board`, `dataset` and `method`: `runs` that finished and `gaps` that did not;
    `mean`, `std` (n - 1) and the interval `low`, `high` of the mean over the runs that finished; `gain`, the
    mean of method - baseline over the runs that both have, with its interval `gain_low`, `gain_high`; NaN
    without the baseline.
    """
    rows: list[tuple[Hashable, ...]] = []
    for block in blocks(cells):
        at = block.methods.index(baseline) if baseline in block.methods else None
        reference = np.nan if at is None else block.aucs[:, [at]]
        own = t_statistics(block.aucs, test_train_ratio, confidence)
        gain = t_statistics(block.aucs - reference, test_train_ratio, confidence)
        runs = own.runs.astype(int)
        rows += zip(
            repeat(block.board), repeat(block.dataset), block.methods, runs, len(block.runs) - runs,
            own.mean, own.std, own.low, own.high, gain.mean, gain.low, gain.high,
        )  # fmt: skip
    columns = "board dataset method runs gaps mean std low high gain gain_low gain_high"
    return pd.DataFrame(rows, columns=columns.split())


def gains_over_datasets(cells: pd.DataFrame, baseline: Hashable, confidence: float = 0.95) -> pd.DataFrame:
    """The mean gain of each method over a baseline, over the data sets on which neither has a gap.

    The interval is Student's t over the data sets, which are taken as independent: it says how the gain
    varies from one data set to the next. By method, there are the number of `datasets`, `gain`, `gain_low`
    and `gain_high`.
    """
    means = dataset_means(cells)
    reference = means[[baseline]].to_numpy(dtype=float) if baseline in means.columns else np.nan
    found = t_statistics(means.to_numpy(dtype=float) - reference, None, confidence)
    columns = {"gain": found.mean, "gain_low": found.low, "gain_high": found.high}
    return pd.DataFrame({"datasets": found.runs.astype(int)} | columns, index=means.columns)
