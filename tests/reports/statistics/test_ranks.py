"""Average ranks against SciPy, a bootstrap written with loops, and tables with gaps."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aucbench.reports.statistics.inputs import blocks
from aucbench.reports.statistics.ranks import average_ranks, complete_rectangle, rank_rows
from tests.reports.statistics.sample_cells import DEMSAR, demsar_cells, make_cells, random_cells


def test_ranks_are_those_of_scipy_with_ties_averaged_and_nan_out():
    values = np.round(np.random.default_rng(0).uniform(size=(40, 6)), 1)
    np.testing.assert_array_equal(rank_rows(values), stats.rankdata(-values, axis=1))
    values[0, 2:4] = np.nan
    np.testing.assert_array_equal(rank_rows(values), stats.rankdata(-values, axis=1, nan_policy="omit"))


def test_means_that_differ_by_rounding_are_tied():
    assert rank_rows(np.array([[0.3, 0.1 + 0.2]])).tolist() == [[1.5, 1.5]]


def test_average_ranks_of_demsars_table():
    ranking = average_ranks(demsar_cells(), resamples=50)
    ranks = ranking.complete.set_index("method")["rank"]
    expected = {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    assert ranks.to_dict() == pytest.approx(expected, abs=5e-4)
    assert list(ranks.index) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert len(ranking.missing) == 0
    pd.testing.assert_frame_equal(ranking.complete, ranking.with_gaps)


def test_intervals_are_those_of_a_bootstrap_written_with_loops():
    cells = random_cells(seed=2, datasets=6, methods=3, runs=4)
    matrices = [block.aucs for block in blocks(cells)]
    rng = np.random.default_rng(5)
    averages = []
    for _ in range(3000):
        drawn = [matrices[d] for d in rng.integers(0, 6, 6)]
        means = [matrix[rng.integers(0, 4, 4)].mean(axis=0) for matrix in drawn]
        averages.append(stats.rankdata(-np.round(means, 12), axis=1).mean(axis=0))
    low, high = np.quantile(averages, [0.05, 0.95], axis=0)
    ours = average_ranks(cells, 0.9, 3000).complete.set_index("method").sort_index()
    np.testing.assert_allclose(ours["low"], low, atol=0.17)  # averages lie 1/12 or 1/6 apart
    np.testing.assert_allclose(ours["high"], high, atol=0.17)


def test_over_data_sets_of_one_run_the_bootstrap_is_binomial():
    cells = make_cells({d: {"a": [0.9], "b": [0.8 if d else 0.95]} for d in range(4)})
    for confidence in (0.5, 0.8, 0.95):
        first = average_ranks(cells, confidence).complete.set_index("method").loc["a"]
        losses = stats.binom.ppf([(1 - confidence) / 2, (1 + confidence) / 2], 4, 0.25)
        assert first[["low", "high"]].tolist() == (1 + losses / 4).tolist()


def test_over_the_runs_of_one_data_set_the_bootstrap_draws_runs():
    # b is better when its better run is drawn twice: one time in four
    cells = make_cells({"d": {"a": [0.9, 0.5], "b": [0.6, 0.7]}})
    for confidence, high in ((0.4, 1), (0.6, 2)):
        table = average_ranks(cells, confidence).complete.set_index("method")
        assert table.loc["a", ["low", "high"]].tolist() == [1, high]


def test_the_seed_decides_the_interval():
    one, same, other = (
        average_ranks(random_cells(datasets=9), resamples=30, seed=seed).complete for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(one, same)
    assert not one[["low", "high"]].equals(other[["low", "high"]])


def test_runs_are_drawn_together_for_all_methods():
    # the order is the same in every run although the means of runs cross
    cells = make_cells({"d": {"a": [0.9, 0.6, 0.7], "b": [0.89, 0.59, 0.69]}})
    table = average_ranks(cells).complete
    assert table[["rank", "low", "high"]].to_numpy().tolist() == [[1, 1, 1], [2, 2, 2]]


def test_one_run_on_one_data_set_and_all_ties_have_degenerate_intervals():
    table = average_ranks(make_cells({"d": {"a": [0.8], "b": [0.8], "c": [0.8]}})).complete
    assert (table[["rank", "low", "high"]] == 2).all(axis=None)
    assert (table["relative"] == 0.5).all()


def test_gaps_are_reported_twice_and_never_filled():
    cells = make_cells(
        {
            "d": {"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.7, "diverged"]},
            "e": {"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.99, 0.99]},
            "f": {"a": [0.6, 0.5], "b": [0.8, 0.7], "c": [0.99, 0.99]},
        }
    )
    ranking = average_ranks(cells, resamples=200)
    assert sorted(ranking.complete["method"]) == ["a", "b"]
    assert ranking.datasets == ("d", "e", "f")
    assert ranking.complete.set_index("method")["rank"].to_dict() == pytest.approx({"a": 4 / 3, "b": 5 / 3})
    gaps = ranking.with_gaps.set_index("method")
    assert gaps["datasets"].to_dict() == {"c": 2, "a": 3, "b": 3}
    assert gaps["rank"].to_dict() == pytest.approx({"c": 1, "a": (1 + 2 + 3) / 3, "b": (2 + 3 + 2) / 3})
    assert gaps["relative"].to_dict() == pytest.approx({"c": 0, "a": 1.5 / 3, "b": 2.5 / 3})
    assert (gaps["low"] <= gaps["rank"]).all()
    assert (gaps["rank"] <= gaps["high"]).all()
    assert ranking.missing[["dataset", "method", "run", "status"]].to_numpy().tolist() == [
        ["d", "c", 1, "diverged"]
    ]


def test_nothing_is_ranked_when_all_runs_diverged():
    ranking = average_ranks(make_cells({"d": {"a": ["diverged"], "b": ["failed"]}}), resamples=10)
    assert len(ranking.complete) == 0
    assert ranking.with_gaps[["rank", "low", "high", "relative"]].isna().all(axis=None)
    assert (ranking.with_gaps["datasets"] == 0).all()
    assert len(average_ranks(make_cells({})).with_gaps) == 0


def test_a_method_that_failed_goes_rather_than_the_data_set():
    table = pd.DataFrame({"a": [1.0, 1, 1], "b": [1, np.nan, 1], "c": [1.0, 1, 1]}, index=["d", "e", "f"])
    assert complete_rectangle(table).equals(table[["a", "c"]])


def test_a_data_set_that_most_methods_lack_goes_first():
    table = pd.DataFrame({"a": [1.0, 1, 1], "b": [1, np.nan, 1], "c": [1, np.nan, 1]}, index=["d", "e", "f"])
    assert complete_rectangle(table).equals(table.loc[["d", "f"]])


def test_ranks_are_those_of_demsars_table():
    np.testing.assert_allclose(
        rank_rows(DEMSAR.to_numpy()).mean(axis=0), [3.143, 2.000, 2.893, 1.964], atol=5e-4
    )
