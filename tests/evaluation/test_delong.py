"""Intervals of AUCs and deviations of blocks against sums over all pairs."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import t

from aucbench import DataError, ParameterError
from aucbench.evaluation import auc_difference, auc_interval, difference_interval, exact_auc
from aucbench.evaluation.delong import BLOCKS, block_deviations


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
    covariance = 2 * K / (K - 1) * sum(over[g] * under[g] for g in names) / (m * n)
    degrees = (a + b) ** 2 / (a**2 / (P - 1) + b**2 / (N - 1)) if a + b > 0 else np.inf
    return mean, np.sqrt(max(0.0, a + b + covariance)), degrees


def wins(scores, positive):
    p, q = scores[positive][:, None], scores[~positive]
    return (p > q) + 0.5 * (p == q)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 40), st.booleans(), st.floats(0.5, 0.99))
def test_intervals_are_those_of_the_sums_over_all_pairs_with_ties(seed, n, grouped, confidence):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[1, 1, -1, -1, rng.choice([-1, 1], n - 4)])
    first, second = rng.choice([0.0, 1.0, 2.0, 2.5, np.inf], (2, n))
    positive = y == 1
    groups = rng.integers(0, n, n) if grouped else np.arange(n)
    if min(len(set(groups[positive])), len(set(groups[~positive]))) < 2:
        groups = np.arange(n)
    given_groups = groups if grouped else None
    sides = groups[positive], groups[~positive]

    value, error, degrees = oracle(wins(first, positive), *sides)
    result = auc_interval(first, y, given_groups, confidence)
    assert result.value == pytest.approx(exact_auc(first, y)) == pytest.approx(value)
    assert result.error == pytest.approx(error, abs=1e-7)
    if error > 1e-6:
        assert result.degrees == pytest.approx(degrees)
        odds = np.log([x / (1 - x) for x in (result.low, result.value, result.high) if 1e-9 < x < 1 - 1e-9])
        half = t.ppf((1 + confidence) / 2, degrees) * error / (value * (1 - value))
        assert np.diff(odds) == pytest.approx(half, rel=5e-3)
        assert 0 <= result.low < result.value < result.high <= 1

    value, error, degrees = oracle(wins(first, positive) - wins(second, positive), *sides)
    result = auc_difference(first, second, y, given_groups, confidence)
    assert {*map(type, result)} == {float}
    assert result.value == pytest.approx(value, abs=1e-12)
    quantile, units = t.ppf((1 + confidence) / 2, min(degrees, 1e9)), [len(set(side)) for side in sides]
    assume(abs(error * np.prod(units) - 3.0) > 1e-6)
    if error * np.prod(units) < 3.0:  # hardly any pair is ranked differently
        error = max(error, (1.0 - (1.0 - confidence) ** (1.0 / min(units))) / quantile)
    assert result.error == pytest.approx(error, abs=1e-7)
    half = quantile * error
    assert (result.low, result.high) == pytest.approx((value - half, value + half), abs=1e-5)
    back = auc_difference(second, first, y, given_groups, confidence)
    assert (back.low, back.high) == pytest.approx((-result.high, -result.low))


def test_scores_that_separate_the_classes_have_an_interval_without_width():
    for sign, value in ((1, 1.0), (-1, 0.0)):
        result = auc_interval(sign * np.arange(6), [0, 0, 0, 1, 1, 1])
        assert result == (value, value, value, 0.0, np.inf)


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
    for call in (lambda *arg: auc_interval(scores, *arg), lambda *arg: auc_difference(scores, scores, *arg)):
        with pytest.raises((DataError, ParameterError), match=says):
            call(y, groups, confidence)


SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 5e-324, 1.0 + 2**-52, 1e300]),
)


def all_pairs(scores, y):
    """Placements by comparing all pairs."""
    won, placed = wins(scores, y == 1), np.empty(len(y))
    placed[y == 1], placed[y == -1] = won.mean(axis=1), won.mean(axis=0)
    return placed


def by_definition(scores, y, blocks):
    placed, total = all_pairs(scores, y), np.zeros(BLOCKS)
    for label in (1, -1):
        mask = y == label
        share = np.bincount(blocks[mask], minlength=BLOCKS) / mask.sum()
        deviations = (placed[mask] - placed[mask].mean()) / mask.sum()
        total += np.bincount(blocks[mask], deviations, BLOCKS) / np.sqrt(1 - share @ share)
    return total


@given(st.lists(st.tuples(SCORES, st.booleans(), st.integers(0, 31)), min_size=4, max_size=120))
def test_any_scores_give_the_deviations_of_all_pairs(rows):
    scores, y = np.array([row[0] for row in rows]), np.where([row[1] for row in rows], 1, -1).astype(np.int8)
    blocks = np.array([row[2] for row in rows], np.uint8)
    y[:4], blocks[:4] = [1, 1, -1, -1], [0, 1, 0, 1]
    expected = by_definition(scores, y, blocks)
    assert block_deviations(scores, y, blocks) == pytest.approx(expected, abs=1e-12)
    blocks[y == 1] = 7
    assert block_deviations(scores, y, blocks) is None


CLASSES = pytest.mark.parametrize(("positives", "negatives"), [(42, 72), (500, 3), (900, 700)])


@CLASSES
def test_the_error_of_a_difference_is_the_distance_of_the_deviations_of_blocks(positives, negatives):
    first, second = np.random.default_rng(0).normal(size=(2, 5, BLOCKS))
    result = difference_interval(0.3, first, second, positives, negatives, 0.9)
    assert result.error == pytest.approx(np.sqrt(((first - second) ** 2).sum(axis=1)))
    assert result.degrees == min(BLOCKS, positives, negatives) - 1
    half = t.ppf(0.95, result.degrees) * result.error
    assert np.stack([result.low, result.high]) == pytest.approx(np.stack([0.3 - half, 0.3 + half]))


@CLASSES
def test_methods_that_rank_all_rows_alike_have_the_interval_of_the_rule_of_three(positives, negatives):
    alike = np.random.default_rng(0).normal(size=32)
    result = difference_interval(np.zeros(2), np.stack([alike] * 2), alike, positives, negatives)
    pairs = min(positives, negatives)
    assert result.degrees == min(32, pairs) - 1
    assert (1.0 - result.high) ** pairs == pytest.approx([0.05, 0.05])  # the chance that no pair shows it
    assert result.low == pytest.approx(-result.high)
    one_pair = alike + np.eye(32)[0] / (positives * negatives)
    changed = difference_interval(0.0, alike, one_pair, positives, negatives)
    assert [changed.low, changed.high] == pytest.approx([result.low[0], result.high[0]])


def test_wrong_values_are_refused():
    assert difference_interval(0.1, [0.0] * 32, [0.0] * 32, 2, 2).value == 0.1  # the fewest rows
    with pytest.raises(ParameterError):
        difference_interval(0.1, [0.0] * 32, [0.0] * 32, 9, 9, confidence=1.0)
    with pytest.raises(DataError):
        difference_interval(0.1, [0.0] * 32, [0.0] * 32, 1, 9)
    with pytest.raises(DataError):
        block_deviations(np.array([0.0, np.nan]), np.array([1, -1], np.int8), np.zeros(2, np.uint8))
