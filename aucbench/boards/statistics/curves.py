"""Curves of AUC against what training has cost, checked."""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucbench.boards.statistics.cells import KEY, Floats, blocks
from aucbench.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[Hashable, Hashable, Hashable, Hashable]  # board, dataset, method, run
Curves = Mapping[Key, Mapping[str, ArrayLike]]  # a cell's arrays samples, train_seconds and auc, all (c,)

CURVE_COSTS = ("samples", "train_seconds")


class Curve(NamedTuple):
    """The checkpoints of a cell that have an AUC."""

    cost: Floats  # (c,) not decreasing, >= 0
    auc: Floats  # (c,)


class Run(NamedTuple):
    """A cell with its curve."""

    key: Key
    status: str
    curve: Curve | None  # None unless the cell finished


def choose_cost(cost: str) -> str:
    """The name of a cost that curves have."""
    if cost not in CURVE_COSTS:
        raise ParameterError(f"cost must be one of {', '.join(CURVE_COSTS)}, got {cost!r}.")
    return cost


def read_curve(arrays: Mapping[str, ArrayLike], cost: str, key: Any = "curve") -> Curve:
    """The checkpoints of one cell against `samples` or `train_seconds`, those without AUC left out.

    Raises
    ------
    DataError
        Arrays lack or differ in length, costs decrease or are negative, or no checkpoint has an AUC.
    """
    lacking = [name for name in (cost, "auc") if name not in arrays]
    if lacking:
        raise DataError(f"{key}: the curve lacks {', '.join(lacking)}.")
    x, y = np.asarray(arrays[cost], dtype=float), np.asarray(arrays["auc"], dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"{key}: {cost} and auc must be vectors of one length, got {x.shape} and {y.shape}.")
    known = ~np.isnan(y)
    x, y = x[known], y[known]
    if not len(x):
        raise DataError(f"{key}: no checkpoint has an AUC.")
    if not np.isfinite(x).all() or x[0] < 0 or (np.diff(x) < 0).any():
        raise DataError(f"{key}: {cost} must be finite, not negative and never decrease.")
    return Curve(x, y)


def runs_with_curves(cells: "pd.DataFrame", curves: Curves, cost: str) -> list[Run]:
    """Every cell, block by block, with its curve.

    Only a cell that finished with an AUC is asked for a curve: what a run had reached before it diverged or
    was stopped is not a result of the method.

    Raises
    ------
    DataError
        A finished cell has no curve, or a curve is unusable; see `read_curve`.
    """
    choose_cost(cost)
    found: list[Run] = []
    for block in blocks(cells):
        for column, method in enumerate(block.methods):
            for line, run in enumerate(block.runs):
                key = (block.board, block.dataset, method, run)
                curve = None
                if np.isfinite(block.aucs[line, column]):
                    if key not in curves:
                        raise DataError(f"{dict(zip(KEY, key, strict=True))} finished and has no curve.")
                    curve = read_curve(curves[key], cost, key)
                found.append(Run(key, str(block.statuses[line, column]), curve))
    return found
