"""Tests over many data sets against Demsar's examples, SciPy, statsmodels and brute force."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aucbench import ParameterError
from aucbench.boards.statistics import (
    RefusedError,
    compare_datasets,
    critical_difference,
    friedman,
    groups_by_rank,
    groups_by_wilcoxon,
    holm,
    nemenyi,
    rank_rows,
    signed_ranks,
)
from tests.boards.statistics.making import DEMSAR, demsar_cells, make_cells


def test_holm_gives_the_values_of_documented_examples():
    # stdlib.io/docs/api/latest/@stdlib/stats/padjust and pingouin's `holm`
    np.testing.assert_allclose(
        holm(np.array([0.319, 0.201, 0.4, 0.374, 0.113])), [0.957, 0.804, 0.957, 0.957, 0.565]
    )
    np.testing.assert_allclose(
        holm(np.array([0.50, 0.003, 0.32, 0.054, 0.0003])), [0.64, 0.012, 0.64, 0.162, 0.0015]
    )


def test_holm_gives_what_statsmodels_gives_and_counts_no_nan():
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(0).uniform(0, 0.2, 20)
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])
    np.testing.assert_array_equal(holm(np.array([np.nan, 0.01, 0.04])), [np.nan, 0.02, 0.04])
    assert len(holm(np.array([]))) == 0


def test_holm_refuses_what_is_no_probability():
    with pytest.raises(ParameterError, match="between 0 and 1"):
        holm(np.array([0.5, 1.5]))


def test_signed_ranks_of_demsars_example():
    # Section 3.1.3: R+ = 93, R- = 12, and the critical value at 0.05 is 21
    result = signed_ranks((DEMSAR["C4.5+m"] - DEMSAR["C4.5"]).to_numpy())
    assert (result.plus, result.minus) == (93, 12)
    assert result.p < 0.05


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_signed_ranks_are_exact_with_ties_and_zeros(differences):
    d = np.array(differences) / 100
    ranks = stats.rankdata(np.abs(np.array(differences)))[d != 0]
    observed = abs(np.sum(ranks * np.sign(d[d != 0])))
    all_signs = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=len(ranks))]
    expected = np.mean(np.array(all_signs) >= observed - 1e-9)
    assert signed_ranks(d).p == pytest.approx(expected)


@pytest.mark.parametrize("n", [3, 12, 50])
def test_signed_ranks_without_ties_are_those_of_scipy(n):
    d = np.random.default_rng(n).normal(0.2, 1, n)
    ours, theirs = signed_ranks(d), stats.wilcoxon(d, method="exact")
    assert min(ours.plus, ours.minus) == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue)


def test_signed_ranks_of_nothing_and_of_no_difference():
    assert np.isnan(signed_ranks(np.array([])).p)
    assert signed_ranks(np.zeros(8)) == (18, 18, 1.0)
    assert signed_ranks(np.array([0.1])).p == 1.0


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: signed_ranks(np.array([0.1, np.nan])), "vector of finite numbers"),
        (lambda: critical_difference(1, 14), "needs two methods and a data set, got 1 and 14"),
        (lambda: critical_difference(4, 14, 95), "confidence must lie between 0 and 1, got 95"),
    ],
)
def test_wrong_arguments_are_refused(refused, message):
    with pytest.raises(ParameterError, match=message):
        refused()


def test_methods_are_compared_on_the_data_sets_that_both_have():
    cells = make_cells(
        {f"d{i}": {"a": [0.9], "b": [0.8 - i / 100], "c": ["failed" if i else 0.7]} for i in range(8)}
    )
    table = compare_datasets(cells).set_index(["first", "second"])
    assert table["datasets"].tolist() == [8, 1, 1]
    assert table.loc[("a", "b"), "p"] == pytest.approx(2 / 2**8)
    np.testing.assert_allclose(table["p_holm"], holm(table["p"].to_numpy()))


def test_ranks_are_those_of_demsars_table():
    np.testing.assert_allclose(
        rank_rows(DEMSAR.to_numpy()).mean(axis=0), [3.143, 2.000, 2.893, 1.964], atol=5e-4
    )


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


def test_p_values_of_nemenyi_belong_to_its_critical_difference():
    result = nemenyi(DEMSAR, confidence=0.9)
    distance = result.ranks["C4.5"] - result.ranks["C4.5+m"]
    expected = stats.studentized_range.sf(distance / np.sqrt(4 * 5 / (6 * 14)) * np.sqrt(2), 4, np.inf)
    assert result.p.loc["C4.5", "C4.5+m"] == pytest.approx(expected)
    np.testing.assert_array_equal(result.differs, result.p < 0.1)


@pytest.mark.parametrize("test", [friedman, nemenyi])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (DEMSAR[:9], "at least 10 data sets .* there are 9"),
        (DEMSAR[:1], "there is 1"),
        (DEMSAR[["C4.5", "C4.5+m"]], "at least 3 methods, and there are 2"),
        (DEMSAR.mask(DEMSAR == 0.609), r"lacks C4.5\+cf on 6"),
    ],
)
def test_too_little_or_incomplete_tables_are_refused_in_words(test, table, message):
    with pytest.raises(RefusedError, match=message):
        test(table)


def test_groups_by_wilcoxon_follow_the_corrected_tests():
    ranks = pd.Series(rank_rows(DEMSAR.to_numpy()).mean(axis=0), index=DEMSAR.columns)
    comparisons = compare_datasets(demsar_cells())
    p = {frozenset(row[:2]): row[-1] for row in comparisons.to_numpy().tolist()}
    assert p[frozenset(("C4.5", "C4.5+m"))] < 0.05 <= p[frozenset(("C4.5", "C4.5+cf"))]
    groups = groups_by_wilcoxon(ranks, comparisons)
    assert groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+m+cf", "C4.5+cf", "C4.5"))
    assert all(p[frozenset(pair)] >= 0.05 for group in groups for pair in combinations(group, 2))
