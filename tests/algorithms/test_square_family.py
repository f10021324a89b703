"""The family of the square loss against golden values and plain-NumPy transcriptions."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch
from aucbench.evaluation import exact_auc
from aucbench_algorithms import AdaOam, OpaucR, RegSolam, Sauc, SolamL1, Spam, Spdam
from aucbench_losses import Hinge, Logistic, SmoothHinge
from tests.algorithms import reference, reference_square
from tests.algorithms.formula_data import GOLDEN, formula_data, formula_order
from tests.helpers.training import problem_of, random_problem, weights

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 800, density=0.03),  # the lazy layout
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(5)])
BATCHES = np.array([(7 * t + 11 * np.arange(20)) % 200 for t in range(1, 101)])
LAYOUTS = [np.asarray, sparse.csr_array]
each_problem = pytest.mark.parametrize("problem", PROBLEMS)


class Injected:
    """Stands for a generator whose standard normal numbers are given."""

    def __init__(self, draws):
        self.draws, self.used = draws, 0

    def standard_normal(self, shape):
        self.used += shape[0]
        return self.draws[self.used - shape[0] : self.used]


def grid(**choices):
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def assert_equal_to_reference(algorithm, expected, X, y, rows, loss=None, tolerance=1e-9):
    assert np.isfinite(expected).all()
    for layout in LAYOUTS:
        w = weights(algorithm, layout(X), y, rows, loss=loss)
        assert np.abs(w - expected).max() <= tolerance * np.abs(expected).max(), (algorithm, layout.__name__)


CASES = {
    "solam zero init, l1": (SolamL1(zeta=0.5, radius=0.5, kappa=1), formula_order(), None),
    "regsolam": (RegSolam(zeta=0.5, lam=0.1, start="author"), formula_order(), None),
    "spam l2": (Spam(C=0.5, beta=0.05), formula_order(), None),
    "spam net": (Spam(C=0.5, beta=0.05, nu=0.01, penalty="net"), formula_order(), None),
    "adaoam": (AdaOam(eta=0.05, lam=0.02), formula_order(), None),
    "spdam derived": (Spdam(lam=0.05), BATCHES, None),
    "spdam printed sigma, kappa=1": (Spdam(lam=0.05, sigma_rule="printed", kappa=1), BATCHES, None),
    "sauc hinge": (Sauc(radius=0.5, beta=1, degree=4), formula_order(), Hinge()),
    "sauc logistic": (Sauc(radius=0.5, beta=1, degree=4), formula_order(), Logistic()),
    "sauc hinge, Algorithm 1 averaging": (
        Sauc(radius=0.5, beta=1, degree=4, average="before"),
        formula_order(),
        Hinge(),
    ),
}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("case", CASES)
def test_a_method_reproduces_its_golden_weights_and_auc(case, layout):
    algorithm, rows, loss = CASES[case]
    X, y = formula_data()
    assert_golden(case, weights(algorithm, layout(X), y, rows, loss=loss), X, y)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("case", "centring"), [("opauc_r", "author"), ("opauc_r exact", "exact")])
def test_opauc_r_reproduces_its_golden_weights_with_given_numbers(case, centring, lazy):
    X, y = formula_data()
    t, k = np.arange(200)[:, None], np.arange(3)
    draws = math.sqrt(2) * np.sin(12.9898 * (t + 1) + 78.233 * (k + 1))
    data = sparse.csr_array(np.hstack([X, np.zeros((200, 96))])) if lazy else X
    algorithm = OpaucR(eta=0.05, lam=0.02, tau=3, centring=centring)
    state = algorithm.init(problem_of(algorithm, data, y, 200), Injected(draws))
    state = algorithm.step(state, Batch(data, y, formula_order()))
    assert_golden(case, algorithm.weights(state)[:4], X, y)


def assert_golden(case, w, X, y):
    np.testing.assert_allclose(w, GOLDEN[case]["w"], rtol=1e-10, atol=0)
    assert exact_auc(X @ w, y) == pytest.approx(GOLDEN[case]["auc"], rel=1e-12)


@pytest.mark.slow
@each_problem
def test_solam_l1_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    for setting in grid(
        zeta=[0.1, 100.0], radius=[0.05, 1.0, 1e4], start=["zero", "author"], average=["before", "after"]
    ):
        expected = reference.solam(X, y, ORDER, norm="l1", **setting)
        assert_equal_to_reference(SolamL1(**setting), expected, X, y, ORDER)


@pytest.mark.slow
@each_problem
def test_regsolam_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    for setting in grid(
        zeta=[0.1, 1.0, 100.0], lam=[1e-5, 1e-2, 1.0, 1e5], start=["zero", "author"], kappa=[None, 1.0]
    ):
        expected = reference_square.regsolam(X, y, ORDER, **setting)
        assert_equal_to_reference(RegSolam(**setting), expected, X, y, ORDER)
    expected = reference_square.regsolam(X, y, ORDER, zeta=1.0, lam=1e-3, average="after")
    assert_equal_to_reference(RegSolam(zeta=1.0, lam=1e-3, average="after"), expected, X, y, ORDER)


@pytest.mark.slow
@each_problem
def test_spam_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    steps = [0.01, 0.3] if problem == "unscaled" else [0.01, 1.0, 10.0]  # larger ones diverge
    settings = [
        *grid(C=steps, beta=[0.0, 1e-2, 1e3], penalty=["l2"]),
        *grid(C=steps, beta=[0.0, 1e-2, 1.0], nu=[0.0, 1e-4, 1e-2], penalty=["net"]),
        *grid(C=[0.01, 1.0, 100.0], radius=[0.05, 1.0, 1e3], penalty=["ball"]),
    ]
    for setting in settings:
        expected = reference_square.spam(X, y, ORDER, **setting)
        assert_equal_to_reference(Spam(**setting), expected, X, y, ORDER)


@pytest.mark.slow
@each_problem
def test_opauc_r_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    for setting in grid(eta=[1e-3, 0.03], lam=[0.0, 0.1], centring=["author", "exact"]):
        for tau in (1, 10):
            draws = np.random.default_rng(0).standard_normal((len(ORDER), tau))
            expected = reference_square.opauc_r(X, y, ORDER, draws, **setting)
            assert_equal_to_reference(OpaucR(tau=tau, **setting), expected, X, y, ORDER)


@pytest.mark.slow
@each_problem
def test_adaoam_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    rows = ORDER[:60] if problem == "sparse" else ORDER  # matrices of 800 x 800
    for setting in grid(eta=[1e-3, 0.1], lam=[0.0, 1e-2, 4.0]):
        expected = reference_square.adaoam(X, y, rows, **setting)
        assert_equal_to_reference(AdaOam(**setting), expected, X, y, rows)


@each_problem
@pytest.mark.parametrize("size", [1, 30, 300])
def test_spdam_follows_its_specification(problem, size):
    X, y = PROBLEMS[problem]
    batches = ORDER[: 1500 // size * size].reshape(-1, size)
    for setting in grid(lam=[1e-5, 1e-2, 10.0], sigma_rule=["derived", "printed"], kappa=[None, 1.0]):
        if setting["kappa"] and problem == "unscaled":
            continue  # far below the largest norm it diverges
        expected = reference_square.spdam(X, y, batches, **setting)
        for fraction in (0.1, 0.003):  # plain vectors, and sums of rows in the sparse problem
            algorithm = Spdam(batch_fraction=fraction, **setting)
            assert_equal_to_reference(algorithm, expected, X, y, batches)


@pytest.mark.slow
@each_problem
@pytest.mark.parametrize("loss", [Hinge(), Logistic(), SmoothHinge()], ids=str)
def test_sauc_follows_its_specification(problem, loss):
    X, y = PROBLEMS[problem]
    kappa = float(np.linalg.norm(X, axis=1).max())
    for setting in grid(radius=[0.05, 0.5], beta=[0.3, 1.0, 2.0], degree=[1, 4], average=["before", "after"]):
        setting["kappa"] = kappa
        expected = reference_square.sauc(X, y, ORDER, lambda m: loss.value(m, 1.0), **setting)
        assert_equal_to_reference(Sauc(**setting), expected, X, y, ORDER, loss)
