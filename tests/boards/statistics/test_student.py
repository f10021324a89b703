"""Student's t against SciPy and a published example."""

import numpy as np
import pytest
from scipy import stats

from aucbench import ParameterError
from aucbench.boards.statistics import compare_runs, summarise, t_statistics, win_tie_loss
from tests.boards.statistics.making import make_cells, random_cells

# scikit-learn's example "Statistical comparison of models using grid search": differences of the AUC of two
# SVMs over ten times ten folds, by value.
SKLEARN = np.repeat([-0.12, -0.08, -0.04, 0.0, 0.04, 0.08, 0.2], [1, 2, 10, 53, 29, 4, 1])[:, None]


def test_the_corrected_test_of_the_scikit_learn_example_is_reproduced():
    plain = t_statistics(SKLEARN)
    corrected = t_statistics(SKLEARN, test_train_ratio=10 / 90)
    assert plain.t[0] == pytest.approx(2.611, abs=5e-4)
    assert corrected.t[0] == pytest.approx(0.750, abs=5e-4)
    assert (corrected.low[0], corrected.high[0]) == pytest.approx((-0.016445, 0.036445), abs=5e-7)
    assert corrected.p[0] / 2 == pytest.approx(0.227, abs=5e-4)  # there one-sided


def test_mean_interval_and_test_are_those_of_scipy():
    values = np.random.default_rng(0).normal(0.1, 1, (7, 4))
    ours = t_statistics(values, 0.9)
    theirs = stats.ttest_1samp(values, 0.0)
    interval = theirs.confidence_interval(0.9)
    np.testing.assert_allclose(ours.t, theirs.statistic)
    np.testing.assert_allclose(ours.p, theirs.pvalue)
    np.testing.assert_allclose(ours.low, interval.low)
    np.testing.assert_allclose(ours.high, interval.high)
    np.testing.assert_allclose(ours.std, values.std(axis=0, ddof=1))


def test_nan_are_left_out_column_by_column():
    values = np.array([[0.1, np.nan], [0.4, 0.2], [np.nan, 0.7], [0.3, 0.1]])
    ours = t_statistics(values)
    for column in range(2):
        known = values[~np.isnan(values[:, column]), column]
        assert ours.runs[column] == 3
        assert ours.p[column] == pytest.approx(stats.ttest_1samp(known, 0.0).pvalue)


def test_one_value_has_a_mean_and_nothing_else_and_none_has_nothing():
    ours = t_statistics(np.array([[0.3, np.nan]]))
    assert ours.mean[0] == 0.3
    assert np.isnan([ours.std[0], ours.low[0], ours.t[0], ours.p[0], ours.mean[1]]).all()


