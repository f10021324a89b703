"""The methods on blocks of pairs, and hard thresholding on batches, beside their formulas."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError, Problem, kernels
from aucbench_algorithms import PairBatch, Pesg, Soap, Sopa, SopaS, _optimisers, _pair_blocks, pair_batch
from aucbench_algorithms.sht_auc import keep_largest
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.algorithms import reference_blocks as reference
from tests.algorithms.other_losses import Growth, Valley
from tests.helpers.training import problem_of, random_pairs, random_problem, weights

each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
LOSSES = [
    *(Square(), Hinge(), Hinge(margin=0.3), SquaredHinge(), SquaredHinge(margin=2.0), Exponential()),
    *(Logistic(), SmoothHinge(), Valley(), Growth()),
]
SMALL, LABELS = random_problem(1, 60, 7)
PAIRS = random_pairs(2, LABELS, 230)
# 3,000 columns and 15 non-zeros a row: lazy with small blocks
WIDE, WIDE_Y = random_problem(3, 120, 3000, density=0.005)
LAZY = [
    (PairBatch(block=2, eta=0.3), True),
    (PairBatch(block=2, eta=0.3, lam=0.2, average=True), True),
    (PairBatch(block=2, eta=0.3, lam=1.0, schedule="sqrt"), True),
    (PairBatch(block=1, eta=1.0, lam=1.0, average=True), True),  # every step shrinks the weights to nothing
    (PairBatch(block=2, optimiser="momentum", eta=0.03), True),
    (PairBatch(block=1, optimiser="momentum", eta=0.03, momentum=0.3, average=True), True),
    (PairBatch(block=1, optimiser="momentum", eta=0.1, momentum=0.6, lam=0.4, average=True), True),
    (PairBatch(block=2, optimiser="momentum", eta=0.1, momentum=0.0, lam=0.4), True),
    (PairBatch(block=2, optimiser="momentum", eta=0.1, lam=0.4), False),  # complex rates
    (PairBatch(block=2, optimiser="momentum", schedule="sqrt"), False),
    (PairBatch(block=2, optimiser="adam", lam=0.01, average=True), False),
    (Sopa(block=2, optimiser="momentum", lam=1e-3), True),
    (SopaS(block=2, lam=1e-3), True),
    (Soap(block=2, optimiser="momentum"), True),
]


@pytest.mark.parametrize(("algorithm", "lazy"), LAZY, ids=str)
def test_weights_are_lazy_where_the_form_has_real_rates(algorithm, lazy):
    """That lazy weights are those of dense rows, the transcriptions say."""
    problem = problem_of(algorithm, sparse.csr_matrix(WIDE), WIDE_Y, 1600)
    state = algorithm.init(problem, np.random.default_rng(0))
    assert (state.weights.given.kind == _optimisers.LAZY) == lazy


@kernels.kernel
def _meet(score, others, loss, values, slopes):
    _pair_blocks.meet(score, others, loss, values, slopes)


@kernels.kernel
def _coefficients(high, low, loss, c):
    pair_batch.coefficients(high, low, loss, c)


@pytest.mark.parametrize("size", [1, 5, pair_batch.SORTED - 1, pair_batch.SORTED])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_coefficients_from_sorting_equal_those_of_all_pairs_with_ties_and_repeated_rows(loss, size):
    rng = np.random.default_rng(size)
    # on a grid of tenths, scores tie and margins fall on the kink; rows occur several times
    high, low = rng.integers(-12, 20, size) / 10.0, rng.integers(-20, 12, size) / 10.0
    high[: size // 3], low[size // 2 :] = high[0], low[-1]
    c = np.empty((2, size))
    _coefficients(high, low, _pair_blocks.loss_at(loss), c)
    _, slope = reference.of_loss(loss)
    slopes = np.array([[slope(a - b) for b in low] for a in high]) / size**2
    np.testing.assert_allclose(c, [slopes.sum(axis=1), -slopes.sum(axis=0)], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_losses_from_their_pieces_are_those_of_their_functions(loss):
    others, score = np.arange(-30, 31) / 10.0, 0.7  # margins on every kink and beside
    values, slopes = np.empty((2, others.size))
    _meet(score, others, _pair_blocks.loss_at(loss), values, slopes)
    value, slope = reference.of_loss(loss)
    np.testing.assert_allclose(values, [value(score - other) for other in others], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(slopes, [slope(score - other) for other in others], rtol=1e-14, atol=1e-14)


def test_coefficients_of_the_exponential_loss_do_not_overflow():
    high, low = np.array([-500.0, 3.0, 400.0]), np.array([380.0, -3.0, 2.0])
    c = np.empty((2, 3))
    _coefficients(high, low, _pair_blocks.loss_at(Exponential()), c)
    _, slope = reference.of_loss(Exponential())
    slopes = np.array([[slope(a - b) for b in low] for a in high]) / 9
    np.testing.assert_allclose(c, [slopes.sum(axis=1), -slopes.sum(axis=0)], rtol=1e-12)


def gradient(function, w):
    change = 1e-6 * np.eye(len(w))
    return np.array([(function(w + e) - function(w - e)) / 2e-6 for e in change])


def test_without_memory_sopa_s_and_soap_descend_on_the_objective_of_the_block():
    value, _ = reference.of_loss(SquaredHinge())
    rows = PAIRS[:20]
    P, N = SMALL[rows[10:, 0]], SMALL[rows[10:, 1]]
    losses = np.vectorize(value)

    def partial_auc(w):
        return np.mean(0.5 * np.log(np.exp(losses((P @ w)[:, None] - N @ w) / 0.5).mean(axis=1)))

    def precision(w, p):
        up = p * losses((P @ w)[:, None] - P @ w).mean(axis=1)
        return -np.mean(up / (up + (1 - p) * losses((P @ w)[:, None] - N @ w).mean(axis=1)))

    for algorithm, objective in (
        (SopaS(block=10, temperature=0.5, gamma=1.0, eta=0.3), partial_auc),
        (Soap(block=10, gamma=1.0, eta=0.3), lambda w: precision(w, np.mean(LABELS == 1))),
        (Soap(block=10, gamma=1.0, eta=0.3, prior="block"), lambda w: precision(w, 0.5)),
    ):
        before = weights(algorithm, SMALL, LABELS, rows[:10])
        after = weights(algorithm, SMALL, LABELS, rows)
        np.testing.assert_allclose((before - after) / 0.3, gradient(objective, before), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("temperature", [1e-3, 1e-2])
def test_sopa_s_does_not_overflow_at_a_small_temperature(temperature):
    algorithm = SopaS(block=8, temperature=temperature, eta=0.1)
    w = weights(algorithm, 10.0 * SMALL, LABELS, PAIRS)
    assert np.isfinite(w).all()
    assert w.any()


def test_an_unfinished_block_waits_by_its_row_numbers_and_does_not_enter_the_weights():
    for cls in (PairBatch, Pesg, Sopa, SopaS, Soap):
        algorithm, batch = cls(block=20), Batch(SMALL, LABELS, PAIRS)
        state = algorithm.init(problem_of(algorithm, SMALL, LABELS, 40), np.random.default_rng(0))
        state = algorithm.step(state, batch.take(PAIRS[:20]))
        first = algorithm.weights(state)
        state = algorithm.step(state, batch.take(PAIRS[20:39]))
        assert np.array_equal(algorithm.weights(state), first)
        assert np.array_equal(state.waiting, PAIRS[20:39])
        state = algorithm.step(state, batch.take(PAIRS[39:40]))
        assert not np.array_equal(algorithm.weights(state), first)
        assert len(state.waiting) == 0


@pytest.mark.parametrize("count", [1, 2, 7, 50, 299])
def test_hard_thresholding_keeps_that_many_weights_and_of_equal_ones_the_first(count):
    rng = np.random.default_rng(count)
    for w in (
        rng.integers(-5, 6, 300) / 2.0,
        rng.standard_normal(300),
        np.sort(rng.random(300)),
        np.ones(300),
    ):
        kept = sorted(range(300), key=lambda j: (-abs(w[j]), j))[:count]
        expected = np.zeros(300)
        expected[kept] = w[kept]
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
    assert all(word in str(caught.value) for word in (cls.name, "block", "1001", f"{1001 * blocks - 1:,}"))


def test_fields_without_effect_are_not_tuned():
    for cls in (PairBatch, Sopa, SopaS, Soap):
        assert cls().ignored() == {"momentum"}
        assert not cls(optimiser="momentum").ignored()
