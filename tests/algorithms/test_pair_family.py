"""Methods on pairs and buffers against plain-NumPy transcriptions and golden values, dense and CSR."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from aucbench.evaluation import exact_auc
from aucbench_algorithms import RocSgd, UniExp
from aucbench_losses import Hinge
from tests.algorithms import reference_pairs as reference
from tests.algorithms.formula_data import GOLDEN, formula_data, formula_order
from tests.algorithms.running import difference, random_pairs, random_problem, weights

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 400, density=0.03),
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(5)])
LAYOUTS = [np.asarray, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "csr"])
each_problem = pytest.mark.parametrize("problem", PROBLEMS)

GOLDEN_CASES = {
    "uni-exp train ratio": (UniExp(eta=0.1), formula_order()),
    "uni-exp running ratio": (UniExp(eta=0.1, ratio="running"), formula_order()),
}


def grid(**choices):
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def assert_equal_to_reference(algorithm, expected, X, y, rows, loss=None):
    for layout in LAYOUTS:
        w = weights(algorithm, layout(X), y, rows, loss=loss)
        assert difference(w, expected) < 1e-9, (algorithm, layout.__name__)


@each_layout
@pytest.mark.parametrize("case", GOLDEN_CASES)
def test_a_method_reproduces_its_golden_weights_and_auc(case, layout):
    algorithm, rows = GOLDEN_CASES[case]
    X, y = formula_data()
    w = weights(algorithm, layout(X), y, rows)
    np.testing.assert_allclose(w, GOLDEN[case]["w"], rtol=1e-10, atol=0)
    assert exact_auc(X @ w, y) == pytest.approx(GOLDEN[case]["auc"], rel=1e-12)


@each_problem
@pytest.mark.parametrize("schedule", ["basic", "pegasos", "constant"])
def test_roc_sgd_follows_its_specification(problem, schedule):
    X, y = PROBLEMS[problem]
    pairs = random_pairs(5, y, 3000)
    for setting in grid(lam=[1e-6, 1e-4, 0.01, 1.0, 20.0, 1e3], pegasos=[False, True]):
        expected = reference.roc_sgd(X, pairs, schedule=schedule, **setting)
        assert_equal_to_reference(RocSgd(schedule=schedule, **setting), expected, X, y, pairs)


def test_roc_sgd_takes_the_margin_of_its_loss():
    X, y = PROBLEMS["dense"]
    pairs = random_pairs(5, y, 500)
    expected = reference.roc_sgd(X, pairs, margin=0.3)
    assert_equal_to_reference(RocSgd(), expected, X, y, pairs, loss=Hinge(margin=0.3))


@each_problem
@pytest.mark.parametrize("ratio", ["train", "running"])
def test_uni_exp_follows_its_specification(problem, ratio):
    X, y = PROBLEMS[problem]
    for eta in (1e-4, 2.0**-6, 0.5, 2.0):
        expected = reference.uni_exp(X, y, ORDER, eta, ratio)
        assert_equal_to_reference(UniExp(eta, ratio), expected, X, y, ORDER)


def test_uni_exp_caps_its_exponent():
    X, y = np.array([[2000.0], [1.0], [1.5]]), np.array([1, 1, -1], np.int8)
    w = weights(UniExp(eta=1.0), X, y, np.array([0, 2]))
    expected = reference.uni_exp(X, y, [0, 2], 1.0)
    assert np.isfinite(expected).all()
    assert difference(w, expected) < 1e-9
