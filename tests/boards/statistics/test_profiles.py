"""Performance profiles and Pareto fronts against values by hand and brute force."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench import DataError, ParameterError
from aucbench.boards.statistics import (
    RefusedError,
    measure_table,
    pareto_front,
    performance_profile,
)
from tests.boards.statistics.making import make_cells

TIMES = pd.DataFrame({"a": [1.0, 2, 3, np.inf], "b": [2.0, 1, 3, np.inf], "c": [4.0, 4, np.inf, np.inf]})


def test_a_profile_counts_the_data_sets_within_a_factor_of_the_best():
    profile = performance_profile(TIMES, [1, 2, 3.9, 4])
    assert profile["a"].tolist() == [0.5, 0.75, 0.75, 0.75]
    assert profile["b"].tolist() == [0.5, 0.75, 0.75, 0.75]
    assert profile["c"].tolist() == [0, 0, 0, 0.5]


def test_a_profile_steps_where_ratios_are():
    profile = performance_profile(TIMES)
    assert profile.index.tolist() == [1, 2, 4]
    assert (profile.diff().dropna() >= 0).all(axis=None)


@given(st.lists(st.lists(st.floats(0.01, 10), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(deadline=None)
def test_profiles_are_those_of_their_definition(values):
    profile = performance_profile(pd.DataFrame(values), [1, 1.5, 10])
    for method in range(3):
        for tau in (1, 1.5, 10):
            within = [row[method] / min(row) <= tau for row in values]
            assert profile.loc[tau, method] == np.mean(within)


def test_a_perfect_method_has_the_ratio_one_and_every_other_infinity():
    profile = performance_profile(pd.DataFrame({"a": [0.0], "b": [0.1], "c": [0.0]}), [1, 1e9])
    assert profile.to_numpy().tolist() == [[1, 0, 1], [1, 0, 1]]


def test_profiles_of_unusable_tables_are_refused():
    with pytest.raises(RefusedError, match="1 are missing"):
        performance_profile(pd.DataFrame({"a": [1.0, np.nan]}))
    with pytest.raises(DataError, match="never negative"):
        performance_profile(pd.DataFrame({"a": [-1.0]}))
    with pytest.raises(ParameterError, match="at least 1"):
        performance_profile(TIMES, [0.5])


def test_a_profile_of_no_data_sets_says_nothing():
    assert performance_profile(pd.DataFrame({"a": []})).isna().all(axis=None)


def test_measures_tell_failures_from_what_was_not_run():
    cells = make_cells({"d": {"a": [0.9, 0.7], "b": [0.9, "diverged"], "c": [0.9, None]}})
    np.testing.assert_allclose(measure_table(cells), [[0.2, np.inf, np.nan]])
    np.testing.assert_allclose(measure_table(cells, "train_seconds"), [[1.5, np.inf, np.nan]])
    with pytest.raises(ParameterError, match="measure must be one of"):
        measure_table(cells, "joules")
    with pytest.raises(DataError, match="state_bytes is lacking"):
        measure_table(cells.drop(columns="state_bytes"), "state_bytes")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
@settings(deadline=None)
def test_the_front_holds_the_points_that_no_other_dominates(points):
    auc, cost = (np.array(axis, dtype=float) for axis in zip(*points, strict=True))
    expected = [not any(a >= b and x <= y and (a > b or x < y) for a, x in points) for b, y in points]
    assert pareto_front(auc, cost).tolist() == expected


def test_points_without_a_number_are_off_the_front_and_beat_nobody():
    front = pareto_front([0.9, np.nan, 0.8, 1.0], [2, 1, np.nan, np.inf])
    assert front.tolist() == [True, False, False, False]
    assert pareto_front([], []).tolist() == []
    with pytest.raises(ParameterError, match="one length"):
        pareto_front([1, 2], [1])
