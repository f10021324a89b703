"""Holm's correction against statsmodels, and groups of methods that do not differ against brute force."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench.reports.statistics.multiple_comparisons import (
    groups_by_wilcoxon,
    groups_of_runs,
    holm,
    maximal_groups,
)
from aucbench.reports.statistics.paired_t_test import compare_runs
from aucbench.reports.statistics.ranks import rank_rows
from aucbench.reports.statistics.summary import summarise
from aucbench.reports.statistics.wilcoxon import compare_datasets
from tests.reports.statistics.sample_cells import DEMSAR, demsar_cells, make_cells


@given(st.integers(1, 7), st.integers(0, 2**21 - 1))
@settings(deadline=None)
def test_groups_are_the_maximal_sets_without_a_differing_pair(k, bits):
    differs = np.zeros((k, k), dtype=bool)
    for at, (one, other) in enumerate(combinations(range(k), 2)):
        differs[one, other] = differs[other, one] = bits >> at & 1
    alike = [
        set(members)
        for size in range(1, k + 1)
        for members in combinations(range(k), size)
        if not differs[np.ix_(members, members)].any()
    ]
    maximal = [own for own in alike if not any(own < other for other in alike)]
    found = [set(group) for group in maximal_groups(range(k), differs)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, maximal))
    for one, other in combinations(range(k), 2):
        assert any({one, other} <= group for group in found) == (not differs[one, other])


def of_runs(aucs):
    cells = make_cells(aucs)
    return groups_of_runs(summarise(cells, 0.25), compare_runs(cells, 0.25))


def test_groups_of_a_data_set_follow_its_means_and_paired_tests():
    noise = np.array([0.0, 0.001, -0.001, 0.002])
    groups = of_runs(
        {"d": {"low": list(0.6 + noise), "high": list(0.9 + noise[::-1]), "tied": list(0.9 + noise)}}
    )
    assert groups == (("high", "tied"), ("low",))


@pytest.mark.parametrize(
    ("aucs", "groups"),
    [
        ({"a": [0.7, 0.8], "b": [0.7, "diverged"], "c": [0.7, 0.8]}, (("a", "c"),)),
        ({"a": [0.7], "b": [0.6]}, ()),
        ({"a": ["diverged"] * 2, "b": ["diverged"] * 2}, ()),
        ({"a": [0.7, 0.8]}, (("a",),)),
    ],
)
def test_methods_with_gaps_and_single_runs_are_in_no_group(aucs, groups):
    assert of_runs({"d": aucs}) == groups


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


def test_groups_by_wilcoxon_follow_the_corrected_tests():
    ranks = pd.Series(rank_rows(DEMSAR.to_numpy()).mean(axis=0), index=DEMSAR.columns)
    comparisons = compare_datasets(demsar_cells())
    p = {frozenset(row[:2]): row[-1] for row in comparisons.to_numpy().tolist()}
    assert p[frozenset(("C4.5", "C4.5+m"))] < 0.05 <= p[frozenset(("C4.5", "C4.5+cf"))]
    groups = groups_by_wilcoxon(ranks, comparisons)
    assert groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+m+cf", "C4.5+cf", "C4.5"))
    assert all(p[frozenset(pair)] >= 0.05 for group in groups for pair in combinations(group, 2))
