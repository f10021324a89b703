"""Gaps of curves to the best AUC that any method reached on a data set."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FLOOR = 1e-4  # that smaller gaps count as: logarithmic axes have no zero, and AUCs are read to four decimals


def best_reached(curves: Sequence[NDArray[np.float64]]) -> float:
    """The largest AUC on any of the curves, at whatever checkpoint; NaN where there is none."""
    values = np.concatenate([np.empty(0), *curves])
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else float("nan")


def gap_to_best(auc: NDArray[np.float64], best: float) -> NDArray[np.float64]:
    """The differences best - auc, at least `FLOOR`; NaN where an AUC is not known."""
    return np.maximum(best - auc, FLOOR)
