"""Costs until a target suboptimality, and their profile over data sets, against values by hand."""

import numpy as np
import pytest

from aucbench.reports.statistics.target_suboptimality import costs_to_minimum, reached_profile
from tests.reports.statistics.sample_cells import make_cells

INF = np.inf


def power_law(exponent, most=1e4):
    """Suboptimality t^exponent at passes 1, 10, 100, ..."""
    t = 10.0 ** np.arange(round(np.log10(most)) + 1)
    return {"passes": t, "train_seconds": t / 1e3, "suboptimality": t**exponent, "auc": 0 * t + 0.9}


def test_the_cost_until_a_target_is_that_of_the_power_law():
    cells = make_cells({"d": {"a": [0.9], "b": [0.9]}})
    curves = {("board", "d", "a", 0): power_law(-1.0), ("board", "d", "b", 0): power_law(-0.75)}
    passes = costs_to_minimum(cells, curves, "passes")
    np.testing.assert_allclose(passes["a"], [1e2, 1e3, 1e4])
    np.testing.assert_allclose(passes["b"], [10 ** (2 / 0.75), 1e4, INF])
    np.testing.assert_allclose(costs_to_minimum(cells, curves, "train_seconds")["a"], [0.1, 1.0, 10.0])


def test_runs_that_diverge_never_reach_a_target():
    cells = make_cells({"d": {"a": [0.9, "diverged", "diverged"], "b": [0.9, 0.9, "diverged"]}})
    curves = {
        ("board", "d", name, run): power_law(-1.0)
        for name, runs in (("a", [0]), ("b", [0, 1]))
        for run in runs
    }
    first = {name: costs[0] for name, costs in costs_to_minimum(cells, curves, "passes").items()}
    assert first == pytest.approx({"a": INF, "b": 100.0})


def test_the_profile_counts_pairs_of_data_set_and_target():
    costs = {
        "d": {"a": (1.0, 2.0, 8.0), "b": (4.0, INF, INF)},
        "e": {"a": (1.0, INF, INF)},  # b has no certified minimum there
    }
    profile = reached_profile(costs)
    assert profile.index.tolist() == [0.0, 1.0, 2.0, 4.0, 8.0]
    np.testing.assert_allclose(profile["a"], np.array([0, 2, 3, 3, 4]) / 6)
    np.testing.assert_allclose(profile["b"], np.array([0, 0, 0, 1, 1]) / 3)
