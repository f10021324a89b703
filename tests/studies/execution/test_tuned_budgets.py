"""Tunings that choose the budget: its epochs or iterations, beside the fields of a method."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from aucbench.studies.default_settings import Budget
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from tests.helpers.studies import entry, results, run_entries
from tests.helpers.study_methods import Gentle


@dataclass(frozen=True)
class Waning(Gentle):
    """Its scores are the better the longer it trains, up to a length."""

    name: ClassVar[str] = "fake_waning"
    grid: ClassVar = {}
    best: int = 20

    def init(self, problem, rng):
        return (0, rng.normal(size=problem.n_features))

    def step(self, state, batch):
        w = state[1] + sum((label * x for x, label in batch), start=0.0)
        return (state[0] + len(batch), w)

    weights = None

    def score(self, state, X):
        noise = np.random.default_rng(0).normal(size=X.shape[0])
        return X @ state[1] + 100.0 * abs(np.log(state[0] / self.best)) * noise


GRID = {"fake_waning": {"budget.iterations": [5, 20, 100]}}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def only(store):
    (cell,) = store
    return cell


@pytest.mark.parametrize("budget", [Budget(), Budget(seconds=3.0), Budget(epochs=0.5)])
def test_the_chosen_iterations_are_those_of_the_final_training(store, budget):
    run_entries([entry(Waning(), tuning=Grid(folds=2, grid=GRID), budget=budget)], store)
    record = only(store).record
    assert record.tuned.parameters == {"budget.iterations": 20}
    assert record.result.iterations == 20
    assert record.tuned.edges == {}
    rows = record.data.train_rows
    for trial in record.tuned.trials:
        assert trial.passes == pytest.approx(trial.parameters["budget.iterations"] / (rows / 2), rel=0.05)
    assert record.tuned.cost.passes == sum(trial.passes for trial in record.tuned.trials)


def test_the_cell_is_that_of_the_chosen_setting_given_by_hand(store, tmp_path):
    grid = {"fake_gentle": {"budget.epochs": [0.1, 1], "eta": [0.01, 0.1]}}
    run_entries([entry(Gentle(), tuning=Grid(folds=2, grid=grid))], store)
    chosen = only(store).record.tuned.parameters
    assert len(only(store).record.tuned.trials) == 4 * 2
    other = Store(tmp_path / "other")
    budget = Budget(epochs=chosen["budget.epochs"], checkpoints=4)
    run_entries([entry(replace(Gentle(), eta=chosen["eta"]), budget=budget)], other)
    assert results(store) == results(other)


@dataclass(frozen=True)
class Watched(Gentle):
    """Has validation rows, and counts them in its model."""

    name: ClassVar[str] = "fake_watched"
    grid: ClassVar = {"validation": (0.1, 0.5)}
    validation: float = 0.25

    def init(self, problem, rng):
        assert len(problem.validation.y) == pytest.approx(
            self.validation / (1.0 - self.validation) * problem.n_samples, abs=2
        )
        return np.full(problem.n_features, float(len(problem.validation.y)))


def test_a_cell_and_every_trial_hold_out_the_tuned_share_of_their_rows(store):
    run_entries([entry(Watched(), tuning=Grid(folds=2))], store)
    record = only(store).record
    assert {trial.parameters["validation"] for trial in record.tuned.trials} == {0.1, 0.5}
    assert all(trial.auc is not None for trial in record.tuned.trials)
    share = record.tuned.parameters["validation"]
    assert record.data.validation_rows == pytest.approx(share * record.data.train_rows, abs=1)
    epochs = record.result.iterations / (record.data.train_rows - record.data.validation_rows)
    assert epochs == pytest.approx(200.0, rel=0.1)  # of the rows that are left
