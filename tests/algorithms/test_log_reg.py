"""Balanced logistic regression against scikit-learn's, on made and on real data."""

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench.data import load
from aucbench.data.scaler import fit_scaling
from aucbench_algorithms import LogReg, UniLog, _newton
from tests.algorithms.pair_oracles import logistic_gradient
from tests.helpers.training import difference, random_problem, train, weights

PASSES = np.zeros((1000, 0), np.int64)
each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def scikit_learn(X, y, C):
    """(d + 1,) weights and intercept."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=C, class_weight="balanced", solver="newton-cholesky", tol=1e-12, max_iter=1000
    )
    model.fit(X, y)
    return np.append(model.coef_[0], model.intercept_)


def objective(point, X, y, C):
    """1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i (w.x_i + b)))."""
    w, b = point[:-1], point[-1]
    c = len(y) / (2 * np.where(y == 1, np.count_nonzero(y == 1), np.count_nonzero(y == -1)))
    return 0.5 * w @ w + C * c @ np.logaddexp(0.0, -y * (X @ w + b))


def assert_agrees(X, y, C, layout=np.asarray):
    state = train(LogReg(C), layout(X), y, PASSES)
    assert state.solved
    point, expected = np.append(state.w, state.b), scikit_learn(X, y, C)
    assert difference(point, expected) < 1e-6
    assert objective(point, X, y, C) <= objective(expected, X, y, C) * (1 + 1e-14)


@each_layout
@pytest.mark.parametrize("largest", [0, 2048])  # conjugate gradients, or a factored matrix
@pytest.mark.parametrize("shape", [(300, 12), (60, 90)])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_log_reg_agrees_with_scikit_learn(C, shape, largest, layout, monkeypatch):
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", largest)
    X, y = random_problem(1, *shape, density=0.5, unit=False)
    assert_agrees(X + 1.0, y, C, layout)


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "rows", "C"), [("a9a", None, 1.0), ("a9a", 3000, 1e4), ("w8a", 6000, 100.0)]
)
@each_layout
def test_log_reg_agrees_with_scikit_learn_on_real_data(name, rows, C, layout):
    data = load(aucbench.catalog().dataset(name)())
    X = fit_scaling("maxabs", data.X).apply(data.X)[:rows]
    assert_agrees(np.asarray(X), np.asarray(data.y)[:rows], C, layout)


def test_log_reg_is_uni_log_with_another_parameter():
    X, y = random_problem(2, 200, 10)
    assert np.array_equal(weights(LogReg(4.0), X, y, PASSES), weights(UniLog(1 / 800), X, y, PASSES))


@each_layout
def test_the_gradient_certifies_the_solution(layout):
    X, y = random_problem(3, 250, 20, density=0.3)
    state = train(LogReg(C=10.0), layout(X), y, PASSES)
    by_w, by_b = logistic_gradient(state.w, X, y, 1 / 2500, state.b)
    assert np.hypot(np.linalg.norm(by_w), by_b) <= 1.1e-10 / 2500 * np.linalg.norm(state.w)


@each_layout
@pytest.mark.parametrize("shape", [(200, 5), (40, 60)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_classes_that_a_plane_separates_are_no_trouble(scale, shape, layout):
    X, y = random_problem(4, *shape, unit=False)
    X[:, 0] += 10.0 * y
    state, C = train(LogReg(C=1e4), layout(scale * X), y, PASSES), 1e4
    assert state.solved
    assert (y * (scale * X @ state.w + state.b) > 0).all()
    by_w, by_b = logistic_gradient(state.w, scale * X, y, 1 / (C * len(y)), state.b)
    assert np.linalg.norm(by_w) < 1e-6 * np.linalg.norm(state.w) / (C * len(y))
    assert abs(by_b) < 1e-12


def test_rounding_ends_what_the_gradient_cannot():
    X, y = random_problem(6, 500, 6)
    X[:, 1] = X[:, 0] + 1e-9 * X[:, 1]  # two columns that lam alone tells apart
    state, iterations = train(LogReg(C=1e9), X, y, PASSES[:0]), 0
    algorithm, batch = LogReg(C=1e9), aucbench.Batch(X, y, PASSES[:1])
    while not algorithm.done(state):
        state, iterations = algorithm.step(state, batch), iterations + 1
    assert 3 < iterations < 13  # 16 where only a step that moves nothing ends it
    by_w, by_b = logistic_gradient(state.w, X, y, 1 / 5e11, state.b)
    assert np.hypot(np.linalg.norm(by_w), by_b) < 1e-14
