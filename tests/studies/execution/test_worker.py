"""Facts in a record: labels and counts of both classes, and an objective that fails."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import aucbench
from aucbench.cli.main import main
from aucbench.evaluation.measures import TrainingObjective
from aucbench.studies.store import Store
from tests.helpers.studies import entry, results, run_entries
from tests.helpers.study_methods import Gentle


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Overrides of a run on a table with 30 rows labelled bad and 70 rows labelled good."""
    rng = np.random.default_rng(0)
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    labels = ["bad"] * 30 + ["good"] * 70
    lines = ["{:.4f},{:.4f},{}".format(*rng.normal(size=2) + (label == "bad"), label) for label in labels]
    (tmp_path / "own.csv").write_text("\n".join(["a,b,label", *lines, ""]))
    return ["algo=psam", "dataset=csv", "dataset.path=own.csv", "dataset.target=label"]


def test_record_and_summary_name_the_positive_labels_and_count_both_classes(table, capsys):
    for _ in range(2):  # parsed, and opened from the cache
        data = aucbench.run(*table, "protocol.test_fraction=0.3").record["data"]
        assert (data["positive"], data["negative"]) == (["bad"], ["good"])
        assert (data["train_rows"], data["train_positives"]) == (70, 21)
        assert (data["test_rows"], data["test_positives"]) == (30, 9)
    data = aucbench.run(*table, "dataset.positive=good").record["data"]
    assert (data["positive"], data["negative"]) == (["good"], ["bad"])
    assert data["test_positives"] == 14
    assert main([*table, "tracking=none", "store.path=store"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("classes")]
    parts = ["positive label bad", "24 training", "6 test", "negative label good", "56 training", "14 test"]
    assert [part for part in parts if part not in line] == []


@dataclass(frozen=True)
class Misleading(Gentle):
    """A method whose `objective` raises an error."""

    name: ClassVar[str] = "fake_misleading"

    def objective(self, problem):
        raise TypeError("it is something else")


def test_an_objective_that_fails_is_a_missing_measure_and_no_failed_cell(tmp_path):
    store = Store(tmp_path / "store")
    planned = replace(entry(Misleading()), measures=(TrainingObjective(),))
    run_entries([planned], store)
    (cell,) = store
    measure = cell.record.measures["objective"]
    assert measure.value is None
    assert "it is something else" in measure.reason
    assert not store.listed()[1]
    plain = Store(tmp_path / "bare")
    run_entries([entry(Misleading())], plain)
    assert results(store) == results(plain)
