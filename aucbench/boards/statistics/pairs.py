"""Two methods on one data set: paired t-tests; and how often each wins, ties and loses."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards.statistics.cells import Block, Floats, blocks
from aucbench.boards.statistics.holm import holm
from aucbench.boards.statistics.student import t_statistics

if TYPE_CHECKING:
    import pandas as pd

OUTCOMES = ("win", "tie", "loss", "incomplete", "untested")
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
    cells: "pd.DataFrame",
    confidence: float = 0.95,
    test_train_ratio: float | None = None,
    correct_for_pairs: bool = False,
) -> "pd.DataFrame":
    """The paired t-test of every two methods on every data set.

    With d the differences first - second of the paired runs, t = mean(d) / SE(d) as in `t_statistics`. The
    default, a plain test at 95 % for each pair, is that behind the marks of published tables, such as
    "pairwise t-tests at 95 % significance level" of W. Gao, R. Jin, S. Zhu, Z.-H. Zhou: One-pass AUC
    optimization, ICML 2013.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    confidence : float
        One minus the level of the test, in (0, 1); also that of the interval.
    test_train_ratio : float, optional
        With it, Nadeau and Bengio's corrected test.
    correct_for_pairs : bool
        Whether the outcome follows from `p_holm`, corrected for all pairs of the data set.

    Returns
    -------
    DataFrame
        One row a board, data set and unordered pair. `difference` (first - second) over the `runs` that
        both have, with its interval, `t`, `p` and `p_holm` (over the pairs without gaps); `outcome` from the
        view of the first: `win`, `tie`, `loss`; `incomplete` when a run of either did not finish
        (runs that finish are a selection), `untested` with a single run. Constant differences: zero is a
        tie, any other a win or loss.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for block in blocks(cells):
        rows += _of_block(block, confidence, test_train_ratio, correct_for_pairs)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def win_tie_loss(comparisons: "pd.DataFrame") -> "pd.DataFrame":
    """How often each method wins, ties and loses against each other, over the data sets.

    Parameters
    ----------
    comparisons : DataFrame
        From `compare_runs`.

    Returns
    -------
    DataFrame
        One row an ordered pair: `first`, `second`, `win`, `tie`, `loss` (of the first) and `undecided`,
        which are incomplete or untested.
    """
    import pandas as pd

    mirrored = {"win": "loss", "loss": "win"}
    counts: dict[tuple[Hashable, Hashable], dict[str, int]] = {}
    columns = (comparisons[name].to_numpy(dtype=object) for name in ("first", "second", "outcome"))
    for first, second, outcome in zip(*columns, strict=True):
        for pair, seen in (((first, second), outcome), ((second, first), mirrored.get(outcome, outcome))):
            own = counts.setdefault(pair, {"win": 0, "tie": 0, "loss": 0, "undecided": 0})
            own[seen if seen in own else "undecided"] += 1
    rows = [{"first": first, "second": second} | count for (first, second), count in counts.items()]
    return pd.DataFrame(rows, columns=["first", "second", "win", "tie", "loss", "undecided"])


def _of_block(
    block: Block, confidence: float, ratio: float | None, correct_for_pairs: bool
) -> list[tuple[Any, ...]]:
    one, other = np.triu_indices(len(block.methods), 1)
    result = t_statistics(block.aucs[:, one] - block.aucs[:, other], confidence, ratio)
    complete = block.complete[one] & block.complete[other]
    corrected = holm(np.where(complete, result.p, np.nan))
    outcomes = _outcomes(result.mean, corrected if correct_for_pairs else result.p, 1.0 - confidence)
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
            outcomes[at] if complete[at] else "incomplete",
        )
        for at in range(len(one))
    ]


def _outcomes(difference: Floats, p: Floats, level: float) -> list[str]:
    decided = np.where(difference > 0, "win", "loss")
    return list(np.where(np.isnan(p), "untested", np.where(p < level, decided, "tie")))
