"""What every method promises: chunks, pickles, inputs left alone, float32, one class, NaN that shows."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import aucbench_algorithms as built_in
from aucbench import Batch
from tests.helpers.training import difference, problem_of, random_pairs, random_problem, train, weights

X, Y = random_problem(6, 250, 120, density=0.04)
STREAM = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(4)])
ROWS = {
    "stream": STREAM,
    "pairs": random_pairs(7, Y, 1500),
    "minibatch": STREAM.reshape(-1, 25),
    "full": np.zeros((3, 0), np.int64),
}
METHODS = [
    built_in.Solam(),
    built_in.Solam(radius=0.05, zeta=10.0, average="after"),
    built_in.Solam(norm="l1", radius=0.2, zeta=10.0),
    built_in.SolamL1(radius=0.2),
    built_in.RegSolam(),
    built_in.Fsauc(radius=1.0),
    built_in.Fsauc(radius=0.1, eta=1.0, average="before"),
    built_in.Spam(),
    built_in.Spam(penalty="ball", radius=0.05, C=10.0),
    built_in.Spam(penalty="net", nu=1e-3),
    built_in.Opauc(),
    built_in.OpaucR(tau=5),
    built_in.OpaucR(tau=5, centring="exact"),
    built_in.AdaOam(),
    built_in.Spdam(),
    built_in.Spdam(batch_fraction=0.01),
    built_in.Sauc(radius=0.01, beta=2.0, degree=3),
    built_in.Sauc(radius=0.1, degree=3, average="before"),
    built_in.Psam(),
    built_in.Psam(gamma=0.1, t0=0.0),
    built_in.Asam(),
    built_in.Asam(gamma=0.1, t0=0.0),
    built_in.RocSgd(schedule="pegasos", pegasos=True),
    built_in.RocSgd(lam=10.0),
    built_in.UniExp(),
    built_in.UniExp(ratio="running"),
    built_in.UniExp(intercept=False),
    built_in.SgdHinge(),
    built_in.SgdHinge(alpha=1.0, average=False),
    built_in.SgdLog(),
    built_in.SgdLog(alpha=1.0),
    built_in.OamSeq(buffer=20),
    built_in.OamSeq(C=1.0, buffer=20, average=True, radius=0.1),
    built_in.OamGra(buffer=20),
    built_in.OamGra(C=1.0, buffer=20, average=True, radius=0.1),
    built_in.Cbr(buffer=9),
    built_in.CbrDiag(buffer=9),
    built_in.LsSvm(),
    built_in.FifoOgd(),
    built_in.FifoOgd(partner="opposite", radius=0.1),
    built_in.Aogd(),
    built_in.Aogd(partner="opposite", radius=0.1, average=False),
    built_in.Spauc(),
    built_in.Spauc(statistics="train", average=False),
    built_in.Spauc(penalty="net", nu=1e-3),
    built_in.FtrlAuc(),
    built_in.FtrlLog(),
    built_in.FtrlLog(l1=0.1, balanced=True, intercept=False),
    built_in.PairBatch(block=2),
    built_in.PairBatch(block=1, lam=0.1, schedule="sqrt", average=True),
    built_in.PairBatch(block=1, optimiser="momentum", average=True),
    built_in.PairBatch(optimiser="adam", eta=0.01),
    built_in.Pesg(),
    built_in.Pesg(block=3, eta=0.01, average=True),
    built_in.Sopa(),
    built_in.SopaS(block=1, optimiser="momentum", eta=0.01),
    built_in.Soap(),
    built_in.ShtAuc(sparsity=9),
]
each_method = pytest.mark.parametrize("algorithm", METHODS, ids=str)
each_layout = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def rows_of(algorithm):
    return ROWS[algorithm.access]


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
    state = algorithm.init(problem_of(algorithm, layout(X), Y, len(rows)), np.random.default_rng(0))
    batch = Batch(layout(X), Y, rows)
    state = algorithm.step(state, batch.take(rows[:half]))
    state = pickle.loads(pickle.dumps(state))
    state = algorithm.step(state, batch.take(rows[half:]))
    assert np.array_equal(algorithm.weights(state), weights(algorithm, layout(X), Y, rows))


@each_layout
@each_method
def test_reading_weights_and_scores_changes_neither_state_nor_input(algorithm, layout):
    data, labels, rows = layout(X.copy()), Y.copy(), rows_of(algorithm).copy()
    state = train(algorithm, data, labels, rows)
    before = pickle.dumps(state)
    w = algorithm.weights(state)
    scores = algorithm.score(state, data)
    w += 1.0
    assert pickle.dumps(state) == before
    assert scores.shape == (250,)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, X @ (w - 1.0), rtol=1e-9, atol=1e-12)
    assert (data != X).sum() == 0
    assert np.array_equal(labels, Y)
    assert np.array_equal(rows, rows_of(algorithm))


@each_method
def test_a_row_scores_the_same_alone(algorithm):
    state = train(algorithm, X, Y, rows_of(algorithm))
    together = algorithm.score(state, X)
    alone = np.array([algorithm.score(state, X[i : i + 1])[0] for i in range(20)])
    np.testing.assert_allclose(alone, together[:20], rtol=1e-12, atol=1e-15)


@each_layout
@each_method
def test_float32_rows_train_as_their_float64_values_do(algorithm, layout):
    single = X.astype(np.float32)
    w = weights(algorithm, layout(single), Y, rows_of(algorithm))
    wide = weights(algorithm, layout(single.astype(np.float64)), Y, rows_of(algorithm))
    assert w.dtype == np.float64
    assert difference(w, wide) < 1e-9


@each_method
def test_read_only_memory_mapped_rows_train_as_those_in_memory(algorithm, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows = rows_of(algorithm)
    expected = weights(algorithm, X, Y, rows)
    np.testing.assert_array_equal(weights(algorithm, mapped, Y, rows), expected)


@each_layout
@each_method
def test_an_empty_chunk_returns_the_state_at_once(algorithm, layout):
    rows = rows_of(algorithm)
    state = algorithm.init(problem_of(algorithm, layout(X), Y, len(rows)), np.random.default_rng(0))
    assert algorithm.step(state, Batch(layout(X), Y, rows[:0], algorithm.access)) is state
    assert np.isfinite(algorithm.weights(state)).all()


@pytest.mark.parametrize("label", [1, -1])
@each_layout
@each_method
def test_a_beginning_with_one_class_only_is_survived(algorithm, layout, label):
    rows = rows_of(algorithm)
    if algorithm.access == "stream":
        rows = np.concatenate([rows[Y[rows] == label], rows[Y[rows] != label]])
    elif algorithm.access == "minibatch":
        rows = np.concatenate([np.flatnonzero(label == Y)[:25][None, :], rows])
    w = weights(algorithm, layout(X), Y, rows, parts=20)
    assert np.isfinite(w).all()
    assert w.any()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@each_layout
@each_method
def test_nan_and_infinite_features_show_in_the_weights(algorithm, layout, bad):
    broken, rows = X.copy(), rows_of(algorithm)
    visited = np.ravel(rows) if rows.size else STREAM  # a full method visits every row
    broken[visited[len(visited) // 4]] = bad
    if hasattr(algorithm, "kappa"):
        algorithm = type(algorithm)(**{**vars(algorithm), "kappa": 1.0})
    assert not np.isfinite(weights(algorithm, layout(broken), Y, rows)).all()
