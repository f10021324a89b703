"""Anytime AUC against values by hand and numeric integrals."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate

from aucbench.reports.statistics.anytime_auc import Range, anytime_auc, area, common_ranges
from aucbench.reports.statistics.inputs import runs_with_curves
from aucbench.reports.statistics.summary import summarise
from tests.reports.statistics.sample_cells import RISING, arrays, curve, make_cells


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


def test_anytime_auc_of_runs_that_all_diverged_is_nan():
    table = anytime_auc(make_cells({"d": {"a": ["diverged"]}}), {})
    assert table["auc"].isna().all()
    assert isinstance(table, pd.DataFrame)
