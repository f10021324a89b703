from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import Access, DataError, ParameterError, kernels
from aucbench.runner import cell, grid
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Order, Task
from tests.helpers.fake_plugins import CountingState, Iterating, Perceptron, two_clouds

X, Y = two_clouds(n=1500, d=9)
X_TEST, Y_TEST = two_clouds(n=300, d=9, seed=1)
FORMS = {"dense": lambda X: X, "float32": lambda X: X.astype(np.float32), "csr": sparse.csr_matrix}
DATA = {name: (form(X), Y, form(X_TEST), Y_TEST) for name, form in FORMS.items()}


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch):
    """Small data make many chunks, and checkpoints fall within chunks."""
    monkeypatch.setattr(grid, "CHUNK_VALUES", 1)
    monkeypatch.setattr(grid, "CHUNK_VISITS", 37)


@pytest.fixture(autouse=True)
def _few_together(monkeypatch):
    """Two settings suffice to train together, also if their kernels must be compiled first."""
    for cls in (kernels.RuleMethod, *map(method, ("opauc", "adaoam"))):
        monkeypatch.setattr(cls, "min_together", 2)
    monkeypatch.setattr(cell, "WORTH_COMPILING", 0.0)


def task(algorithm, loss=None, layout="dense", **options):
    return Task(algorithm, loss, *DATA[layout], **options)


def method(name):
    return aucbench.catalog().algorithm(name)


def loss(name):
    return aucbench.catalog().loss(name)()


def first_loss(cls):
    return next((loss(name) for name in getattr(cls, "losses", ()) if name != "*"), None)


def assert_same(together, single, tolerance=0.0):
    assert together.stop_reason is single.stop_reason
    assert together.iterations == single.iterations
    for name in ("iteration", "samples"):
        np.testing.assert_array_equal(getattr(together, name), getattr(single, name))
    for name in ("auc", "weights"):
        actual, expected = getattr(together, name), getattr(single, name)
        if actual is not None or expected is not None:
            assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()
    assert together.state_bytes == single.state_bytes
    assert together.layout == single.layout


def assert_as_alone(tasks):
    outcomes = run_grid(tasks)
    assert len(outcomes) == len(tasks)
    # A product over all settings at once is rounded differently.
    tolerance = 1e-9 if hasattr(tasks[0].algorithm, "together") else 0.0
    for outcome, job in zip(outcomes, tasks, strict=True):
        assert_same(outcome, run_cell(job), tolerance)


@dataclass(frozen=True)
class Sums(Perceptron):
    """A method with its own batch size, and with scores but no weights."""

    name: ClassVar[str] = "sums"
    access: ClassVar[Access] = Access.minibatch
    size: int = 10
    weights = property(lambda self: (_ for _ in ()).throw(AttributeError("weights")))

    def batch_size(self, n_samples):
        return self.size

    def step(self, state, batch):
        w = state.w
        for rows, labels in batch:
            w = w + labels @ rows
        return CountingState(w, state.steps + len(batch))


@dataclass(frozen=True)
class Declining(Perceptron):
    """A method that can train settings together, but declines these settings."""

    name: ClassVar[str] = "declining"
    together = classmethod(lambda cls, algorithms, states: None)


def test_a_batch_size_that_the_rows_do_not_allow_is_refused_in_its_place():
    fine, refused = run_grid([task(Sums(size=10)), task(Sums(size=10**6))])
    assert_same(fine, run_cell(task(Sums(size=10))))
    assert isinstance(refused, ParameterError)


@pytest.mark.parametrize(
    "tasks",
    [
        [task(Perceptron(eta), order=Order.blocks, seed=3, fold=2, iterations=211) for eta in (0.01, 1.0)],
        [task(Sums(size=size), epochs=2) for size in (10, 64, 10, 7)],
        [task(Iterating(needed=needed)) for needed in (7, 3, 11)],
        [task(Declining(eta)) for eta in (0.01, 1.0)],
        [task(method("solam")(zeta=zeta), first_loss(method("solam")), "csr") for zeta in (0.1, 10.0)],
        [task(method("mba")(lam=lam), first_loss(method("mba")), "float32") for lam in (1e-6, 1.0)],
    ],
    ids=lambda tasks: tasks[0].algorithm.name,
)
def test_whatever_settings_do_or_differ_in_each_ends_as_it_does_alone(tasks):
    assert_as_alone(tasks)


