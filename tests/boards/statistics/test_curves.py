"""Reaching a target and anytime AUC against values by hand and numeric integrals."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate

from aucbench import DataError, ParameterError
from aucbench.boards.statistics import (
    Curve,
    Range,
    anytime_auc,
    area,
    common_ranges,
    costs_to_reach,
    first_crossing,
    read_curve,
    summarise,
    summarise_reaching,
    target_aucs,
)
from aucbench.boards.statistics.curves import runs_with_curves
from tests.boards.statistics.making import make_cells

NAN = float("nan")


def curve(cost, auc):
    return Curve(np.array(cost, dtype=float), np.array(auc, dtype=float))


RISING = curve([1, 10, 100], [0.5, 0.6, 0.9])


def test_the_target_is_a_fraction_of_what_lies_above_chance():
    one = {"a": [0.8, 1.0], "b": [0.99, "diverged"]}
    cells = make_cells({"d": one, "e": {"a": ["diverged"] * 2}, "f": {"a": [0.4]}})
    targets = target_aucs(cells, 0.9, {("board", "f"): 0.7})
    assert targets[("board", "d")] == pytest.approx(0.5 + 0.9 * 0.4)
    assert np.isnan(targets[("board", "e")])
    assert targets[("board", "f")] == pytest.approx(0.68)
    assert np.isnan(target_aucs(cells)[("board", "f")])


def test_a_fraction_outside_its_range_is_refused():
    with pytest.raises(ParameterError, match="fraction must be above 0"):
        target_aucs(make_cells({}), 1.1)


def test_crossings_are_linear_in_the_logarithm_of_the_cost():
    assert first_crossing(RISING, 0.55) == pytest.approx(10**0.5)
    assert first_crossing(RISING, 0.8) == pytest.approx(10 ** (1 + 2 / 3))
    assert first_crossing(RISING, 0.8, interpolate=False) == 100
    assert first_crossing(RISING, 0.6) == pytest.approx(10)
    assert first_crossing(RISING, 0.6, interpolate=False) == 10
    assert first_crossing(RISING, 0.9) == pytest.approx(100)


def test_a_curve_that_never_reaches_the_target_or_starts_there():
    assert first_crossing(RISING, 0.95) == np.inf
    assert first_crossing(curve([5, 10], [0.8, 0.9]), 0.7) == 5
    assert first_crossing(curve([0, 10], [0.5, 0.9]), 0.7) == 10
    assert np.isnan(first_crossing(RISING, np.nan))


def test_the_first_of_several_crossings_counts():
    assert first_crossing(curve([1, 10, 100, 1000], [0.5, 0.8, 0.4, 0.9]), 0.65) == pytest.approx(10**0.5)


def arrays(auc, samples=(1, 10, 100)):
    return {"samples": np.array(samples), "train_seconds": np.array(samples) / 1000, "auc": np.array(auc)}


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
    assert table["median"].to_dict() == pytest.approx({"a": 0.01, "b": np.inf, "c": np.inf})
    assert table["share"].to_dict() == pytest.approx({"a": 2 / 3, "b": 0.5, "c": 0})


def test_a_run_that_finished_without_an_auc_says_nothing_about_reaching():
    cells = make_cells({"d": {"a": [NAN]}})
    assert costs_to_reach(cells, {}, {("board", "d"): 0.7})["cost"].isna().all()


def test_without_a_target_nothing_is_reached_or_missed():
    cells = make_cells({"d": {"a": ["diverged", "failed"]}})
    table = summarise_reaching(costs_to_reach(cells, {}, target_aucs(cells)))
    assert table.loc[0, "runs"] == 0
    assert table[["target", "median", "share"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"samples": [1]}, "lacks auc"),
        (arrays([0.5, 0.6]), "vectors of one length"),
        (arrays([np.nan] * 3), "no checkpoint has an AUC"),
        (arrays([0.5, 0.6, 0.7], (1, 3, 2)), "never decrease"),
        (arrays([0.5, 0.6, 0.7], (-1, 3, 4)), "not negative"),
    ],
)
def test_unusable_curves_are_refused(found, message):
    with pytest.raises(DataError, match=message):
        read_curve(found, "samples")


def test_a_finished_cell_without_curve_and_an_unknown_cost_are_refused():
    cells = make_cells({"d": {"a": [0.9]}})
    with pytest.raises(DataError, match="finished and has no curve"):
        anytime_auc(cells, {})
    with pytest.raises(ParameterError, match="samples, train_seconds, got 'passes'"):
        anytime_auc(cells, {}, "passes")


def test_checkpoints_without_auc_are_left_out():
    assert read_curve(arrays([0.5, np.nan, 0.9]), "samples").cost.tolist() == [1, 100]


@pytest.mark.parametrize("within", [(1, 100), (3, 40), (0.1, 1e4), (20, 30), (200, 300)])
def test_the_area_is_the_integral_over_the_logarithm_of_the_cost(within):
    def height(x):
        return 0.5 if x < 0 else np.interp(x, np.log(RISING.cost), RISING.auc)

    low, high = np.log(within)
    bends = [at for at in np.log(RISING.cost) if low < at < high]
    expected = integrate.quad(height, low, high, points=bends or None)[0] / (high - low)
    assert area(RISING, Range(*within)) == pytest.approx(expected)


def test_late_curves_wait_at_chance_and_early_ones_keep_their_last_auc():
    assert area(curve([10], [0.9]), Range(1, 100)) == pytest.approx((0.5 + 0.9) / 2)
    assert area(curve([1e4], [0.9]), Range(1, 100)) == pytest.approx(0.5)
    assert area(curve([0.1], [0.9]), Range(1, 100)) == pytest.approx(0.9)
    assert area(curve([0], [0.9]), Range(1, 100)) == pytest.approx(0.9)


def test_a_range_of_one_cost_gives_the_auc_there():
    assert area(RISING, Range(10, 10)) == pytest.approx(0.6)
    assert area(curve([20], [0.9]), Range(10, 10)) == 0.5
    with pytest.raises(ParameterError, match="0 < low <= high"):
        area(RISING, Range(10, 1))


def test_the_range_spans_the_typical_ends_of_all_methods():
    cells = make_cells({"d": {"a": [0.9] * 3, "b": [0.9] * 3}})
    ends = {"a": [(0, 2, 50), (0, 3, 60), (0, 9, 900)], "b": [(5, 6, 70), (5, 6, 80), (5, 6, 90)]}
    curves = {
        ("board", "d", method, run): arrays([0.5, 0.6, 0.9], own)
        for method, runs in ends.items()
        for run, own in enumerate(runs)
    }
    assert common_ranges(runs_with_curves(cells, curves, "samples")) == {("board", "d"): (3, 80)}


def test_anytime_auc_can_be_summarised_like_cells():
    cells = make_cells({"d": {"a": [0.9, 0.9], "b": [0.9, "diverged"]}})
    fast, slow = arrays([0.9, 0.9, 0.9]), arrays([0.5, 0.5, 0.9])
    curves = {("board", "d", "a", 0): fast, ("board", "d", "a", 1): slow, ("board", "d", "b", 0): slow}
    table = anytime_auc(cells, curves)
    np.testing.assert_allclose(table["auc"], [0.9, 0.6, 0.6, np.nan])
    assert summarise(table, None)["gaps"].tolist() == [0, 1]
    fixed = anytime_auc(cells, curves, ranges={("board", "d"): Range(10, 100)})
    np.testing.assert_allclose(fixed["auc"], [0.9, 0.7, 0.7, np.nan])


def test_anytime_auc_of_runs_that_all_diverged_is_nan():
    table = anytime_auc(make_cells({"d": {"a": ["diverged"]}}), {})
    assert table["auc"].isna().all()
    assert isinstance(table, pd.DataFrame)
