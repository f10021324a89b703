"""Verdicts on published numbers, and Kendall's tau against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aucbench.reports.statistics.agreement import judge_table, kendall, order_agreement

NAN = float("nan")


def judge(published, std, ours, comparable=True):
    """The verdict on one number."""
    number = {"published": published, "published_std": std, "ours": ours, "comparable": comparable}
    numbers = pd.DataFrame([number])
    return judge_table(numbers)["verdict"].item()


@pytest.mark.parametrize(
    ("published", "std", "ours", "verdict"),
    [
        (0.9, NAN, 0.903, "equal"),
        (0.9, NAN, 0.897, "equal"),
        (0.9, NAN, 0.9031, "better"),
        (0.9, NAN, 0.8969, "worse"),
        (0.9, 0.001, 0.903, "equal"),
        (0.9, 0.01, 0.92, "equal"),
        (0.9, 0.01, 0.9201, "better"),
        (0.9, 0.0, 0.88, "worse"),
        (0.9, 0.01, NAN, "not run"),
        (NAN, NAN, 0.9, "not comparable"),
        (NAN, NAN, NAN, "not comparable"),
    ],
)
def test_numbers_are_equal_within_the_margin_or_two_deviations(published, std, ours, verdict):
    assert judge(published, std, ours) == verdict


def test_another_protocol_is_not_comparable_whatever_the_numbers_are():
    assert judge(0.9, 0.01, 0.9, comparable=False) == "not comparable"


def test_a_table_gets_a_verdict_in_every_row():
    numbers = pd.DataFrame(
        {"published": [0.9, 0.9, 0.9], "published_std": [0.01, np.nan, np.nan], "ours": [0.89, 0.8, 0.9]}
    )
    every = judge_table(numbers.assign(comparable=True))
    assert every["verdict"].tolist() == ["equal", "worse", "equal"]
    some = judge_table(numbers.assign(comparable=[True, False, True]))
    assert some["verdict"].tolist() == ["equal", "not comparable", "equal"]


def alone(published, ours):
    """Kendall's tau of a single data set."""
    return kendall(np.array(published), np.array(ours), np.zeros(len(published)))


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_that_of_scipy_with_ties(seed):
    x, y = np.random.default_rng(seed).integers(0, 5, (2, 12)) / 10
    assert alone(x, y).tau == pytest.approx(stats.kendalltau(x, y).statistic)


def test_methods_that_lack_a_number_are_left_out():
    x, y = [0.1, 0.2, NAN, 0.4, 0.3], [0.2, 0.3, 0.9, NAN, 0.1]
    assert alone(x, y) == (pytest.approx(-1 / 3), 3, 1, 2)


def test_nothing_to_order_has_no_tau():
    assert np.isnan(alone([0.1, 0.1, 0.1], [0.1, 0.2, 0.3]).tau)
    assert np.isnan(alone([0.1], [0.1]).tau)
    assert np.isnan(alone([], []).tau)


def test_pairs_count_within_data_sets_only():
    # within each data set the orders are opposite; pooled, the data sets would make them agree
    published, ours = [0.5, 0.6, 0.8, 0.9], [0.6, 0.5, 0.9, 0.8]
    assert kendall(np.array(published), np.array(ours), np.array(["d", "d", "e", "e"])) == (-1, 2, 0, 2)
    assert alone(published, ours).tau > 0


def test_every_published_table_has_a_tau():
    numbers = pd.DataFrame(
        {
            "paper": ["p"] * 4 + ["q"] * 3,
            "table": ["1"] * 4 + ["2"] * 3,
            "dataset": ["d", "d", "e", "e", "d", "d", "d"],
            "published": [0.5, 0.6, 0.8, 0.9, 0.5, 0.6, 0.7],
            "ours": [0.6, 0.5, 0.8, 0.9, 0.5, 0.6, NAN],
        }
    )
    table = order_agreement(numbers, ("paper", "table"))
    assert table["tau"].tolist() == [0, 1]
    assert table["methods_on_datasets"].tolist() == [4, 2]
    assert order_agreement(numbers, ("paper", "dataset"))["tau"].tolist() == [-1, 1, 1]
