"""The batch solvers against all pairs written out, their gradients, and each other."""

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch
from aucbench_algorithms import (
    Aum,
    Bam,
    LogReg,
    LsSvm,
    SvmOr,
    TauFpl,
    TopPush,
    UniLog,
    UniSquare,
    _newton,
    _pair_newton,
    _svm_or_kink,
)
from tests.algorithms.pair_oracles import hinge_value, logistic_gradient
from tests.helpers.training import difference, random_problem, train, weights

PASSES = np.zeros((1000, 0), np.int64)
each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
each_shape = pytest.mark.parametrize("shape", [(150, 10), (40, 70)])
each_route = pytest.mark.parametrize("largest", [0, 2048])  # conjugate gradients, or a factored matrix
SOLVERS = (Bam, SvmOr, UniLog, UniSquare, LogReg, LsSvm, TopPush, TauFpl)
BATCH = [*(cls() for cls in SOLVERS), UniLog(intercept=False)]


@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize("algorithm", [*BATCH, Aum()], ids=str)
def test_one_class_alone_is_solved_at_once_with_finite_weights(algorithm, label):
    X, _ = random_problem(13, 20, 4)
    state = train(algorithm, X, np.full(20, label, np.int8), PASSES)
    assert algorithm.done(state)
    w = algorithm.weights(state)
    assert np.isfinite(w).all()
    if not isinstance(algorithm, Aum | LsSvm) and getattr(algorithm, "intercept", True):
        assert np.abs(w).max() < 1e-12


# Pairs


@pytest.mark.slow
@each_layout
@pytest.mark.parametrize("lam", [2.0**-10, 2.0**-4, 2.0**10])
@pytest.mark.parametrize("kind", ["many rows", "many columns", "equal rows", "whole numbers"])
def test_svm_or_certifies_its_solution(kind, lam, layout):
    X, y = random_problem(4, *((50, 90) if kind == "many columns" else (300, 6)), density=0.7)
    X = {"equal rows": np.round(X), "whole numbers": np.round(3 * X)}.get(kind, X)
    state = train(SvmOr(lam), layout(X), y, PASSES)
    w, rng = state.w, np.random.default_rng(0)
    assert state.solved
    assert state.gap <= 1e-14 * lam * w @ w
    least = hinge_value(w, X, y, lam)
    for size in np.repeat([1e-3, 1e-6], 20):
        moved = w + size * np.linalg.norm(w) * rng.normal(size=w.size)
        assert hinge_value(moved, X, y, lam) > least


@each_layout
@pytest.mark.parametrize("algorithm", [Bam(1.0), Bam(100.0), SvmOr(0.01)], ids=str)
def test_every_way_to_solve_a_newton_system_gives_the_same_weights(algorithm, layout, monkeypatch):
    X, y = random_problem(6, 80, 40, density=0.3)
    expected = weights(algorithm, layout(X), y, PASSES)
    monkeypatch.setattr(_pair_newton, "LARGEST_DENSE", 0)
    assert difference(weights(algorithm, layout(X), y, PASSES), expected) < 1e-9
    monkeypatch.setattr(_pair_newton, "LARGEST_GRAM", 0)
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", 0)
    assert difference(weights(algorithm, layout(X), y, PASSES), expected) < 1e-6


# Univariate losses


@each_layout
@each_route
@each_shape
@pytest.mark.parametrize(("lam", "intercept"), [(2.0**-10, True), (1.0, False)])
def test_the_gradient_of_the_balanced_logistic_loss_vanishes(
    lam, intercept, shape, largest, layout, monkeypatch
):
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", largest)
    X, y = random_problem(7, *shape, density=0.5, unit=False)
    state = train(UniLog(lam, intercept), layout(X), y, PASSES)
    assert state.solved
    by_w, by_b = logistic_gradient(state.w, X, y, lam, state.b)
    assert np.linalg.norm(by_w) < 1e-9 * lam * np.linalg.norm(state.w)
    assert abs(by_b) < 1e-9 * lam * np.linalg.norm(state.w) if intercept else state.b == 0.0


@each_layout
@each_route
@each_shape
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
    if intercept:  # its direction is that of `ls_svm`
        pairs, d = weights(LsSvm(0.05), layout(X), y, PASSES), P.mean(axis=0) - N.mean(axis=0)
        assert difference(state.w, pairs / (1.0 - d[:-1] @ pairs / 2.0)) < 1e-9


def test_rounding_ends_what_the_gradient_cannot():
    X, y = random_problem(6, 500, 6)
    X[:, 1] = X[:, 0] + 1e-9 * X[:, 1]  # two columns that lam alone tells apart
    algorithm, batch = LogReg(C=1e9), Batch(X, y, PASSES[:1])
    state, iterations = train(algorithm, X, y, PASSES[:0]), 0
    while not algorithm.done(state):
        state, iterations = algorithm.step(state, batch), iterations + 1
    assert 3 < iterations < 13  # 16 where only a step that moves nothing ends it
    by_w, by_b = logistic_gradient(state.w, X, y, 1 / 5e11, state.b)
    assert np.hypot(np.linalg.norm(by_w), by_b) < 1e-14


def test_svm_or_does_not_depend_on_how_it_is_certified(monkeypatch):
    X, y = random_problem(5, 200, 6)
    certified = weights(SvmOr(0.1), X, y, PASSES)
    monkeypatch.setattr(_svm_or_kink, "MOST_PAIRS", 0)
    assert difference(weights(SvmOr(0.1), X, y, PASSES), certified) < 1e-7
