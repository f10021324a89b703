"""Measures beside the AUC in MLflow, and entries that got more of them after they were logged."""

import numpy as np
import pytest

import aucbench
from aucbench.analysis import rescore
from aucbench.studies.store import Store
from aucbench.tracking.client import Connection
from aucbench.tracking.tracker import sync
from tests.tracking.conftest import runs_of

WORDS = ("algo=psam", "runs=2", "study=mine", "budget.epochs=1", "tracking=mlflow")


def only_run(uri):
    (run,) = runs_of(uri)
    return Connection(uri).client, run


def test_measures_are_metrics_along_the_curve_with_their_parameters(uri, tmp_path):
    asked = ("metrics=[ap,pauc,objective]", "pauc.max_fpr=0.2", f"tracking.uri={uri}")
    result = aucbench.run(*WORDS, *asked, f"store.path={tmp_path / 's'}")
    client, run = only_run(uri)
    histories = {}
    for metric in ("test/ap", "test/pauc", "train/objective", "train/suboptimality"):
        points = client.get_metric_history(run.info.run_id, metric)
        histories[metric] = [point.value for point in points]
        expected = list(result.curve[metric.partition("/")[2]])
        assert histories[metric] == pytest.approx(expected, abs=1e-12)
    assert run.data.metrics["test/ap"] == pytest.approx(result.measures["ap"])
    assert "test/objective" not in run.data.metrics  # it is one of the training rows
    minima = [cell.record.measures["objective"].minimum.value for cell in result.cells]
    ends = [cell.curve["objective"][-1] / least - 1 for cell, least in zip(result.cells, minima, strict=True)]
    assert histories["train/suboptimality"][-1] == pytest.approx(np.mean(ends))
    assert run.data.params["pauc.max_fpr"] == "0.2"
    assert run.data.tags["metrics"] == "ap, pauc(max_fpr=0.2), objective"


def test_an_entry_that_was_rescored_is_logged_again_in_the_place_of_the_old_run(uri, tmp_path):
    store = Store(tmp_path / "s")
    aucbench.run(*WORDS, f"tracking.uri={uri}", f"store.path={store.path}")
    _, before = only_run(uri)
    assert "test/ap" not in before.data.metrics
    assert sync(store, uri, store.plans()).sent == 0
    assert rescore(store, "mine", ["ap"]).scored == 2
    assert sync(store, uri, store.plans()).sent == 1
    client, after = only_run(uri)
    assert after.info.run_id != before.info.run_id
    values = [cell.record.measures["ap"].value for cell in store]
    (point,) = client.get_metric_history(after.info.run_id, "test/ap")  # the weights at the end were kept
    assert point.value == pytest.approx(sum(values) / 2)
    assert sync(store, uri, store.plans()).sent == 0
