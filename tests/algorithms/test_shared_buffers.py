"""Methods with buffers that train their settings together, against the same settings one by one."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from aucbench import Batch, ParameterError
from aucbench_algorithms import Cbr, CbrDiag, Mba, OamGra, OamSeq, _kept_rows, cbr
from tests.helpers.training import difference, problem_of, random_problem

X, Y = random_problem(2, 300, 40, density=0.3)
ORDER = np.concatenate([np.random.default_rng(seed).permutation(300) for seed in range(2)])
LAYOUTS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "dense float32": lambda X: X.astype(np.float32),
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}
STEPS = [10.0**power for power in range(-5, 6)]  # more than a block
OAM = [cls(buffer=8, average=average, radius=radius)
       for cls in (OamSeq, OamGra) for average in (True, False) for radius in (None, 0.05)]  # fmt: skip
METHODS = [*OAM, Cbr(buffer=8), CbrDiag(buffer=8)]
pytestmark = pytest.mark.usefixtures("_small_pieces", "_any_density")
each_method = pytest.mark.parametrize("method", METHODS, ids=str)


@pytest.fixture
def _small_pieces(monkeypatch):
    """So that a batch is cut, and buffers go over from piece to piece."""
    monkeypatch.setattr(_kept_rows, "PIECE", 50)


@pytest.fixture
def _any_density(monkeypatch):
    """So that `cbr` trains together on rows with more non-zeros than it gains by."""
    monkeypatch.setattr(cbr, "SPARSE", 1.0)


def starts(settings, X, y):
    return [each.init(problem_of(each, X, y, len(ORDER)), np.random.default_rng(3)) for each in settings]


def batches(X, y, start=0, stop=600):
    cuts = [start, *(cut for cut in (1, 4, 170, 333) if start < cut < stop), stop]
    return [Batch(X, y, ORDER[a:b]) for a, b in pairwise(cuts)]


def alone(algorithm, state, data):
    for batch in data:
        state = algorithm.step(state, batch)
    return state


def together(settings, states, data):
    lockstep = type(settings[0]).together(settings, states)
    for batch in data:
        lockstep.step(batch)
    return lockstep


def assert_alike(algorithm, found, expected):
    assert difference(algorithm.weights(found), algorithm.weights(expected)) < 1e-9, algorithm
    assert np.linalg.norm(algorithm.weights(expected)) > 0.0
    np.testing.assert_array_equal(found.seen, expected.seen)
    np.testing.assert_array_equal(found.members, expected.members)


@each_method
def test_a_state_goes_on_training_alone(method):
    settings = [replace(method, C=C) for C in (0.01, 1.0)]
    lockstep = together(settings, starts(settings, X, Y), batches(X, Y, 0, 170))
    for number, (each, state) in enumerate(zip(settings, starts(settings, X, Y), strict=True)):
        found = lockstep.state(number)
        rng = {"rng": alone(each, state, batches(X, Y, 0, 170)).rng} if hasattr(state, "rng") else {}
        found = alone(each, found._replace(**rng), batches(X, Y, 170))
        assert_alike(each, found, alone(each, starts([each], X, Y)[0], batches(X, Y)))


def spoilt(state, number):
    """The state with a weight that is not finite."""
    vector = {"uxv": 0, "gaussian": 0}
    for name, part in vector.items():
        if hasattr(state, name):
            getattr(state, name)[part][3] = number
            return state
    state.mu[3] = number
    return state


@each_method
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_setting_that_diverges_reaches_no_other_and_can_be_dropped(method, number):
    settings = [replace(method, C=C) for C in STEPS]
    states = starts(settings, X, Y)
    spoilt(states[2], number)
    spoilt(states[9], number)
    with np.errstate(all="ignore"):
        lockstep = together(settings, states, batches(X, Y, 0, 170))
        assert not np.isfinite(settings[2].weights(lockstep.state(2))).all()
        lockstep.drop(2)
        for batch in batches(X, Y, 170, 333):
            lockstep.step(batch)
        assert not np.isfinite(settings[9].weights(lockstep.state(9))).all()
        lockstep.drop(9)
    for batch in batches(X, Y, 333):
        lockstep.step(batch)
    for k in set(range(len(settings))) - {2, 9}:
        expected = alone(settings[k], starts([settings[k]], X, Y)[0], batches(X, Y))
        assert_alike(settings[k], lockstep.state(k), expected)


@each_method
def test_settings_that_do_not_fit_the_memory_together_train_one_by_one(method, monkeypatch):
    def refuse(*args):
        raise ParameterError("no room")

    monkeypatch.setattr(_kept_rows, "require_memory", refuse)
    settings = [replace(method, C=C) for C in (0.1, 1.0)]
    lockstep = together(settings, starts(settings, X, Y), batches(X, Y))
    for number, (each, state) in enumerate(zip(settings, starts(settings, X, Y), strict=True)):
        expected = each.weights(alone(each, state, batches(X, Y)))
        np.testing.assert_array_equal(each.weights(lockstep.state(number)), expected)


@pytest.mark.parametrize("method", [OamSeq(average=False), Cbr(), CbrDiag()], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_equal_and_nearly_equal_rows_give_the_weights_of_each_alone(method, layout):
    rows, y = random_problem(4, 20, 30, density=0.3)
    pair = [np.flatnonzero(y == 1)[0], np.flatnonzero(y == -1)[0]]
    settings = [replace(method, C=C) for C in (1e-3, 1e9)]
    for change in (0.0, 1e-5):
        rows[pair[1]] = rows[pair[0]]
        rows[pair[1], 3] += change
        data = LAYOUTS[layout](rows)
        data_batches = [Batch(data, y, np.array(pair * 3))]
        lockstep = together(settings, starts(settings, data, y), data_batches)
        for number, (each, state) in enumerate(zip(settings, starts(settings, data, y), strict=True)):
            expected = each.weights(alone(each, state, data_batches))
            found = each.weights(lockstep.state(number))
            assert expected.any() == found.any() == (change > 0.0)
            assert np.linalg.norm(found - expected) <= 1e-9 * np.linalg.norm(expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_cbr_trains_alone_on_rows_with_many_non_zeros(layout, monkeypatch):
    monkeypatch.undo()
    settings = [Cbr(C=0.1), Cbr(C=1.0)]
    for density, joins in ((0.1, True), (0.6, False)):
        rows, y = random_problem(6, 100, 50, density=density)
        states = starts(settings, LAYOUTS[layout](rows), y)
        assert (Cbr.together(settings, states) is not None) is joins


def test_moments_of_blocks_are_summed_once_for_all_settings(monkeypatch):
    settings = [Mba(lam=lam, block=20) for lam in (1e-4, 1e-2, 1.0)]
    blocks = np.stack([np.random.default_rng(seed).permutation(300)[:20] for seed in range(30)])
    steps = []
    step = Mba.step
    monkeypatch.setattr(Mba, "step", lambda self, *args: steps.append(self.lam) or step(self, *args))
    lockstep = together(
        settings, starts(settings, X, Y), [Batch(X, Y, blocks[:12]), Batch(X, Y, blocks[12:])]
    )
    assert len(steps) == 2
    for number, (each, state) in enumerate(zip(settings, starts(settings, X, Y), strict=True)):
        expected = each.weights(alone(each, state, [Batch(X, Y, blocks[:12]), Batch(X, Y, blocks[12:])]))
        np.testing.assert_array_equal(each.weights(lockstep.state(number)), expected)
