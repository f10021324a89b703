"""Costs of reaching a target against values by hand."""

import numpy as np
import pytest

from aucbench.reports.statistics.time_to_target import (
    costs_to_reach,
    first_crossing,
    summarise_reaching,
    target_aucs,
)
from tests.reports.statistics.sample_cells import RISING, arrays, curve, make_cells

NAN = float("nan")


def test_the_target_is_a_fraction_of_what_lies_above_chance():
    one = {"a": [0.8, 1.0], "b": [0.99, "diverged"]}
    cells = make_cells({"d": one, "e": {"a": ["diverged"] * 2}, "f": {"a": [0.4]}})
    targets = target_aucs(cells, 0.9)
    assert targets[("board", "d")] == pytest.approx(0.5 + 0.9 * 0.4)
    assert np.isnan(targets[("board", "e")])
    assert np.isnan(targets[("board", "f")])


def test_crossings_are_linear_in_the_logarithm_of_the_cost():
    assert first_crossing(RISING, 0.55) == pytest.approx(10**0.5)
    assert first_crossing(RISING, 0.8) == pytest.approx(10 ** (1 + 2 / 3))
    assert first_crossing(RISING, 0.6) == pytest.approx(10)
    assert first_crossing(RISING, 0.9) == pytest.approx(100)


def test_a_curve_that_never_reaches_the_target_or_starts_there():
    assert first_crossing(RISING, 0.95) == np.inf
    assert first_crossing(curve([5, 10], [0.8, 0.9]), 0.7) == 5
    assert first_crossing(curve([0, 10], [0.5, 0.9]), 0.7) == 10
    assert np.isnan(first_crossing(RISING, np.nan))


def test_the_first_of_several_crossings_counts():
    assert first_crossing(curve([1, 10, 100, 1000], [0.5, 0.8, 0.4, 0.9]), 0.65) == pytest.approx(10**0.5)


def test_runs_that_fail_never_reach_it_and_missing_ones_are_not_counted():
    cells = make_cells({"d": {"a": [0.9, 0.6, 0.9], "b": [0.9, "diverged", "missing"], "c": ["timeout"] * 3}})
    rising, low = arrays([0.5, 0.7, 0.9]), arrays([0.5, 0.55, 0.6])
    curves = {
        ("board", "d", "a", 0): rising,
        ("board", "d", "a", 1): low,
        ("board", "d", "a", 2): rising,
        ("board", "d", "b", 0): rising,
        ("board", "d", "b", 1): rising,  # it diverged later
    }
    reached = costs_to_reach(cells, curves, {("board", "d"): 0.7}, "train_seconds")
    expected = [0.01, np.inf, 0.01, 0.01, np.inf, np.nan, np.inf, np.inf, np.inf]
    np.testing.assert_allclose(reached["cost"], expected)
    table = summarise_reaching(reached).set_index("method")
    assert table["runs"].to_dict() == {"a": 3, "b": 2, "c": 3}
    assert table["median"].to_dict() == pytest.approx({"a": 0.01, "b": 0.01, "c": np.inf})
    assert table["share"].to_dict() == pytest.approx({"a": 2 / 3, "b": 0.5, "c": 0})


def test_a_run_that_finished_without_an_auc_says_nothing_about_reaching():
    cells = make_cells({"d": {"a": [NAN]}})
    assert costs_to_reach(cells, {}, {("board", "d"): 0.7})["cost"].isna().all()


def test_without_a_target_nothing_is_reached_or_missed():
    cells = make_cells({"d": {"a": ["diverged", "failed"]}})
    table = summarise_reaching(costs_to_reach(cells, {}, target_aucs(cells)))
    assert table.loc[0, "runs"] == 0
    assert table[["target", "median", "share"]].isna().all(axis=None)
