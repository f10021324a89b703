"""Wilcoxon's signed-rank test against Demsar's example, SciPy and brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from aucbench.reports.statistics.multiple_comparisons import holm
from aucbench.reports.statistics.wilcoxon import compare_datasets, signed_ranks
from tests.reports.statistics.sample_cells import DEMSAR, make_cells


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


def test_methods_are_compared_on_the_data_sets_that_both_have():
    cells = make_cells(
        {f"d{i}": {"a": [0.9], "b": [0.8 - i / 100], "c": ["failed" if i else 0.7]} for i in range(8)}
    )
    table = compare_datasets(cells).set_index(["first", "second"])
    assert table["datasets"].tolist() == [8, 1, 1]
    assert table.loc[("a", "b"), "p"] == pytest.approx(2 / 2**8)
    np.testing.assert_allclose(table["p_holm"], holm(table["p"].to_numpy()))
