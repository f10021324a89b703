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
    """So that small data makes many chunks, which the checkpoints do not divide."""
    monkeypatch.setattr(grid, "CHUNK_VALUES", 1)
    monkeypatch.setattr(grid, "CHUNK_VISITS", 37)


@pytest.fixture(autouse=True)
def _few_together(monkeypatch):
    """So that few settings train together, also where their kernels must be compiled first."""
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


def assert_same(together, alone, tolerance=0.0):
    assert together.stop_reason is alone.stop_reason
    assert together.iterations == alone.iterations
    for name in ("iteration", "samples"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
    for name in ("auc", "weights"):
        one, other = getattr(together, name), getattr(alone, name)
        if one is not None or other is not None:
            assert np.abs(one - other).max() <= tolerance * np.abs(other).max()
    assert together.state_bytes == alone.state_bytes
    assert together.layout == alone.layout


def assert_as_alone(tasks):
    found = run_grid(tasks)
    assert len(found) == len(tasks)
    # Products of all settings at once are rounded otherwise.
    tolerance = 1e-9 if hasattr(tasks[0].algorithm, "together") else 0.0
    for outcome, each in zip(found, tasks, strict=True):
        assert_same(outcome, run_cell(each), tolerance)


@dataclass(frozen=True)
class Sums(Perceptron):
    """Takes minibatches of a size of its own, and has scores but no weights."""

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
    """Knows how to train settings together, but not these."""

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
    found = run_grid(tasks)
    assert_same(found[0], run_cell(tasks[0]))
    assert_same(found[3], run_cell(tasks[3]))
    assert str(found[1]) == "at the start"
    assert str(found[2]) == "at 1000"
    assert all(type(error) is ArithmeticError for error in found[1:3])
    for error in (KeyboardInterrupt, MemoryError):  # these end all
        with pytest.raises(error):
            run_grid([task(Failing(at=at, error=error), epochs=2) for at in (10**9, 1000)])


def test_progress_never_falls_ends_with_one_and_what_it_raises_ends_all():
    tasks = [task(Failing(limit=at), epochs=2) for at in (10**9, 500, 10**8)]
    told = []
    run_grid(tasks, told.append)
    assert np.all(np.diff(told) >= -1e-12)
    assert told[-1] == pytest.approx(1.0)
    assert len(told) > 20

    def stop(share):
        if share > 0.5:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run_grid(tasks, stop)
    with pytest.raises(TimeoutError):
        run_grid([task(Joining(eta), epochs=2) for eta in (0.1, 0.2)], stop)


class Joined:
    """Settings in lockstep, each by its own steps, which notes what is asked of it."""

    def __init__(self, algorithms, states):
        self.algorithms, self.states = algorithms, list(states)
        self.dropped, self.asked = [], 0

    def step(self, batch):
        for k, algorithm in enumerate(self.algorithms):
            if k not in self.dropped:
                self.states[k] = algorithm.step(self.states[k], batch)

    def state(self, number):
        assert number not in self.dropped
        self.asked += 1
        return self.states[number]

    def drop(self, number):
        self.dropped.append(number)


@dataclass(frozen=True)
class Joining(Failing):
    """Trains its settings together, those with the same flag at least."""

    name: ClassVar[str] = "joining"
    flag: bool = False
    made: ClassVar[list[Joined]] = []

    @classmethod
    def together(cls, algorithms, states):
        cls.made.append(Joined(algorithms, states))
        return cls.made[-1]


def in_training():
    """Those made, but for the ones that only compile."""
    return [joined for joined in Joining.made if joined.asked]


def test_a_method_trains_those_settings_together_whose_flags_agree():
    Joining.made.clear()
    tasks = [task(Joining(eta, flag=flag), epochs=2) for eta in (0.1, 0.2) for flag in (False, True)]
    found = run_grid([*tasks, task(Joining(0.5), epochs=2)])
    for outcome, each in zip(found, tasks, strict=False):
        assert_same(outcome, run_cell(each))
        assert outcome.total_seconds > 0.0
    trained = in_training()
    assert [[each.eta for each in joined.algorithms] for joined in trained] == [[0.1, 0.2, 0.5], [0.1, 0.2]]
    batches = 2 * len(Y) // 37
    assert all(joined.asked < 3 * batches for joined in trained)


def test_settings_train_alone_while_compiling_takes_longer_than_it_saves(monkeypatch, tmp_path):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path))  # where no earlier run has compiled it

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
        found = run_grid(tasks)
        assert bool(in_training()) is is_compiled
        for outcome, each in zip(found, tasks, strict=True):
            assert_same(outcome, run_cell(each))
        compiled(1.0)


def test_one_that_diverges_is_dropped_and_an_error_ends_those_trained_together_and_no_others():
    Joining.made.clear()
    settings = [Joining(0.1), Joining(0.2, limit=700), Joining(0.3)]
    settings += [Joining(at=at, flag=True) for at in (50, 10**9)]
    tasks = [task(setting, epochs=2, checkpoints=6) for setting in settings]
    found = run_grid(tasks)
    assert [type(each) for each in found[3:]] == [ArithmeticError] * 2
    assert [outcome.stop_reason for outcome in found[:3]] == ["budget", "diverged", "budget"]
    assert_same(found[0], run_cell(tasks[0]))
    assert_same(found[2], run_cell(tasks[2]))
    np.testing.assert_array_equal(found[1].auc, run_cell(tasks[1]).auc)
    assert [joined.dropped for joined in in_training()] == [[1], []]


def test_settings_that_have_no_order_in_common_end_as_they_do_alone():
    one = task(Perceptron())
    changes = {"X": -X, "y_test": -Y_TEST, "epochs": 3, "order": Order.stored, "order_seed": 1, "fold": 1}
    changes["weights"] = np.ones(len(Y))
    assert_as_alone([one, *(replace(one, **{name: own}) for name, own in changes.items()), task(Iterating())])
    assert run_grid([]) == []


def test_more_features_than_memory_holds_are_refused():
    wide = sparse.csr_matrix((len(Y), 2**31 - 1))
    with pytest.raises(DataError, match=r"85\.9 GB"):
        run_grid([Task(Perceptron(), None, wide, Y, wide, Y)])


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("toppush", "lam", (1e-3, 0.1, 10.0)),  # zero is the minimiser, and many directions lead to it
        ("sgd_log", "alpha", (1e-7, 1e-6, 1e-5)),  # so long steps that rounding grows
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
    for outcome, each in zip(run_grid(tasks), tasks, strict=True):
        np.testing.assert_array_equal(outcome.weights, run_cell(each).weights)
