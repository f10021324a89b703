"""Mean and interval over runs against SciPy."""

import numpy as np
import pytest
from scipy import stats

from aucbench.reports.statistics.over_runs import over_runs


def random_table(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rng.integers(1, 12), 6))
    return np.where(rng.random(values.shape) < 0.3, np.nan, values)


@pytest.mark.parametrize("ratio", [np.nan, 0.25, [0.25, np.nan, 0.5] * 2])
@pytest.mark.parametrize("seed", range(10))
def test_every_column_alone_gives_student_s_interval_which_the_ratio_of_rows_widens(seed, ratio):
    values = random_table(seed)
    found = over_runs(values, ratio, 0.9)
    for at, (column, extra) in enumerate(
        zip(values.T, np.nan_to_num(np.broadcast_to(ratio, 6)), strict=True)
    ):
        own = column[~np.isnan(column)]
        assert found.runs[at] == len(own)
        assert np.isnan(found.mean[at]) == (len(own) == 0)
        if len(own):
            assert found.mean[at] == pytest.approx(own.mean())
        if len(own) < 2:
            assert np.isnan([found.std[at], found.low[at], found.high[at]]).all()
            continue
        error = stats.sem(own) * np.sqrt(1.0 + len(own) * extra)
        expected = stats.t.interval(0.9, len(own) - 1, own.mean(), error)
        assert (found.low[at], found.high[at]) == pytest.approx(expected)
        assert found.std[at] == pytest.approx(own.std(ddof=1))


def test_equal_values_have_no_deviation_and_without_runs_there_are_only_nans():
    found = over_runs(np.array([[0.1 + 0.2], [0.3], [0.3]]), 0.25)  # equal up to rounding
    assert (found.std[0], found.low[0], found.high[0]) == (0.0, found.mean[0], found.mean[0])
    found = over_runs(np.empty((0, 2)))
    assert np.isnan(found.mean).all()
    assert list(found.runs) == [0.0, 0.0]
