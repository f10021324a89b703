"""Foldings of the weights of settings in lockstep, at once or column by column when a row has the column.

On wide sparse rows a short step after a long one may shrink the weights so much that every step must fold.
There the foldings of a column since it was last touched are done as one.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.lane_numbers import AFTER, FOLDS, SCALE, STEP, SUM, WEIGHT, A, B
from aucbench.kernels.rows import _for_csr_rows, _for_dense_rows, extent
from aucbench.kernels.weights import _less

MOST_FOLDS = 512  # foldings that columns may be behind; each brings all those before up to date
NEGLIGIBLE = 1e-150  # what is left of a weight, below which it is zero


class LazyFolds(NamedTuple):
    """The foldings that columns have still to undergo."""

    seen: Any  # (d,) foldings that a column has undergone; (0,) where all columns are folded at once
    count: Any  # (1,) foldings so far
    keep: Any  # (MOST_FOLDS, lanes) what u of a column is multiplied by, of those that have seen so many,
    lost: Any  # (MOST_FOLDS, lanes) and how many times u its v loses


def no_folds(d: int, lanes: int, is_lazy: bool) -> LazyFolds:
    """No foldings so far, of columns that are folded when rows have them or all at once."""
    count = MOST_FOLDS if is_lazy else 0
    keep, lost = np.zeros((2, count, lanes))
    return LazyFolds(np.zeros(d if is_lazy else 0, np.int64), np.zeros(1, np.int64), keep, lost)


@kernel
def fold(uv, numbers, lazy, lanes):
    """Fold the settings that must be: see `weights.fold`."""
    is_lazy = lazy.seen.size > 0
    if is_lazy:
        _defer(uv, numbers, lazy, lanes)
    for m in range(lanes):
        if numbers[FOLDS * lanes + m] > 0.0:
            if not is_lazy:
                for j in range(uv.shape[0]):
                    uv[j, lanes + m] = -_less(numbers[SUM * lanes + m] * uv[j, m], uv[j, lanes + m])
                    uv[j, m] *= numbers[SCALE * lanes + m]
            numbers[SCALE * lanes + m], numbers[WEIGHT * lanes + m] = 1.0, numbers[AFTER * lanes + m]
            numbers[A * lanes + m], numbers[B * lanes + m] = numbers[STEP * lanes + m], 0.0


@fast_kernel
def _defer(uv, numbers, lazy, lanes):
    """Add a folding to those that columns have still to undergo."""
    if lazy.count[0] == MOST_FOLDS:
        catch_up_all(uv, lazy)
    last = lazy.count[0]
    lazy.keep[last], lazy.lost[last] = 1.0, 0.0
    folds = numbers[FOLDS * lanes : (FOLDS + 1) * lanes]
    scales, sums = np.ones(folds.size), np.zeros(folds.size)
    for m in range(folds.size):
        if folds[m] > 0.0:
            scales[m], sums[m] = numbers[SCALE * lanes + m], numbers[SUM * lanes + m]
    for before in range(last + 1):
        for m in range(folds.size):
            keep = lazy.keep[before, m]
            lazy.lost[before, m] += sums[m] * keep
            keep *= scales[m]
            lazy.keep[before, m] = 0.0 if abs(keep) < NEGLIGIBLE else keep
    lazy.count[0] = last + 1


@fast_kernel
def catch_up_all(uv, lazy):
    """Fold all columns that are behind."""
    if lazy.count[0] > 0:
        for j in range(uv.shape[0]):
            _fold_column(uv, j, lazy)
        lazy.seen[:] = lazy.count[0] = 0


@fast_kernel
def _fold_column(uv, j, lazy):
    before, lanes = lazy.seen[j], lazy.keep.shape[1]
    if before < lazy.count[0]:
        for m in range(lanes):
            u = uv[j, m]
            uv[j, lanes + m] = -_less(lazy.lost[before, m] * u, uv[j, lanes + m])
            uv[j, m] = lazy.keep[before, m] * u
        lazy.seen[j] = lazy.count[0]


def catch_up(X: Any, i: int, uv: Any, lazy: Any) -> None:
    """Fold the columns of x_i that are behind."""
    raise NotImplementedError


@_for_dense_rows(catch_up)
def _catch_up_dense(X, i, uv, lazy):
    pass


@_for_csr_rows(catch_up)
def _catch_up_csr(X, i, uv, lazy):
    if lazy.count[0] > 0:
        start, stop = extent(X, i)
        for p in range(start, stop):
            _fold_column(uv, X.indices[p], lazy)
