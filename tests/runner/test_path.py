"""Settings of a method with full access, each started from its neighbour's solution."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench.runner.cell import run_cell
from aucbench.runner.grid import run_grid
from aucbench.runner.task import StopReason, Task
from aucbench_algorithms import _newton
from tests.helpers.fake_plugins import CountingState, Iterating
from tests.helpers.training import difference, random_problem

VALUES = [1.0, 2.0**-10, 64.0, 2.0**-4, 2.0**-7]  # in no order
FIELDS = {"bam": "C", "log_reg": "C", "ls_svm": "lam", "svm_or": "lam", "uni_log": "lam", "uni_square": "lam"}
FORMS = {"dense": np.asarray, "csr": sparse.csr_matrix, "float32": lambda X: X.astype(np.float32)}


def tasks(name, rows, features, form="dense", **options):
    """One task for each value, on rows with a different test part."""
    catalog = aucbench.catalog()
    cls = catalog.algorithm(name)
    X, y = random_problem(1, rows, features)
    X_test, y_test = random_problem(2, 150, features)
    data = FORMS[form](X), y, FORMS[form](X_test), y_test
    loss = catalog.loss(cls.losses[0])()
    return [Task(cls(**{FIELDS[name]: value}), loss, *data, checkpoints=1, **options) for value in VALUES]


def assert_agrees(together, single):
    assert together.stop_reason is single.stop_reason is StopReason.converged
    assert together.auc[-1] == pytest.approx(single.auc[-1], abs=1e-9)
    assert difference(together.weights, single.weights) < 1e-7


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize(
    ("form", "shape", "largest"),
    [
        ("dense", (300, 12), None), ("dense", (40, 90), None), ("csr", (40, 90), None),
        ("float32", (300, 12), None), ("dense", (120, 30), 5),  # systems that are not factored
    ],
)  # fmt: skip
def test_a_path_gives_what_each_setting_gives_alone(name, form, shape, largest, monkeypatch):
    if largest and name != "svm_or":
        monkeypatch.setattr(_newton, "LARGEST_FACTORED", largest)
        monkeypatch.setattr("aucbench_algorithms._pair_newton.LARGEST_GRAM", largest)
    group = tasks(name, *shape, form, weights=np.random.default_rng(3).uniform(0.5, 3.0, shape[0]))
    for outcome, task in zip(run_grid(group), group, strict=True):
        single = run_cell(task)
        assert_agrees(outcome, single)
        if not largest and name in ("ls_svm", "uni_square"):  # closed forms
            assert outcome.weights.tobytes() == single.weights.tobytes()


@dataclass(frozen=True)
class Following(Iterating):
    """Records the starts of its settings; a setting that starts from another behaves as in `then`."""

    name: ClassVar[str] = "following"
    value: float = 1.0
    flag: bool = False
    then: str = "converges"
    starts: ClassVar[list[tuple[float, object]]] = []

    def init_from(self, problem, rng, state):
        self.starts.append((self.value, state and state.steps))
        if state is None:
            return self.init(problem, rng)
        if self.then == "raises":
            raise ArithmeticError
        start = CountingState(np.zeros(problem.n_features), self.needed - 1)
        return start._replace(steps=-(10**6)) if self.then == "wanders" else start

    def step(self, state, batch):
        state = super().step(state, batch)
        return state._replace(w=state.w + np.nan) if self.then == "diverges" else state


def followed(*settings, **options):
    """Tasks of these settings on the same 60 random rows."""
    X, y = random_problem(1, 60, 4)
    return [Task(setting, None, X, y, X, y, checkpoints=1, **options) for setting in settings]


@pytest.fixture(autouse=True)
def _no_starts():
    Following.starts.clear()


def test_the_path_goes_from_the_largest_value_to_the_smallest_and_results_keep_their_order():
    group = followed(*(Following(needed=3 + k, value=value) for k, value in enumerate((0.1, 10.0, 1.0))))
    outcomes = run_grid(group)
    assert Following.starts == [(1.0, None), (10.0, 5), (0.1, 4)]  # by `needed`, the first numeric field
    assert [outcome.iterations for outcome in outcomes] == [1, 1, 5]


def test_the_default_and_flags_have_paths_of_their_own():
    run_grid(followed(*(Following(value=value) for value in (None, 0.1, 10.0))))
    assert {value: start is None for value, start in Following.starts} == {10.0: True, 0.1: False, None: True}
    Following.starts.clear()
    run_grid(followed(*(Following(value=value, flag=flag) for value in (1.0, 2.0) for flag in (True, False))))
    assert sorted(Following.starts, key=str) == [(1.0, 7), (1.0, 7), (2.0, None), (2.0, None)]


@pytest.mark.parametrize("behaviour", ["wanders", "raises"])
def test_one_that_does_not_converge_from_its_neighbour_runs_by_itself(behaviour):
    shares = []
    group = followed(Following(value=3.0), Following(value=2.0, then=behaviour), Following(value=1.0))
    outcomes = run_grid(group, shares.append)
    assert [outcome.stop_reason for outcome in outcomes] == [StopReason.converged] * 3
    assert [outcome.iterations for outcome in outcomes] == [7, 7, 1]
    assert np.all(np.diff(shares) >= 0.0)
    assert shares[-1] == pytest.approx(1.0)


def test_one_that_diverges_is_nobodys_neighbour():
    group = followed(Following(value=3.0, then="diverges"), Following(value=2.0), Following(value=1.0))
    outcomes = run_grid(group)
    assert [str(outcome.stop_reason) for outcome in outcomes] == ["diverged", "converged", "converged"]
    assert Following.starts == [(3.0, None), (2.0, None), (1.0, 7)]


@pytest.mark.parametrize("budget", [{"epochs": 9}, {"iterations": 9}, {"seconds": 0.05}])
def test_a_run_with_a_budget_begins_at_its_own_start(budget):
    group = followed(Following(value=3.0), Following(value=2.0), **budget)
    assert [outcome.iterations for outcome in run_grid(group)] == [7, 7]
    assert Following.starts == []
