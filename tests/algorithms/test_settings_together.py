"""Settings that their method trains at once beside each one trained by its own steps."""

from itertools import product

import numpy as np
import psutil
import pytest
from scipy import sparse

import aucbench
from aucbench import Batch, ParameterError
from aucbench_algorithms._moments_together import MomentsTogether
from tests.helpers.training import difference, problem_of, random_problem, train

X, Y = random_problem(5, 400, 70, density=0.3)  # with as many features some samples wait for each other
ORDER = np.random.default_rng(0).permutation(400)
FORMS = {
    "dense": X,
    "float32": X.astype(np.float32),
    "csr": sparse.csr_matrix(X),
    "lazy": sparse.csr_matrix(np.hstack([X * (np.arange(70) % 9 == 0), np.zeros((400, 500))])),
}
SETTINGS = {
    "opauc": list(product((0.01, 0.1, 0.5), (0.0, 0.1))),
    "adaoam": list(product((0.01, 0.3), (0.0, 1e-3, 4.0))),
}
each_method = pytest.mark.parametrize("name", SETTINGS)

# The last two forget half of their weights, and all of them, in every step.
RANKS = [(0.01, 0.0, 4), (0.01, 0.1, 4), (0.1, 0.1, 7), (0.05, 1e-3, 4), (0.1, 0.0, 4)]
RANKS += [(0.0078125, 64.0, 4), (0.0078125, 128.0, 4)]


def algorithms(name, settings=None):
    cls = aucbench.catalog().algorithm(name)
    return [cls(eta=eta, lam=lam) for eta, lam in settings or SETTINGS[name]]


def lockstep(settings, rows, order, parts=7, drop=()):
    """The settings after the order, cut into unequal chunks; some are dropped after the second."""
    states = [each.init(problem_of(each, rows, Y, len(order)), np.random.default_rng(0)) for each in settings]
    together = type(settings[0]).together(settings, states)
    batch = Batch(rows, Y, order)
    for number, chunk in enumerate(np.array_split(order, parts)):
        together.step(batch.take(chunk))
        if number == 1:
            for each in drop:
                together.drop(each)
    return together


@each_method
def test_the_moments_in_a_state_are_those_of_separate_steps(name):
    settings = algorithms(name)
    state, alone = lockstep(settings, X, ORDER).state(2), train(settings[2], X, Y, ORDER)
    np.testing.assert_array_equal(state.counts, alone.counts)
    for field in ("sums", "means", "M", "scatter"):
        if hasattr(alone, field):
            found, expected = np.tril(getattr(state, field)), np.tril(getattr(alone, field))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@each_method
def test_nothing_moves_while_one_class_is_missing(name):
    settings = algorithms(name)
    only = ORDER[Y[ORDER] == -1]
    together = lockstep(settings, X, only)
    assert not any(each.weights(together.state(k)).any() for k, each in enumerate(settings))
    positives = np.concatenate([only, ORDER[Y[ORDER] == 1]])
    together = lockstep(settings, X, positives)
    for number, each in enumerate(settings):
        alone = each.weights(train(each, X, Y, positives))
        assert difference(each.weights(together.state(number)), alone) < 1e-12


@pytest.mark.parametrize("axis", [0, -1])
def test_settings_that_have_diverged_take_no_part_in_products_and_keep_their_state(axis):
    seen, values = [], np.array([1.0, 1e200, 2.0, 1e250])

    def grow(X, y, order, W, growth):
        seen.append(growth.size)
        W *= growth if axis else growth[:, None]

    W = np.ones((3, 4) if axis else (4, 3))
    together = MomentsTogether(grow, (), (W, values), lambda w, growth: (w, growth), axis)
    with np.errstate(over="ignore"):
        for _ in range(4):
            together.step(Batch(X, Y, ORDER[:5]))
    assert seen == [4, 4, 2, 2]
    assert np.isinf(together.state(1)[0]).all()
    assert together.state(3)[1] == 1e250
    np.testing.assert_array_equal(together.state(2)[0], 16.0)
    together.drop(0)
    together.step(Batch(X, Y, ORDER[:5]))
    np.testing.assert_array_equal(together.state(2)[0], 32.0)
    assert seen[-1] == 1


