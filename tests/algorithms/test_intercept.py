"""The intercept of the univariate methods against scikit-learn, and what is the same without one."""

import numpy as np
import pytest
from scipy import linalg, sparse, special

from aucbench import kernels
from aucbench.evaluation import exact_auc
from aucbench.kernels import rows as row
from aucbench_algorithms import FtrlLog, LsSvm, SgdHinge, SgdLog, UniExp, UniLog, UniSquare, _newton
from tests.helpers.training import difference, random_problem, train, weights

PASSES = np.zeros((300, 0), np.int64)
X, Y = random_problem(1, 400, 12, density=0.5)
ORDER = np.concatenate([np.random.default_rng(seed).permutation(400) for seed in range(7)])
each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, sparse.csr_array])
each_shape = pytest.mark.parametrize("shape", [(150, 10), (40, 70)])
each_route = pytest.mark.parametrize("largest", [0, 2048])  # conjugate gradients, or a factored matrix


def factored_up_to(largest, monkeypatch):
    monkeypatch.setattr(_newton, "LARGEST_FACTORED", largest)


@each_layout
@pytest.mark.parametrize(
    "algorithm", [UniExp(), UniLog(), UniSquare(), SgdHinge(), SgdLog(), FtrlLog()], ids=str
)
def test_the_scores_leave_the_intercept_out(algorithm, layout):
    rows = PASSES if algorithm.access == "full" else ORDER
    state = train(algorithm, layout(X), Y, rows)
    assert np.array_equal(algorithm.score(state, X), X @ algorithm.weights(state))
    assert type(algorithm.fitted_intercept(state)) is float
    assert algorithm.fitted_intercept(state) != 0.0
    without = type(algorithm)(intercept=False)
    assert without.fitted_intercept(train(without, layout(X), Y, rows)) == 0.0


@each_layout
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0, 3.0])
@pytest.mark.parametrize("cls", [SgdHinge, SgdLog])
def test_sgd_equals_one_call_of_scikit_learn_on_dense_rows(cls, alpha, average, layout):
    from sklearn.linear_model import SGDClassifier

    n, n_pos = 400, np.count_nonzero(Y == 1)
    model = SGDClassifier(
        loss="hinge" if cls is SgdHinge else "log_loss",
        alpha=alpha,
        average=average,
        class_weight={1: n / (2 * n_pos), -1: n / (2 * (n - n_pos))},
        shuffle=False,
    )
    model.partial_fit(X[ORDER], Y[ORDER], classes=[-1, 1])
    algorithm = cls(alpha, average)
    for parts in (1, 50):
        state = train(algorithm, layout(X), Y, ORDER, parts)
        assert difference(algorithm.weights(state), model.coef_[0]) < 1e-9
        assert algorithm.fitted_intercept(state) == pytest.approx(model.intercept_[0], rel=1e-9)


@each_layout
@each_shape
@each_route
@pytest.mark.parametrize("lam", [1e-5, 1e-3, 1.0])
def test_uni_log_agrees_with_scikit_learn(lam, shape, largest, layout, monkeypatch):
    from sklearn.linear_model import LogisticRegression

    factored_up_to(largest, monkeypatch)
    data, y = random_problem(2, *shape, density=0.5, unit=False)
    data += 1.0  # far from centred
    model = LogisticRegression(C=1 / lam, solver="newton-cholesky", tol=1e-13, max_iter=1000)
    model.fit(data, y, sample_weight=0.5 / np.where(y == 1, (y == 1).sum(), (y == -1).sum()))
    state = train(UniLog(lam), layout(data), y, PASSES)
    assert state.solved
    assert difference(np.append(state.w, state.b), np.append(model.coef_[0], model.intercept_)) < 1e-8


@each_layout
@each_shape
@each_route
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_uni_square_agrees_with_scikit_learn(lam, shape, largest, layout, monkeypatch):
    from sklearn.linear_model import Ridge

    factored_up_to(largest, monkeypatch)
    data, y = random_problem(3, *shape, density=0.5, unit=False)
    data += 1.0
    model = Ridge(alpha=lam / 2, solver="cholesky")
    model.fit(data, y, sample_weight=0.5 / np.where(y == 1, (y == 1).sum(), (y == -1).sum()))
    state = train(UniSquare(lam), layout(data), y, PASSES)
    # with more columns than rows, the inverse by rows cancels digits as |x|^2 exceeds lam
    tolerance = 1e-10 if largest and shape[0] < shape[1] else 1e-12
    assert difference(np.append(state.w, state.b), np.append(model.coef_, model.intercept_)) < tolerance


