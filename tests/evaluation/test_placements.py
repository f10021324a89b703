"""Deviations of blocks against all pairs, DeLong's variance, and the true difference of two AUCs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from aucbench.errors import DataError, ParameterError
from aucbench.evaluation import difference_interval, exact_auc
from aucbench.evaluation.delong import BLOCKS, block_deviations

SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 5e-324, 1.0 + 2**-52, 1e300]),
)


def all_pairs(scores, y):
    """Placements by comparing all pairs."""
    positives, negatives = scores[y == 1][:, None], scores[y == -1][None]
    wins = (positives > negatives) + 0.5 * (positives == negatives)
    found = np.empty(len(y))
    found[y == 1], found[y == -1] = wins.mean(axis=1), wins.mean(axis=0)
    return found


def by_definition(scores, y, blocks):
    placed, found = all_pairs(scores, y), np.zeros(BLOCKS)
    for label in (1, -1):
        own = y == label
        share = np.bincount(blocks[own], minlength=BLOCKS) / own.sum()
        deviations = (placed[own] - placed[own].mean()) / own.sum()
        found += np.bincount(blocks[own], deviations, BLOCKS) / np.sqrt(1 - share @ share)
    return found


def delong(first, second, y):
    """The variance of the difference of two AUCs over independent rows."""
    difference = all_pairs(first, y) - all_pairs(second, y)
    return sum(difference[y == label].var(ddof=1) / (y == label).sum() for label in (1, -1))


@given(st.lists(st.tuples(SCORES, st.booleans(), st.integers(0, 31)), min_size=4, max_size=120))
def test_any_scores_give_the_deviations_of_all_pairs(rows):
    scores, y = np.array([row[0] for row in rows]), np.where([row[1] for row in rows], 1, -1).astype(np.int8)
    blocks = np.array([row[2] for row in rows], np.uint8)
    y[:4], blocks[:4] = [1, 1, -1, -1], [0, 1, 0, 1]
    expected = by_definition(scores, y, blocks)
    assert block_deviations(scores, y, blocks) == pytest.approx(expected, abs=1e-12)
    blocks[y == 1] = 7
    assert block_deviations(scores, y, blocks) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "positives", "digits"), [(60, 12, 15), (400, 200, 1), (600, 15, 15), (1500, 150, 1)]
)
def test_the_variance_is_delongs_and_its_interval_covers(n, positives, digits):
    rng = np.random.default_rng(n)
    y = np.where(np.arange(n) < positives, 1, -1).astype(np.int8)
    own, theirs, covered, runs = [], [], 0, 400
    true = norm.cdf(1.2 / np.sqrt(2)) - norm.cdf(1.0 / np.sqrt(2))
    for _ in range(runs):
        shared, noise = rng.normal(size=n), rng.normal(size=(2, n))
        first, second = (np.round(0.9 * shared + np.sqrt(0.19) * each, digits) for each in noise)
        first, second = first + 1.2 * (y == 1), second + 1.0 * (y == 1)
        blocks = rng.integers(0, 32, n, np.uint8)
        deviations = [block_deviations(scores, y, blocks) for scores in (first, second)]
        own.append(np.sum((deviations[0] - deviations[1]) ** 2))
        theirs.append(delong(first, second, y))
        difference = exact_auc(first, y) - exact_auc(second, y)
        low, high = difference_interval(difference, *deviations, positives, n - positives)[1:3]
        covered += low <= true <= high
    ratio = np.array(own) / theirs
    assert abs(ratio.mean() - 1) < 5 * ratio.std() / np.sqrt(runs)
    assert ratio.std() < 0.4  # chi-squared with 31 degrees of freedom has 0.25
    assert covered / runs > 0.92


def test_equal_rows_in_one_block_widen_the_interval_as_fewer_rows_would():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) < 100, 1, -1).astype(np.int8)
    scores, blocks = rng.normal(size=300) + (y == 1), rng.integers(0, 32, 300, np.uint8)
    once = block_deviations(scores, y, blocks)
    assert block_deviations(*(np.repeat(each, 7) for each in (scores, y, blocks))) == pytest.approx(once)


@pytest.mark.parametrize(("positives", "negatives"), [(42, 72), (500, 3), (900, 700)])
def test_methods_that_rank_all_rows_alike_have_the_interval_of_the_rule_of_three(positives, negatives):
    alike = np.random.default_rng(0).normal(size=32)
    found = difference_interval(np.zeros(2), np.stack([alike] * 2), alike, positives, negatives)
    pairs = min(positives, negatives)
    assert found.degrees == min(32, pairs) - 1
    assert (1.0 - found.high) ** pairs == pytest.approx([0.05, 0.05])  # the chance that no pair shows it
    assert found.low == pytest.approx(-found.high)
    one_pair = alike + np.eye(32)[0] / (positives * negatives)
    other = difference_interval(0.0, alike, one_pair, positives, negatives)
    assert [other.low, other.high] == pytest.approx([found.low[0], found.high[0]])


@pytest.mark.parametrize("share", [0.005, 0.02, 0.05])
def test_intervals_hold_where_hardly_any_row_is_ranked_differently(share):
    """One method ranks all rows right, the other a share of the positives below all negatives."""
    rng, n, held, runs = np.random.default_rng(0), 50, 0, 400
    y, blocks = np.repeat([1, -1], n).astype(np.int8), np.tile(np.arange(25), 4).astype(np.uint8)
    right = block_deviations(np.where(y == 1, 1.0, 0.0), y, blocks)
    for _ in range(runs):
        wrong = rng.random(n) < share
        scores = np.where(y == 1, 1.0, 0.0)
        scores[:n][wrong] = -1.0
        other = block_deviations(scores, y, blocks)
        low, high = difference_interval(wrong.mean(), right, other, n, n)[1:3]
        held += low <= share <= high
    assert held / runs > 0.93


def test_wrong_values_are_refused():
    assert difference_interval(0.1, [0.0] * 32, [0.0] * 32, 2, 2).value == 0.1  # the fewest rows
    with pytest.raises(ParameterError):
        difference_interval(0.1, [0.0] * 32, [0.0] * 32, 9, 9, confidence=1.0)
    with pytest.raises(DataError):
        difference_interval(0.1, [0.0] * 32, [0.0] * 32, 1, 9)
    with pytest.raises(DataError):
        block_deviations(np.array([0.0, np.nan]), np.array([1, -1], np.int8), np.zeros(2, np.uint8))
