"""Intervals of AUCs agree with sums over all pairs, and cover the truth as often as they say."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from aucbench import DataError, ParameterError
from aucbench.evaluation import auc_difference, auc_interval, exact_auc


def oracle(kernel, group_p, group_n):
    """Mean, error and degrees of freedom of the pairs (m, n), by sums over groups (Obuchowski 1997)."""
    m, n = kernel.shape
    mean = kernel.mean()
    names = sorted({*group_p, *group_n})
    over = {g: sum(kernel[i].mean() - mean for i in range(m) if group_p[i] == g) for g in names}
    under = {g: sum(kernel[:, j].mean() - mean for j in range(n) if group_n[j] == g) for g in names}
    P, N, K = len(set(group_p)), len(set(group_n)), len(names)
    a = P / (P - 1) * sum(v**2 for v in over.values()) / m**2
    b = N / (N - 1) * sum(v**2 for v in under.values()) / n**2
    both = 2 * K / (K - 1) * sum(over[g] * under[g] for g in names) / (m * n)
    degrees = (a + b) ** 2 / (a**2 / (P - 1) + b**2 / (N - 1)) if a + b > 0 else np.inf
    return mean, np.sqrt(max(0.0, a + b + both)), degrees


def wins(scores, positive):
    p, q = scores[positive][:, None], scores[~positive]
    return (p > q) + 0.5 * (p == q)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 40), st.booleans(), st.floats(0.5, 0.99))
def test_intervals_are_those_of_the_sums_over_all_pairs_with_ties(seed, n, grouped, confidence):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[1, 1, -1, -1, rng.choice([-1, 1], n - 4)])
    one, other = rng.choice([0.0, 1.0, 2.0, 2.5, np.inf], (2, n))
    positive = y == 1
    groups = rng.integers(0, n, n) if grouped else np.arange(n)
    if min(len(set(groups[positive])), len(set(groups[~positive]))) < 2:
        groups = np.arange(n)
    given_groups = groups if grouped else None
    sides = groups[positive], groups[~positive]

    value, error, degrees = oracle(wins(one, positive), *sides)
    found = auc_interval(one, y, given_groups, confidence)
    assert found.value == pytest.approx(exact_auc(one, y)) == pytest.approx(value)
    assert found.error == pytest.approx(error, abs=1e-7)
    if error > 1e-6:
        assert found.degrees == pytest.approx(degrees)
        odds = np.log([x / (1 - x) for x in (found.low, found.value, found.high) if 1e-9 < x < 1 - 1e-9])
        half = t.ppf((1 + confidence) / 2, degrees) * error / (value * (1 - value))
        assert np.diff(odds) == pytest.approx(half, rel=5e-3)
        assert 0 <= found.low < found.value < found.high <= 1

    value, error, degrees = oracle(wins(one, positive) - wins(other, positive), *sides)
    found = auc_difference(one, other, y, given_groups, confidence)
    assert {*map(type, found)} == {float}
    assert found.value == pytest.approx(value, abs=1e-12)
    quantile, units = t.ppf((1 + confidence) / 2, min(degrees, 1e9)), [len(set(side)) for side in sides]
    assume(abs(error * np.prod(units) - 3.0) > 1e-6)
    if error * np.prod(units) < 3.0:  # hardly any pair is ranked differently
        error = max(error, (1.0 - (1.0 - confidence) ** (1.0 / min(units))) / quantile)
    assert found.error == pytest.approx(error, abs=1e-7)
    half = quantile * error
    assert (found.low, found.high) == pytest.approx((value - half, value + half), abs=1e-5)
    back = auc_difference(other, one, y, given_groups, confidence)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_scores_that_separate_the_classes_have_an_interval_without_width():
    for sign, value in ((1, 1.0), (-1, 0.0)):
        found = auc_interval(sign * np.arange(6), [0, 0, 0, 1, 1, 1])
        assert found == (value, value, value, 0.0, np.inf)


@pytest.mark.parametrize("size", [1, 5])
def test_intervals_cover_the_truth_and_ignoring_the_groups_does_not(size):
    rng, hits, truth = np.random.default_rng(0), [], norm.cdf(np.array([1.0, 0.7]) / np.sqrt(2))
    for _ in range(400):
        groups = np.repeat(np.arange(60), rng.integers(1, 2 * size, 60))
        y = (rng.random(60) < 0.3)[groups].astype(int)
        shared, own = rng.standard_normal((2, 60))[:, groups], rng.standard_normal((2, len(y)))
        one, other = np.sqrt(0.8) * shared + np.sqrt(0.2) * own + y * np.array([[1.0], [0.7]])
        intervals = [(auc_interval(one, y, g), auc_difference(one, other, y, g)) for g in (groups, None)]
        hits.append(
            [
                each.low <= true <= each.high
                for pair in intervals
                for each, true in zip(pair, (truth[0], truth[0] - truth[1]), strict=True)
            ]
        )
    covered = np.mean(hits, axis=0)
    assert (covered[:2] > 0.91).all()
    assert (covered[2:] < 0.85).all() if size > 1 else (covered[2:] > 0.91).all()


@pytest.mark.parametrize(
    ("y", "groups", "confidence", "says"),
    [
        ([1, 0, 0, 0], None, 0.95, "two rows of each class, got one positive row"),
        ([1, 1, 0, 0], [0, 1, 2, 2], 0.95, "got one negative group of rows"),
        ([1, 1, 0, 0], [0, 1], 0.95, r"\(4,\).* got \(2,\)"),
        ([1, 1, 0, 0], None, 1, "confidence must be > 0 and < 1, got 1"),
        ([1, 1, 0], None, 0.95, "4 scores for 3 labels"),
    ],
)
def test_what_has_no_interval_is_refused_in_a_sentence(y, groups, confidence, says):
    scores = [1, 2, 3, 4]
    for ask in (lambda *how: auc_interval(scores, *how), lambda *how: auc_difference(scores, scores, *how)):
        with pytest.raises((DataError, ParameterError), match=says):
            ask(y, groups, confidence)