@each_layout
@each_shape
@each_route
@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("lam", [1e-4, 0.02, 3.0])
def test_uni_square_and_ls_svm_have_one_direction(lam, share, shape, largest, layout, monkeypatch):
    factored_up_to(largest, monkeypatch)
    data, _ = random_problem(4, *shape, density=0.5, unit=False)
    y = np.full(len(data), -1, np.int8)
    y[: round(share * len(y))] = 1
    data[y == 1] += 0.3
    univariate = train(UniSquare(lam), layout(data), y, PASSES)
    pairwise = weights(LsSvm(lam), layout(data), y, PASSES)
    mean_pos, mean_neg = data[y == 1].mean(axis=0), data[y == -1].mean(axis=0)
    factor = 1 / (1 - (mean_pos - mean_neg) @ pairwise / 2)
    assert 1.0 <= factor < 2.0
    # with more columns than rows, the inverse by rows cancels digits as |x|^2 exceeds lam
    tolerance = 1e-10 if largest and shape[0] < shape[1] else 1e-12
    assert difference(univariate.w, factor * pairwise) < tolerance
    assert univariate.b == pytest.approx(-univariate.w @ (mean_pos + mean_neg) / 2, rel=1e-9)
    assert exact_auc(data @ univariate.w, y) == exact_auc(data @ pairwise, y)


def test_rows_of_one_class_have_zero_weights():
    for algorithm in (UniLog(), UniSquare()):
        state = train(algorithm, X, np.ones(400, np.int8), PASSES)
        assert state.solved
        assert np.abs(state.w).max() < 1e-12


@kernels.kernel
def uni_exp_without_intercept(X, y, order, w, eta, p):
    for i in order:
        label = 1.0 if y[i] > 0 else -1.0
        c = 1.0 - p if y[i] > 0 else p
        row.axpy(eta * c * label * np.exp(-label * row.dot(X, i, w)), X, i, w)


@each_layout
def test_uni_exp_without_intercept_is_its_plain_recursion_bit_for_bit(layout):
    from aucbench import Batch

    w = np.zeros(12)
    uni_exp_without_intercept(Batch(layout(X), Y, ORDER).rows_view, Y, ORDER, w, 0.1, np.mean(Y == 1))
    assert np.array_equal(weights(UniExp(0.1, intercept=False), layout(X), Y, ORDER), w)


def factored(root, lam, g, multiply):
    matrix = root.T @ root
    matrix.flat[:: len(g) + 1] += lam
    factor = linalg.cho_factor(matrix)
    p = linalg.cho_solve(factor, g)
    return p + linalg.cho_solve(factor, g - multiply(p))


@pytest.mark.parametrize("lam", [1e-4, 0.01, 1.0])
def test_uni_square_without_intercept_is_one_factored_system_bit_for_bit(lam):
    share = np.where(Y == 1, 1 / np.count_nonzero(Y == 1), 1 / np.count_nonzero(Y == -1))
    root = X * np.sqrt(share)[:, None]
    w = factored(root, lam, X.T @ (share * Y), lambda v: lam * v + X.T @ (share * (X @ v)))
    assert np.array_equal(weights(UniSquare(lam, intercept=False), X, Y, PASSES), w)


@pytest.mark.parametrize("lam", [1e-4, 0.01, 0.1])
def test_uni_log_without_intercept_is_the_newton_iteration_bit_for_bit(lam):
    c = 0.5 * np.where(Y == 1, 1 / np.count_nonzero(Y == 1), 1 / np.count_nonzero(Y == -1))
    w, iterations = np.zeros(12), 0
    while True:
        scores = X @ w
        gradient = lam * w - X.T @ (c * Y * special.expit(-Y * scores))
        if np.linalg.norm(gradient) <= 1e-10 * lam * np.linalg.norm(w):
            break
        curvature = c * special.expit(scores) * special.expit(-scores)
        root = X * np.sqrt(curvature)[:, None]
        step = factored(root, lam, gradient, lambda v, h=curvature: lam * v + X.T @ (h * (X @ v)))
        w, iterations = w - step, iterations + 1  # the length of these steps is 1
    assert iterations > 2
    assert np.array_equal(weights(UniLog(lam, intercept=False), X, Y, PASSES), w)
