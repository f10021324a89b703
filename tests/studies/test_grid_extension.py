"""Grids that go on beyond their edges, and what tunings of real batch methods cost."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from msgspec import structs

import aucbench
from aucbench.cli.main import main
from aucbench.studies.default_settings import Budget
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from aucbench.studies.tuning_search import MOST_NEW
from tests.helpers.studies import contents, entry, plan_of, run_entries
from tests.helpers.study_methods import Clouds, Gentle


@dataclass(frozen=True)
class Peaked(Gentle):
    """Its AUC is largest where eta and slope are those of the peak, and falls with the distance."""

    name: ClassVar[str] = "peaked"
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"eta": (1.0, 10.0, 100.0)}
    slope: aucbench.Positive = 1.0
    peak: float = 0.001
    slope_peak: float = 1.0
    worst: float = 0.0  # below it the method diverges

    def step(self, w, batch):
        away = abs(np.log10(self.eta / self.peak)) + abs(np.log2(self.slope / self.slope_peak))
        found = np.ones(len(w)) + away * np.where(np.arange(len(w)) % 2, 1.0, -1.0)
        return found * np.nan if self.eta < self.worst else found


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def tuned(store, algorithm, grid=None, extend=True, **options):
    """What the record of the one cell of a study says of its tuning."""
    grid = None if grid is None else {algorithm.name: grid}
    clouds = Clouds(n=400, distance=0.3)
    one = entry(algorithm, clouds, tuning=Grid(folds=2, grid=grid, extend=extend), **options)
    assert run_entries([one], store).failures == []
    (cell,) = store
    return cell.record.tuned


def test_without_extension_the_edge_is_recorded_with_the_values_tried(store):
    found = tuned(store, Peaked(), extend=False)
    assert found.parameters == {"eta": 1.0}
    assert found.edges == {"eta": "lower"}
    assert found.space == {"eta": [1.0, 10.0, 100.0]}
    assert found.cost.settings == 3


def test_the_search_goes_on_until_the_best_value_is_inside(store):
    found = tuned(store, Peaked(), budget=Budget(epochs=2.0, checkpoints=2))
    assert found.parameters == {"eta": 0.001}
    assert found.edges == {}
    assert found.space == {"eta": [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}
    assert found.cost.settings == 7
    assert found.cost.passes == pytest.approx(2.0 * 2 * 7)
    assert len(found.trials) == 14


@pytest.mark.parametrize(
    ("method", "chosen", "edge", "values"),
    [
        (Peaked(peak=10.0), 10.0, {}, 3),  # an optimum inside needs no extension
        (Peaked(peak=1e-30), 1.0 / 10.0**MOST_NEW, {"eta": "lower"}, 3 + MOST_NEW),  # an extension is bounded
        (Peaked(worst=0.05), 0.1, {}, 5),  # values beyond the edge that diverge leave the best one inside
    ],
)
def test_an_extension_ends(method, chosen, edge, values, store):
    found = tuned(store, method)
    assert found.parameters == {"eta": pytest.approx(chosen)}
    assert (found.edges, len(found.space["eta"])) == (edge, values)


def test_an_extended_grid_chooses_what_a_search_of_all_its_combinations_does(store, tmp_path):
    grid = {"eta": [1.0, 10.0], "slope": [4.0, 8.0, 16.0]}
    found = tuned(store, Peaked(slope_peak=0.5), grid)
    assert found.edges == {}
    assert found.parameters == {"eta": 0.001, "slope": 0.5}
    whole = tuned(Store(tmp_path / "whole"), Peaked(slope_peak=0.5), found.space, extend=False)
    assert (found.parameters, found.validation_auc) == (whole.parameters, whole.validation_auc)
    assert found.cost.settings == whole.cost.settings == 6 * 7


def test_another_extension_is_another_search(tmp_path):
    keys = set()
    for extend in (False, True):
        one = entry(Peaked(), tuning=Grid(extend=extend))
        (planned,) = plan_of([one], Store(tmp_path)).entries
        keys.add(planned.cells[0].search.key)
    assert len(keys) == 2


@pytest.mark.parametrize("kept", [0, 1, 5, 6, 7, 10, 13])
def test_an_extended_search_goes_on_from_stored_trials_as_if_it_had_not_been_interrupted(kept, tmp_path):
    whole, cut = Store(tmp_path / "whole"), Store(tmp_path / "cut")
    tuned(whole, Peaked())
    (file,) = (whole.path / "trials").rglob("*.jsonl")
    cut.add_trials(file.stem, whole.trials(file.stem)[:kept])
    tuned(cut, Peaked())
    assert contents(cut) == contents(whole)


def test_trials_of_an_extension_that_went_elsewhere_are_not_taken_for_those_of_this_one(tmp_path):
    whole, other = Store(tmp_path / "whole"), Store(tmp_path / "other")
    found = tuned(whole, Peaked())
    (file,) = (whole.path / "trials").rglob("*.jsonl")
    wrong = [
        structs.replace(trial, parameters={"eta": 1000.0}, auc=1.0)
        for trial in whole.trials(file.stem)
        if trial.number > 3
    ]
    other.add_trials(file.stem, wrong)
    assert tuned(other, Peaked()).parameters == found.parameters


def test_the_summary_names_the_chosen_settings_and_the_edges(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["algo=ls_svm", "tuning=grid", "tuning.folds=2", "tracking=none", "runs=2"]
    grid = "tuning.grid={ls_svm: {lam: [100, 1000]}}"
    assert main([*words, grid]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:11])
    assert lines["tuned"] == "lam=100"
    assert "lam at the lower edge of its grid in 2 of 2 runs" in lines["edge"]
    assert main(["-m", *words, grid, "dataset=breast_cancer,digits"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert sum("tuned: lam=" in line for line in out) == 2
    assert sum(line.startswith("ls_svm: lam at the lower edge") and "of 4 runs" in line for line in out) == 1
    assert main([*words, grid, "tuning.extend=true"]) == 0
    assert "edge" not in capsys.readouterr().out
