"""What the methods on pairs and buffers promise: chunks, pickles, inputs left alone, NaN that shows."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, Problem
from aucbench_algorithms import Asam, Cbr, CbrDiag, OamGra, OamSeq, RocSgd, UniExp
from aucbench_losses import Square
from tests.algorithms.running import difference, random_pairs, random_problem, train, weights

LAYOUTS = [np.asarray, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "csr"])
X, Y = random_problem(6, 250, 40, density=0.05)
STREAM = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(3)])
PAIRS = random_pairs(7, Y, 1500)
METHODS = [
    Asam(),
    Asam(gamma=0.1, t0=0.0),
    RocSgd(schedule="pegasos", pegasos=True),
    RocSgd(lam=10.0),
    UniExp(),
    UniExp(ratio="running"),
    OamSeq(buffer=20),
    OamSeq(C=1.0, buffer=20, average=True, radius=0.1),
    OamGra(buffer=20),
    OamGra(C=1.0, buffer=20, average=True, radius=0.1),
    Cbr(buffer=9),
    CbrDiag(buffer=9),
]
each_method = pytest.mark.parametrize("algorithm", METHODS, ids=str)


def rows_of(algorithm):
    return PAIRS if algorithm.access == "pairs" else STREAM


@each_layout
@each_method
def test_cutting_rows_into_other_chunks_changes_no_bit(algorithm, layout):
    rows = rows_of(algorithm)
    whole = weights(algorithm, layout(X), Y, rows)
    for parts in (2, 7, len(rows)):
        assert np.array_equal(whole, weights(algorithm, layout(X), Y, rows, parts))


@each_layout
@each_method
def test_a_pickled_state_continues_as_if_nothing_had_happened(algorithm, layout):
    rows = rows_of(algorithm)
    half = len(rows) // 2
    state = algorithm.init(Problem(layout(X), Y, len(rows)), np.random.default_rng(0))
    batch = Batch(layout(X), Y, rows)
    state = algorithm.step(state, batch.take(rows[:half]))
    state = pickle.loads(pickle.dumps(state))
    state = algorithm.step(state, batch.take(rows[half:]))
    assert np.array_equal(algorithm.weights(state), weights(algorithm, layout(X), Y, rows))


@each_layout
@each_method
def test_reading_changes_neither_state_nor_input_and_an_empty_chunk_nothing(algorithm, layout):
    data, labels, rows = layout(X.copy()), Y.copy(), rows_of(algorithm).copy()
    state = train(algorithm, data, labels, rows)
    before = pickle.dumps(state)
    w = algorithm.weights(state)
    scores = algorithm.score(state, data)
    w += 1.0
    assert algorithm.step(state, Batch(data, labels, rows[:0])) is state
    assert pickle.dumps(state) == before
    np.testing.assert_allclose(scores, X @ (w - 1.0), rtol=1e-12, atol=1e-13)
    assert (data != X).sum() == 0
    assert np.array_equal(labels, Y)
    assert np.array_equal(rows, rows_of(algorithm))


@each_layout
@each_method
def test_float32_rows_train_as_their_float64_values_do(algorithm, layout):
    single = X.astype(np.float32)
    w = weights(algorithm, layout(single), Y, rows_of(algorithm))
    wide = weights(algorithm, layout(single.astype(np.float64)), Y, rows_of(algorithm))
    assert w.dtype == np.float64
    assert difference(w, wide) < 1e-9


@pytest.mark.parametrize("label", [1, -1])
@each_method
def test_a_beginning_with_one_class_only_is_survived(algorithm, label):
    rows = rows_of(algorithm)
    if algorithm.access == "stream":
        rows = np.concatenate([rows[Y[rows] == label], rows[Y[rows] != label]])
    w = weights(algorithm, X, Y, rows, parts=50)
    assert np.isfinite(w).all()
    assert w.any()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@each_layout
@each_method
def test_nan_and_infinite_features_show_in_the_weights(algorithm, layout, bad):
    broken, rows = X.copy(), rows_of(algorithm)
    broken[np.ravel(rows)[len(rows) // 2]] = bad
    assert not np.isfinite(weights(algorithm, layout(broken), Y, rows)).all()


def test_a_divergence_shows_in_the_weights():
    assert not np.isfinite(weights(Asam(t0=0.0, gamma=1e-9), X, Y, PAIRS, loss=Square())).all()
    assert not np.isfinite(weights(UniExp(eta=1e300), X, Y, STREAM)).all()
