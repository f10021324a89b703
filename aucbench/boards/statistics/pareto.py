"""AUC against cost: the methods that no other beats in both."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucbench.boards.statistics.cells import COSTS, blocks
from aucbench.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pandas as pd


def pareto_front(auc: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Whether a point is on the Pareto front of a large AUC and a small cost.

    A point is off the front when another is at least as good in both and better in one; equal points share
    their fate. A point with a NaN or an infinite cost is off the front and beats nobody.

    Parameters
    ----------
    auc, cost : array_like (n,)
        One a method.
    """
    y, x = np.asarray(auc, dtype=float), np.asarray(cost, dtype=float)
    if y.ndim != 1 or y.shape != x.shape:
        raise ParameterError(f"auc and cost must be vectors of one length, got {y.shape} and {x.shape}.")
    known = np.isfinite(y) & np.isfinite(x)
    no_worse = (y[:, None] >= y) & (x[:, None] <= x) & known[:, None]
    better = (y[:, None] > y) | (x[:, None] < x)
    return np.asarray(known & ~(no_worse & better).any(axis=0))


def auc_and_cost(cells: "pd.DataFrame", cost: str = "train_seconds") -> "pd.DataFrame":
    """Mean AUC and mean cost of every method on every data set, and who is on the Pareto front.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`; with the column of the cost.
    cost : str
        One of `COSTS`.

    Returns
    -------
    DataFrame
        `board`, `dataset`, `method`, `auc`, `cost` (means over all runs; NaN with a gap) and `on_front`.
    """
    import pandas as pd

    if cost not in COSTS:
        raise ParameterError(f"cost must be one of {', '.join(COSTS)}, got {cost!r}.")
    found = list(blocks(cells))
    if cost not in cells.columns:
        raise DataError(f"cells: the column {cost} is lacking.")
    names = ("board", "dataset", "method")
    sums: dict[tuple[object, ...], list[float]] = {}
    values = cells[cost].to_numpy(dtype=float, na_value=np.nan)
    keys = zip(*(cells[name].to_numpy(dtype=object) for name in names), strict=True)
    for key, value in zip(keys, values, strict=True):
        sums.setdefault(key, []).append(float(value))
    rows = []
    for block in found:
        paid = [
            float(np.mean(sums[block.board, block.dataset, method])) if complete else np.nan
            for method, complete in zip(block.methods, block.complete, strict=True)
        ]
        front = pareto_front(block.means, paid)
        rows += [
            (block.board, block.dataset, *row)
            for row in zip(block.methods, block.means, paid, front, strict=True)
        ]
    return pd.DataFrame(rows, columns=[*names, "auc", "cost", "on_front"])
