"""What methods of the square loss promise: chunks, pickles, inputs left alone, one class, NaN that shows."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError, Problem
from aucbench_algorithms import AdaOam, OpaucR, RegSolam, Sauc, Solam, SolamL1, Spam, Spdam
from tests.algorithms.running import difference, random_problem, train, weights

LAYOUTS = [np.asarray, sparse.csr_array]
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["dense", "csr"])
METHODS = [
    SolamL1(radius=0.2),
    Solam(norm="l1", radius=0.2, zeta=10.0),
    RegSolam(),
    Spam(),
    Spam(penalty="ball", radius=0.05, C=10.0),
    Spam(penalty="net", nu=1e-3),
    OpaucR(tau=5),
    OpaucR(tau=5, centring="exact"),
    AdaOam(),
    Spdam(),
    Spdam(batch_fraction=0.01),
    Sauc(radius=0.01, beta=2.0, degree=3),
    Sauc(radius=0.1, degree=3, average="before"),
]
X, Y = random_problem(6, 250, 400, density=0.02)
SINGLE_ROWS = np.concatenate([np.random.default_rng(seed).permutation(250) for seed in range(4)])
MINIBATCHES = SINGLE_ROWS.reshape(-1, 25)
each_method = pytest.mark.parametrize("algorithm", METHODS, ids=str)


def rows_of(algorithm):
    return MINIBATCHES if algorithm.access == "minibatch" else SINGLE_ROWS


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
    rows, data = rows_of(algorithm), layout(X)
    half = len(rows) // 2
    state = algorithm.init(Problem(data, Y, len(rows)), np.random.default_rng(0))
    batch = Batch(data, Y, rows)
    state = algorithm.step(state, batch.take(rows[:half]))
    state = pickle.loads(pickle.dumps(state))
    state = algorithm.step(state, batch.take(rows[half:]))
    assert np.array_equal(algorithm.weights(state), weights(algorithm, data, Y, rows))


@each_layout
@each_method
def test_reading_weights_and_scores_changes_neither_state_nor_input(algorithm, layout):
    data, rows = layout(X.copy()), rows_of(algorithm).copy()
    state = train(algorithm, data, Y, rows)
    before = pickle.dumps(state)
    w = algorithm.weights(state)
    scores = algorithm.score(state, data)
    w += 1.0
    assert pickle.dumps(state) == before
    assert scores.shape == (250,)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, X @ (w - 1.0), rtol=1e-9, atol=1e-12)
    assert (data != X).sum() == 0
    assert np.array_equal(rows, rows_of(algorithm))


@each_layout
@each_method
def test_float32_rows_train_as_their_float64_values_do(algorithm, layout):
    single = X.astype(np.float32)
    w = weights(algorithm, layout(single), Y, rows_of(algorithm))
    wide = weights(algorithm, layout(single.astype(np.float64)), Y, rows_of(algorithm))
    assert w.dtype == np.float64
    assert difference(w, wide) < 1e-6  # statistics of float32 rows may be summed in another order


@each_layout
@each_method
def test_an_empty_chunk_returns_the_state_at_once(algorithm, layout):
    rows = rows_of(algorithm)
    state = algorithm.init(Problem(layout(X), Y, len(rows)), np.random.default_rng(0))
    assert algorithm.step(state, Batch(layout(X), Y, rows[:0], algorithm.access)) is state
    assert np.isfinite(algorithm.weights(state)).all()


@pytest.mark.parametrize("label", [1, -1])
@each_layout
@each_method
def test_a_beginning_with_one_class_only_is_survived(algorithm, layout, label):
    rows = rows_of(algorithm)
    if algorithm.access == "stream":
        rows = np.concatenate([rows[Y[rows] == label], rows[Y[rows] != label]])
    else:
        rows = np.concatenate([np.flatnonzero(label == Y)[:25][None, :], rows])
    w = weights(algorithm, layout(X), Y, rows, parts=10)
    assert np.isfinite(w).all()
    assert w.any()


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@each_layout
@each_method
def test_nan_and_infinite_features_show_in_the_weights(algorithm, layout, bad):
    broken, rows = X.copy(), rows_of(algorithm)
    broken[np.ravel(rows)[len(rows) // 2], :7] = bad
    if hasattr(algorithm, "kappa"):
        algorithm = type(algorithm)(**{**vars(algorithm), "kappa": 1.0})
    assert not np.isfinite(weights(algorithm, layout(broken), Y, rows)).all()


def test_matrices_beyond_the_memory_are_refused_with_what_to_do():
    wide = sparse.csr_array((3, 2_000_000))
    problem = Problem(wide, np.array([1, -1, 1], np.int8), 3)
    with pytest.raises(ParameterError, match="opauc_r, or features=projection"):
        AdaOam().init(problem, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="tau"):
        OpaucR(tau=100_000).init(problem, np.random.default_rng(0))


def test_sauc_refuses_an_unplanned_length_and_ignores_rows_after_its_last_round():
    with pytest.raises(ParameterError, match=r"budget\.epochs"):
        Sauc().init(Problem(X, Y, None), np.random.default_rng(0))
    state = train(Sauc(degree=3), X, Y, SINGLE_ROWS)
    before = pickle.dumps(state)
    state = Sauc(degree=3).step(state, Batch(X, Y, SINGLE_ROWS))
    assert pickle.dumps(state) == before
    for n in range(1, 8):
        assert np.isfinite(weights(Sauc(), X, Y, SINGLE_ROWS[:n])).all()


def test_spdam_takes_a_tenth_of_the_rows():
    assert [Spdam().batch_size(n) for n in (2, 10, 200, 201)] == [1, 1, 20, 21]
