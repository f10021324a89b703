"""A rule does what it says on every layout, alone and in lockstep: compared with plain loops."""

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import Access, Batch, ParameterError, PluginError, Problem, kernels
from aucbench.kernels import Move
from tests.algorithms.reference import proj1, proj2
from tests.helpers.training import difference, random_pairs, random_problem

FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_matrix,
    "lazy": lambda X: sparse.csr_matrix(np.hstack([X, np.zeros((len(X), 400))])),
}


class Own(NamedTuple):
    mean: float


class Given(NamedTuple):
    eta: float
    lam: float
    radius: float
    askip: int
    is_before: bool


def logistic(row, own, given):
    """A gradient step of the logistic loss with a ridge; every few points enter the average, with weights."""
    label = 1.0 if row.positive else -1.0
    mean = own.mean + (row.s - own.mean) / row.t
    step = given.eta / np.sqrt(row.t) * label / (1.0 + np.exp(label * (row.s - 0.1 * own.mean)))
    weight = step * step if row.t % given.askip == 0 else 0.0
    before = weight if given.is_before else 0.0
    return Move(step, 1.0 - given.eta * given.lam, before, weight - before), Own(mean)


def passive(row, own, given):
    """A step to the margin 1, at most eta; it reads |x|^2 and |w|^2, and averages nothing."""
    step = min(given.eta, max(0.0, 1.0 - row.s) / (row.square + row.size * given.lam + 1e-9))
    return Move(step, 1.0, 0.0, 0.0), own


def centred(row, own, given):
    """A square loss of the score less those of two fixed vectors."""
    a, b = row.fixed
    s = row.s - a if row.positive else b - row.s
    return Move(given.eta * (1.0 - s) * (1.0 if row.positive else -1.0), 1.0 - given.lam, 0.0, 1.0), own


def any_loss(row, own, given):
    """A gradient step of whatever loss is given."""
    return Move(-given.eta * kernels.call(row.loss, row.s, 1.0), 1.0 - given.lam, 0.0, 1.0), own


def method(function, ball="none", pairs=False, fixed=None, loss=None):
    class Method(kernels.RuleMethod):
        access = Access.pairs if pairs else Access.stream
        rule = kernels.rule(function, ball=ball)

        def __init__(self, *numbers):
            self.numbers = numbers

        def init(self, problem, rng):
            vectors = None if fixed is None else fixed(problem.n_features)
            return self.first_state(problem, Given(*self.numbers), Own(0.0), fixed=vectors, loss=loss)

    return Method


def two_vectors(d):
    return np.random.default_rng(8).normal(size=(2, d)) * (np.arange(d) < 12)


def expected(cls, numbers, X, y, order, derivative=None):
    """The weights of a rule by a plain loop."""
    given, own, ball = Given(*numbers), Own(0.0), cls.rule.ball
    w, total, weights, positives = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, 0
    F = two_vectors(X.shape[1])
    for t, where in enumerate(order, 1):
        x = X[where[0]] - X[where[1]] if cls.access is Access.pairs else X[where]
        positive = cls.access is Access.pairs or y[where] > 0
        positives += positive
        row = kernels.Row(t, positive, positives, x @ w, x @ x, w @ w, tuple(F @ w), 0)
        if derivative is not None:
            move = Move(-given.eta * derivative(x @ w), 1.0 - given.lam, 0.0, 1.0)
        else:
            move, own = cls.rule.function(row, own, given)
        total, weights = total + move.before * w, weights + move.before
        w = move.keep * w + move.step * x
        if ball == "l2":
            w = proj2(w, given.radius)
        elif ball == "l1":
            w = proj1(w, given.radius)
        total, weights = total + move.after * w, weights + move.after
    return total / weights if weights else w


