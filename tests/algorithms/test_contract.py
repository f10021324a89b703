"""What every method promises: chunks, pickles, inputs left alone, float32, one class, NaN that shows."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms import Fsauc, LsSvm, Opauc, Psam, Solam
from aucbench_losses import Hinge
from tests.algorithms.running import difference, random_pairs, random_problem, train, weights

X, Y = random_problem(6, 250, 40, density=0.05)
ORDER = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(6)])
PAIRS = random_pairs(7, Y, 1500)
METHODS = [
    Solam(),
    Solam(radius=0.05, zeta=10.0, average="after"),
    Solam(norm="l1", radius=0.2),
    Fsauc(radius=1.0),
    Fsauc(radius=0.1, eta=1.0, average="before"),
    Opauc(),
    Psam(),
    Psam(gamma=0.1, t0=0.0),
    LsSvm(),
]
LAYOUTS = [np.asarray, sparse.csr_array]
each_method = pytest.mark.parametrize("algorithm", METHODS, ids=str)
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "csr"])


def rows_of(algorithm):
    return {"stream": ORDER, "pairs": PAIRS, "full": np.zeros((3, 0), np.int64)}[algorithm.access]


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
    np.testing.assert_allclose(scores, X @ (w - 1.0), rtol=1e-12, atol=1e-13)
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
    assert w.dtype == np.float64
    wide = weights(algorithm, layout(single.astype(np.float64)), Y, rows_of(algorithm))
    assert difference(w, wide) < 1e-9


@each_method
def test_read_only_memory_mapped_rows_train_as_those_in_memory(algorithm, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows = rows_of(algorithm)
    assert np.array_equal(weights(algorithm, mapped, Y, rows), weights(algorithm, X, Y, rows))


@each_layout
@each_method
def test_an_empty_chunk_returns_the_state_at_once(algorithm, layout):
    rows = rows_of(algorithm)
    state = algorithm.init(Problem(layout(X), Y, len(rows)), np.random.default_rng(0))
    assert algorithm.step(state, Batch(layout(X), Y, rows[:0])) is state
    assert np.isfinite(algorithm.weights(state)).all()


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
    broken = X.copy()
    rows = rows_of(algorithm)
    visited = np.ravel(rows) if rows.size else ORDER  # a full method visits every row
    broken[visited[len(visited) // 4]] = bad
    if isinstance(algorithm, Solam | Fsauc):
        algorithm = type(algorithm)(**{**vars(algorithm), "kappa": 1.0})
    assert not np.isfinite(weights(algorithm, layout(broken), Y, rows)).all()


def test_fsauc_refuses_an_unplanned_length_and_ignores_rows_after_its_last_stage():
    with pytest.raises(ParameterError, match=r"budget\.epochs"):
        Fsauc().init(Problem(X, Y, None), np.random.default_rng(0))
    state = train(Fsauc(), X, Y, ORDER)
    before = pickle.dumps(state)
    state = Fsauc().step(state, Batch(X, Y, ORDER))
    assert pickle.dumps(state) == before


@pytest.mark.parametrize("n", range(1, 12))
def test_fsauc_plans_even_a_few_iterations(n):
    assert np.isfinite(weights(Fsauc(), X, Y, ORDER[:n])).all()


def test_opauc_refuses_matrices_beyond_the_memory_and_says_what_to_do():
    wide = sparse.csr_array((3, 2_000_000))
    with pytest.raises(ParameterError, match="opauc_r, or features=projection"):
        Opauc().init(Problem(wide, np.array([1, -1, 1], np.int8), 3), np.random.default_rng(0))


def test_psam_takes_the_margin_of_its_loss():
    # twice the margin on twice the rows leaves every slack at its double
    doubled = weights(Psam(gamma=1e-10), X, Y, PAIRS, loss=Hinge(margin=2.0))
    single = weights(Psam(gamma=1e-10), X, Y, PAIRS, loss=Hinge())
    assert difference(doubled, 2 * single) < 1e-9


def test_ls_svm_is_done_after_one_pass_and_stays():
    algorithm = LsSvm()
    state = algorithm.init(Problem(X, Y, 1), np.random.default_rng(0))
    assert not algorithm.done(state)
    state = algorithm.step(state, Batch(X, Y, np.zeros((1, 0), np.int64)))
    assert algorithm.done(state)
    assert algorithm.step(state, Batch(X, Y, np.zeros((5, 0), np.int64))) is state
