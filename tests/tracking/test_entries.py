"""Logging of entries and their measures to a real MLflow store in an SQLite file."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

import aucbench
from aucbench.analysis import rescore
from aucbench.studies.method_look import colour
from aucbench.studies.store import Store
from aucbench.tracking.client import Connection
from aucbench.tracking.tracker import sync
from tests.tracking.conftest import runs_of


@pytest.fixture(scope="module")
def logged(tmp_path_factory, empty_file):
    """Folder, result, MLflow client, MLflow run, overrides and experiment of three logged runs of solam."""
    folder = tmp_path_factory.mktemp("tracking")
    for name in ("mlflow.db", "other.db"):
        shutil.copyfile(empty_file, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        config = ["algo=solam", "algo.zeta=2", "runs=3", "study=first", "tracking=mlflow", "store.path=store"]
        result = aucbench.run(*config)
        client = MlflowClient("sqlite:///mlflow.db")
        experiment = client.get_experiment_by_name("breast_cancer")
        runs = client.search_runs([experiment.experiment_id])
        assert len(runs) == 1
        yield folder, result, client, runs[0], config, experiment.experiment_id


@pytest.mark.slow
def test_the_run_is_flat_and_its_curve_lies_over_training_time(logged):
    _, result, client, run, _, _ = logged
    assert (run.info.status, run.info.run_name) == ("FINISHED", "solam zeta=2")
    assert "mlflow.parentRunId" not in run.data.tags
    assert run.data.tags["mlflow.runColor"] == colour("solam", "zeta=2")
    expected = {"algo.zeta": "2.0", "scaling": "auto", "data.positive": "0", "data.test_positives": "42"}
    assert run.data.params.items() >= expected.items()
    curve, begin = result.curve, run.info.start_time
    for name, column in (("test/auc", "auc"), ("cost/train_seconds", "train_seconds")):
        points = client.get_metric_history(run.info.run_id, name)
        assert [point.step for point in points] == list(curve["iteration"])
        assert [point.value for point in points] == pytest.approx(list(curve[column]), abs=1e-12)
        times = [begin + round(seconds * 1000) for seconds in curve["train_seconds"]]
        assert [point.timestamp for point in points] == times


def test_all_cells_are_one_parquet_file_and_their_records_are_kept(logged, tmp_path):
    _, result, client, run, _, _ = logged
    folder = Path(client.download_artifacts(run.info.run_id, "", str(tmp_path)))
    last = pd.read_parquet(folder / "cells.parquet").groupby("seed")["auc"].last()
    assert last.to_dict() == {seed: cell.auc for seed, cell in enumerate(result.cells)}
    environment = json.loads((folder / "records.json").read_text())[0]["environment"]
    assert environment["packages"]["numba"]
    assert environment["concurrency"] == 1
    assert environment["cpu"]


def test_an_entry_is_logged_once_per_address_until_its_run_is_gone(logged):
    _, _, client, run, config, experiment = logged
    aucbench.run(*config)
    assert len(client.search_runs([experiment])) == 1
    aucbench.run(*config, "tracking.uri=sqlite:///other.db")
    assert len(runs_of("sqlite:///other.db")) == 1
    aucbench.run("algo=solam", "algo.zeta=3", "tracking=mlflow", "store.path=store")
    assert len(client.search_runs([experiment])) == 2
    assert run.info.run_id in {candidate.info.run_id for candidate in client.search_runs([experiment])}


WORDS = ("algo=psam", "runs=2", "study=mine", "budget.epochs=1", "tracking=mlflow")


def only_run(uri):
    (run,) = runs_of(uri)
    return Connection(uri).client, run


def test_measures_are_metrics_along_the_curve_with_their_parameters(uri, tmp_path):
    overrides = ("metrics=[ap,pauc,objective]", "pauc.max_fpr=0.2", f"tracking.uri={uri}")
    result = aucbench.run(*WORDS, *overrides, f"store.path={tmp_path / 's'}")
    client, run = only_run(uri)
    histories = {}
    for metric in ("test/ap", "test/pauc", "train/objective", "train/suboptimality"):
        points = client.get_metric_history(run.info.run_id, metric)
        histories[metric] = [point.value for point in points]
        expected = list(result.curve[metric.partition("/")[2]])
        assert histories[metric] == pytest.approx(expected, abs=1e-12)
    assert run.data.metrics["test/ap"] == pytest.approx(result.measures["ap"])
    assert "test/objective" not in run.data.metrics  # the objective is over the training rows
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
    (point,) = client.get_metric_history(after.info.run_id, "test/ap")  # only the final weights were stored
    assert point.value == pytest.approx(sum(values) / 2)
    assert sync(store, uri, store.plans()).sent == 0
