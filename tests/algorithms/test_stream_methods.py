"""The stream methods published since 2020 against transcriptions and closed forms."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms import Aogd, FifoOgd, FtrlAuc, FtrlLog, LsSvm, Spauc
from aucbench_losses import Hinge, Logistic
from tests.algorithms import reference_stream as reference
from tests.algorithms.formula_data import formula_data
from tests.helpers.training import difference, problem_of, random_problem, train, weights

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 800, density=0.03),  # the lazy layout
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(2)])
each_problem = pytest.mark.parametrize("problem", PROBLEMS)
each_partner = pytest.mark.parametrize("partner", ["previous", "opposite"])


def settings(**choices):
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def assert_equal_to_reference(algorithm, expected, X, y, order=ORDER, loss=None):
    assert np.isfinite(expected).all()
    assert np.abs(expected).max() > 0
    for layout in (np.asarray, sparse.csr_array):
        w = weights(algorithm, layout(X), y, order, loss=loss)
        assert difference(w, expected) < 1e-9, (algorithm, layout.__name__)


@pytest.mark.slow
@each_problem
@each_partner
@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=["hinge", "logistic"])
def test_pair_descent_follows_its_specification(problem, partner, loss):
    (X, y), theta = PROBLEMS[problem], getattr(loss, "margin", 0.0)
    for setting in settings(
        eta=[0.01, 3.0], schedule=["sqrt", "constant"], radius=[None, 0.3], average=[True, False]
    ):
        setting["partner"] = partner
        slope = lambda m: loss.derivative(m, theta)  # noqa: E731
        expected = reference.pair_descent(X, y, ORDER, slope, **setting)
        assert_equal_to_reference(FifoOgd(**setting), expected, X, y, loss=loss)
        for decay in (0.0, 0.85, 0.99):
            expected = reference.pair_descent(X, y, ORDER, slope, theta=decay, **setting)
            assert_equal_to_reference(Aogd(theta=decay, **setting), expected, X, y, loss=loss)


@pytest.mark.slow
@each_problem
@pytest.mark.parametrize("statistics", ["running", "train"])
def test_spauc_follows_its_specification(problem, statistics):
    X, y = PROBLEMS[problem]
    steps = [0.01, 0.3] if problem == "unscaled" else [0.01, 1.0, 10.0]  # larger ones diverge
    for setting in settings(
        C=steps,
        schedule=["sqrt", "fast"],
        penalty=["l2", "net"],
        beta=[0.0, 1e-3, 1.0],
        average=[True, False],
    ):
        setting |= {"nu": 0.01, "statistics": statistics}
        expected = reference.spauc(X, y, ORDER, **setting)
        assert_equal_to_reference(Spauc(**setting), expected, X, y)


@pytest.mark.slow
@each_problem
def test_ftrl_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    for setting in settings(gamma=[0.01, 1.0], smooth=[0.1, 1.0], l1=[0.0, 0.05], l2=[0.0, 2.0]):
        assert_equal_to_reference(FtrlAuc(**setting), reference.ftrl_auc(X, y, ORDER, **setting), X, y)
        for flags in settings(intercept=[True, False], balanced=[True, False]):
            w, b = reference.ftrl_log(X, y, ORDER, **setting, **flags)
            algorithm = FtrlLog(**setting, **flags)
            assert_equal_to_reference(algorithm, w, X, y)
            found = algorithm.fitted_intercept(train(algorithm, X, y, ORDER))
            assert found == pytest.approx(b, rel=1e-9, abs=1e-12)


@each_problem
def test_what_is_kept_up_by_differences_stays_exact_in_a_long_run(problem):
    X, y = PROBLEMS[problem]
    long = np.concatenate([ORDER, *(np.random.default_rng(seed).permutation(300) for seed in range(4))])
    assert_equal_to_reference(Spauc(C=0.3), reference.spauc(X, y, long, C=0.3), X, y, long)
    ball = {"partner": "opposite", "radius": 0.3}
    expected = reference.pair_descent(
        X, y, long, lambda m: Hinge.derivative(m, 1.0), theta=0.85, eta=0.1, **ball
    )
    assert_equal_to_reference(Aogd(0.1, "sqrt", **ball), expected, X, y, long)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cls", [FifoOgd, Aogd])
def test_the_first_example_and_those_of_its_class_have_no_partner(cls, layout):
    X, y = PROBLEMS["dense"]
    first, second = np.flatnonzero(y == 1)[:7], np.flatnonzero(y == -1)[0]
    for partner in ("previous", "opposite"):
        algorithm = cls(partner=partner, average=False)
        assert not weights(algorithm, layout(X), y, first).any()
        both = weights(algorithm, layout(X), y, [*first, second])
        direction = X[first[-1]] - X[second]  # along which the hinge pulls from zero
        assert difference(both / np.linalg.norm(both), direction / np.linalg.norm(direction)) < 1e-12


def test_with_the_partner_before_only_examples_after_the_other_class_move_the_weights():
    X, y = PROBLEMS["dense"]
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    order = np.concatenate([positives[:20], negatives[:20]])
    previous = FifoOgd(0.1, schedule="constant", average=False)
    assert np.array_equal(
        weights(previous, X, y, order), weights(previous, X, y, [positives[19], negatives[0]])
    )
    opposite = FifoOgd(0.1, schedule="constant", partner="opposite", average=False)
    assert difference(weights(opposite, X, y, order), weights(previous, X, y, order)) > 0.1


@each_partner
def test_partners_are_those_of_one_pass_however_many_differences_fit_at_once(partner, monkeypatch):
    from aucbench_algorithms import _partners

    for X, y in PROBLEMS.values():
        for algorithm in (FifoOgd(partner=partner, radius=1.0), Aogd(partner=partner)):
            for layout in (np.asarray, sparse.csr_array):
                whole = weights(algorithm, layout(X), y, ORDER)
                with monkeypatch.context() as patch:
                    patch.setattr(_partners, "ROOM", 100)
                    assert np.array_equal(whole, weights(algorithm, layout(X), y, ORDER))


@pytest.mark.parametrize("cls", [FifoOgd, Aogd, Spauc, FtrlAuc, FtrlLog])
def test_training_goes_on_with_rows_of_the_other_layout(cls):
    X, y = PROBLEMS["sparse"]
    algorithm, half = cls(), 250
    expected = weights(algorithm, X, y, ORDER)
    for first, second in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        state = algorithm.init(problem_of(algorithm, first(X), y, len(ORDER)), np.random.default_rng(0))
        state = algorithm.step(state, Batch(first(X), y, ORDER[:half]))
        state = algorithm.step(state, Batch(second(X[::-1]), y[::-1], 299 - ORDER[half:]))
        assert difference(algorithm.weights(state), expected) < 1e-9


@each_partner
@pytest.mark.parametrize("problem", ["dense", "sparse"])
def test_settings_of_fifo_ogd_in_lockstep_are_those_trained_alone(problem, partner):
    X, y = PROBLEMS[problem]
    several = [FifoOgd(eta, partner=partner, radius=r) for eta, r in product((0.1, 1.0, 10.0), (None, 0.3))]
    rows = sparse.csr_array(X) if problem == "sparse" else X
    states = [each.init(Problem(rows, y, 600, Hinge()), np.random.default_rng(0)) for each in several]
    together, batch = FifoOgd.together(several, states), Batch(rows, y, ORDER)
    for number, chunk in enumerate(np.array_split(ORDER, 7)):
        together.step(batch.take(chunk))
        if number == 2:
            together.drop(1)
    for number in {*range(len(several))} - {1}:
        alone = weights(several[number], rows, y, ORDER, loss=Hinge())
        assert difference(several[number].weights(together.state(number)), alone) < 1e-9


def test_spauc_approaches_the_least_squares_solution_of_its_penalty():
    X, y = formula_data()
    p, beta = np.mean(y == 1), 0.05
    order = np.concatenate([np.random.default_rng(seed).permutation(200) for seed in range(120)])
    w = weights(Spauc(20.0, "fast", beta=beta, statistics="train", average=False), X, y, order)
    expected = weights(LsSvm(lam=beta / (2 * p * (1 - p))), X, y, np.zeros((1, 0), np.int64))
    assert difference(w, expected) < 2e-3


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_l1_norm_of_ftrl_gives_exact_zeros_where_the_sums_are_small(layout):
    X, y = PROBLEMS["sparse"]
    for cls, follow in (
        (FtrlAuc, reference.ftrl_auc),
        (FtrlLog, lambda *a, **k: reference.ftrl_log(*a, **k)[0]),
    ):
        counts = []
        for l1 in (0.0, 0.3, 1.0, 1e4):
            w = weights(cls(l1=l1), layout(X), y, ORDER)
            assert np.array_equal(w == 0.0, follow(X, y, ORDER, l1=l1) == 0.0)
            counts.append(np.count_nonzero(w))
        assert counts[0] == np.count_nonzero(np.abs(X).sum(axis=0))
        assert counts[0] > counts[1] > counts[2] > counts[3] == 0


def test_numbers_out_of_range_are_refused_with_their_range():
    for make, field, got in (
        (lambda: Aogd(theta=1.0), "theta", "1.0"),
        (lambda: FifoOgd(eta=0.0), "eta", "0.0"),
        (lambda: FifoOgd(radius=-1.0), "radius", "-1.0"),
        (lambda: Spauc(beta=-0.5), "beta", "-0.5"),
        (lambda: FtrlAuc(smooth=0.0), "smooth", "0.0"),
        (lambda: FtrlLog(l1=-2.0), "l1", "-2.0"),
    ):
        with pytest.raises(ParameterError) as caught:
            make()
        assert field in str(caught.value)
        assert got in str(caught.value)
