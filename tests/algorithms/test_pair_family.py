"""Methods on pairs and buffers against plain-NumPy transcriptions, dense and CSR."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from aucbench import ParameterError, Problem, kernels
from aucbench_algorithms import Asam, Cbr, CbrDiag, OamGra, OamSeq, RocSgd, UniExp
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.algorithms import reference_pairs as reference
from tests.helpers.training import difference, random_pairs, random_problem, train, weights

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 400, density=0.03),
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(3)])
LAYOUTS = [np.asarray, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "csr"])
each_problem = pytest.mark.parametrize("problem", PROBLEMS)


def grid(**choices):
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def assert_equal_to_reference(algorithm, expected, X, y, rows, loss=None):
    for layout in LAYOUTS:
        w = weights(algorithm, layout(X), y, rows, loss=loss)
        assert difference(w, expected) < 1e-9, (algorithm, layout.__name__)


@dataclass(frozen=True)
class Bent:
    """A loss of a third party: r - log(1 + r) of r = scale - m above zero."""

    name: ClassVar[str] = "bent"
    scale: float = 1.0

    @staticmethod
    def value(m, theta):
        r = max(theta - m, 0.0)
        return r - np.log1p(r)

    @staticmethod
    def derivative(m, theta):
        r = max(theta - m, 0.0)
        return -r / (1.0 + r)


LOSSES = [
    SmoothHinge(), SmoothHinge(margin=0.3), Hinge(margin=2.0), SquaredHinge(), Square(), Logistic(),
    Exponential(), Bent(scale=0.5),
]  # fmt: skip


@each_problem
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_asam_follows_its_specification_with_any_loss(problem, loss):
    X, y = PROBLEMS[problem]
    pairs = random_pairs(5, y, 800)
    theta = kernels.theta(loss)
    for setting in grid(gamma=[1e-3, 0.1], t0=[1e4], rskip=[1, 16], askip=[1, 16]):
        expected = reference.asam(X, pairs, derivative=lambda m: type(loss).derivative(m, theta), **setting)
        assert_equal_to_reference(Asam(**setting), expected, X, y, pairs, loss=loss)


@each_problem
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0])
def test_asam_takes_the_smooth_hinge_where_no_loss_is_given(problem, gamma):
    X, y = PROBLEMS[problem]
    pairs = random_pairs(5, y, 1500)
    for setting in grid(t0=[None, 100.0], rskip=[1, 16], askip=[1, 50]):
        if (gamma == 1e-3 and setting["t0"] == 100.0) or problem == "unscaled":
            continue  # the map expands and amplifies rounding
        expected = reference.asam(X, pairs, gamma, **setting)
        assert_equal_to_reference(Asam(gamma=gamma, **setting), expected, X, y, pairs)


@each_problem
@pytest.mark.parametrize("schedule", ["basic", "pegasos", "constant"])
def test_roc_sgd_follows_its_specification(problem, schedule):
    X, y = PROBLEMS[problem]
    pairs = random_pairs(5, y, 1500)
    for setting in grid(lam=[1e-6, 1e-4, 0.01, 1.0, 20.0, 1e3], pegasos=[False, True]):
        expected = reference.roc_sgd(X, pairs, schedule=schedule, **setting)
        assert_equal_to_reference(RocSgd(schedule=schedule, **setting), expected, X, y, pairs)


def test_roc_sgd_takes_the_margin_of_its_loss():
    X, y = PROBLEMS["dense"]
    pairs = random_pairs(5, y, 500)
    expected = reference.roc_sgd(X, pairs, margin=0.3)
    assert_equal_to_reference(
        RocSgd(lam=1e-4, schedule="basic"), expected, X, y, pairs, loss=Hinge(margin=0.3)
    )


@each_problem
@pytest.mark.parametrize("ratio", ["train", "running"])
@pytest.mark.parametrize("intercept", [True, False])
def test_uni_exp_follows_its_specification(problem, ratio, intercept):
    X, y = PROBLEMS[problem]
    for eta in (1e-4, 2.0**-6, 0.5, 2.0):
        expected, b = reference.uni_exp(X, y, ORDER, eta, ratio, intercept)
        algorithm = UniExp(eta, ratio, intercept)
        assert_equal_to_reference(algorithm, expected, X, y, ORDER)
        assert algorithm.fitted_intercept(train(algorithm, X, y, ORDER)) == pytest.approx(b, rel=1e-9)


def test_uni_exp_caps_its_exponent():
    X, y = np.array([[2000.0], [1.0], [1.5]]), np.array([1, 1, -1], np.int8)
    w = weights(UniExp(eta=1.0), X, y, np.array([0, 2]))
    expected, _ = reference.uni_exp(X, y, [0, 2], 1.0)
    assert np.isfinite(expected).all()
    assert difference(w, expected) < 1e-9


@pytest.mark.slow
@each_problem
@pytest.mark.parametrize("buffer", [1, 7, 100, 300])
@pytest.mark.parametrize("kind", [OamSeq, OamGra])
def test_oam_follows_its_specification_with_its_own_draws(problem, buffer, kind):
    X, y = PROBLEMS[problem]
    order = ORDER[: 900 if buffer < 100 else 350]
    settings = grid(C=[2.0**-12, 0.1], average=[False, True], radius=[None, 0.3])
    settings += [{"C": 100.0, "average": True, "radius": 0.01}, {"C": 10.0, "average": False, "radius": 1.0}]
    for setting in settings:
        name = kind.name.removeprefix("oam_")
        expected = reference.oam(X, y, order, name, buffer=buffer, **setting)
        assert_equal_to_reference(kind(buffer=buffer, **setting), expected, X, y, order)


@pytest.mark.parametrize("kind", [OamSeq, OamGra])
def test_oam_takes_the_margin_of_its_loss(kind):
    X, y = PROBLEMS["dense"]
    expected = reference.oam(X, y, ORDER, kind.name.removeprefix("oam_"), C=0.1, buffer=5, margin=0.2)
    assert_equal_to_reference(
        kind(C=0.1, buffer=5, average=False), expected, X, y, ORDER, loss=Hinge(margin=0.2)
    )


def test_oam_seq_does_not_move_on_equal_rows_and_steps_exactly_on_nearly_equal_ones():
    X, y = random_problem(4, 20, 30, density=0.3)
    pair = [np.flatnonzero(y == 1)[0], np.flatnonzero(y == -1)[0]]
    order = np.array(pair * 3)
    X[pair[1]] = X[pair[0]]
    for layout in LAYOUTS:
        assert not weights(OamSeq(C=1.0, average=False), layout(X), y, order).any()
    X[pair[1], 3] += 1e-7
    expected = reference.oam(X, y, order, "seq", C=1e9)
    assert_equal_to_reference(OamSeq(C=1e9, average=False), expected, X, y, order)


@pytest.mark.slow
@each_problem
@pytest.mark.parametrize("buffer", [1, 7, 50])
def test_cbr_follows_its_specification(problem, buffer):
    X, y = PROBLEMS[problem]
    for setting in grid(C=[2.0**-10, 0.1, 100.0], eta=[0.51, 0.7, 0.95]):
        expected = reference.cbr(X, y, ORDER[:400], buffer=buffer, diagonal=True, **setting)
        assert_equal_to_reference(CbrDiag(buffer=buffer, **setting), expected, X, y, ORDER[:400])
        few = ORDER[: 30 if problem == "sparse" else 300]
        expected = reference.cbr(X, y, few, buffer=buffer, **setting)
        assert_equal_to_reference(Cbr(buffer=buffer, **setting), expected, X, y, few)


def test_cbr_refuses_a_matrix_beyond_the_memory_and_says_what_to_do():
    wide = sparse.csr_array((3, 3_000_000))
    with pytest.raises(ParameterError, match="cbr_diag, or features=projection"):
        Cbr().init(Problem(wide, np.array([1, -1, 1], np.int8), 3), np.random.default_rng(0))
