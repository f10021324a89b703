"""The kernels against plain-NumPy transcriptions of the specification, dense and CSR, over many settings."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from aucbench_algorithms import Fsauc, LsSvm, Opauc, Psam, Solam
from tests.algorithms import reference
from tests.helpers.training import difference, random_pairs, random_problem, weights

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 400, density=0.03),
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(5)])


def grid(**choices):
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def assert_equal_to_reference(algorithm, expected, X, y, rows):
    for layout in (np.asarray, sparse.csr_array):
        w = weights(algorithm, layout(X), y, rows)
        assert difference(w, expected) < 1e-9, (algorithm, layout.__name__)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_solam_follows_its_specification(problem, norm):
    X, y = PROBLEMS[problem]
    settings = grid(
        zeta=[0.1, 100.0], radius=[0.05, 1.0, 1e4], start=["zero", "author"], average=["before", "after"]
    )
    for setting in settings:
        expected = reference.solam(X, y, ORDER, norm=norm, **setting)
        assert_equal_to_reference(Solam(norm=norm, **setting), expected, X, y, ORDER)


def test_solam_clips_from_above_only_when_told_to_and_takes_a_given_kappa():
    X, y = PROBLEMS["unscaled"]
    for setting in grid(zeta=[1.0, 100.0], one_sided_ab=[True], kappa=[0.5]):
        expected = reference.solam(X, y, ORDER, **setting)
        assert_equal_to_reference(Solam(radius=1.0, **setting), expected, X, y, ORDER)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("gamma", [1e-10, 1e-7, 1e-3, 0.1])
def test_psam_follows_its_specification(problem, gamma):
    X, y = PROBLEMS[problem]
    pairs = random_pairs(5, y, 3000)
    for setting in grid(t0=[None, 0.0, 100.0], rskip=[1, 16], askip=[1, 50]):
        expected = reference.psam(X, pairs, gamma, **setting)
        assert_equal_to_reference(Psam(gamma=gamma, **setting), expected, X, y, pairs)


def test_psam_does_not_move_on_a_pair_of_equal_rows_and_steps_exactly_on_nearly_equal_ones():
    X, y = random_problem(4, 20, 30, density=0.3)
    positive, negative = np.flatnonzero(y == 1)[0], np.flatnonzero(y == -1)[0]
    X[negative] = X[positive]
    pairs = np.array([[positive, negative]] * 3)
    assert not weights(Psam(1e-7), X, y, pairs).any()
    assert not weights(Psam(1e-7), sparse.csr_array(X), y, pairs).any()
    X[negative, 3] += 1e-7
    assert_equal_to_reference(Psam(1e-7), reference.psam(X, pairs), X, y, pairs)


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["dense", "sparse"])
@pytest.mark.parametrize("eta_rule", ["halve", "paper", "capped"])
def test_fsauc_follows_its_specification(problem, eta_rule):
    X, y = PROBLEMS[problem]
    etas = (
        [1e-4, 1e-3] if eta_rule == "paper" else [0.01, 0.3]
    )  # the paper's rule multiplies eta by 20 and more
    settings = grid(
        radius=[0.05, 1.0, 100.0], eta=etas, average=["before", "after"], p_scope=["global", "stage"]
    )
    for setting in settings:
        expected = reference.fsauc(X, y, ORDER, eta_rule=eta_rule, **setting)
        assert_equal_to_reference(Fsauc(eta_rule=eta_rule, **setting), expected, X, y, ORDER)


def test_fsauc_bounds_bind_with_a_tiny_radius_on_unscaled_rows():
    X, y = PROBLEMS["unscaled"]
    for setting in grid(radius=[0.01, 0.1], eta=[0.01, 0.1], delta=[0.01, 0.5], kappa=[None, 1.0]):
        expected = reference.fsauc(X, y, ORDER, **setting)
        assert_equal_to_reference(Fsauc(**setting), expected, X, y, ORDER)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_opauc_follows_its_specification(problem):
    X, y = PROBLEMS[problem]
    rows = ORDER[:200] if problem == "sparse" else ORDER
    for setting in grid(eta=[1e-3, 0.01], lam=[0.0, 0.01, 1.0]):
        expected = reference.opauc(X, y, rows, **setting)
        assert_equal_to_reference(Opauc(**setting), expected, X, y, rows)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_ls_svm_is_the_closed_form(problem, lam):
    X, y = PROBLEMS[problem]
    rows = np.zeros((1, 0), np.int64)
    assert_equal_to_reference(LsSvm(lam), reference.ls_svm(X, y, lam), X, y, rows)
