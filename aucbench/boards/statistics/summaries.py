"""The runs of each method on each data set: mean, spread, interval, and gain over a baseline."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards.statistics.cells import Block, Floats, blocks, dataset_means
from aucbench.boards.statistics.student import t_statistics

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "board", "dataset", "method", "runs", "gaps", "mean", "std", "low", "high", "gain", "gain_low",
    "gain_high",
)  # fmt: skip


def summarise(
    cells: "pd.DataFrame",
    test_train_ratio: float | None,
    confidence: float = 0.95,
    baseline: Hashable | None = None,
) -> "pd.DataFrame":
    """One row per board, data set and method.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    test_train_ratio : float or None
        Test rows over training rows, > 0, where the training sets of the runs overlap: 0.25 for a hold-out
        of one fifth and for five folds. Formulas, assumptions and sources are those of `t_statistics`.
    confidence : float
        Of the intervals, in (0, 1).
    baseline : hashable, optional
        The method that gains are relative to.

    Returns
    -------
    DataFrame
        `runs` that finished and `gaps` that did not; `mean`, `std` (n - 1) and the interval `low`, `high` of
        the mean over the runs that finished; `gain`, the mean of method - baseline over the runs that both
        have, with its interval `gain_low`, `gain_high`; NaN without the baseline.
    """
    import pandas as pd

    rows = [row for block in blocks(cells) for row in _rows(block, confidence, test_train_ratio, baseline)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def gains_over_datasets(
    cells: "pd.DataFrame", baseline: Hashable, confidence: float = 0.95
) -> "pd.DataFrame":
    """The mean gain of each method over a baseline, over the data sets on which neither has a gap.

    The interval is Student's t over the data sets, which are taken as independent: it says how the gain
    varies from one data set to the next.

    Returns
    -------
    DataFrame
        Index: methods. Columns: `datasets` (their number), `gain`, `gain_low` and `gain_high`.
    """
    import pandas as pd

    means = dataset_means(cells)
    if baseline in means.columns:
        gains = means.to_numpy(dtype=float) - means[[baseline]].to_numpy(dtype=float)
    else:
        gains = np.full(means.shape, np.nan)
    found = t_statistics(gains, confidence)
    return pd.DataFrame(
        {
            "datasets": found.runs.astype(int),
            "gain": found.mean,
            "gain_low": found.low,
            "gain_high": found.high,
        },
        index=means.columns,
    )


def _rows(
    block: Block, confidence: float, ratio: float | None, baseline: Hashable | None
) -> list[dict[str, Any]]:
    own = t_statistics(block.aucs, confidence, ratio)
    gain = t_statistics(block.aucs - _of(block, baseline), confidence, ratio)
    return [
        {
            "board": block.board,
            "dataset": block.dataset,
            "method": method,
            "runs": int(own.runs[at]),
            "gaps": len(block.runs) - int(own.runs[at]),
            "mean": own.mean[at],
            "std": own.std[at],
            "low": own.low[at],
            "high": own.high[at],
            "gain": gain.mean[at],
            "gain_low": gain.low[at],
            "gain_high": gain.high[at],
        }
        for at, method in enumerate(block.methods)
    ]


def _of(block: Block, baseline: Hashable | None) -> Floats:
    """(r, 1) AUCs of the baseline, NaN where it is not there."""
    if baseline not in block.methods:
        return np.full((len(block.runs), 1), np.nan)
    return block.aucs[:, [block.methods.index(baseline)]]
