"""MBA against moments of written-out pairs, and SGD without an intercept against scikit-learn."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms.ls_svm import LsSvm
from aucbench_algorithms.mba import Mba
from aucbench_algorithms.sklearn_sgd import SgdHinge, SgdLog
from tests.algorithms.pair_oracles import all_pairs
from tests.helpers.training import difference, problem_of, random_problem, train, weights

LAYOUTS = [np.asarray, sparse.csr_matrix, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS)
SGD = [
    SgdHinge(intercept=False),
    SgdLog(intercept=False),
    SgdHinge(average=False, intercept=False),
    SgdLog(alpha=1e-2, average=False, intercept=False),
]
each_sgd = pytest.mark.parametrize("algorithm", SGD, ids=str)
X, Y = random_problem(1, 400, 12, density=0.5)
BLOCKS = np.random.default_rng(2).permutation(400).reshape(-1, 20)
ORDER = np.concatenate([np.random.default_rng(seed).permutation(400) for seed in range(7)])


@each_layout
def test_mba_on_one_block_of_everything_is_the_closed_form(layout):
    assert Mba(block=1000).batch_size(400) == 400
    w = weights(Mba(0.03), layout(X), Y, np.random.default_rng(0).permutation(400)[None])
    assert difference(w, weights(LsSvm(0.03), X, Y, np.zeros((1, 0), np.int64))) < 1e-11


@each_layout
def test_mba_averages_the_moments_of_the_pairs_of_each_block(layout):
    blocks = np.vstack([BLOCKS, np.flatnonzero(Y == -1)[None, :20], np.flatnonzero(Y == 1)[None, :20]])
    pairs = [all_pairs(X[rows], Y[rows]) for rows in BLOCKS]
    second = np.mean([Z.T @ Z / len(Z) for Z in pairs], axis=0)
    first = np.mean([Z.mean(axis=0) for Z in pairs], axis=0)
    expected = np.linalg.solve(second + 0.1 * np.eye(12), first)
    state = train(Mba(0.1), layout(X), Y, blocks)
    before = pickle.dumps(state)
    final = Mba(0.1).finalize(state)
    assert difference(final.w, expected) < 1e-11
    assert np.array_equal(Mba(0.1).weights(state), final.w)
    assert pickle.dumps(state) == before
    for parts in (2, 7, len(blocks)):
        assert np.array_equal(final.w, weights(Mba(0.1), layout(X), Y, blocks, parts))


def test_mba_before_any_pair_is_zero_and_with_nan_is_nan():
    negatives = np.flatnonzero(Y == -1)[None, :20]
    assert not weights(Mba(), X, Y, negatives).any()
    broken = X.copy()
    broken[BLOCKS[1, 0], 0] = np.nan
    assert np.isnan(weights(Mba(), broken, Y, BLOCKS)).all()


def test_mba_refuses_matrices_beyond_the_memory_and_says_what_to_do():
    wide = sparse.csr_array((3, 2_000_000))
    with pytest.raises(ParameterError, match="features=projection"):
        Mba().init(Problem(wide, np.array([1, -1, 1], np.int8), 3), np.random.default_rng(0))


@each_layout
@each_sgd
def test_sgd_equals_one_call_of_scikit_learn_on_the_rows_in_order(algorithm, layout):
    from sklearn.linear_model import SGDClassifier

    n, n_pos = 400, np.count_nonzero(Y == 1)
    model = SGDClassifier(
        loss="hinge" if isinstance(algorithm, SgdHinge) else "log_loss",
        alpha=algorithm.alpha or 1.0 / n,
        average=algorithm.average,
        class_weight={1: n / (2 * n_pos), -1: n / (2 * (n - n_pos))},
        fit_intercept=False,
        shuffle=False,
    )
    model.partial_fit(X[ORDER], Y[ORDER], classes=[-1, 1])
    assert difference(weights(algorithm, layout(X), Y, ORDER), model.coef_[0]) < 1e-9


@each_layout
@each_sgd
def test_no_bit_of_sgd_depends_on_chunks_pickles_or_reading(algorithm, layout):
    data = layout(X)
    whole = weights(algorithm, data, Y, ORDER)
    for parts in (2, 7, 400):
        assert np.array_equal(whole, weights(algorithm, data, Y, ORDER, parts))
    state = algorithm.init(problem_of(algorithm, data, Y, len(ORDER)), np.random.default_rng(0))
    assert not algorithm.weights(state).any()
    batch = Batch(data, Y, ORDER)
    assert algorithm.step(state, batch.take(ORDER[:0])) is state
    for start in range(0, len(ORDER), 700):
        state = algorithm.step(pickle.loads(pickle.dumps(state)), batch.take(ORDER[start : start + 700]))
        before = pickle.dumps(copy.deepcopy(state))
        algorithm.weights(state)
        algorithm.score(state, data)
        assert pickle.dumps(copy.deepcopy(state)) == before
    assert np.array_equal(whole, algorithm.weights(state))


@each_sgd
@pytest.mark.parametrize("label", [1, -1])
def test_sgd_survives_a_beginning_with_one_class_only(algorithm, label):
    order = np.concatenate([ORDER[Y[ORDER] == label], ORDER[Y[ORDER] != label]])
    w = weights(algorithm, X, Y, order, parts=50)
    assert np.isfinite(w).all()
    assert w.any()


@each_layout
@each_sgd
def test_sgd_computes_in_float64_and_shows_what_diverged(algorithm, layout):
    single = X.astype(np.float32)
    w = weights(algorithm, layout(single), Y, ORDER)
    assert w.dtype == np.float64
    assert np.array_equal(w, weights(algorithm, layout(single.astype(np.float64)), Y, ORDER))
    broken = X.copy()
    broken[ORDER[-1]] = np.nan
    assert np.isnan(weights(algorithm, layout(broken), Y, ORDER)).all()