def test_constant_differences_are_nothing_or_certain():
    ours = t_statistics(np.array([[0.0, 0.1 + 1e-17, -0.3], [1e-17, 0.9 - 0.8, -0.3], [0.0, 0.1, -0.3]]))
    np.testing.assert_array_equal(ours.t, [0.0, np.inf, -np.inf])
    np.testing.assert_array_equal(ours.p, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(ours.low, ours.mean)


@pytest.mark.parametrize(
    "arguments", [{"confidence": 1.0}, {"test_train_ratio": 0.0}, {"test_train_ratio": -1}]
)
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(ParameterError, match=next(iter(arguments))):
        t_statistics(SKLEARN, **arguments)


def test_a_summary_has_means_intervals_and_the_distance_to_the_best():
    cells = make_cells({"d": {"a": [0.8, 0.9, 0.85], "b": [0.7, 0.85, 0.8], "c": [0.95, "diverged", 0.99]}})
    table = summarise(cells, test_train_ratio=0.25).set_index("method")
    assert table["best"].to_dict() == {"a": True, "b": False, "c": False}
    assert table.loc["a", ["behind", "behind_low", "behind_high"]].tolist() == [0, 0, 0]
    d = np.array([0.1, 0.05, 0.05])
    half = stats.t.ppf(0.975, 2) * np.sqrt((1 / 3 + 0.25) * d.var(ddof=1))
    assert table.loc["b", "behind"] == pytest.approx(d.mean())
    assert table.loc["b", "behind_high"] == pytest.approx(d.mean() + half)
    assert table.loc["c", ["runs", "gaps", "behind_runs"]].tolist() == [2, 1, 2]
    low, high = stats.t.interval(0.95, 2, 0.85, stats.sem([0.8, 0.9, 0.85]))
    assert table.loc["a", ["low", "high"]].tolist() == pytest.approx([low, high])
    assert table.loc["a", "corrected_low"] < low


def test_a_summary_without_ratio_has_no_corrected_interval_and_plain_distances():
    table = summarise(make_cells({"d": {"a": [0.8, 0.9], "b": [0.7, 0.85]}})).set_index("method")
    assert table["corrected_low"].isna().all()
    half = stats.t.ppf(0.975, 1) * stats.sem([0.1, 0.05])
    assert table.loc["b", "behind_low"] == pytest.approx(0.075 - half)


def test_nobody_is_best_when_every_run_diverged_and_all_are_when_all_tie():
    diverged = summarise(make_cells({"d": {"a": ["diverged"] * 2, "b": ["failed"] * 2}}))
    assert not diverged["best"].any()
    assert diverged[["mean", "behind", "low"]].isna().all(axis=None)
    assert summarise(make_cells({"d": {"a": [0.7, 0.8], "b": [0.7, 0.8]}}))["best"].all()


def test_pairs_are_those_of_scipy_and_named_from_the_view_of_the_first():
    cells = random_cells(runs=6)
    table = compare_runs(cells, confidence=0.8)
    assert len(table) == 4 * 3
    for row in table.itertuples():
        one, other = (
            cells[(cells["dataset"] == row.dataset) & (cells["method"] == method)]["auc"].to_numpy()
            for method in (row.first, row.second)
        )
        theirs = stats.ttest_rel(one, other)
        assert row.p == pytest.approx(theirs.pvalue)
        named = "tie" if theirs.pvalue >= 0.2 else "win" if theirs.statistic > 0 else "loss"
        assert row.outcome == named


def test_outcomes_of_constant_differences_gaps_and_single_runs():
    cells = make_cells(
        {
            "zero": {"a": [0.7, 0.8], "b": [0.7, 0.8]},
            "constant": {"a": [0.9, 0.8], "b": [0.8, 0.7]},
            "gap": {"a": [0.9, 0.8, 0.9], "b": [0.5, "diverged", 0.5]},
            "one run": {"a": [0.9], "b": [0.5]},
        }
    )
    table = compare_runs(cells).set_index("dataset")
    assert table["outcome"].to_dict() == {
        "zero": "tie",
        "constant": "win",
        "gap": "incomplete",
        "one run": "untested",
    }
    assert table.loc["gap", "runs"] == 2
    counts = win_tie_loss(compare_runs(cells)).set_index(["first", "second"])
    assert counts.loc[("a", "b")].to_dict() == {"win": 1, "tie": 1, "loss": 0, "undecided": 2}
    assert counts.loc[("b", "a")].to_dict() == {"win": 0, "tie": 1, "loss": 1, "undecided": 2}


def test_the_corrections_make_fewer_wins():
    rng = np.random.default_rng(3)
    noise = {f"m{m}": list(0.7 + 0.01 * m + rng.normal(0, 0.01, 10)) for m in range(6)}
    cells = make_cells({"d": noise})
    plain, holm, resampled = (
        (compare_runs(cells, **options)["outcome"] != "tie").sum()
        for options in ({}, {"correct_for_pairs": True}, {"test_train_ratio": 0.25})
    )
    assert plain > holm > 0
    assert plain > resampled > 0


def test_one_method_alone_has_no_pairs():
    table = compare_runs(make_cells({"d": {"a": [0.7, 0.8]}}))
    assert len(table) == len(win_tie_loss(table)) == 0
