"""Foldings of the weights of settings in lockstep, at once or lazily, column by column.

On wide sparse rows a short step after a long one may shrink the weights so much that every step must fold. A
lazy column combines all foldings since it was last touched into one.
"""

from typing import Any, NamedTuple

import numpy as np

from aucbench.kernels import weights
from aucbench.kernels.jit import fast_kernel, kernel
from aucbench.kernels.rows import _for_csr_rows, _for_dense_rows, extent
from aucbench.kernels.weights import _less

MOST_FOLDS = 512  # most foldings a column may be behind; a new folding updates all pending ones
NEGLIGIBLE = 1e-150  # a smaller remaining share of a weight counts as zero


class LazyFolds(NamedTuple):
    """The pending foldings of columns."""

    seen: Any  # (d,) foldings applied to a column; (0,) if all columns fold at once
    count: Any  # (1,) foldings so far
    keep: Any  # (MOST_FOLDS, lanes) factor of u for a column that has seen so many foldings
    lost: Any  # (MOST_FOLDS, lanes) multiple of u to subtract from v


def no_folds(d: int, lanes: int, is_lazy: bool) -> LazyFolds:
    """No foldings so far; columns fold lazily, or all at once."""
    count = MOST_FOLDS if is_lazy else 0
    keep, lost = np.zeros((2, count, lanes))
    return LazyFolds(np.zeros(d if is_lazy else 0, np.int64), np.zeros(1, np.int64), keep, lost)


@kernel
def fold(uv, numbers, lazy):
    """Fold as `weights.fold`; `numbers` (3 lanes,) hold a flag to fold, scale and weight per setting."""
    must_fold, scales, sums = numbers.reshape((3, uv.shape[1] // 2))
    if lazy.seen.size > 0:
        _defer(uv, must_fold, scales, sums, lazy)
        return
    for m in range(must_fold.size):
        if must_fold[m] > 0.0:
            weights.fold(uv[:, m], scales[m], uv[:, must_fold.size + m], sums[m])


@fast_kernel
def _defer(uv, must_fold, scales, sums, lazy):
    """Add a folding to the pending ones."""
    if lazy.count[0] == MOST_FOLDS:
        catch_up_all(uv, lazy)
    last = lazy.count[0]
    lazy.keep[last], lazy.lost[last] = 1.0, 0.0
    for before in range(last + 1):
        for m in range(must_fold.size):
            folds, keep = must_fold[m] > 0.0, lazy.keep[before, m]
            lazy.lost[before, m] += sums[m] * keep if folds else 0.0
            keep *= scales[m] if folds else 1.0
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


@_for_dense_rows
def catch_up(X: Any, i: int, uv: Any, lazy: Any) -> None:
    """Fold the columns of x_i that are behind."""


@_for_csr_rows(catch_up)
def _catch_up_csr(X, i, uv, lazy):
    if lazy.count[0] > 0:
        start, stop = extent(X, i)
        for p in range(start, stop):
            _fold_column(uv, X.indices[p], lazy)
