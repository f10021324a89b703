"""Friedman's and Nemenyi's tests against Demsar's example and SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aucbench.reports.statistics.friedman import critical_difference, friedman, nemenyi
from aucbench.reports.statistics.inputs import RefusedError
from aucbench.reports.statistics.multiple_comparisons import groups_by_rank
from tests.reports.statistics.sample_cells import DEMSAR


def test_friedman_and_iman_davenport_are_those_of_demsars_example():
    result = friedman(DEMSAR, correct_ties=False)  # section 3.2.2: 9.28 and 3.69, F(3, 39)
    assert result.chi2 == pytest.approx(9.28, abs=0.005)
    assert result.f == pytest.approx(3.69, abs=0.005)
    assert result.p_f == pytest.approx(stats.f.sf(3.69, 3, 39), abs=1e-3)


def test_friedman_with_ties_is_that_of_scipy():
    table = pd.DataFrame(np.round(np.random.default_rng(1).uniform(size=(15, 5)), 1))
    ours, theirs = friedman(table), stats.friedmanchisquare(*table.to_numpy().T)
    assert (ours.chi2, ours.p_chi2) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_friedman_of_all_ties_finds_nothing_and_of_one_order_everything():
    assert friedman(pd.DataFrame(np.full((12, 3), 0.5)))[2:] == (0, 1, 0, 1)
    same = friedman(pd.DataFrame(np.tile([0.1, 0.2, 0.3], (12, 1))))
    assert (same.chi2, same.f, same.p_f) == (pytest.approx(24), np.inf, 0)


@pytest.mark.parametrize(
    ("methods", "confidence", "q"),
    [
        (2, 0.95, 1.960),
        (3, 0.95, 2.343),
        (4, 0.95, 2.569),
        (10, 0.95, 3.164),
        (4, 0.9, 2.291),
        (10, 0.9, 2.920),
    ],
)
def test_critical_differences_are_those_of_demsars_table_5(methods, confidence, q):
    found = critical_difference(methods, 14, confidence) / np.sqrt(methods * (methods + 1) / (6 * 14))
    assert found == pytest.approx(q, abs=1.1e-3)  # the table is truncated


def test_nemenyi_and_its_groups_are_those_of_demsars_example():
    strict, mild = nemenyi(DEMSAR), nemenyi(DEMSAR, confidence=0.9)
    assert strict.critical_difference == pytest.approx(1.25, abs=0.005)
    assert mild.critical_difference == pytest.approx(1.12, abs=0.005)
    assert groups_by_rank(strict) == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    assert groups_by_rank(mild) == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))


def test_methods_differ_where_the_p_value_of_nemenyi_is_below_the_level():
    found = nemenyi(DEMSAR, confidence=0.9)
    distances = np.abs(np.subtract.outer(found.ranks.to_numpy(), found.ranks.to_numpy()))
    p = stats.studentized_range.sf(distances / np.sqrt(4 * 5 / (6 * 14)) * np.sqrt(2), 4, np.inf)
    np.testing.assert_array_equal(found.differs, p < 0.1)


@pytest.mark.parametrize("test", [friedman, nemenyi])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (DEMSAR[:9], "10 data sets .* 9"),
        (DEMSAR[:1], "10 data sets .* 1"),
        (DEMSAR[["C4.5", "C4.5+m"]], "3 methods.* 2"),
        (DEMSAR.mask(DEMSAR == 0.609), r"lacks C4.5\+cf on 6"),
    ],
)
def test_too_little_or_incomplete_tables_are_refused_in_words(test, table, message):
    with pytest.raises(RefusedError, match=message):
        test(table)
