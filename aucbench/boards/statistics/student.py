"""Student's t over paired runs, with the variance correction for training sets that overlap."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from aucbench.boards.statistics.cells import TOLERANCE, Floats, share
from aucbench.errors import ParameterError


class TStatistics(NamedTuple):
    """Statistics of the columns of a matrix; NaN where there are too few runs."""

    runs: Floats  # (c,) values that are numbers
    mean: Floats  # (c,)
    std: Floats  # (c,) with n - 1 in the denominator
    se: Floats  # (c,) standard error of the mean
    low: Floats  # (c,) of the confidence interval of the mean
    high: Floats  # (c,)
    t: Floats  # (c,) of the hypothesis that the mean is 0
    p: Floats  # (c,) two-sided


def t_statistics(
    values: Floats, confidence: float = 0.95, test_train_ratio: float | None = None
) -> TStatistics:
    """Mean, standard error, confidence interval and t-test of every column.

    With s the standard deviation of n values, the interval is mean +- q SE and t = mean / SE, where q is the
    quantile of Student's t with n - 1 degrees of freedom and

        SE^2 = s^2 / n                  (plain)
        SE^2 = (1/n + n_test/n_train) s^2   (corrected)

    The plain form assumes that runs are independent and about normal. Runs on random splits of one data set
    share training rows, which makes the plain interval too short and the plain test too eager: Nadeau and
    Bengio's corrected resampled t-test inflates the variance by the ratio of test to training rows. They
    derive it for repeated hold-outs; for (repeated) k-fold cross-validation it is used with the ratio
    1/(k - 1), after Bouckaert and Frank. Runs that differ only in the order of a fixed split need no
    correction, but then say nothing about other splits.

    Values that are all equal up to rounding have the deviation 0: a mean of 0 then gives t = 0 and p = 1,
    any other t = +-inf and p = 0. One value has a mean and nothing else.

    Parameters
    ----------
    values : ndarray (n, c)
        One row a run; NaN are left out.
    confidence : float
        Of the interval, in (0, 1).
    test_train_ratio : float, optional
        n_test/n_train > 0; with it the corrected form.

    References
    ----------
    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52 (2003) 239-281, sec. 4.
    R. Bouckaert, E. Frank: Evaluating the replicability of significance tests for comparing learning
    algorithms. PAKDD 2004, sec. 3.3.
    """
    share("confidence", confidence)
    if test_train_ratio is not None and not (test_train_ratio > 0.0 and np.isfinite(test_train_ratio)):
        raise ParameterError(f"test_train_ratio must be a number > 0, got {test_train_ratio}.")
    if values.ndim != 2:
        raise ParameterError(f"values must be a matrix, one row a run, got shape {values.shape}.")
    known = ~np.isnan(values)
    n = known.sum(axis=0).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / n
        squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
        std = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
        std = np.where(std <= TOLERANCE, 0.0, std)
        se = std * np.sqrt(1.0 / n + (test_train_ratio or 0.0))
        half = stats.t.ppf(0.5 + confidence / 2, n - 1) * se
        t = np.where((std == 0) & (np.abs(mean) <= TOLERANCE), 0.0, mean / se)
        p = 2.0 * stats.t.sf(np.abs(t), n - 1)
    return TStatistics(n, mean, std, se, mean - half, mean + half, t, np.asarray(p))
