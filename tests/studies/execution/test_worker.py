"""Facts in a record: labels and counts of both classes, the largest norm, the reason of a failure."""

import inspect
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import aucbench
from aucbench.cli.main import main
from aucbench.evaluation.measures import TrainingObjective
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from tests.helpers.studies import entry, results, run_entries
from tests.helpers.study_methods import Gentle, Raising


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table with 30 rows labelled bad and 70 labelled good, and the words that run a method on it."""
    rng = np.random.default_rng(0)
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    lines = ["a,b,label"]
    for row in range(100):
        x = rng.normal(size=2) + (row < 30)
        lines.append(f"{x[0]:.4f},{x[1]:.4f},{'bad' if row < 30 else 'good'}")
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n")
    return ["algo=psam", "dataset=csv", "dataset.path=own.csv", "dataset.target=label"]


def test_the_record_names_the_positive_labels_and_counts_both_classes_also_from_the_cache(table):
    for _ in range(2):  # parsed, and opened from the cache
        data = aucbench.run(*table, "protocol.test_fraction=0.3").record["data"]
        assert (data["positive"], data["negative"]) == (["bad"], ["good"])
        assert (data["train_rows"], data["train_positives"]) == (70, 21)
        assert (data["test_rows"], data["test_positives"]) == (30, 9)
    data = aucbench.run(*table, "dataset.positive=good").record["data"]
    assert (data["positive"], data["negative"]) == (["good"], ["bad"])
    assert data["test_positives"] == 14


def test_the_summary_of_a_run_names_the_positive_label_and_the_counts(table, capsys):
    assert main([*table, "tracking=none", "store.path=store"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("classes")]
    parts = ["positive label bad", "24 training", "6 test", "negative label good", "56 training", "14 test"]
    assert [part for part in parts if part not in line] == []


@dataclass(frozen=True)
class Flat(Gentle):
    """Returns scores of a wrong shape, and has no weights from which they could be computed."""

    name: ClassVar[str] = "fake_flat"
    weights: ClassVar = property(lambda self: self.missing)

    def score(self, w, X):
        return (X @ w)[:, None]


@pytest.mark.parametrize(
    ("method", "tuning", "function", "file"),
    [
        (Raising(), None, Raising.harm, "study_methods.py"),
        (Raising(), Grid(folds=2), Raising.harm, "study_methods.py"),
        (Flat(), None, Flat.score, "test_worker.py"),
    ],
)
def test_a_failure_names_the_file_and_the_line_of_the_plugin(method, tuning, function, file, tmp_path):
    (failure,) = run_entries([entry(method, tuning=tuning)], Store(tmp_path)).failures
    first = inspect.getsourcelines(function)[1]
    found = re.search(rf"\({file}, line (\d+), in {function.__name__}\)", failure.message)
    assert found is not None, failure.message
    assert first <= int(found[1]) <= first + 1


@dataclass(frozen=True)
class Misleading(Gentle):
    """Its `objective` cannot be called."""

    name: ClassVar[str] = "fake_misleading"

    def objective(self, problem):
        raise TypeError("it is something else")


def test_an_objective_that_fails_is_a_missing_measure_and_no_failed_cell(tmp_path):
    store = Store(tmp_path / "store")
    asked = replace(entry(Misleading()), measures=(TrainingObjective(),))
    run_entries([asked], store)
    (cell,) = store
    measure = cell.record.measures["objective"]
    assert measure.value is None
    assert "it is something else" in measure.reason
    assert not store.listed()[1]
    bare = Store(tmp_path / "bare")
    run_entries([entry(Misleading())], bare)
    assert results(store) == results(bare)
