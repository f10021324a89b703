"""Student's t against SciPy and a published example."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from aucbench.reports.statistics.paired_t_test import compare_runs, t_statistics
from tests.reports.statistics.sample_cells import make_cells

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
    ours = t_statistics(values, confidence=0.9)
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


def corrected_p(d, ratio):
    t = d.mean() / np.sqrt((1 / len(d) + ratio) * d.var(ddof=1))
    return 2 * stats.t.sf(abs(t), len(d) - 1)


@pytest.mark.parametrize("ratio", [None, 0.25])
def test_outcomes_follow_from_the_corrected_tests_after_holm_over_the_pairs_of_a_data_set(ratio):
    rng = np.random.default_rng(1)
    spread = {"near": [0, 0.001, 0.002, 0.003], "far": [0.2, 0.0, 0.1, 0.25]}
    cells = make_cells(
        {
            dataset: {f"m{k}": list(0.7 + more + rng.normal(0, 0.01, 6)) for k, more in enumerate(means)}
            for dataset, means in spread.items()
        }
    )
    table = compare_runs(cells, ratio)
    assert len(table) == 2 * 6
    for dataset, part in table.groupby("dataset"):
        own = cells[cells["dataset"] == dataset].pivot(index="run", columns="method", values="auc")
        differences = [(own[row.first] - own[row.second]).to_numpy() for row in part.itertuples()]
        p = [corrected_p(d, ratio or 0.0) for d in differences]
        np.testing.assert_allclose(part["p"], p)
        if ratio is None:
            theirs = [stats.ttest_rel(own[row.first], own[row.second]).pvalue for row in part.itertuples()]
            np.testing.assert_allclose(p, theirs)
        np.testing.assert_allclose(part["p_holm"], multipletests(p, method="holm")[1])
        for row, d in zip(part.itertuples(), differences, strict=True):
            assert row.outcome == ("tie" if row.p_holm >= 0.05 else "win" if d.mean() > 0 else "loss")
    assert set(table["outcome"]) == {"win", "tie", "loss"}


def test_outcomes_of_constant_differences_gaps_and_single_runs():
    cells = make_cells(
        {
            "zero": {"a": [0.7, 0.8], "b": [0.7, 0.8]},
            "constant": {"a": [0.9, 0.8], "b": [0.8, 0.7]},
            "gap": {"a": [0.9, 0.8, 0.9], "b": [0.5, "diverged", 0.5]},
            "one run": {"a": [0.9], "b": [0.5]},
        }
    )
    table = compare_runs(cells, 0.25).set_index("dataset")
    assert table["outcome"].to_dict() == {
        "zero": "tie",
        "constant": "win",
        "gap": "incomplete",
        "one run": "untested",
    }
    assert table.loc["gap", "runs"] == 2


def test_one_method_alone_has_no_pairs():
    table = compare_runs(make_cells({"d": {"a": [0.7, 0.8]}}), None)
    assert len(table) == 0
