"""Groups of methods that do not differ, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench import ParameterError
from aucbench.boards.statistics import compare_runs, groups_of_runs, maximal_groups, summarise
from tests.boards.statistics.making import make_cells


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


def test_a_lopsided_matrix_is_refused():
    with pytest.raises(ParameterError, match="symmetric 2 x 2"):
        maximal_groups(["a", "b"], np.array([[False, True], [False, False]]))


def of_runs(aucs):
    cells = make_cells(aucs)
    return groups_of_runs(summarise(cells, 0.25), compare_runs(cells, 0.25))


def test_groups_of_a_data_set_follow_its_means_and_paired_tests():
    noise = np.array([0.0, 0.001, -0.001, 0.002])
    groups = of_runs(
        {"d": {"low": list(0.6 + noise), "high": list(0.9 + noise[::-1]), "tied": list(0.9 + noise)}}
    )
    assert groups == {("board", "d"): (("high", "tied"), ("low",))}


def test_methods_with_gaps_and_single_runs_are_in_no_group():
    groups = of_runs(
        {
            "gap": {"a": [0.7, 0.8], "b": [0.7, "diverged"], "c": [0.7, 0.8]},
            "one": {"a": [0.7], "b": [0.6]},
            "none": {"a": ["diverged"] * 2, "b": ["diverged"] * 2},
            "alone": {"a": [0.7, 0.8]},
        }
    )
    assert {dataset: found for (_, dataset), found in groups.items()} == {
        "gap": (("a", "c"),),
        "one": (),
        "none": (),
        "alone": (("a",),),
    }
