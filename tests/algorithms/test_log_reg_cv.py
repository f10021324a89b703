"""Logistic regression, C chosen by cross-validation, against scikit-learn on the same folds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV

from aucbench import Batch, Problem
from aucbench.sklearn import AUCClassifier
from aucbench_algorithms import Auto, LogReg, LogRegCV
from aucbench_algorithms.log_reg_cv import stratified_parts
from tests.helpers.training import difference, random_problem, train

PASSES = np.empty((60, 0), np.int64)
SHAPES = {"tall": (400, 10), "wide": (200, 300), "conjugate_gradients": (400, 60)}


def noisy(n, d, seed):
    X, y = random_problem(seed, n, d, density=0.5, unit=False)
    flipped = np.random.default_rng(seed).random(n) < 0.2
    return X, np.where(flipped, -y, y).astype(np.int8)


def chosen_on(algorithm, X, y, parts):
    state, batch = algorithm.first_state(Problem(X, y), parts), Batch(X, y, PASSES[:1])
    while not algorithm.done(state):
        state = algorithm.step(state, batch)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_choice_agrees_with_scikit_learn_on_the_same_folds(shape):
    gaps, lost = [], []
    for seed in range(4):
        X, y = noisy(*shape, seed)
        parts = stratified_parts(y, 5, np.random.default_rng(seed))
        folds = [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]
        algorithm = LogRegCV()
        how = {"class_weight": "balanced", "scoring": "roc_auc", "tol": 1e-8, "max_iter": 10_000}
        reference = LogisticRegressionCV(Cs=algorithm.candidates(), cv=folds, **how).fit(X, y)
        (aucs,) = reference.scores_.values()
        for layout in (np.asarray, sparse.csr_array):
            state = chosen_on(algorithm, layout(X), y, parts)
            gaps.append(np.array(state.aucs) - aucs.mean(axis=0))
            lost.append(aucs.mean(axis=0).max() - aucs.mean(axis=0)[np.argmax(state.aucs)])
    assert np.abs(gaps).mean() < 1e-3
    assert max(lost) < 1e-3


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_model_is_that_of_log_reg_for_the_chosen_value(layout):
    X, y = noisy(200, 10, 1)
    state = train(LogRegCV(), layout(X), y, PASSES)
    expected = train(LogReg(LogRegCV().chosen(state)), layout(X), y, PASSES)
    assert difference(np.append(state.w, state.b), np.append(expected.w, expected.b)) < 1e-9


def test_a_single_row_of_a_class_leaves_the_value_that_is_given():
    X, _ = noisy(30, 4, 2)
    y = np.where(np.arange(30) == 7, 1, -1).astype(np.int8)
    state = train(LogRegCV(C=3.0), X, y, PASSES)
    assert np.array_equal(state.w, train(LogReg(3.0), X, y, PASSES).w)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_auto_weights_the_models_of_the_parts_by_their_auc(layout):
    X, y = noisy(200, 10, 3)
    parts = stratified_parts(y, 5, np.random.default_rng(0))
    algorithm, batch = LogRegCV(), Batch(layout(X), y, PASSES[:1])
    state, means = algorithm.first_state(Problem(batch.X, y), parts), []
    for _ in range(algorithm.values):
        state = algorithm.step(state, batch)
        means.append(state.w / np.linalg.norm(X @ state.w))
    shares = np.exp((np.array(state.aucs) - max(state.aucs)) / 0.002)
    assert difference(chosen_on(Auto(), batch.X, y, parts).w, shares @ np.array(means)) < 1e-12


@pytest.mark.parametrize("algo", ["log_reg_cv", "auto"])
@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_equal_weights_are_a_factor_of_c_and_copy_no_rows_between_folds(algo, weight):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 40))
        y = np.where(X[:, 0] + 2.0 * rng.normal(size=80) > 0, 1, -1)
        plain = AUCClassifier(algo, random_state=0).fit(X, y)
        rival = AUCClassifier(algo, {"C": 1.0 / weight}, random_state=0)
        weighted = rival.fit(X, y, sample_weight=np.full(80, weight))
        assert difference(weighted.coef_, plain.coef_) < 1e-4
