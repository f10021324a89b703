"""The methods on blocks of pairs, and hard thresholding on batches, beside their formulas."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import Batch, ParameterError, Problem, kernels
from aucbench.api import plan_study
from aucbench_algorithms import (
    PairBatch,
    Pesg,
    ShtAuc,
    Soap,
    Sopa,
    SopaS,
    _optimisers,
    _pair_blocks,
    pair_batch,
)
from aucbench_algorithms.sht_auc import keep_largest
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.algorithms import reference_blocks as reference
from tests.helpers.training import difference, problem_of, random_pairs, random_problem, train, weights

each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
LOSSES = [
    Square(),
    Hinge(),
    Hinge(margin=0.3),
    SquaredHinge(),
    SquaredHinge(margin=2.0),
    Exponential(),
    Logistic(),
]


@dataclass(frozen=True)
class Valley:
    """|m - 1 / 2|, and beyond m = 1 a parabola: neither last piece nor jump is zero."""

    name: ClassVar[str] = "valley"

    @staticmethod
    def pieces(theta):
        return ((0.5, 0.5, -1.0, 0.0), (1.0, -0.5, 1.0, 0.0), (math.inf, 0.5, -1.0, 1.0))

    @staticmethod
    def value(m, theta):
        return abs(m - 0.5) if m < 1.0 else 0.5 - m + m * m

    @staticmethod
    def derivative(m, theta):
        return -1.0 if m < 0.5 else 1.0 if m < 1.0 else 2.0 * m - 1.0


@dataclass(frozen=True)
class Growth:
    """e^(m / 2)."""

    name: ClassVar[str] = "growth"
    multiplicative: ClassVar[bool] = True

    @staticmethod
    def value(m, theta):
        return math.exp(0.5 * m)

    @staticmethod
    def derivative(m, theta):
        return 0.5 * math.exp(0.5 * m)


SMALL, LABELS = random_problem(1, 60, 7)
PAIRS = random_pairs(2, LABELS, 230)
# 3,000 columns and 15 non-zeros a row: lazy with small blocks
WIDE, WIDE_Y = random_problem(3, 120, 3000, density=0.005)
WIDE_PAIRS = random_pairs(4, WIDE_Y, 1600)


OPTIMISERS = [
    {"optimiser": "sgd", "eta": 0.4, "lam": 0.1},
    {"optimiser": "momentum", "eta": 0.1, "momentum": 0.8},
    {"optimiser": "momentum", "eta": 0.1, "momentum": 0.5, "lam": 0.02},
    {"optimiser": "adam", "eta": 0.05, "lam": 0.05},
]
each_optimiser = pytest.mark.parametrize("how", OPTIMISERS, ids=lambda how: "-".join(map(str, how.values())))


def renamed(how):
    return {("kind" if key == "optimiser" else key): value for key, value in how.items()}


@each_layout
@each_optimiser
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_pair_batch_follows_its_formula_with_any_loss(loss, how, layout):
    for more in ({}, {"pairing": "matched"}, {"schedule": "sqrt", "average": True}):
        w = weights(PairBatch(block=9, **how, **more), layout(SMALL), LABELS, PAIRS, loss=loss)
        assert difference(w, reference.pair_batch(SMALL, PAIRS, loss, 9, **renamed(how), **more)) < 1e-9


@each_layout
@each_optimiser
@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge(), Logistic()], ids=str)
def test_sopa_sopa_s_and_soap_follow_their_formulas(loss, how, layout):
    p = float(np.mean(LABELS == 1))
    for algorithm, expected in (
        (Sopa(block=8, alpha=0.4, eta_s=0.2, **how), reference.sopa),
        (SopaS(block=8, temperature=0.7, gamma=0.6, **how), reference.sopa_s),
        (Soap(block=8, gamma=0.6, **how), reference.soap),
        (Soap(block=8, gamma=1.0, prior="block", **how), reference.soap),
    ):
        own = (
            {"alpha": 0.4, "eta_s": 0.2}
            if expected is reference.sopa
            else {"gamma": getattr(algorithm, "gamma", 0)}
        )
        own |= {"temperature": 0.7} if expected is reference.sopa_s else {}
        own |= {"p": p if algorithm.prior == "data" else 0.5} if expected is reference.soap else {}
        w = weights(algorithm, layout(SMALL), LABELS, PAIRS, loss=loss)
        assert difference(w, expected(SMALL, PAIRS, loss, 8, **renamed(how), **own)) < 1e-9


@each_layout
@pytest.mark.parametrize(
    "given",
    [
        {"block": 8},
        {"block": 3, "eta": 0.05, "margin": 0.4, "lam": 0.3, "pull": 0.5, "stages": 4, "decay": 2.0},
        {"block": 1, "eta": 0.02, "average": True, "stages": 7, "decay": 1.0},
        {"block": 50, "stages": 9, "average": True},  # more stages than blocks
    ],
    ids=str,
)
def test_pesg_follows_its_formula(given, layout):
    w = weights(Pesg(**given), layout(SMALL), LABELS, PAIRS)
    assert difference(w, reference.pesg(SMALL, PAIRS, **{"eta": 0.1, **given})) < 1e-9


@each_layout
@pytest.mark.parametrize("sparsity", [1, 3, 7, 20])
def test_sht_auc_follows_its_formula(sparsity, layout):
    batches = np.stack([np.random.default_rng(seed).permutation(60)[:12] for seed in range(30)])
    w = weights(ShtAuc(sparsity=sparsity, eta=0.5, lam=0.1), layout(SMALL), LABELS, batches)
    assert difference(w, reference.sht_auc(SMALL, LABELS, batches, sparsity, 0.5, 0.1)) < 1e-9


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
def test_the_lazy_form_equals_the_dense_one(algorithm, lazy):
    X = sparse.csr_matrix(WIDE)
    state = train(algorithm, X, WIDE_Y, WIDE_PAIRS)
    assert (state.weights.given.kind == _optimisers.LAZY) == lazy
    expected = weights(algorithm, WIDE, WIDE_Y, WIDE_PAIRS)
    assert difference(algorithm.weights(state), expected) < 1e-9


@pytest.mark.parametrize(
    "given", [{}, {"lam": 2.0, "pull": 3.0, "average": True}, {"stages": 6, "pull": 0.5}], ids=str
)
def test_the_lazy_form_of_pesg_equals_the_dense_one(given):
    algorithm = Pesg(block=2, eta=0.05, **given)
    lazy = weights(algorithm, sparse.csr_matrix(WIDE), WIDE_Y, WIDE_PAIRS)
    assert difference(lazy, weights(algorithm, WIDE, WIDE_Y, WIDE_PAIRS)) < 1e-9


@kernels.kernel
def _meet(score, others, loss, values, slopes):
    _pair_blocks.meet(score, others, loss, values, slopes)


@kernels.kernel
def _coefficients(high, low, loss, c):
    pair_batch.coefficients(high, low, loss, c)


@pytest.mark.parametrize("size", [1, 5, pair_batch.SORTED - 1, pair_batch.SORTED])
@pytest.mark.parametrize("loss", [*LOSSES, SmoothHinge(), Valley(), Growth()], ids=str)
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


@pytest.mark.parametrize("loss", [*LOSSES, SmoothHinge(), Valley(), Growth()], ids=str)
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


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=str)
def test_the_mean_gradient_of_blocks_is_that_of_all_pairs(loss):
    """One step from w, on each of many blocks; the first blocks lead to w, and are the same for all."""
    _, slope = reference.of_loss(loss)
    warm = random_pairs(5, LABELS, 16)
    algorithm = PairBatch(block=8, eta=0.5)
    w = weights(algorithm, SMALL, LABELS, warm, loss=loss)
    P, N = SMALL[LABELS == 1], SMALL[LABELS == -1]
    exact = np.mean([slope(x @ w - z @ w) * (x - z) for x in P for z in N], axis=0)
    draws = random_pairs(6, LABELS, 8 * 3000).reshape(-1, 8, 2)
    steps = [weights(algorithm, SMALL, LABELS, np.concatenate([warm, new]), loss=loss) for new in draws]
    gradients = (w - np.array(steps)) / 0.5
    error = gradients.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.abs((gradients.mean(axis=0) - exact) / error).max() < 4.0
    assert (error < 0.05 * np.abs(exact).max()).all()


@each_optimiser
def test_sopa_with_all_negatives_and_sopa_s_at_a_large_temperature_are_pair_batch(how):
    # the logistic loss is positive everywhere: with alpha = 1 the thresholds stay at zero
    expected = weights(PairBatch(block=8, **how), SMALL, LABELS, PAIRS, loss=Logistic())
    sopa = weights(Sopa(block=8, alpha=1.0, **how), SMALL, LABELS, PAIRS, loss=Logistic())
    assert difference(sopa, expected) < 1e-9
    sopa_s = weights(SopaS(block=8, temperature=1e7, gamma=1.0, **how), SMALL, LABELS, PAIRS, loss=Logistic())
    assert difference(sopa_s, expected) < 1e-5


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


def test_pesg_on_all_rows_at_once_comes_to_the_closed_form_of_the_square_loss():
    P, N = SMALL[LABELS == 1], SMALL[LABELS == -1]
    size = len(P)
    block = np.column_stack([np.flatnonzero(LABELS == 1), np.flatnonzero(LABELS == -1)[:size]])
    N = N[:size]
    algorithm = Pesg(block=size, eta=0.2, lam=0.0, pull=0.0, decay=1.0)
    w = weights(algorithm, SMALL, LABELS, np.tile(block, (4000, 1)))
    apart = P.mean(axis=0) - N.mean(axis=0)
    scatter = np.cov(P.T, bias=True) + np.cov(N.T, bias=True) + np.outer(apart, apart)
    assert difference(w, np.linalg.solve(scatter, apart)) < 1e-6


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


def test_sht_auc_has_exactly_as_many_weights_as_asked_for():
    X, y = random_problem(9, 200, 300)
    batches = np.stack([np.random.default_rng(seed).permutation(200)[:64] for seed in range(20)])
    for sparsity in (1, 10, 299, 300, 1000):
        w = weights(ShtAuc(sparsity=sparsity, eta=0.1), X, y, batches)
        assert np.count_nonzero(w) == min(sparsity, 300)


@pytest.mark.parametrize(
    ("cls", "field", "value"),
    [
        (PairBatch, "block", 0),
        (PairBatch, "eta", -1.0),
        (PairBatch, "momentum", 1.0),
        (PairBatch, "optimiser", "lbfgs"),
        (Pesg, "decay", 0.5),
        (Pesg, "stages", 0),
        (Sopa, "alpha", 1.5),
        (SopaS, "temperature", 0.0),
        (Soap, "gamma", 0.0),
        (ShtAuc, "sparsity", 0),
    ],
)
def test_a_value_out_of_range_names_method_field_and_value(cls, field, value):
    with pytest.raises(ParameterError) as caught:
        cls(**{field: value})
    assert all(word in str(caught.value) for word in (cls.name, field, str(value)))


def test_pesg_needs_the_planned_number_of_pairs():
    with pytest.raises(ParameterError, match="pesg"):
        Pesg().init(Problem(SMALL, LABELS, None), np.random.default_rng(0))


@pytest.mark.slow
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
    words = (f"algo={cls.name}", "dataset=breast_cancer", f"algo.block={500 // blocks}", "algo.eta=0.001")
    with pytest.raises(ParameterError, match=rf"{cls.name}: block .* got {500 // blocks}"):
        aucbench.run(*words, "budget.epochs=1")
    assert aucbench.run(*words, "budget.epochs=2").auc > 0.8
    (estimate,) = plan_study(
        ["dataset=breast_cancer", words[0], "algo.block=500", "budget.epochs=9"]
    ).estimates
    assert estimate.seconds > 0


def test_fields_without_effect_are_not_tuned():
    for cls in (PairBatch, Sopa, SopaS, Soap):
        assert cls().ignored() == {"momentum"}
        assert not cls(optimiser="momentum").ignored()
