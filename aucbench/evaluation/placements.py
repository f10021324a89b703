"""Sums of placements over blocks of test rows: the variance of AUC differences without stored scores.

The placement of a test row is the share of the rows of the other class that it is ranked correctly against,
ties one half. With n_c rows of class c, of which block b has n_bc, and the placements V_i, the deviation of a
block is

    D_b = sum over classes c, over rows i of c in b, of (V_i - AUC) / n_c / sqrt(1 - sum_b (n_bc / n_c)^2).

The variance of the AUC is the sum of D_b^2 over blocks, a delete-a-group form of DeLong's variance; that of
the difference of two AUCs on the same blocks is the sum of (D_b - D'_b)^2. Equal rows lie in one block, so
that they count as dependent, and a block has its rows of both classes, so that their covariance counts.

E. DeLong, D. DeLong, D. Clarke-Pearson: Comparing the areas under two or more correlated receiver operating
characteristic curves. Biometrics 44 (1988) 837-845. P. Kott: The delete-a-group jackknife. Journal of
Official Statistics 17 (2001) 521-526.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError
from aucbench.evaluation.auc import COARSE, NUMBER, POSITIVE, points_of_columns
from aucbench.evaluation.delong import AucInterval, around_difference
from aucbench.kernels import kernel

BLOCKS = 32


def block_deviations(
    scores: NDArray[np.float64], y: NDArray[np.int8], blocks: NDArray[np.uint8]
) -> NDArray[np.float64] | None:
    """The deviation D_b of each block, (BLOCKS,); None if the rows of a class lie in a single block.

    Scores, labels and errors are as for `exact_auc`; `blocks` (n,) are below BLOCKS.
    """
    scores = np.ascontiguousarray(scores, np.float64)
    work, found = np.empty((2, len(scores)), np.uint64), np.zeros(BLOCKS)
    next(points_of_columns(scores[:, None], y, work))
    return found if _add_deviations(work[0], scores, blocks, np.count_nonzero(y == 1), found) else None


def difference_interval(
    difference: Any,
    first: Any,
    second: Any,
    positives: int,
    negatives: int,
    confidence: float = 0.95,
) -> AucInterval:
    """The confidence interval of the difference of two AUCs on the same test rows.

    Student's t has one degree of freedom less than there are blocks, or rows of the rarer class if these are
    fewer. The error is that of the rule of three where hardly any rows are ranked differently.

    Parameters
    ----------
    difference : float or array
        First AUC minus second.
    first, second : (..., 32) arrays
        The deviations of the same blocks for either AUC: `result.placements` of the records of two cells.
    positives, negatives : int
        Test rows of each class, >= 2.
    confidence : float
        > 0 and < 1.

    Returns
    -------
    AucInterval
        Of numbers, or of arrays where several differences are given.

    Raises
    ------
    DataError, ParameterError
        A class has fewer than two test rows, or the confidence is not between 0 and 1.

    Examples
    --------
    >>> first, second = [0.01] * 16 + [-0.01] * 16, [0.0] * 32
    >>> found = difference_interval(0.2, first, second, positives=100, negatives=100)
    >>> f"{found.low:.3f} to {found.high:.3f}"
    '0.085 to 0.315'
    """
    if min(positives, negatives) < 2:
        raise DataError(f"An interval needs two test rows of each class, got {positives} and {negatives}.")
    error = np.linalg.norm(np.subtract(first, second), axis=-1)
    degrees = min(BLOCKS, positives, negatives) - 1
    return around_difference(difference, error, degrees, positives, negatives, confidence)


@kernel
def _add_deviations(items, scores, blocks, n_pos, deviations):
    """Add the deviations of blocks; False if a class lies in one block. Pairs are counted as integers."""
    wins = np.zeros((2, deviations.size), np.int64)  # twice the pairs that negatives, and positives, win
    rows = np.zeros((2, deviations.size), np.int64)
    above, below, stop = 0, items.size - n_pos, items.size  # positives passed, negatives to come
    while stop > 0:
        item = items[stop - 1]
        begin, ties = stop - 1, 1 if item & POSITIVE else 0
        # Equal scores lie in one interval; scores are looked up only there, which is seldom.
        while begin > 0 and (items[begin - 1] ^ item) >> COARSE == 0:
            if scores[items[begin - 1] & NUMBER] != scores[item & NUMBER]:
                break
            begin -= 1
            ties += 1 if items[begin] & POSITIVE else 0
        equal = stop - begin - ties
        below -= equal
        for k in range(begin, stop):
            block = blocks[items[k] & NUMBER]
            side, won = (1, 2 * below + equal) if items[k] & POSITIVE else (0, 2 * above + ties)
            wins[side, block] += won
            rows[side, block] += 1
        above += ties
        stop = begin
    n_neg = items.size - n_pos
    auc = wins[1].sum() / (2.0 * n_pos * n_neg)
    for side, n, others in ((0, n_neg, n_pos), (1, n_pos, n_neg)):
        if rows[side].max() == n:
            return False
        size = n * np.sqrt(1.0 - ((rows[side] / n) ** 2).sum())
        for block in range(deviations.size):
            deviations[block] += (wins[side, block] / (2.0 * others) - rows[side, block] * auc) / size
    return True
