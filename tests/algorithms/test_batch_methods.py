"""The batch solvers against all pairs written out, each other."""

import numpy as np
import pytest
from scipy import sparse

from aucbench_algorithms import _newton, _pair_newton, _svm_or_kink
from aucbench_algorithms.bam import Bam
from aucbench_algorithms.log_reg import LogReg
from aucbench_algorithms.ls_svm import LsSvm
from aucbench_algorithms.svm_or import SvmOr
from aucbench_algorithms.univariate_batch import UniLog, UniSquare
from tests.algorithms.pair_oracles import (
    all_pairs,
    hinge_optimum,
    hinge_value,
    logistic_gradient,
    squared_hinge_optimum,
)
from tests.helpers.training import difference, random_problem, train, weights

PASSES = np.zeros((300, 0), np.int64)
LAYOUTS = [np.asarray, sparse.csr_matrix, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS)
BATCH = [Bam(), SvmOr(), UniLog(), UniSquare(), UniLog(intercept=False), UniSquare(intercept=False), LogReg()]


@pytest.mark.slow
@each_layout
@pytest.mark.parametrize("C", [2.0**-15, 1.0, 2.0**10])
@pytest.mark.parametrize("shape", [(120, 8), (40, 60)])
def test_bam_minimises_the_squared_hinge_over_all_pairs(shape, C, layout):
    X, y = random_problem(1, *shape, density=0.6)
    expected, residual = squared_hinge_optimum(X, y, C)
    assert residual < 1e-10
    state = train(Bam(C), layout(X), y, PASSES)
    assert state.solved
    assert difference(state.w, expected) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("lam", [0.02, 0.3])
def test_svm_or_agrees_with_a_quadratic_programme_over_all_pairs(lam):
    X, y = random_problem(3, 26, 4)
    assert difference(weights(SvmOr(lam), X, y, PASSES), hinge_optimum(X, y, lam)) < 1e-11


@pytest.mark.slow
@each_layout
@pytest.mark.parametrize("lam", [2.0**-10, 2.0**-4, 2.0**10])
@pytest.mark.parametrize("kind", ["many rows", "many columns", "equal rows", "whole numbers"])
def test_svm_or_certifies_its_solution(kind, lam, layout):
    X, y = random_problem(4, *((50, 90) if kind == "many columns" else (300, 6)), density=0.7)
    if kind == "equal rows":
        X = np.round(X)
    elif kind == "whole numbers":
        X = np.round(3 * X)
    state = train(SvmOr(lam), layout(X), y, PASSES)
    w = state.w
    assert state.solved
    assert state.gap <= 1e-14 * lam * w @ w
    rng = np.random.default_rng(0)
    least = hinge_value(w, X, y, lam)
    for size in (1e-3, 1e-6):
        for _ in range(20):
            other = w + size * np.linalg.norm(w) * rng.normal(size=w.size)
            assert hinge_value(other, X, y, lam) > least


def test_svm_or_does_not_depend_on_how_it_is_certified(monkeypatch):
    X, y = random_problem(5, 200, 6)
    certified = weights(SvmOr(0.1), X, y, PASSES)
    monkeypatch.setattr(_svm_or_kink, "MOST_PAIRS", 0)
    state = train(SvmOr(0.1), X, y, np.zeros((1000, 0), np.int64))
    assert state.solved
    assert difference(state.w, certified) < 1e-7


@each_layout
@pytest.mark.parametrize("algorithm", [Bam(1.0), Bam(100.0), SvmOr(0.01)], ids=str)
def test_every_way_to_solve_a_newton_system_gives_the_same_weights(algorithm, layout, monkeypatch):
    X, y = random_problem(6, 80, 40, density=0.3)
    expected = weights(algorithm, layout(X), y, PASSES)
    monkeypatch.setattr(_pair_newton, "LARGEST_DENSE", 0)
    assert difference(weights(algorithm, layout(X), y, PASSES), expected) < 1e-9
    monkeypatch.setattr(_pair_newton, "LARGEST_GRAM", 0)
    w = weights(algorithm, layout(X), y, np.zeros((1000, 0), np.int64))
    assert difference(w, expected) < 1e-6


