"""Tunings in a study: the tried settings, the chosen setting, the cost, and the stored trials."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucbench.cli.main import main
from aucbench.data.splits.protocols import KFold, TrainValidTest
from aucbench.studies.default_settings import Budget
from aucbench.studies.execution.tuning_search import choose
from aucbench.studies.record import Trial
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid, Optuna
from tests.helpers.studies import contents, entry, results, run_entries, trials_of
from tests.helpers.study_methods import COUNTER, Diverging, Gentle, Raising


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    """A function that returns the number of trainings so far."""
    folder = tmp_path / "counter"
    folder.mkdir()
    monkeypatch.setenv(COUNTER, str(folder))
    return lambda: len(list(folder.iterdir()))


def test_a_grid_tries_every_point_on_every_fold_and_the_cell_trains_with_the_best(store, trainings, tmp_path):
    run_entries([entry(Gentle(), tuning=Grid(folds=3))], store)
    trials = trials_of(store)
    assert [(t.number, t.fold, t.parameters["eta"]) for t in trials] == [
        (number, fold, eta) for number, eta in enumerate((0.01, 0.1, 1.0)) for fold in range(3)
    ]
    assert trainings() == 3 * 3 + 1
    means = [np.mean([t.auc for t in trials if t.number == number]) for number in range(3)]
    (cell,) = store
    tuned = cell.record.tuned
    assert tuned.parameters == {"eta": (0.01, 0.1, 1.0)[int(np.argmax(means))]}
    assert (tuned.validation_auc, tuned.folds) == (max(means), 3)
    assert len(tuned.trials) == tuned.cost.trainings == 9
    for cost in ("passes", "train_seconds"):
        assert getattr(tuned.cost, cost) == pytest.approx(sum(getattr(t, cost) for t in tuned.trials))
    assert tuned.space == {"eta": [0.01, 0.1, 1.0]}
    run_entries(
        [entry(Gentle(), tuning=Grid(folds=2), runs=3, split_seed=0)], orders := Store(tmp_path / "orders")
    )
    assert trainings() == 10 + 6 + 3  # one search serves all orders of a split
    assert len({repr(cell.record.tuned) for cell in orders}) == 1


@dataclass(frozen=True)
class Choosy(Gentle):
    """A method that refuses one pair of values, and raises in training with another."""

    name: ClassVar[str] = "choosy"
    grid: ClassVar[dict[str, Any]] = {"eta": (0.01, 0.1, 1.0), "shrink": (0.0, 0.1)}

    def __post_init__(self):
        super().__post_init__()
        if self.eta == 1.0 and self.shrink:
            raise ValueError("eta=1 does not shrink")

    def harm(self):
        if self.eta == 0.1 and not self.shrink:
            raise RuntimeError("out of luck")


def test_settings_that_raise_or_refuse_their_values_drop_out_and_say_why(store):
    run_entries([entry(Choosy(), tuning=Grid(folds=2))], store)
    errors = {(t.parameters["eta"], t.parameters["shrink"]): t.error for t in trials_of(store)}
    assert errors.pop((0.1, 0.0)).startswith("RuntimeError: out of luck (test_search.py, line ")
    assert errors.pop((1.0, 0.1)).startswith("ValueError: eta=1 does not shrink (test_search.py, line ")
    assert not any(errors.values())
    assert len(list(store)) == 1


def test_a_tuning_without_a_usable_setting_says_why_and_tries_again_what_failed_and_not_what_diverged(
    store, trainings, monkeypatch
):
    tuning = Grid(folds=2, grid={"fake_raising": {"eta": [1, 2]}})
    study = [entry(Raising(), tuning=tuning), entry(Diverging(), tuning=Grid(folds=2), runs=2, split_seed=0)]
    failures = run_entries(study, store).failures
    assert [failure.reason for failure in failures] == ["failed", "diverged", "diverged"]
    assert "4 times RuntimeError: out of luck" in failures[0].message
    assert "no setting of its tuning gave an AUC: 6 times diverged" in failures[1].message
    assert trainings() == 4 + 6
    run_entries(study, store)
    assert trainings() == 4 + 6
    assert len(run_entries(study, store, only_failed=True).failures) == 3
    assert trainings() == 4 + 6 + 4
    monkeypatch.setattr(Raising, "harm", lambda self: None)  # the error is fixed
    assert [item.reason for item in run_entries(study, store, only_failed=True).failures] == ["diverged"] * 2
    assert [cell.record.tuned.cost.trainings for cell in store] == [4]


def test_each_fold_has_a_search_and_a_validation_part_takes_the_place_of_inner_folds(tmp_path):
    for protocol, searches, folds in ((KFold(folds=3), 3, 2), (TrainValidTest(), 1, 1)):
        store = Store(tmp_path / protocol.name)
        run_entries([entry(Gentle(), protocol=protocol, tuning=Grid(folds=2))], store)
        assert len(list((store.path / "trials").rglob("*.jsonl"))) == searches
        assert len(trials_of(store)) == searches * 3 * folds
        pairs = [(cell.record.fold, cell.record.tuned.folds) for cell in store]
        assert sorted(pairs) == [(fold, folds) for fold in range(searches)]


@pytest.mark.slow
@pytest.mark.parametrize("tuning", [Optuna(trials=6, folds=2), Grid(folds=2)], ids=lambda tuning: tuning.name)
def test_a_trials_file_that_was_cut_anywhere_gives_the_same_end(tuning, tmp_path):
    complete, subject = Store(tmp_path / "whole"), entry(Gentle(), tuning=tuning)
    run_entries([subject], complete)
    (file,) = (complete.path / "trials").rglob("*.jsonl")
    text = file.read_bytes()
    for size in (0, text.index(b"\n"), 2 * len(text) // 3):
        cut = Store(tmp_path / f"cut-{size}")
        torn = cut.path / file.relative_to(complete.path)
        torn.parent.mkdir(parents=True)
        torn.write_bytes(text[:size])
        run_entries([subject], cut)
        assert contents(cut) == contents(complete)


def test_the_summary_names_the_chosen_settings_and_the_edges(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    overrides = ["algo=ls_svm", "tuning=grid", "tuning.folds=2", "tracking=none", "runs=2"]
    grid = "tuning.grid={ls_svm: {lam: [100, 1000]}}"
    assert main([*overrides, grid]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:11])
    assert lines["tuned"] == "lam=100"
    assert "lam at the lower edge of its grid in 2 of 2 runs" in lines["edge"]
    assert main(["-m", *overrides, grid, "dataset=breast_cancer,digits"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert sum("tuned: lam=" in line for line in out) == 2
    assert sum(line.startswith("ls_svm: lam at the lower edge") and "of 4 runs" in line for line in out) == 1


@pytest.mark.parametrize("budget", [Budget(checkpoints=4), Budget(seconds=3.0, checkpoints=4)])
@pytest.mark.parametrize(("name", "values"), [("epochs", [0.1, 1.0]), ("iterations", [5, 100])])
def test_the_cell_is_that_of_the_chosen_budget_and_setting_given_by_hand(
    name, values, budget, store, tmp_path
):
    grid = {"fake_gentle": {f"budget.{name}": values, "eta": [0.01, 0.1]}}
    run_entries([entry(Gentle(), tuning=Grid(folds=2, grid=grid), budget=budget)], store)
    (cell,) = store
    tuned, rows = cell.record.tuned, cell.record.data.train_rows
    assert len(tuned.trials) == 4 * 2
    for trial in tuned.trials:
        tried = trial.parameters[f"budget.{name}"]
        expected = tried if name == "epochs" else tried / (rows / 2)
        assert trial.passes == pytest.approx(expected, rel=0.05)
    manual = Store(tmp_path / "other")
    by_hand = Budget(checkpoints=4, **{name: tuned.parameters[f"budget.{name}"]})
    run_entries([entry(Gentle(eta=tuned.parameters["eta"]), budget=by_hand)], manual)
    assert results(store) == results(manual)


@dataclass(frozen=True)
class Watched(Gentle):
    """A method with validation rows; its weights are their number."""

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
    (record,) = (cell.record for cell in store)
    assert {trial.parameters["validation"] for trial in record.tuned.trials} == {0.1, 0.5}
    assert all(trial.auc is not None for trial in record.tuned.trials)
    share = record.tuned.parameters["validation"]
    assert record.data.validation_rows == pytest.approx(share * record.data.train_rows, abs=1)
    epochs = record.result.iterations / (record.data.train_rows - record.data.validation_rows)
    assert epochs == pytest.approx(200.0, rel=0.1)  # epochs of the rows not held out


AUCS = st.lists(st.lists(st.sampled_from((None, 0.0, 0.25, 0.5, 1.0)), min_size=2, max_size=3), max_size=5)


@given(AUCS, st.randoms(use_true_random=False))
def test_the_largest_mean_over_folds_of_those_that_ended_everywhere_wins_and_the_first_of_equals(
    settings, random
):
    trials = [
        Trial(number=number, fold=fold, parameters={}, auc=auc, stop_reason="budget")
        for number, folds in enumerate(settings)
        for fold, auc in enumerate(folds)
    ]
    random.shuffle(trials)
    means = {number: sum(folds) / len(folds) for number, folds in enumerate(settings) if None not in folds}
    chosen = choose(trials)
    winners = None if chosen is None else [(trial.number, trial.fold) for trial in chosen]
    best = max(means, key=means.get, default=None)  # the first of equals
    assert winners == (None if best is None else [(best, fold) for fold in range(len(settings[best]))])