@pytest.mark.parametrize("value", [1.0, 0.3, 1e-3])
def test_adaoam_never_moves_the_weight_of_a_column_that_is_constant(value):
    rows = X.copy()
    rows[:, [3, 64]] = value
    settings = algorithms("adaoam")
    together = lockstep(settings, rows, ORDER)
    for number, each in enumerate(settings):
        for state in (together.state(number), train(each, rows, Y, ORDER)):
            w = each.weights(state)
            assert not w[[3, 64]].any()
            assert w.any()


@pytest.mark.slow
@each_method
def test_the_matrices_of_a_grid_are_held_once(name):
    d, settings = 500, algorithms(name, [(0.01, 10.0**-k) for k in range(60)])
    rows, process = np.random.default_rng(0).standard_normal((400, d)) / 30, psutil.Process()
    for _ in range(2):  # compiled; and memory that a grid frees is given to the next
        before = process.memory_info().rss
        together = lockstep(settings, rows, ORDER[:100])
        assert together.state(0) is not None
    assert process.memory_info().rss - before < 10 * (2 * 8 * d * d)


@each_method
def test_moments_without_memory_for_all_weights_are_refused(name, monkeypatch):
    settings = algorithms(name) * 100
    states = [each.init(problem_of(each, X, Y, 1), np.random.default_rng(0)) for each in settings]
    monkeypatch.setattr("aucbench.data.memory.available", lambda: 2 * 8 * 70 * 70)
    with pytest.raises(ParameterError, match=f"{name}: 3140 x 70 numbers"):
        type(settings[0]).together(settings, states)


@pytest.mark.parametrize("centring", ["author", "exact"])
@pytest.mark.parametrize("form", FORMS)
def test_settings_of_opauc_r_share_what_has_their_rank(form, centring):
    cls, rows = aucbench.catalog().algorithm("opauc_r"), FORMS[form]
    settings = [cls(eta=eta, lam=lam, tau=tau, centring=centring) for eta, lam, tau in RANKS]
    order = np.tile(ORDER, 6)  # as many samples as are drawn for, and folded, more than once
    together = lockstep(settings, rows, order, drop=(3,))
    for number in (0, 1, 2, 4, 5, 6):
        each, state = settings[number], together.state(number)
        alone = train(each, rows, Y, order)
        assert state.layout is alone.layout
        assert difference(each.weights(state), each.weights(alone)) < 1e-10
        np.testing.assert_allclose(state.gram, alone.gram, rtol=0, atol=1e-12 * np.abs(alone.gram).max())
    assert together.state(0).Z is together.state(1).Z is not together.state(2).Z


@pytest.mark.parametrize("average", ["before", "after"])
def test_columns_that_no_row_has_are_folded_later_on_wide_sparse_rows(average):
    cls = aucbench.catalog().algorithm("solam")
    rows, order = FORMS["lazy"] * 100.0, np.tile(ORDER, 4)  # more steps than foldings may be late
    rows[::3] *= 1e-4
    settings = [cls(zeta=zeta, radius=radius, average=average) for zeta in (1, 100) for radius in (0.01, 10)]
    states = [each.init(problem_of(each, rows, Y, len(order)), np.random.default_rng(0)) for each in settings]
    together = cls.together(settings, states)
    folded = 0
    for chunk in np.array_split(order, 2):
        together.step(Batch(rows, Y, chunk))
        folded += together._blocks[0]._folds.count[0]
        for number in range(len(settings)):
            together.state(number)
    assert folded > 0
    for number, each in enumerate(settings):
        alone = each.weights(train(each, rows, Y, order))
        assert difference(each.weights(together.state(number)), alone) < 1e-9
