"""Two methods on one data set: the paired t-test behind every statement about single data sets."""

from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards.statistics.cells import Block, blocks, level_of
from aucbench.boards.statistics.holm import holm
from aucbench.boards.statistics.student import t_statistics

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "board",
    "dataset",
    "first",
    "second",
    "runs",
    "difference",
    "low",
    "high",
    "t",
    "p",
    "p_holm",
    "outcome",
)


def compare_runs(
    cells: "pd.DataFrame", test_train_ratio: float | None, confidence: float = 0.95
) -> "pd.DataFrame":
    """The corrected paired t-test of every two methods on every data set.

    With d the differences first - second over the common runs, t = mean(d) / SE(d) as in `t_statistics`,
    with Nadeau and Bengio's variance where training sets overlap. The p-values of all pairs of a data set
    without gaps are one family for Holm's correction, and two methods differ where the corrected p-value
    is below the level. Letters, wins and losses, bold numbers and sentences all follow from `outcome`.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    test_train_ratio : float or None
        Test rows over training rows, > 0, where the training sets of the runs overlap; None where all runs
        share one split.
    confidence : float
        One minus the level of the test, in (0, 1); also that of the intervals.

    Returns
    -------
    DataFrame
        One row per board, data set and unordered pair. `difference` (first - second) over the `runs` that
        both have, with its interval, `t`, `p` and `p_holm` (NaN for pairs with gaps); `outcome` from the
        view of the first: `win`, `tie` or `loss`; `incomplete` when a run of either did not finish
        (runs that finish are a selection), `untested` with a single run. Constant differences: zero is a
        tie, any other a win or loss.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for block in blocks(cells):
        rows += _of_block(block, confidence, test_train_ratio)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _of_block(block: Block, confidence: float, ratio: float | None) -> list[tuple[Any, ...]]:
    one, other = np.triu_indices(len(block.methods), 1)
    result = t_statistics(block.aucs[:, one] - block.aucs[:, other], confidence, ratio)
    complete = block.complete[one] & block.complete[other]
    corrected = holm(np.where(complete, result.p, np.nan))
    decided = np.where(result.mean > 0, "win", "loss")
    outcomes = np.where(corrected < level_of(confidence), decided, "tie")
    outcomes = np.where(np.isnan(corrected), "untested", outcomes)
    outcomes = np.where(complete, outcomes, "incomplete")
    return [
        (
            block.board,
            block.dataset,
            block.methods[one[at]],
            block.methods[other[at]],
            int(result.runs[at]),
            result.mean[at],
            result.low[at],
            result.high[at],
            result.t[at],
            result.p[at],
            corrected[at],
            str(outcomes[at]),
        )
        for at in range(len(one))
    ]
