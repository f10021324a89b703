"""Pareto fronts against brute force."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench.reports.statistics.pareto import pareto_front


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
