"""Verdicts on published numbers, and Kendall's tau by hand."""

import numpy as np
import pandas as pd
import pytest

from aucbench.reports.statistics.agreement import judge_table, order_agreement

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
        (0.9, NAN, 0.9030001, "better"),
        (0.9, NAN, 0.8969999, "worse"),
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


def tau(published, ours, dataset="data"):
    """Kendall's tau and the pairs of a single data set."""
    numbers = pd.DataFrame({"published": published, "ours": ours}).assign(dataset=dataset)
    (row,) = order_agreement(numbers).to_dict("records")
    return row["tau"], row["pairs"]


@pytest.mark.parametrize("seed", range(5))
def test_tau_is_the_share_of_pairs_in_the_same_order_less_the_others_with_ties(seed):
    x, y = np.random.default_rng(seed).integers(0, 5, (2, 12)) / 10
    signs = np.array([(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i in range(12) for j in range(i)])
    expected = np.prod(signs, axis=1).sum() / np.sqrt(np.prod((signs != 0).sum(axis=0)))
    assert tau(x, y + 1e-15) == (pytest.approx(expected), 66)


def test_methods_that_lack_a_number_are_left_out():
    assert tau([0.1, 0.2, NAN, 0.4, 0.3], [0.2, 0.3, 0.9, NAN, 0.1]) == (pytest.approx(-1 / 3), 3)


def test_nothing_to_order_has_no_tau():
    assert np.isnan(tau([0.1, 0.1, 0.1], [0.1, 0.2, 0.3])[0])
    assert np.isnan(tau([0.1], [0.1])[0])


def test_each_data_set_has_a_tau_of_its_own():
    numbers = pd.DataFrame(
        {"dataset": ["d", "d", "e", "e"], "published": [0.5, 0.6, 0.8, 0.9], "ours": [0.6, 0.5, 0.8, 0.9]}
    )
    assert order_agreement(numbers)["tau"].tolist() == [-1, 1]
