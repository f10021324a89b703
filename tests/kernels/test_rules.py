"""Promises of rules beyond the methods compared with transcriptions, alone and in lockstep."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import Access, Batch, ParameterError, PluginError, Problem, kernels
from aucbench.kernels import Move, rule_method, weights
from tests.algorithms.reference import proj2
from tests.helpers.training import difference, random_problem

# Each rule and each type of rows, weights and lanes is a compilation: most tests share those of `logistic`.
N, COLUMNS = 400, 12
X, Y = random_problem(3, N, COLUMNS, density=0.6)
ORDER = np.random.default_rng(5).integers(0, N, 3 * N)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, N)


class Scalars(NamedTuple):
    mean: float


class Params(NamedTuple):
    eta: float
    lam: float
    radius: float
    askip: int
    is_before: bool


def logistic(row, scalars, params):
    """A gradient step of the logistic loss with a ridge; every few points enter the average, with weights."""
    label = 1.0 if row.positive else -1.0
    mean = scalars.mean + (row.s - scalars.mean) / row.t
    step = params.eta / np.sqrt(row.t + row.size + row.square) * row.weight
    step *= label / (1.0 + np.exp(label * (row.s - 0.1 * scalars.mean)))
    weight = step * step if row.t % params.askip == 0 else 0.0
    before = weight if params.is_before else 0.0
    return Move(step, 1.0 - params.eta * params.lam, before, weight - before), Scalars(mean)


def method(function=logistic, ball="l2", fixed=None):
    class Method(kernels.RuleMethod):
        access = Access.stream
        rule = kernels.rule(function, ball=ball)

        def __init__(self, *numbers):
            self.numbers = numbers

        def init(self, problem, rng):
            return self.first_state(problem, Params(*self.numbers), Scalars(0.0), fixed=fixed)

    return Method


def expected(cls, numbers, X, order=ORDER):
    """The weights of a rule by a plain loop."""
    params, scalars = Params(*numbers), Scalars(0.0)
    w, total, weight, positives = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, 0
    for t, i in enumerate(order, 1):
        positives += Y[i] > 0
        row = kernels.Row(t, Y[i] > 0, positives, X[i] @ w, X[i] @ X[i], w @ w, (), None, WEIGHTS[i])
        move, scalars = cls.rule.function(row, scalars, params)
        total, weight = total + move.before * w, weight + move.before
        w = move.keep * w + move.step * X[i]
        w = proj2(w, params.radius) if cls.rule.ball == "l2" else w
        total, weight = total + move.after * w, weight + move.after
    return total / weight if weight else w


def chunks(X, order):
    return [Batch(X, Y, chunk, weights=WEIGHTS) for chunk in np.array_split(order, 3)]


def run(cls, numbers, X=X, order=ORDER):
    algorithm = cls(*numbers)
    state = algorithm.init(Problem(X, Y, len(order)), None)
    for batch in chunks(X, order):
        state = algorithm.step(state, batch)
    return algorithm.weights(state)


def states(cls, settings, X=X):
    algorithms = [cls(*numbers) for numbers in settings]
    return algorithms, [algo.init(Problem(X, Y, 1), None) for algo in algorithms]


def together(cls, settings, X=X, order=ORDER, dropped=()):
    """The weights of settings that are trained in lockstep; some are dropped after the first chunk."""
    algorithms, first = states(cls, settings, X)
    lockstep = cls.together(algorithms, first)
    for number, batch in enumerate(chunks(X, order)):
        lockstep.step(batch)
        for k in dropped if number == 0 else ():
            lockstep.drop(k)
    return [None if k in dropped else algo.weights(lockstep.state(k)) for k, algo in enumerate(algorithms)]


def assert_close(actual, desired, tolerance=1e-10):
    assert np.abs(actual - desired).max() <= tolerance * np.abs(desired).max()


SETTINGS = (
    (0.5, 0.0, 1.0, 1, True),
    (0.5, 0.01, 0.3, 3, False),
    (2.0, 0.499, 5.0, 7, True),  # keeps a five-hundredth of w: the scale is folded all the time
    (1.0, 1.5, 1.0, 2, False),  # reverses w
)
LAYOUTS = {"eager": X, "lazy": sparse.csr_matrix(np.hstack([X, np.zeros((N, 400))]))}


@pytest.mark.parametrize("rows", LAYOUTS.values(), ids=LAYOUTS)
def test_a_rule_moves_the_weights_as_a_plain_loop_does_alone_and_in_lockstep(rows):
    cls, plain = method(), rows.toarray() if sparse.issparse(rows) else rows
    for numbers, actual in zip(SETTINGS, together(cls, SETTINGS, rows), strict=True):
        desired = expected(cls, numbers, plain)
        assert_close(run(cls, numbers, rows), desired)
        assert_close(actual, desired)


def test_more_settings_than_a_block_holds_train_in_lockstep_and_a_block_shrinks(monkeypatch):
    monkeypatch.setattr(rule_method, "BLOCKS", (8, 16))
    monkeypatch.setattr(rule_method, "LARGEST_BLOCK", 16)
    cls, settings = method(), [(0.01 * k, 0.01, 1.0, 1, False) for k in range(1, 21)]
    dropped = range(5, 14)  # 7 settings of the first block of 16 remain
    for number, actual in enumerate(together(cls, settings, dropped=dropped)):
        if number not in dropped:
            assert_close(actual, run(cls, settings[number]))


@pytest.mark.parametrize("columns", [9000, 300])
def test_columns_that_come_after_the_last_point_of_the_average_are_zero_in_it(columns):
    rng = np.random.default_rng(0)
    rows = sparse.csr_matrix((rng.normal(size=300), np.arange(300), np.arange(0, 301, 3)), (100, columns))
    rows = rows if columns > 300 else rows.toarray()
    order = np.concatenate([np.arange(60), np.tile(np.arange(60, 79), 3)])
    # The point after 60 steps alone is averaged; each row has three columns of its own.
    cls, numbers = method(), (0.3, 0.0, 1e-3, 60, False)
    for w in (run(cls, numbers, rows, order), *together(cls, [numbers] * 2, rows, order)):
        assert np.array_equal(np.flatnonzero(w), np.arange(180))


def test_what_overflows_is_not_taken_for_rounding():
    for bad in (np.inf, -np.inf, np.nan):
        u, v = np.array([bad, 1.0]), np.zeros(2)
        with np.errstate(invalid="ignore"):
            assert np.array_equal(np.isfinite(weights.mean(u, v, 1e-3, 1.0)), [False, True])
            weights.fold(u, 2.0, v, 1e-3)
        assert np.array_equal(np.isfinite(v), [False, True])


def test_the_size_of_the_weights_stays_exact_where_its_terms_cancel():
    """Steps that all but undo each other: |w|^2 is the difference of large terms."""

    def there_and_back(row, scalars, params):
        return Move(-row.s / row.square * (1.0 - 1e-9) if row.t % 2 == 0 else 1e4, 1.0, 0.0, 1.0), scalars

    rows, y = np.ones((2, 3)), np.array([1, -1], np.int8)
    algorithm = method(there_and_back)(1.0, 0.0, 1e9, 1, True)
    order = np.zeros(500, np.int64)
    state = algorithm.step(algorithm.init(Problem(rows, y, 1), None), Batch(rows, y, order))
    w = state.w.scale * state.uv[0]
    assert state.w.size == pytest.approx(w @ w, rel=1e-6)


def test_only_settings_of_one_rule_one_flag_and_equal_vectors_share_a_block():
    classes = [method(), method(fixed=np.ones((1, COLUMNS))), method(fixed=np.zeros((1, COLUMNS))), method()]
    mixed = [(cls, numbers) for cls in classes for numbers in SETTINGS]
    algorithms = [cls(*numbers) for cls, numbers in mixed]
    first = [algo.init(Problem(X, Y, 1), None) for algo in algorithms]
    blocks = classes[0].together(algorithms, first)._blocks
    assert sorted(tuple(block.lanes) for block in blocks) == [(k, k + 2) for k in range(16) if k % 4 < 2]


@kernels.scalar
def constant(t):
    return 1.0


@kernels.scalar
def falling(t):
    return 1.0 / np.sqrt(t)


def closing_over(schedule, factors):
    def rule(row, scalars, params):
        return Move(params.eta * schedule(row.t) * factors[0] * (1.0 - row.s), 1.0, 0.0, 0.0), scalars

    return rule


def test_rules_that_one_function_makes_have_loops_of_their_own():
    for closed in ((constant, (1.0,)), (falling, (1.0,)), (constant, (0.1,))):
        cls = method(closing_over(*closed), "none")
        actual = aucbench.replay(cls(*SETTINGS[0]), X, Y, ORDER)
        assert difference(actual, expected(cls, SETTINGS[0], X)) < 1e-12


def returns_a_move_only(row, scalars, params):
    return Move(params.eta, 1.0, 0.0, 0.0)


def reads_a_label(row, scalars, params):
    return Move(params.eta * row.label, 1.0, 0.0, 0.0), scalars


def returns_a_whole_number(row, scalars, params):
    return Move(params.eta, 1.0, 0.0, 0.0), Scalars(row.t)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (returns_a_move_only, "cannot be compiled"),
        (
            returns_a_whole_number,
            r"returns_a_whole_number .*Cannot unify Scalars\(float64 x 1\) and Scalars\(int64 x 1\)",
        ),
        (reads_a_label, r"reads_a_label \(test_rules.py, line .*attribute 'label'.*row has t, positive, "),
    ],
)
def test_a_rule_that_cannot_be_compiled_is_refused_alone_and_in_lockstep(function, message):
    cls = method(function, "none")
    for train in (run, lambda cls, numbers: together(cls, [numbers] * 2)):
        with pytest.raises(PluginError, match=message) as caught:
            train(cls, SETTINGS[0])
        assert str(caught.value).isprintable()


class Flag(NamedTuple):
    on: bool


class Bare(NamedTuple):
    eta: float


def test_what_is_wrong_with_a_method_is_said():
    problem = Problem(X, Y, 1)
    with pytest.raises(ParameterError, match="none, l2, l1"):
        kernels.rule(logistic, ball="l3")
    with pytest.raises(PluginError, match="l1 ball has no fixed vectors"):
        method(ball="l1", fixed=np.ones((1, COLUMNS)))(*SETTINGS[0]).init(problem, None)
    for ball, numbers, message in (
        ("none", [namedtuple("Untyped", "eta")(0.1)], r"typing\.NamedTuple"),
        ("l2", [Bare(1.0)], "radius"),
        ("none", [Bare(1.0), Flag(True)], "scalars"),
        ("none", [{"eta": 1.0}], "params"),
    ):
        with pytest.raises(PluginError, match=message):
            method(ball=ball)().first_state(problem, *numbers)
