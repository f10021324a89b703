"""The methods on blocks of pairs, and hard thresholding on batches, beside their formulas."""

import numpy as np
import pytest

from aucbench import ParameterError, Problem, kernels
from aucbench_algorithms import PairBatch, Pesg, Soap, Sopa, SopaS, _pair_blocks, pair_batch
from aucbench_algorithms.sht_auc import keep_largest
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.algorithms import reference_blocks as reference
from tests.helpers.losses import Growth, Valley
from tests.helpers.training import random_pairs, random_problem, weights

LOSSES = [
    *(Square(), Hinge(), Hinge(margin=0.3), SquaredHinge(), SquaredHinge(margin=2.0), Exponential()),
    *(Logistic(), SmoothHinge(), Valley(), Growth()),
]
SMALL, LABELS = random_problem(1, 60, 7)
PAIRS = random_pairs(2, LABELS, 230)


@kernels.kernel
def _coefficients(high, low, loss, c):
    pair_batch.coefficients(high, low, loss, c)


def assert_those_of_all_pairs(loss, high, low, rtol=1e-11, atol=1e-14):
    c = np.empty((2, len(high)))
    _coefficients(high, low, _pair_blocks.loss_at(loss), c)
    _, slope = reference.of_loss(loss)
    slopes = np.array([[slope(a - b) for b in low] for a in high]) / len(high) ** 2
    np.testing.assert_allclose(c, [slopes.sum(axis=1), -slopes.sum(axis=0)], rtol, atol)


@pytest.mark.parametrize("size", [1, 5, pair_batch.SORTED - 1, pair_batch.SORTED])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_coefficients_from_sorting_equal_those_of_all_pairs_with_ties_and_repeated_rows(loss, size):
    rng = np.random.default_rng(size)
    # on a grid of tenths, scores tie and margins fall on the kink; rows occur several times
    high, low = rng.integers(-12, 20, size) / 10.0, rng.integers(-20, 12, size) / 10.0
    high[: size // 3], low[size // 2 :] = high[0], low[-1]
    assert_those_of_all_pairs(loss, high, low)


def test_coefficients_of_the_exponential_loss_do_not_overflow():
    high, low = np.array([-500.0, 3.0, 400.0]), np.array([380.0, -3.0, 2.0])
    assert_those_of_all_pairs(Exponential(), high, low, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("temperature", [1e-3, 1e-2])
def test_sopa_s_does_not_overflow_at_a_small_temperature(temperature):
    algorithm = SopaS(block=8, temperature=temperature, eta=0.1)
    w = weights(algorithm, 10.0 * SMALL, LABELS, PAIRS)
    assert np.isfinite(w).all()
    assert w.any()


@pytest.mark.parametrize("count", [1, 2, 7, 50, 299])
def test_hard_thresholding_keeps_that_many_weights_and_of_equal_ones_the_first(count):
    rng = np.random.default_rng(count)
    tied = rng.integers(-5, 6, 300) / 2.0
    for w in (tied, rng.standard_normal(300), np.sort(rng.random(300)), np.ones(300)):
        largest = sorted(range(300), key=lambda j: (-abs(w[j]), j))[:count]
        expected = np.zeros(300)
        expected[largest] = w[largest]
        out = w.copy()
        keep_largest(out, count)
        assert np.array_equal(out, expected)


@pytest.mark.parametrize("cls", [PairBatch, Pesg, Sopa, SopaS, Soap])
def test_a_block_of_more_pairs_than_the_run_has_is_refused(cls):
    def init(block, pairs):
        return cls(block=block).init(Problem(SMALL, LABELS, pairs), np.random.default_rng(0))

    blocks = 2 if cls is Pesg else 1  # until the weights move
    for block, pairs in ((9, 9 * blocks), (1, blocks), (9, 0)):
        init(block, pairs)
    with pytest.raises(ParameterError) as caught:
        init(1001, 1001 * blocks - 1)
    assert all(part in str(caught.value) for part in (cls.name, "block", "1001", f"{1001 * blocks - 1:,}"))


def test_fields_without_effect_are_not_tuned():
    for cls in (PairBatch, Sopa, SopaS, Soap):
        assert cls().ignored() == {"momentum"}
        assert not cls(optimiser="momentum").ignored()
