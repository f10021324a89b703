"""What the runs of each method on each data set say: mean, spread, intervals, distance to the best."""

from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.boards.statistics.cells import TOLERANCE, Block, blocks
from aucbench.boards.statistics.student import t_statistics

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "board",
    "dataset",
    "method",
    "runs",
    "gaps",
    "mean",
    "std",
    "low",
    "high",
    "corrected_se",
    "corrected_low",
    "corrected_high",
    "best",
    "behind",
    "behind_low",
    "behind_high",
    "behind_runs",
)


def summarise(
    cells: "pd.DataFrame", confidence: float = 0.95, test_train_ratio: float | None = None
) -> "pd.DataFrame":
    """One row a board, data set and method.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`.
    confidence : float
        Of the intervals, in (0, 1).
    test_train_ratio : float, optional
        Test rows over training rows, > 0: 0.25 for a hold-out of one fifth and for five folds. Without it
        the corrected columns are NaN, and distances to the best have the plain interval; with it, the
        corrected one. Formulas, assumptions and sources are those of `t_statistics`.

    Returns
    -------
    DataFrame
        `runs` that finished and `gaps` that did not; `mean`, `std` (n - 1), `low` and `high` over the runs
        that finished; `corrected_se`, `corrected_low` and `corrected_high` after Nadeau and Bengio; `best`,
        whether the mean is the largest of the methods without gaps (ties all are); `behind`, the mean of
        best - method over the `behind_runs` runs that both have, with its interval. A best method is behind
        itself by 0. The best is chosen by these very runs, which exaggerates its lead a little. Without any
        method that has no gaps, nobody is best and `behind` is NaN.
    """
    import pandas as pd

    rows = [row for block in blocks(cells) for row in _rows(block, confidence, test_train_ratio)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def best_methods(block: Block) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """(k,) whether a method has the largest mean of those that are complete; several when tied."""
    means = np.where(block.complete, block.means, -np.inf)
    top = means.max(initial=-np.inf)
    return np.asarray(np.isfinite(means) & (means >= top - TOLERANCE))


def _rows(block: Block, confidence: float, ratio: float | None) -> list[dict[str, Any]]:
    plain = t_statistics(block.aucs, confidence)
    best = best_methods(block)
    reference = block.aucs[:, [int(np.argmax(best))]] if best.any() else np.full((len(block.runs), 1), np.nan)
    behind = t_statistics(reference - block.aucs, confidence, ratio)
    corrected = t_statistics(block.aucs, confidence, ratio) if ratio is not None else None
    return [
        {
            "board": block.board,
            "dataset": block.dataset,
            "method": method,
            "runs": int(plain.runs[at]),
            "gaps": len(block.runs) - int(plain.runs[at]),
            "mean": plain.mean[at],
            "std": plain.std[at],
            "low": plain.low[at],
            "high": plain.high[at],
            "corrected_se": corrected.se[at] if corrected else np.nan,
            "corrected_low": corrected.low[at] if corrected else np.nan,
            "corrected_high": corrected.high[at] if corrected else np.nan,
            "best": bool(best[at]),
            "behind": behind.mean[at],
            "behind_low": behind.low[at],
            "behind_high": behind.high[at],
            "behind_runs": int(behind.runs[at]),
        }
        for at, method in enumerate(block.methods)
    ]
