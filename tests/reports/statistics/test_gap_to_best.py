"""Gaps to the best, against values by hand."""

import numpy as np

from aucbench.reports.statistics.gap_to_best import FLOOR, best_reached, gap_to_best


def test_the_best_is_the_largest_at_any_checkpoint():
    curves = [np.array([0.5, 0.9, 0.8]), np.array([np.nan, 0.85]), np.array([])]
    assert best_reached(curves) == 0.9
    assert np.isnan(best_reached([]))
    assert np.isnan(best_reached([np.array([np.nan])]))


def test_gaps_are_differences_above_the_floor():
    found = gap_to_best(np.array([0.5, 0.8, 0.9 - FLOOR / 2, 0.9, 0.95, np.nan]), 0.9)
    np.testing.assert_allclose(found, [0.4, 0.1, FLOOR, FLOOR, FLOOR, np.nan])