def data(form, pairs=False, n=400):
    X, y = random_problem(3, n, 12, density=0.6)
    if form == "float32":
        X = X.astype(np.float32).astype(np.float64)
    order = random_pairs(4, y, 3 * n) if pairs else np.random.default_rng(5).integers(0, n, 3 * n)
    made = FORMS[form](X)
    plain = made.toarray() if sparse.issparse(made) else X
    return made, plain, y, order


def run(cls, numbers, X, y, order, chunks=3):
    algorithm = cls(*numbers)
    state = algorithm.init(Problem(X, y, len(order)), None)
    for chunk in np.array_split(order, chunks):
        state = algorithm.step(state, Batch(X, y, chunk))
    return algorithm.weights(state)


def assert_close(found, wanted, tolerance=1e-10):
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


SETTINGS = (
    (0.5, 0.0, 1.0, 1, True),
    (0.5, 0.01, 0.3, 3, False),
    (2.0, 0.499, 5.0, 7, True),  # keeps a five-hundredth of w: the scale is folded all the time
    (1.0, 1.5, 1.0, 2, False),  # turns w round
)


def states(cls, settings, X, y):
    algorithms = [cls(*numbers) for numbers in settings]
    return algorithms, [each.init(Problem(X, y, 1), None) for each in algorithms]


def together(cls, settings, X, y, order, chunks=3):
    """The weights of settings that are trained in lockstep."""
    algorithms, first = states(cls, settings, X, y)
    lockstep = cls.together(algorithms, first)
    for chunk in np.array_split(order, chunks):
        lockstep.step(Batch(X, y, chunk))
    return [each.weights(lockstep.state(k)) for k, each in enumerate(algorithms)]


def assert_moves_as_a_plain_loop(cls, settings, X, plain, y, order):
    """Alone and in lockstep; there is none with the l1 ball."""
    wanted = [expected(cls, numbers, plain, y, order) for numbers in settings]
    for numbers, each in zip(settings, wanted, strict=True):
        assert_close(run(cls, numbers, X, y, order), each)
    if cls.rule.ball == "l1":
        assert cls.together(*states(cls, settings, X, y)) is None
        return
    for found, each in zip(together(cls, settings, X, y, order), wanted, strict=True):
        assert_close(found, each)


@pytest.mark.parametrize(
    ("function", "ball", "form", "pairs"),
    [
        # Each costs a compilation, alone and in lockstep; balls, layouts and functions meet in turn.
        (logistic, "none", "lazy", True),  # pairs pass through the same steps as differences of rows
        (logistic, "l2", "lazy", False),
        (logistic, "l1", "csr", True),
        (logistic, "l1", "lazy", False),
        (passive, "l2", "csr", False),
        pytest.param(logistic, "none", "float32", False, marks=pytest.mark.variants),
    ],
)
def test_a_rule_moves_the_weights_as_a_plain_loop_does_alone_and_in_lockstep(function, ball, form, pairs):
    if function is logistic:
        # On sparse rows in the l1 ball, keeps are folded at each step.
        settings = [each for each in SETTINGS if (ball, form) != ("l1", "lazy") or each[1] < 0.1]
    else:
        settings = [(eta, lam, radius, 3, True) for eta, lam, *_ in SETTINGS for radius in (0.2, 4.0)]
    assert_moves_as_a_plain_loop(method(function, ball, pairs), settings, *data(form, pairs))


def test_products_with_fixed_vectors_follow_the_weights():
    settings = [(eta, lam, 1.0, 1, False) for eta in (0.01, 0.1) for lam in (0.0, 0.01)]
    cls = method(centred, pairs=True, fixed=two_vectors)
    assert_moves_as_a_plain_loop(cls, settings, *data("lazy", pairs=True))


