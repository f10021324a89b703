"""AUC against cost: the methods that no other beats in both."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pareto_front(auc: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Whether a point is on the Pareto front of a large AUC and a small cost.

    A point is off the front when another is at least as good in both and better in one; equal points share
    their fate. A point with a NaN or an infinite cost is off the front and beats nobody. `auc` and `cost` are
    (n,), one value per method.
    """
    y, x = np.asarray(auc, dtype=float), np.asarray(cost, dtype=float)
    known = np.isfinite(y) & np.isfinite(x)
    no_worse = (y[:, None] >= y) & (x[:, None] <= x) & known[:, None]
    better = (y[:, None] > y) | (x[:, None] < x)
    return np.asarray(known & ~(no_worse & better).any(axis=0))
