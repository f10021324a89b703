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
from aucbench.evaluation.delong import AucInterval, around_difference, row_placements

BLOCKS = 32


def block_deviations(
    scores: NDArray[np.float64], y: NDArray[np.int8], blocks: NDArray[np.uint8]
) -> NDArray[np.float64] | None:
    """The deviation D_b of each block, (BLOCKS,); None if the rows of a class lie in a single block.

    Scores, labels and errors are as for `exact_auc`; `blocks` (n,) are below BLOCKS.
    """
    placements, positive = row_placements(scores, y)
    deviations, found = placements - placements[positive].mean(), np.zeros(BLOCKS)
    for own in (positive, ~positive):
        rows = np.bincount(blocks[own], minlength=BLOCKS)
        n = rows.sum()
        if rows.max() == n:
            return None
        sums = np.bincount(blocks[own], deviations[own], BLOCKS)
        found += sums / (n * np.sqrt(1.0 - ((rows / n) ** 2).sum()))
    return found


def difference_interval(
    difference: Any, first: Any, second: Any, positives: int, negatives: int, confidence: float = 0.95
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