def test_a_rule_calls_the_loss_of_its_problem_and_the_access_may_be_a_plain_word():
    loss = aucbench.catalog().loss("squared_hinge")()
    cls = method(any_loss, pairs=True, loss=loss)
    settings = [(eta, 0.01, 1.0, 1, False) for eta in (0.1, 0.2)]
    rows = data("dense", pairs=True)
    wanted = expected(cls, settings[0], *rows[1:], lambda m: loss.derivative(m, 1.0))
    cls.access = "pairs"
    assert_close(run(cls, settings[0], rows[0], *rows[2:]), wanted)
    assert_close(together(cls, settings, rows[0], *rows[2:])[0], wanted)


def test_more_settings_than_a_block_holds_and_weighted_rows_train_in_lockstep():
    def weighted(row, own, given):
        return Move(given.eta * row.weight * (1.0 - row.s), 1.0 - given.lam, 0.0, 1.0), own

    X, _, y, order = data("csr")
    cls, settings = method(weighted), [(0.01 * k, 0.01, 1.0, 1, False) for k in range(1, 41)]
    algorithms, first = states(cls, settings, X, y)
    batch = Batch(X, y, order, weights=np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    lockstep = cls.together(algorithms, first)
    lockstep.step(batch)
    dropped = range(10, 30)
    for k in dropped:  # a block of 32 settings shrinks to one of 16
        lockstep.drop(k)
    lockstep.step(batch)
    for k, (algorithm, state) in enumerate(zip(algorithms, states(cls, settings, X, y)[1], strict=True)):
        if k not in dropped:
            alone = algorithm.step(algorithm.step(state, batch), batch)
            assert_close(algorithm.weights(lockstep.state(k)), algorithm.weights(alone))


@pytest.mark.parametrize(("ball", "columns"), [("l2", 9000), ("l2", 300), ("l1", 9000)])
def test_columns_that_come_after_the_last_point_of_the_average_are_zero_in_it(ball, columns):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.normal(size=300), np.arange(300), np.arange(0, 301, 3)), shape=(100, columns))
    X = X if columns > 300 else X.toarray()
    y = np.where(rng.random(100) < 0.5, 1, -1).astype(np.int8)
    order = np.concatenate([np.arange(60), np.tile(np.arange(60, 79), 3)])
    # The point after 60 steps alone is averaged; each row has three columns of its own.
    cls, numbers = method(logistic, ball), (0.3, 0.0, 1e-3 if ball == "l2" else 1e3, 60, False)
    found = [run(cls, numbers, X, y, order)]
    if ball != "l1":
        found += together(cls, [numbers] * 2, X, y, order)
    for w in found:
        assert np.array_equal(np.flatnonzero(w), np.arange(180))


def overflowing(row, own, given):
    """Only w overflows, as its sum has the weight of the first step alone."""
    return Move(1e308, 1.0, 0.0, 1e-3 if row.t == 1 else 0.0), own


def test_what_overflows_is_not_taken_for_rounding():
    X, _, y, order = data("lazy")
    cls, numbers = method(overflowing), SETTINGS[0]
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(run(cls, numbers, X, y, order)).all()
        assert not np.isfinite(together(cls, [numbers] * 2, X, y, order)[1]).all()


def test_the_size_of_the_weights_stays_exact_where_its_terms_cancel():
    """Steps that all but undo each other: |w|^2 is the difference of large terms."""

    def there_and_back(row, own, given):
        return Move(-row.s / row.square * (1.0 - 1e-9) if row.t % 2 == 0 else 1e4, 1.0, 0.0, 1.0), own

    X = np.ones((2, 3))
    y = np.array([1, -1], np.int8)
    cls = method(there_and_back, "l2")
    numbers, order = (1.0, 0.0, 1e9, 1, True), np.zeros(500, np.int64)
    algorithm = cls(*numbers)
    state = algorithm.step(algorithm.init(Problem(X, y, 1), None), Batch(X, y, order))
    w = state.w.scale * state.uv[0]
    assert state.w.size == pytest.approx(w @ w, rel=1e-6)


