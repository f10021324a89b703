"""One cell: its curve, its end, and tasks that cannot run."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from aucbench import DataError, ParameterError, PluginError, replay
from aucbench.runner.cell import run_cell
from aucbench.runner.scorer import linear_scores
from aucbench.runner.task import StopReason, Task, log_spaced
from tests.helpers.fake_plugins import CountingState, Exploding, Iterating, Perceptron, two_clouds

X, Y = two_clouds()
X_TEST, Y_TEST = two_clouds(seed=1)


def outcome(algorithm=None, X=X, X_test=X_TEST, progress=lambda share: None, **options):
    task = Task(algorithm or Perceptron(), None, X, Y, X_test, Y_TEST, **options)
    return run_cell(task, progress)


def test_the_curve_ends_with_the_budget_and_its_aucs_are_those_of_scikit_learn():
    result = outcome(epochs=2)
    assert result.stop_reason is StopReason.budget
    assert result.iterations == result.iteration[-1] == result.samples[-1] == 400
    expected = roc_auc_score(Y_TEST, X_TEST @ result.weights)
    assert result.auc[-1] == pytest.approx(expected, abs=1e-12)
    assert np.all(np.diff(result.train_seconds) >= 0)
    assert len(result.auc) == len(result.iteration) == len(result.cpu_seconds)
    for checkpoints in (5, 500):  # the number of checkpoints changes no result
        rerun = outcome(epochs=2, checkpoints=checkpoints)
        assert (rerun.weights.tobytes(), rerun.auc[-1]) == (result.weights.tobytes(), result.auc[-1])


@pytest.mark.parametrize("checkpoints", [1, 5, 500])
def test_a_run_that_diverges_ends_with_the_chunk_in_which_it_does(checkpoints):
    result = outcome(Exploding(at=37), epochs=1, checkpoints=checkpoints)
    assert result.stop_reason is StopReason.diverged
    assert np.all(result.iteration < 37)
    assert result.iterations == next(end for end in log_spaced(200, checkpoints) if end >= 37)


def test_a_full_method_runs_until_done_and_no_longer_than_an_explicit_budget():
    converged = outcome(Iterating(needed=7))
    assert converged.stop_reason is StopReason.converged
    assert converged.iterations >= 7
    cut = outcome(Iterating(needed=7), epochs=3)
    assert cut.stop_reason is StopReason.budget
    assert cut.iterations == 3


def test_a_budget_in_seconds_stops_soon_after_them():
    result = outcome(seconds=0.2)
    assert result.stop_reason is StopReason.budget
    assert result.total_seconds >= 0.2
    assert result.train_seconds[-1] == pytest.approx(result.total_seconds)
    assert len(result.auc) > 5


def variant(**names):
    """A perceptron with other attributes."""
    return type("Variant", (Perceptron,), names)()


def _no_weights(self):
    raise AttributeError("weights")


WIDE = sparse.csr_matrix((200, 2**31 - 1))


@pytest.mark.parametrize(
    ("error", "message", "names", "options"),
    [
        (ParameterError, r"budget\.seconds", {"plans": True}, {"seconds": 1.0}),
        (ParameterError, "it inverts them", {"requires": {"dense": "it inverts them."}}, {"X": WIDE}),
        (PluginError, r"`step` returned None", {"step": lambda self, state, batch: None}, {}),
        (
            PluginError,
            r"\(3,\).*\(200,\)",
            {"weights": property(_no_weights), "score": lambda *_: np.zeros(3)},
            {},
        ),
        (DataError, r"85\.9 GB", {}, {"X": WIDE, "X_test": WIDE}),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(error, message, names, options):
    with pytest.raises(error, match=message):
        outcome(variant(**names), **options)


def test_finalize_is_scored_and_does_not_disturb_the_run():
    halving = variant(finalize=lambda self, state: state._replace(w=state.w * 0.5))
    np.testing.assert_array_equal(outcome(halving).weights, 0.5 * outcome().weights)


@pytest.mark.parametrize(("total", "count"), [(1, 50), (3, 50), (1000, 5), (464_809, 50), (7, 1)])
def test_checkpoints_ascend_and_end_with_the_last_iteration(total, count):
    points = list(log_spaced(total, count))
    assert points == sorted(set(points))
    assert points[-1] == total
    assert points[0] >= 1
    assert len(points) <= count


def test_scores_that_are_not_numbers_end_a_run_as_diverged_though_its_state_is_finite():
    def score(self, state, X):
        return np.full(len(X), np.nan if state.steps > 50 else 1.0)

    result = outcome(variant(weights=property(_no_weights), score=score))
    assert result.stop_reason is StopReason.diverged
    assert 50 < result.iterations <= 60
    assert np.all(result.iteration <= 50)
    assert np.all(result.auc == 0.5)


class Drawing(Perceptron):
    """A method whose weights are its first random numbers."""

    def init(self, problem, rng):
        return CountingState(rng.standard_normal(problem.n_features), 0)

    def step(self, state, batch):
        return state


@pytest.mark.parametrize("seed", [0, 7, 2**40])
def test_fold_0_gives_a_method_the_stream_of_its_seed_as_replay_does_and_other_folds_do_not(seed):
    drawn = [outcome(Drawing(), seed=seed, fold=fold).weights for fold in range(4)]
    np.testing.assert_array_equal(drawn[0], np.random.default_rng(seed).standard_normal(X.shape[1]))
    np.testing.assert_array_equal(drawn[0], replay(Drawing(), X, Y, np.arange(3), seed=seed))
    assert len({weights.tobytes() for weights in drawn}) == 4
    assert outcome(fold=0).weights.tobytes() != outcome(fold=1).weights.tobytes()  # the order differs as well


def test_progress_is_told_after_every_chunk_and_what_it_raises_ends_the_run(monkeypatch):
    monkeypatch.setattr("aucbench.runner.cell.CHUNK_ROWS", 30)
    shares, steps = [], []

    class Noting(Perceptron):
        def step(self, state, batch):
            steps.append(len(batch))
            return super().step(state, batch)

    outcome(Noting(), epochs=1, checkpoints=1, progress=shares.append)
    chunks = steps[1:]  # the first warms the kernels
    assert sum(chunks) == 200
    assert max(chunks) == 30
    np.testing.assert_allclose(shares, np.cumsum(chunks) / 200)

    def stop(share):
        if share > 0.5:
            raise TimeoutError

    steps.clear()
    with pytest.raises(TimeoutError):
        outcome(Noting(), epochs=1, checkpoints=1, progress=stop)
    assert sum(steps) == 120


def test_kernels_are_warmed_once_for_runs_that_differ_in_their_seeds_alone():
    lengths = []

    class Noting(Perceptron):
        def step(self, state, batch):
            lengths.append(batch.X.shape[0])
            return super().step(state, batch)

    def warmed(**changes):
        lengths.clear()
        outcome(**{"algorithm": Noting(), "checkpoints": 1} | changes)
        return sum(length < len(X) for length in lengths)

    assert [warmed(seed=seed, order_seed=seed) for seed in range(3)] == [1, 0, 0]
    for change in ({"algorithm": Noting(0.2)}, {"X": X.astype(np.float32)}, {"X": sparse.csr_matrix(X)}):
        assert [warmed(**change), warmed(**change)] == [1, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (63, 3), (65, 130), (200, 259)])
def test_the_scores_of_a_model_do_not_depend_on_the_models_beside_it(form, dtype, n, d):
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((11, d)), form(rng.standard_normal((n, d)).astype(dtype))
    scores = linear_scores(W, X)
    np.testing.assert_allclose(scores, (X @ W.T).T, rtol=1e-3 if dtype is np.float32 else 1e-9, atol=1e-4)
    for models in ([0], [10, 3], list(range(5, 11)), rng.permutation(11)):
        assert linear_scores(W[models], X).tobytes() == scores[models].tobytes()
    equal_rows = linear_scores(W, X[np.zeros(331, np.int64)])  # wherever equal rows lie
    assert np.all(equal_rows == equal_rows[:, :1])
