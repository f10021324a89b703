"""The family of the square loss against plain-NumPy transcriptions."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from aucbench_algorithms import AdaOam, OpaucR, RegSolam, Sauc, SolamL1, Spam, Spdam
from aucbench_losses import Hinge, Logistic, SmoothHinge
from tests.algorithms import reference, reference_square
from tests.helpers.training import random_problem, weights

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 800, density=0.03),  # the lazy layout
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(5)])
BATCHES = np.array([(7 * t + 11 * np.arange(20)) % 200 for t in range(1, 101)])
LAYOUTS = [np.asarray, sparse.csr_array]
each_problem = pytest.mark.parametrize("problem", PROBLEMS)


def grid(**choices):
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def assert_equal_to_reference(algorithm, expected, X, y, rows, loss=None, tolerance=1e-9):
    assert np.isfinite(expected).all()
    for layout in LAYOUTS:
        w = weights(algorithm, layout(X), y, rows, loss=loss)
        assert np.abs(w - expected).max() <= tolerance * np.abs(expected).max(), (algorithm, layout.__name__)


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