def test_only_settings_of_one_rule_one_flag_and_equal_vectors_share_a_block():
    X, plain, y, order = data("dense")
    one_rule = method(logistic, "l2")
    mixed = [(one_rule, numbers) for numbers in SETTINGS]
    for factor in (1.0, 2.0):
        cls = method(centred, fixed=lambda d, factor=factor: factor * two_vectors(d))
        mixed.append((cls, (0.05, 0.01, 1.0, 1, False)))
    algorithms = [cls(*numbers) for cls, numbers in mixed]
    lockstep = mixed[0][0].together(algorithms, [each.init(Problem(X, y, 1), None) for each in algorithms])
    lockstep.step(Batch(X, y, order))
    found = [each.weights(lockstep.state(k)) for k, each in enumerate(algorithms)]
    for weights, (cls, numbers) in zip(found, mixed, strict=True):
        assert_close(weights, run(cls, numbers, X, y, order))
    assert np.abs(found[-1] - found[-2]).max() > 1e-3
    for weights, each in zip(found[:-1], mixed[:-1], strict=True):
        assert_close(weights, expected(*each, plain, y, order))


class Flag(NamedTuple):
    on: bool


class Bare(NamedTuple):
    eta: float


@kernels.scalar
def constant(t):
    return 1.0


@kernels.scalar
def falling(t):
    return 1.0 / np.sqrt(t)


def closing_over(schedule, factors):
    def made(row, own, given):
        return Move(given.eta * schedule(row.t) * factors[0] * (1.0 - row.s), 1.0, 0.0, 0.0), own

    return made


def test_rules_that_one_function_makes_have_loops_of_their_own():
    rows, X, y, order = data("dense")
    for closed in ((constant, (1.0,)), (falling, (1.0,)), (constant, (0.1,))):
        cls = method(closing_over(*closed))
        found = aucbench.replay(cls(*SETTINGS[0]), rows, y, order)
        assert difference(found, expected(cls, SETTINGS[0], X, y, order)) < 1e-12


def returns_a_move_only(row, own, given):
    return Move(given.eta, 1.0, 0.0, 0.0)


def reads_a_label(row, own, given):
    return Move(given.eta * row.label, 1.0, 0.0, 0.0), own


def returns_a_whole_number(row, own, given):
    return Move(given.eta, 1.0, 0.0, 0.0), Own(row.t)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (returns_a_move_only, "cannot be compiled"),
        (any_loss, "cannot be compiled"),  # there is none
        (
            returns_a_whole_number,
            r"returns_a_whole_number .*Cannot unify Own\(float64 x 1\) and Own\(int64 x 1\)",
        ),
        (reads_a_label, r"reads_a_label \(test_rules.py, line .*attribute 'label'.*row has t, positive, "),
    ],
)
def test_a_rule_that_cannot_be_compiled_is_refused_alone_and_in_lockstep(function, said):
    X, _, y, order = data("csr")
    cls = method(function)
    for train in (run, lambda cls, numbers, *rows: together(cls, [numbers] * 2, *rows)):
        with pytest.raises(PluginError, match=said) as caught:
            train(cls, SETTINGS[0], X, y, order)
        assert str(caught.value).isprintable()


def test_what_is_wrong_with_a_method_is_said():
    X, _, y, _ = data("dense")
    problem = Problem(X, y, 1)
    with pytest.raises(ParameterError, match="none, l2, l1"):
        kernels.rule(logistic, ball="l3")
    with pytest.raises(PluginError, match="l1 ball has no fixed vectors"):
        method(centred, "l1", fixed=two_vectors)(*SETTINGS[0]).init(problem, None)
    for ball, numbers, said in (
        ("none", [namedtuple("Untyped", "eta")(0.1)], r"typing\.NamedTuple"),
        ("l2", [Bare(1.0)], "radius"),
        ("none", [Bare(1.0), Flag(True)], "own"),
        ("none", [{"eta": 1.0}], "given"),
    ):
        with pytest.raises(PluginError, match=said):
            method(logistic, ball)().first_state(problem, *numbers)
