"""Confidence intervals of an AUC, and of a difference of two AUCs, on one test set; its rows may have groups.

The AUC is the mean of the placements of the rows of either class, ties one half:

    V(i) = share of the negatives below positive i,  U(j) = share of the positives above negative j.

DeLong's variance of their mean is var(V) / m + var(U) / n for m positives and n negatives. With groups of
rows, such as equal rows or the rows of one patient, the deviations from the mean are first summed over each
group. A group with rows of both classes adds a covariance of its two sums (Obuchowski). Without groups, this
is DeLong's variance. For the difference of two AUCs, differences of placements replace the placements.

The quantile is Student's t with Satterthwaite's degrees of freedom for the two variances. The interval of one
AUC is symmetric on the scale of log(A / (1 - A)), which keeps it in 0 to 1.

Without stored scores, intervals of a difference come from sums of placements over blocks of test rows. With
n_c rows of class c, of which block b has n_bc, the deviation of a block is

    D_b = sum over classes c, over rows i of c in b, of (V_i - AUC) / n_c / sqrt(1 - sum_b (n_bc / n_c)^2).

The variance of the AUC is the sum of D_b^2 over blocks, a delete-a-group form of DeLong's variance (Kott).
For the difference of two AUCs on the same blocks it is the sum of (D_b - D'_b)^2. Equal rows lie in one
block, so they count as dependent. A block has rows of both classes, so their covariance counts.

Source: DeLong, DeLong, Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
characteristic curves, Biometrics 1988; placements by sorting as in Sun, Xu, Fast implementation of DeLong's
algorithm, IEEE Signal Processing Letters 2014; groups: Obuchowski, Nonparametric analysis of clustered ROC
curve data, Biometrics 1997; Kott, The delete-a-group jackknife, Journal of Official Statistics 2001.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError, ParameterError
from aucbench.evaluation.auc import checked

BLOCKS = 32  # blocks of test rows
FEW = 3.0  # standard error times m n: about the root of the number of pairs ranked differently


class AucInterval(NamedTuple):
    """An AUC or a difference of two AUCs, with its confidence interval."""

    value: float
    low: float
    high: float
    error: float  # standard error of the value
    degrees: float  # degrees of freedom of Student's t


def auc_interval(scores: Any, y: Any, groups: Any = None, confidence: float = 0.95) -> AucInterval:
    """The AUC of scores with its confidence interval over test rows, or over groups of test rows.

    Parameters
    ----------
    scores : (n,) array
        Decision values; infinities are allowed.
    y : (n,) array
        Labels in {-1, 1}, or {0, 1}.
    groups : (n,) array of integers or text, optional
        The group of each row, if rows are not independent.
    confidence : float
        Confidence level, > 0 and < 1.

    Returns
    -------
    AucInterval
        For an AUC of 0 or 1, error and width are 0, because DeLong's variance is 0.

    Raises
    ------
    DataError
        As for `exact_auc`, or if the lengths differ, or a class has fewer than two rows or groups of rows.
    ParameterError
        If the confidence is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> interval = auc_interval(np.array([0.1, 0.3, 0.4, 0.5, 0.6, 0.8]), np.array([0, 0, 1, 0, 1, 1]))
    >>> f"{interval.value:.3f}, {interval.low:.2f} to {interval.high:.2f}"
    '0.889, 0.09 to 1.00'
    """
    value, error, degrees = _estimate(*_placements(scores, y), groups)
    quantile = t_quantile(confidence, degrees)
    if error == 0.0:
        return AucInterval(value, value, value, error, degrees)
    width = quantile * error / (value * (1.0 - value))
    odds = np.log(value / (1.0 - value)) + np.array([-width, width])
    low, high = np.exp(-np.logaddexp(0.0, -odds)).tolist()
    return AucInterval(value, low, high, error, degrees)


def auc_difference(
    scores: Any, others: Any, y: Any, groups: Any = None, confidence: float = 0.95
) -> AucInterval:
    """AUC of scores minus AUC of other scores of the same rows, with its paired interval.

    Parameters
    ----------
    scores, others : (n,) arrays
        Decision values of two methods; infinities are allowed.
    y, groups, confidence
        As in `auc_interval`.

    Returns
    -------
    AucInterval
        The error follows the rule of three if hardly any rows are ranked differently.

    Raises
    ------
    DataError, ParameterError
        As for `auc_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> good, fair = np.array([1, 2, 4, 3, 5, 6]), np.array([1, 4, 5, 2, 3, 6])
    >>> interval = auc_difference(good, fair, y)
    >>> f"{interval.value:.3f}, {interval.low:.2f} to {interval.high:.2f}"
    '0.333, -0.42 to 1.09'
    """
    (first, positive), (second, _) = _placements(scores, y), _placements(others, y)
    value, error, degrees = _estimate(first - second, positive, groups)
    rows = np.arange(len(positive)) if groups is None else np.asarray(groups)
    m, n = (len(np.unique(rows[mask])) for mask in (positive, ~positive))
    return AucInterval(*map(float, around_difference(value, error, degrees, m, n, confidence)))


def block_deviations(
    scores: NDArray[np.float64], y: NDArray[np.int8], blocks: NDArray[np.uint8]
) -> NDArray[np.float64] | None:
    """The deviation D_b of each block, (BLOCKS,); None if the rows of a class lie in a single block.

    Scores, labels and errors are as for `exact_auc`; `blocks` (n,) are below BLOCKS.
    """
    placements, positive = _placements(scores, y)
    deviations, totals = placements - placements[positive].mean(), np.zeros(BLOCKS)
    for mask in (positive, ~positive):
        rows = np.bincount(blocks[mask], minlength=BLOCKS)
        n = rows.sum()
        if rows.max() == n:
            return None
        sums = np.bincount(blocks[mask], deviations[mask], BLOCKS)
        totals += sums / (n * np.sqrt(1.0 - ((rows / n) ** 2).sum()))
    return totals


def difference_interval(
    difference: Any, first: Any, second: Any, positives: int, negatives: int, confidence: float = 0.95
) -> AucInterval:
    """The confidence interval of the difference of two AUCs on the same test rows.

    The degrees of freedom of Student's t are one less than the number of blocks, or of rows of the rarer
    class if it is smaller. The error follows the rule of three if hardly any rows are ranked differently.

    Parameters
    ----------
    difference : float or array
        The first AUC minus the second.
    first, second : (..., 32) arrays
        The deviations of the same blocks for either AUC: `result.placements` of the records of two cells.
    positives, negatives : int
        Numbers of test rows of each class, >= 2.
    confidence : float
        Confidence level, > 0 and < 1.

    Returns
    -------
    AucInterval
        With numbers, or with arrays for several differences.

    Raises
    ------
    DataError, ParameterError
        A class has fewer than two test rows, or the confidence is not between 0 and 1.

    Examples
    --------
    >>> first, second = [0.01] * 16 + [-0.01] * 16, [0.0] * 32
    >>> interval = difference_interval(0.2, first, second, positives=100, negatives=100)
    >>> f"{interval.low:.3f} to {interval.high:.3f}"
    '0.085 to 0.315'
    """
    if min(positives, negatives) < 2:
        raise DataError(f"An interval needs two test rows of each class, got {positives} and {negatives}.")
    error = np.linalg.norm(np.subtract(first, second), axis=-1)
    degrees = min(BLOCKS, positives, negatives) - 1
    return around_difference(difference, error, degrees, positives, negatives, confidence)


def around_difference(
    value: Any, error: Any, degrees: float, positives: int, negatives: int, confidence: float
) -> AucInterval:
    """The interval of a difference of AUCs with an error of at least the rule of three.

    DeLong's variance is an estimate from the pairs of rows that two methods rank differently. Without such
    pairs it is zero, but other rows may still be ranked differently. The k = min(m, n) disjoint pairs of a
    positive and a negative are independent. If a share d of all pairs is ranked differently, none of the k
    pairs is with probability (1 - d)^k. With this confidence, d and therefore the difference are at most 1 -
    (1 - confidence)^(1/k), about 3 / k for 95 %. This bound is half the width of the interval if the error is
    below 3 / (m n), that is, with fewer than about ten pairs that are ranked differently.

    J. Hanley, A. Lippman-Hand: If nothing goes wrong, is everything all right? Interpreting zero numerators.
    JAMA 249 (1983) 1743-1745.
    """
    quantile = t_quantile(confidence, degrees)
    least = (1.0 - (1.0 - confidence) ** (1.0 / min(positives, negatives))) / quantile
    is_small = np.less(error, FEW / (positives * negatives))
    error = np.where(is_small, np.maximum(error, least), error)[()]
    width = quantile * error
    return AucInterval(value, value - width, value + width, error, degrees)


def _placements(scores: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The placement of each row, (n,), and the mask of the positive rows."""
    values, positive = checked(scores, y)
    block = np.unique(values, return_inverse=True)[1]  # blocks of tied scores, ascending
    above, below = _shares(block, positive), _shares(block, ~positive)
    return np.where(positive, below, 1.0 - above), positive


def _shares(block: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each row, the share of the rows of a class below the row, ties one half."""
    counts = np.bincount(block[mask], minlength=int(block.max()) + 1)
    return np.asarray(((np.cumsum(counts) - counts / 2) / np.count_nonzero(mask))[block])


def _estimate(
    placements: NDArray[np.float64], positive: NDArray[np.bool_], groups: Any
) -> tuple[float, float, float]:
    """The mean of the placements, its standard error, and the degrees of freedom of the error."""
    names = np.arange(len(positive)) if groups is None else np.asarray(groups)
    if names.shape != positive.shape:
        raise DataError(f"AUC: groups must have the shape {positive.shape}, one a row, got {names.shape}.")
    group = np.unique(names, return_inverse=True)[1]  # numbers from 0
    value, count = float(np.mean(placements[positive])), int(group.max()) + 1
    sums, factors = [], []
    for name, mask in (("positive", positive), ("negative", ~positive)):
        units = int(np.count_nonzero(np.bincount(group[mask])))
        if units < 2:
            unit = "row" if groups is None else "group of rows"
            raise DataError(f"An interval of an AUC needs two {unit}s of each class, got one {name} {unit}.")
        deviations = (placements[mask] - value) / np.count_nonzero(mask)
        sums.append(np.bincount(group[mask], deviations, count))
        factors.append(units / (units - 1.0))
    parts = [factor * float(values @ values) for factor, values in zip(factors, sums, strict=True)]
    variance = max(0.0, sum(parts) + 2.0 * count / (count - 1.0) * float(sums[0] @ sums[1]))
    # units - 1 is 1 / (factor - 1)
    spread = sum(part**2 * (factor - 1.0) for part, factor in zip(parts, factors, strict=True))
    return value, float(np.sqrt(variance)), sum(parts) ** 2 / spread if spread > 0.0 else np.inf


def t_quantile(confidence: float, degrees: float) -> float:
    """The quantile of Student's t for a two-sided interval; ParameterError if the confidence is invalid."""
    from scipy.special import stdtrit  # imported here, as workers import this module at their start

    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must be > 0 and < 1, got {confidence!r}.")
    return float(stdtrit(min(degrees, 1e12), (1.0 + confidence) / 2.0))


def chance_half_width(positives: int, negatives: int, confidence: float = 0.95) -> float:
    """Half the width of the interval around 0.5 for the AUC of random scores; inf if a class is empty."""
    if not positives or not negatives:
        return float("inf")
    variance = (positives + negatives + 1) / (12.0 * positives * negatives)  # Mann and Whitney's statistic
    return t_quantile(confidence, np.inf) * float(np.sqrt(variance))