@each_layout
@pytest.mark.parametrize("largest", [0, 2048])
@pytest.mark.parametrize("shape", [(150, 10), (40, 70)])
@pytest.mark.parametrize("lam", [2.0**-10, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_gradient_of_the_balanced_logistic_loss_vanishes(
    intercept, lam, shape, largest, layout, monkeypatch
):
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", largest)
    X, y = random_problem(7, *shape, density=0.5, unit=False)
    state = train(UniLog(lam, intercept), layout(X), y, PASSES)
    assert state.solved
    by_w, by_b = logistic_gradient(state.w, X, y, lam, state.b)
    assert np.linalg.norm(by_w) < 1e-9 * lam * np.linalg.norm(state.w)
    assert abs(by_b) < 1e-9 * lam * np.linalg.norm(state.w) if intercept else state.b == 0.0


@each_layout
@pytest.mark.parametrize("largest", [0, 2048])
@pytest.mark.parametrize("shape", [(150, 10), (40, 70)])
@pytest.mark.parametrize("intercept", [True, False])
def test_uni_square_solves_its_normal_equations(intercept, shape, largest, layout, monkeypatch):
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", largest)
    X, y = random_problem(8, *shape, density=0.5, unit=False)
    ones = np.full((len(y), 1), float(intercept))  # a column without ridge
    P, N = (np.hstack([X, ones])[y == label] for label in (1, -1))
    matrix = P.T @ P / len(P) + N.T @ N / len(N) + np.diag([0.05] * X.shape[1] + [float(not intercept)])
    expected = np.linalg.solve(matrix, P.mean(axis=0) - N.mean(axis=0))
    state = train(UniSquare(0.05, intercept), layout(X), y, PASSES)
    assert difference(np.append(state.w, state.b), expected) < 1e-11


def test_uni_square_without_intercept_on_centred_classes_is_the_pairwise_least_squares():
    X, y = random_problem(9, 90, 5)
    for label in (1, -1):
        X[y == label] -= X[y == label].mean(axis=0)
    shift = np.arange(5.0)
    # means +shift and -shift: m m^T enters twice on one side, (2 m)(2 m)^T on the other
    w = weights(UniSquare(0.1, intercept=False), X + y[:, None] * shift, y, PASSES)
    pairwise = weights(LsSvm(0.1), X + y[:, None] * shift, y, PASSES)
    assert difference(w / np.linalg.norm(w), pairwise / np.linalg.norm(pairwise)) < 1e-10


@each_layout
@pytest.mark.parametrize("algorithm", BATCH, ids=str)
def test_passes_may_come_in_any_parts(algorithm, layout):
    X, y = random_problem(10, 100, 7)
    state = train(algorithm, layout(X), y, PASSES)
    assert algorithm.done(state)
    assert algorithm.step(state, train_batch(layout(X), y)) is state
    for parts in (2, 7, 300):
        assert np.array_equal(state.w, weights(algorithm, layout(X), y, PASSES, parts))


def train_batch(X, y):
    from aucbench import Batch

    return Batch(X, y, PASSES)


@each_layout
@pytest.mark.parametrize("algorithm", BATCH, ids=str)
def test_float32_rows_are_solved_as_their_float64_values(algorithm, layout):
    X, y = random_problem(11, 100, 7)
    single = layout(X.astype(np.float32))
    w = weights(algorithm, single, y, PASSES)
    assert w.dtype == np.float64
    assert difference(w, weights(algorithm, layout(single.astype(np.float64)), y, PASSES)) < 1e-9


@pytest.mark.parametrize("algorithm", BATCH, ids=str)
def test_nan_features_show_in_the_weights(algorithm):
    X, y = random_problem(12, 50, 4)
    X[3, 2] = np.nan
    assert np.isnan(weights(algorithm, X, y, PASSES)).all()


@pytest.mark.parametrize("algorithm", [Bam(), SvmOr()], ids=str)
def test_one_class_alone_has_no_pairs_and_zero_weights(algorithm):
    X, _ = random_problem(13, 20, 4)
    state = train(algorithm, X, np.ones(20, np.int8), PASSES)
    assert state.solved
    assert not state.w.any()


def test_many_equal_scores_are_counted_as_pairs():
    X = np.repeat(np.eye(3), 200, axis=0)
    y = np.where(np.arange(600) % 7 < 2, 1, -1).astype(np.int8)
    Z = all_pairs(X, y)
    w = weights(Bam(0.01), X, y, PASSES)
    np.testing.assert_allclose(0.02 * Z.T @ np.maximum(0, 1 - Z @ w), w, atol=1e-10)
    assert train(SvmOr(1e-3), X, y, PASSES).solved


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [SvmOr(lam=1e-4), Bam(C=1.0)], ids=["svm_or", "bam"])
def test_wide_sparse_rows_have_the_same_solution_by_products_as_by_factors(algorithm, monkeypatch):
    X, y = random_problem(11, 80, 400, density=0.05)
    rows = sparse.csr_array(X)
    direct = weights(algorithm, rows, y, PASSES)
    monkeypatch.setattr(_pair_newton, "LARGEST_GRAM", 0)
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", 0)
    state = train(algorithm, rows, y, PASSES[:60])
    assert state.solved
    assert difference(algorithm.weights(state), direct) < 1e-10
