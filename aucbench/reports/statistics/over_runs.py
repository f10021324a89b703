"""One data set: mean, deviation and interval over runs whose training sets may overlap."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

TOLERANCE = 1e-12  # smaller differences are rounding errors

Floats = NDArray[np.float64]


class Estimates(NamedTuple):
    """Statistics of the columns of a matrix; NaN where there are too few runs."""

    runs: Floats  # (c,) number of values that are not NaN
    mean: Floats  # (c,)
    std: Floats  # (c,) with n - 1 in the denominator
    low: Floats  # (c,) lower end of the confidence interval of the mean
    high: Floats  # (c,)


def over_runs(values: Floats, test_train_ratio: ArrayLike = np.nan, confidence: float = 0.95) -> Estimates:
    """Mean, deviation and confidence interval of every column of `values`, (n, c); NaN are left out.

    With s the standard deviation of n values, the interval is mean +- q SE, where q is the quantile of
    Student's t with n - 1 degrees of freedom and

        SE^2 = s^2 / n                  (plain)
        SE^2 = (1/n + n_test/n_train) s^2   (corrected)

    The plain form assumes that runs are independent and about normal. Runs on random splits of one data set
    share training rows, so the plain interval is too short: Nadeau and Bengio inflate the variance by
    the ratio of test to training rows. They derive the correction for repeated hold-outs; for (repeated)
    k-fold cross-validation the ratio is 1/(k - 1), after Bouckaert and Frank. Runs that differ only in
    the order of a fixed split need no correction, but are no evidence about other splits.

    Values that are all equal up to rounding have the deviation 0. A single value has only a mean.

    `test_train_ratio` is n_test/n_train where the training sets of the runs overlap, 0.25 for a hold-out of
    one fifth and for five folds; NaN gives the plain form. It is a scalar or (c,).

    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52 (2003) 239-281, sec. 4.
    R. Bouckaert, E. Frank: Evaluating the replicability of significance tests for comparing learning
    algorithms. PAKDD 2004, sec. 3.3.
    """
    has_value = ~np.isnan(values)
    n = has_value.sum(axis=0).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(has_value, values, 0.0).sum(axis=0) / n
        squares = (np.where(has_value, values - mean, 0.0) ** 2).sum(axis=0)
        std = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
        std = np.where(std <= TOLERANCE, 0.0, std)
        half = stdtrit(n - 1, 0.5 + confidence / 2) * std * np.sqrt(1.0 / n + np.nan_to_num(test_train_ratio))
    return Estimates(n, mean, std, mean - half, mean + half)
