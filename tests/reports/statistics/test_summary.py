"""Summaries and gains against values computed with NumPy and SciPy."""

import numpy as np
import pytest
from scipy import stats

from aucbench.reports.statistics.summary import gains_over_datasets, summarise
from tests.reports.statistics.sample_cells import make_cells


def test_a_summary_has_means_corrected_intervals_and_gains():
    cells = make_cells({"d": {"a": [0.8, 0.9, 0.85], "b": [0.7, 0.85, 0.8], "c": [0.95, "diverged", 0.99]}})
    table = summarise(cells, 0.25, baseline="b").set_index("method")
    d = np.array([0.1, 0.05, 0.05])
    half = stats.t.ppf(0.975, 2) * np.sqrt((1 / 3 + 0.25) * d.var(ddof=1))
    assert table.loc["a", ["gain", "gain_low", "gain_high"]].tolist() == pytest.approx(
        [d.mean(), d.mean() - half, d.mean() + half]
    )
    assert table.loc["b", ["gain", "gain_low", "gain_high"]].tolist() == [0, 0, 0]
    assert table.loc["c", "gain"] == pytest.approx(np.mean([0.25, 0.19]))
    assert table.loc["c", ["runs", "gaps"]].tolist() == [2, 1]
    half = stats.t.ppf(0.975, 2) * np.sqrt((1 / 3 + 0.25) * np.var([0.8, 0.9, 0.85], ddof=1))
    assert table.loc["a", ["low", "high"]].tolist() == pytest.approx([0.85 - half, 0.85 + half])


def test_a_summary_without_ratio_has_plain_intervals_and_without_baseline_no_gains():
    cells = make_cells({"d": {"a": [0.8, 0.9], "b": [0.7, 0.85]}})
    table = summarise(cells, None).set_index("method")
    half = stats.t.ppf(0.975, 1) * stats.sem([0.8, 0.9])
    assert table.loc["a", "low"] == pytest.approx(0.85 - half)
    assert table["gain"].isna().all()
    assert summarise(cells, None, baseline="not there")["gain"].isna().all()


def test_gains_over_data_sets_are_the_mean_of_those_without_gaps():
    cells = make_cells(
        {
            "one": {"a": [0.8, 0.9], "b": [0.7, 0.7]},
            "two": {"a": [0.6, 0.6], "b": [0.55, 0.55]},
            "gap": {"a": [0.9, "diverged"], "b": [0.1, 0.1]},
        }
    )
    found = gains_over_datasets(cells, "b")
    low, high = stats.t.interval(0.95, 1, 0.1, stats.sem([0.15, 0.05]))
    assert found.loc["a"].tolist() == pytest.approx([2, 0.1, low, high])
    assert found.loc["b"].tolist() == [3, 0, 0, 0]
    assert not gains_over_datasets(cells, None)["datasets"].any()
