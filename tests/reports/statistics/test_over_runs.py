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
    summary = over_runs(values, ratio, 0.9)
    for at, (column, extra) in enumerate(
        zip(values.T, np.nan_to_num(np.broadcast_to(ratio, 6)), strict=True)
    ):
        sample = column[~np.isnan(column)]
        assert summary.runs[at] == len(sample)
        assert np.isnan(summary.mean[at]) == (len(sample) == 0)
        if len(sample):
            assert summary.mean[at] == pytest.approx(sample.mean())
        if len(sample) < 2:
            assert np.isnan([summary.std[at], summary.low[at], summary.high[at]]).all()
            continue
        error = stats.sem(sample) * np.sqrt(1.0 + len(sample) * extra)
        expected = stats.t.interval(0.9, len(sample) - 1, sample.mean(), error)
        assert (summary.low[at], summary.high[at]) == pytest.approx(expected)
        assert summary.std[at] == pytest.approx(sample.std(ddof=1))


def test_equal_values_have_no_deviation_and_without_runs_there_are_only_nans():
    summary = over_runs(np.array([[0.1 + 0.2], [0.3], [0.3]]), 0.25)  # equal up to rounding
    assert (summary.std[0], summary.low[0], summary.high[0]) == (0.0, summary.mean[0], summary.mean[0])
    summary = over_runs(np.empty((0, 2)))
    assert np.isnan(summary.mean).all()
    assert list(summary.runs) == [0.0, 0.0]