@dataclass(frozen=True)
class Failing(Perceptron):
    """Raises an error at a given iteration, or in `init` at 0; its weights become infinite at `limit`."""

    name: ClassVar[str] = "failing"
    at: int = 10**9
    limit: int = 10**9
    error: type[BaseException] = ArithmeticError

    def init(self, problem, rng):
        if self.at == 0:
            raise self.error("at the start")
        return super().init(problem, rng)

    def step(self, state, batch):
        if state.steps <= self.at < state.steps + len(batch):
            raise self.error(f"at {self.at}")
        state = super().step(state, batch)
        return state._replace(w=state.w * np.inf) if state.steps >= self.limit else state


def test_a_setting_whose_code_raises_leaves_its_error_in_its_place_and_disturbs_no_other():
    tasks = [task(Failing(at=at), epochs=2) for at in (10**9, 0, 1000, 10**8)]
    outcomes = run_grid(tasks)
    assert_same(outcomes[0], run_cell(tasks[0]))
    assert_same(outcomes[3], run_cell(tasks[3]))
    assert str(outcomes[1]) == "at the start"
    assert str(outcomes[2]) == "at 1000"
    assert all(type(error) is ArithmeticError for error in outcomes[1:3])
    for error in (KeyboardInterrupt, MemoryError):  # these errors end all settings
        with pytest.raises(error):
            run_grid([task(Failing(at=at, error=error), epochs=2) for at in (10**9, 1000)])


def test_progress_never_falls_ends_with_one_and_what_it_raises_ends_all():
    tasks = [task(Failing(limit=at), epochs=2) for at in (10**9, 500, 10**8)]
    shares = []
    run_grid(tasks, shares.append)
    assert np.all(np.diff(shares) >= -1e-12)
    assert shares[-1] == pytest.approx(1.0)
    assert len(shares) > 20

    def stop(share):
        if share > 0.5:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run_grid(tasks, stop)
    with pytest.raises(TimeoutError):
        run_grid([task(Joining(eta), epochs=2) for eta in (0.1, 0.2)], stop)


class Joined:
    """Settings in lockstep, each by its own steps; counts the queries and lists the dropped settings."""

    def __init__(self, algorithms, states):
        self.algorithms, self.states = algorithms, list(states)
        self.dropped, self.queries = [], 0

    def step(self, batch):
        for k, algorithm in enumerate(self.algorithms):
            if k not in self.dropped:
                self.states[k] = algorithm.step(self.states[k], batch)

    def state(self, number):
        assert number not in self.dropped
        self.queries += 1
        return self.states[number]

    def drop(self, number):
        self.dropped.append(number)


@dataclass(frozen=True)
class Joining(Failing):
    """A method that trains settings with the same flag together."""

    name: ClassVar[str] = "joining"
    flag: bool = False
    made: ClassVar[list[Joined]] = []

    @classmethod
    def together(cls, algorithms, states):
        cls.made.append(Joined(algorithms, states))
        return cls.made[-1]


def in_training():
    """The groups of settings that trained, without the groups that only compiled."""
    return [joined for joined in Joining.made if joined.queries]


def test_a_method_trains_those_settings_together_whose_flags_agree():
    Joining.made.clear()
    tasks = [task(Joining(eta, flag=flag), epochs=2) for eta in (0.1, 0.2) for flag in (False, True)]
    outcomes = run_grid([*tasks, task(Joining(0.5), epochs=2)])
    for outcome, job in zip(outcomes, tasks, strict=False):
        assert_same(outcome, run_cell(job))
        assert outcome.total_seconds > 0.0
    trained = in_training()
    assert [[item.eta for item in joined.algorithms] for joined in trained] == [[0.1, 0.2, 0.5], [0.1, 0.2]]
    batches = 2 * len(Y) // 37
    assert all(joined.queries < 3 * batches for joined in trained)


