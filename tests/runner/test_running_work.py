"""Work that continues after a call returns, other threads, warm-up, and arrays of other libraries."""

import threading
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from aucbench import Access
from aucbench.runner import cell
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import Task
from aucbench.runner.trainer import is_finite, state_bytes
from tests.helpers.fake_plugins import Perceptron, two_clouds

X, Y = two_clouds()
X_TEST, Y_TEST = two_clouds(seed=1)
WORK = 0.02  # seconds of each call's work
worked: list[float] = []  # seconds that the threads have worked


def task(algorithm, **options):
    return Task(algorithm, None, X, Y, X_TEST, Y_TEST, **options)


class Pending(NamedTuple):
    w: np.ndarray
    work: threading.Thread


def pending(w):
    """A state whose work runs in another thread."""

    def compute():
        start = perf_counter()
        used = thread_time()
        while thread_time() - used < WORK:
            sum(range(1000))
        worked.append(perf_counter() - start)

    thread = threading.Thread(target=compute)
    thread.start()
    return Pending(w, thread)


@dataclass(frozen=True)
class Waiting(Perceptron):
    """A method that starts work, returns, and declares how to wait for the work."""

    name: ClassVar[str] = "waiting"

    def init(self, problem, rng):
        return pending(np.zeros(problem.n_features))

    def step(self, state, batch):
        return pending(state.w + 1.0)

    def finalize(self, state):
        return pending(state.w)

    def wait(self, state):
        state.work.join()


def run_alone(algorithm):
    return run_cell(task(algorithm, iterations=4, checkpoints=4))


def run_in_grid(algorithm):
    return run_grid([task(algorithm, iterations=4, checkpoints=4)])[0]


@pytest.mark.parametrize("run", [run_alone, run_in_grid])
def test_declared_work_counts_on_the_clock_and_in_the_cpu_time_of_the_process(run):
    cell.compile_kernels(task(Waiting(), iterations=4))
    worked.clear()
    result = run(Waiting())
    assert len(worked) == 1 + 2 * 4  # init, and a step and a finalize for each checkpoint
    steps, last = worked[1::2], worked[-1]  # a finalize counts for its own checkpoint only
    assert result.train_seconds[-1] > worked[0] + sum(steps) + last
    assert result.process_cpu_seconds > 5 * WORK > 5 * result.total_cpu_seconds


class Foreign:
    """An array of another library that must be detached first, like a tensor of torch."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.nbytes = self.values.nbytes

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach it first")

    def detach(self):
        return self

    def cpu(self):
        return self.values


@dataclass(frozen=True)
class Booster(Perceptron):
    """A method with bytes outside of arrays, and without weights."""

    weights = None

    def state_bytes(self, state):
        return 1000


def test_arrays_of_other_libraries_count_and_are_searched_for_nan():
    state = {"layers": [Foreign(np.ones((3, 4), np.float32)), (np.ones(2), Foreign(np.arange(3)))]}
    bytes_held = 12 * 4 + 2 * 8 + 3 * 8
    assert state_bytes(Booster(), state) == 1000 + bytes_held
    assert state_bytes(Perceptron(), state) == bytes_held
    assert is_finite(Booster(), state)
    for wrong in (np.nan, np.inf):
        assert not is_finite(Booster(), {**state, "more": Foreign([1.0, wrong])})
    assert is_finite(Booster(), {**state, "best": Foreign(np.array(-np.inf))})  # a number, not a model


@pytest.mark.jax
def test_arrays_of_jax_count():
    import jax

    weights = jax.numpy.ones((5, 3))
    state = (weights, jax.random.key(0), jax.numpy.ones(4, jax.numpy.bfloat16))
    assert state_bytes(Perceptron(), state) == 15 * 4 + 8 + 4 * 2
    assert is_finite(Booster(), state)
    assert not is_finite(Booster(), (*state, weights.at[0, 0].set(jax.numpy.nan)))
    assert not is_finite(Booster(), (*state, jax.numpy.full(2, jax.numpy.inf, jax.numpy.bfloat16)))


shapes: list[tuple[int, ...]] = []


@dataclass(frozen=True)
class Shaped(Perceptron):
    """A method that records the shapes for which a compiler would generate code."""

    name: ClassVar[str] = "shaped"
    rows: int = 20

    def batch_size(self, n):
        return min(self.rows, n // 4)

    def step(self, state, batch):
        shapes.append((*batch.X.shape, batch.rows.shape[1]))
        return state


def shaped(access, rows=20, **functions):
    return type("Shaped", (Shaped,), {"access": access, **functions})(rows=rows)


def test_warm_up_trains_on_the_shapes_of_the_run():
    waiting = shaped(Access.full, wait=lambda self, state: None)  # `wait` declares a compiler such as XLA's
    for algorithm in (shaped(Access.minibatch), shaped(Access.minibatch, rows=40), waiting):
        job = task(algorithm, iterations=30)
        shapes.clear()
        assert cell.compile_kernels(job) == ""
        warm = set(shapes)
        shapes.clear()
        run_cell(job)
        assert set(shapes) == warm
    shapes.clear()
    cell.compile_kernels(task(shaped(Access.full)))
    assert all(shape[0] < len(Y) for shape in shapes)  # all rows would take as long as a pass


@dataclass(frozen=True)
class Choosy(Perceptron):
    """A method that refuses fewer than a hundred rows."""

    name: ClassVar[str] = "choosy"

    def init(self, problem, rng):
        if problem.n_samples < 100:
            raise ValueError("a hundred rows are needed")
        return super().init(problem, rng)


def test_a_warm_up_that_fails_is_told_in_every_outcome_of_the_setting():
    for _ in range(2):
        assert "a hundred rows are needed" in run_cell(task(Choosy(), iterations=5)).warm_up
    assert run_cell(task(Perceptron(), iterations=5)).warm_up == ""
