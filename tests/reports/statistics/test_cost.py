"""Costs of reaching a target against brute force on a fine grid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucbench.reports.statistics.cost import first_crossing, median_cost, pareto_front


def random_curve(seed):
    """Ascending costs and a value at each cost; the values may fall."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    return np.cumsum(rng.exponential(10.0, n)) + 0.1, rng.random(n)


def on_grid(cost, value, points=40_001):
    """The curve on a fine grid of the logarithm of the cost."""
    grid = np.linspace(np.log(cost[0]), np.log(cost[-1]), points)
    return np.exp(grid), np.interp(grid, np.log(cost), value)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_crossing_is_that_of_the_curve_on_a_fine_grid(seed):
    cost, value = random_curve(seed)
    grid, heights = on_grid(cost, value)
    for target in np.random.default_rng(seed).random(5):
        reached = np.flatnonzero(heights >= target)
        expected = grid[reached[0]] if len(reached) else np.inf
        assert first_crossing(cost, value, target) == pytest.approx(expected, rel=1e-3)


def test_a_first_checkpoint_that_cost_nothing_has_no_logarithm():
    assert first_crossing(np.array([0.0, 10.0]), np.array([0.5, 0.9]), 0.7) == 10.0
    assert first_crossing(np.array([0.0, 10.0]), np.array([0.8, 0.9]), 0.7) == 0.0
    assert np.isnan(first_crossing(np.array([1.0]), np.array([0.9]), np.nan))


@pytest.mark.parametrize("seed", range(40))
def test_half_of_the_runs_are_done_within_the_median_cost_and_fewer_within_less(seed):
    rng = np.random.default_rng(seed)
    paid = np.where(rng.random(rng.integers(1, 9)) < 0.3, np.inf, rng.exponential(1.0, 1)[0] + rng.random())
    paid = paid * rng.permutation(np.arange(1, len(paid) + 1))
    median = median_cost([*paid, np.nan])
    assert np.mean(paid <= median) >= 0.5
    assert np.mean(paid < median) < 0.5
    assert np.isnan(median_cost([np.nan]))


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