def test_settings_train_alone_while_compiling_takes_longer_than_it_saves(monkeypatch, tmp_path):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path))  # a cache without compiled kernels

    @kernels.kernel
    def compiled(x):
        return x + 1.0

    class Compiling(Joined):
        def step(self, batch):
            compiled(1.0)
            super().step(batch)

    @classmethod
    def together(cls, algorithms, states):
        cls.made.append(Compiling(algorithms, states))
        return cls.made[-1]

    monkeypatch.setattr(Joining, "together", together)
    monkeypatch.setattr(cell, "WORTH_COMPILING", 1e9)
    tasks = [task(Joining(eta), epochs=2) for eta in (0.1, 0.2)]
    for is_compiled in (False, True):
        Joining.made.clear()
        outcomes = run_grid(tasks)
        assert bool(in_training()) is is_compiled
        for outcome, job in zip(outcomes, tasks, strict=True):
            assert_same(outcome, run_cell(job))
        compiled(1.0)


def test_one_that_diverges_is_dropped_and_an_error_ends_those_trained_together_and_no_others():
    Joining.made.clear()
    settings = [Joining(0.1), Joining(0.2, limit=700), Joining(0.3)]
    settings += [Joining(at=at, flag=True) for at in (50, 10**9)]
    tasks = [task(setting, epochs=2, checkpoints=6) for setting in settings]
    outcomes = run_grid(tasks)
    assert [type(outcome) for outcome in outcomes[3:]] == [ArithmeticError] * 2
    assert [outcome.stop_reason for outcome in outcomes[:3]] == ["budget", "diverged", "budget"]
    assert_same(outcomes[0], run_cell(tasks[0]))
    assert_same(outcomes[2], run_cell(tasks[2]))
    np.testing.assert_array_equal(outcomes[1].auc, run_cell(tasks[1]).auc)
    assert [joined.dropped for joined in in_training()] == [[1], []]


def test_settings_that_have_no_order_in_common_end_as_they_do_alone():
    job = task(Perceptron())
    changes = {"X": -X, "y_test": -Y_TEST, "epochs": 3, "order": Order.stored, "order_seed": 1, "fold": 1}
    changes["weights"] = np.ones(len(Y))
    assert_as_alone([job, *(replace(job, **{name: new}) for name, new in changes.items()), task(Iterating())])
    assert run_grid([]) == []


def test_more_features_than_memory_holds_are_refused():
    wide = sparse.csr_matrix((len(Y), 2**31 - 1))
    with pytest.raises(DataError, match=r"85\.9 GB"):
        run_grid([Task(Perceptron(), None, wide, Y, wide, Y)])


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("toppush", "lam", (1e-3, 0.1, 10.0)),  # zero is the minimiser, and many directions lead to it
        ("sgd_log", "alpha", (1e-7, 1e-6, 1e-5)),  # steps so long that rounding errors grow
        ("asam", "gamma", (1e-7, 1e-5)),
    ],
)
def test_methods_that_depend_on_their_path_train_as_they_do_alone(name, field, values):
    rng = np.random.default_rng(0)
    features = (rng.random((1250, 30)) < 0.3).astype(float)
    labels = np.where(rng.random(1250) < 0.3, 1, -1).astype(np.int8)
    cls = method(name)
    arrays = features[250:], labels[250:], features[:250], labels[:250]
    epochs = None if name == "toppush" else 10
    tasks = [Task(cls(**{field: value}), first_loss(cls), *arrays, epochs=epochs) for value in values]
    for outcome, job in zip(run_grid(tasks), tasks, strict=True):
        np.testing.assert_array_equal(outcome.weights, run_cell(job).weights)
