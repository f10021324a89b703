"""Logging to a real MLflow store in an SQLite file."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from mlflow import MlflowClient

import aucbench
from aucbench.studies.method_look import colour
from tests.tracking.conftest import runs_of


@pytest.fixture(scope="module")
def logged(tmp_path_factory, empty_file):
    """Three runs of solam, logged; the folder, the result and MLflow's client and run."""
    folder = tmp_path_factory.mktemp("tracking")
    for name in ("mlflow.db", "other.db"):
        shutil.copyfile(empty_file, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["algo=solam", "algo.zeta=2", "runs=3", "study=first", "tracking=mlflow", "store.path=store"]
        result = aucbench.run(*words)
        client = MlflowClient("sqlite:///mlflow.db")
        experiment = client.get_experiment_by_name("breast_cancer")
        runs = client.search_runs([experiment.experiment_id])
        assert len(runs) == 1
        yield folder, result, client, runs[0], words, experiment.experiment_id


def test_the_run_is_flat_and_its_curve_lies_over_training_time(logged):
    _, result, client, run, _, _ = logged
    assert (run.info.status, run.info.run_name) == ("FINISHED", "solam zeta=2")
    assert "mlflow.parentRunId" not in run.data.tags
    assert run.data.tags["mlflow.runColor"] == colour("solam", "zeta=2")
    expected = {"algo.zeta": "2.0", "scaling": "auto", "rescale": "True"}
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
    _, _, client, run, words, experiment = logged
    aucbench.run(*words)
    assert len(client.search_runs([experiment])) == 1
    aucbench.run(*words, "tracking.uri=sqlite:///other.db")
    assert len(runs_of("sqlite:///other.db")) == 1
    aucbench.run("algo=solam", "algo.zeta=3", "tracking=mlflow", "store.path=store")
    assert len(client.search_runs([experiment])) == 2
    assert run.info.run_id in {found.info.run_id for found in client.search_runs([experiment])}


def test_files_of_ones_own_are_experiments_of_their_own(uri, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
        aucbench.run("algo=solam", "dataset=libsvm", f"dataset.path={name}", "tracking=mlflow")
    experiments = {found.name for found in MlflowClient(uri).search_experiments()}
    assert {"one.txt", "two.txt"} <= experiments
