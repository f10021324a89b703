"""Performance profiles against values by hand and their definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench.reports.statistics.inputs import RefusedError
from aucbench.reports.statistics.performance_profile import auc_gaps, performance_profile
from tests.reports.statistics.sample_cells import make_cells

TIMES = pd.DataFrame({"a": [1.0, 2, 3, np.inf], "b": [2.0, 1, 3, np.inf], "c": [4.0, 4, np.inf, np.inf]})


def at(profile, factors):
    """A profile, which is a step function, at some factors."""
    return profile.reindex(factors, method="ffill")


def test_a_profile_counts_the_data_sets_within_a_factor_of_the_best():
    profile = at(performance_profile(TIMES), [1, 2, 3.9, 4])
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
    profile = at(performance_profile(pd.DataFrame(values)), [1, 1.5, 10])
    for method in range(3):
        for tau in (1, 1.5, 10):
            within = [row[method] / min(row) <= tau for row in values]
            assert profile.loc[tau, method] == np.mean(within)


def test_a_perfect_method_has_the_ratio_one_and_every_other_infinity():
    profile = at(performance_profile(pd.DataFrame({"a": [0.0], "b": [0.1], "c": [0.0]})), [1, 1e9])
    assert profile.to_numpy().tolist() == [[1, 0, 1], [1, 0, 1]]


def test_profiles_of_unusable_tables_are_refused():
    with pytest.raises(RefusedError, match="1 are missing"):
        performance_profile(pd.DataFrame({"a": [1.0, np.nan]}))


def test_a_profile_of_no_data_sets_says_nothing():
    assert performance_profile(pd.DataFrame({"a": []})).isna().all(axis=None)


def test_gaps_tell_failures_from_what_was_not_run():
    cells = make_cells({"d": {"a": [0.9, 0.7], "b": [0.9, "diverged"], "c": [0.9, None]}})
    np.testing.assert_allclose(auc_gaps(cells), [[0.2, np.inf, np.nan]])
