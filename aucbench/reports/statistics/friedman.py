"""Many methods over many data sets: Friedman's test, and Nemenyi's for which of them differ."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from aucbench.reports.statistics.inputs import Floats, RefusedError
from aucbench.reports.statistics.ranks import rank_rows

MIN_DATASETS = 10
MIN_METHODS = 3


class Friedman(NamedTuple):
    """Friedman's statistic with its chi-square p-value, and Iman and Davenport's F with its own."""

    datasets: int
    methods: int
    chi2: float
    p_chi2: float
    f: float
    p_f: float


class Nemenyi(NamedTuple):
    """Average ranks, the critical difference, and which methods differ."""

    ranks: "pd.Series[float]"  # index: methods, 1 is best
    critical_difference: float
    differs: pd.DataFrame  # methods by methods, bool: ranks at least the critical difference apart


def friedman(table: pd.DataFrame, correct_ties: bool = True) -> Friedman:
    """Friedman's test that all methods rank equally, with Iman and Davenport's F.

    With R_j the average ranks of k methods over N data sets,

        chi2 = 12 N / (k (k+1)) (sum_j R_j^2 - k (k+1)^2 / 4),  chi-square with k - 1 degrees of freedom,
        F = (N-1) chi2 / (N (k-1) - chi2),  F with k - 1 and (k-1)(N-1) degrees of freedom.

    chi2 is divided by 1 - sum (t^3 - t) / (N (k^3 - k)), t the sizes of groups of ties, as SciPy and R do;
    Demsar's paper does not. F is the less conservative one and to be preferred. When all methods tie
    everywhere, chi2 = F = 0 and p = 1.

    `table` has mean AUCs, one row per data set, one column per method; see `dataset_means`. Tables with gaps,
    fewer than ten data sets or fewer than three methods are refused.

    M. Friedman: The use of ranks to avoid the assumption of normality. JASA 32 (1937) 675-701.
    R. Iman, J. Davenport: Approximations of the critical region of the Friedman statistic. Communications
    in Statistics A 9 (1980) 571-595.
    J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006), sec. 3.2.2.
    """
    ranks = _ranks(table, "Friedman's test")
    n, k = ranks.shape
    chi2 = 12 * n / (k * (k + 1)) * (np.sum(ranks.mean(axis=0) ** 2) - k * (k + 1) ** 2 / 4)
    chi2 = max(0.0, float(chi2))
    if correct_ties:
        sizes = [np.unique(row, return_counts=True)[1] for row in ranks]
        ties = 1 - sum(float((size**3 - size).sum()) for size in sizes) / (n * (k**3 - k))
        chi2 = chi2 / ties if ties > 0 else 0.0
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-9 * n * k else np.inf
    p_chi2, p_f = stats.chi2.sf(chi2, k - 1), stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    return Friedman(n, k, chi2, float(p_chi2), float(f), float(p_f))


def critical_difference(methods: int, datasets: int, confidence: float = 0.95) -> float:
    """The distance of average ranks from which on two methods differ, by Nemenyi's test.

    CD = q sqrt(k (k+1) / (6 N)), q the quantile of the studentised range for k groups and infinitely many
    degrees of freedom, divided by sqrt(2) (Demsar 2006, sec. 3.2.2 and table 5).
    """
    q = stats.studentized_range.ppf(confidence, methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * datasets)))


def nemenyi(table: pd.DataFrame, confidence: float = 0.95) -> Nemenyi:
    """Nemenyi's test of every two methods, after a Friedman test that rejected.

    Two methods differ when their average ranks are at least the critical difference apart. The table, and
    what is refused, are as for `friedman`.

    P. Nemenyi: Distribution-free multiple comparisons. PhD thesis, Princeton (1963).
    """
    ranks = _ranks(table, "Nemenyi's test")
    cd = critical_difference(ranks.shape[1], ranks.shape[0], confidence)
    mean = ranks.mean(axis=0)
    differs = np.abs(mean[:, None] - mean[None]) >= cd
    methods = table.columns
    return Nemenyi(
        pd.Series(mean, index=methods, name="rank"), cd, pd.DataFrame(differs, index=methods, columns=methods)
    )


def _ranks(table: pd.DataFrame, test: str) -> Floats:
    values = table.to_numpy(dtype=float)
    gaps = np.argwhere(np.isnan(values))
    if len(gaps):
        shown = "; ".join(f"{table.columns[column]} on {table.index[row]}" for row, column in gaps[:3])
        more = f" and {len(gaps) - 3} more" if len(gaps) > 3 else ""
        raise RefusedError(
            f"{test} needs a table without gaps; it lacks {shown}{more}. "
            "Leave out those methods or data sets, or run what is missing."
        )
    n, k = values.shape
    if n < MIN_DATASETS:
        raise RefusedError(
            f"{test} is not computed: it needs at least {MIN_DATASETS} data sets to be trustworthy, "
            f"and there {'is' if n == 1 else 'are'} {n}."
        )
    if k < MIN_METHODS:
        raise RefusedError(
            f"{test} compares at least {MIN_METHODS} methods, and there {'is' if k == 1 else 'are'} {k}; "
            "for two, see Wilcoxon's test."
        )
    return rank_rows(values)
