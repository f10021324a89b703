"""Logging to a real MLflow store in an SQLite file."""

import json
import shutil

import pytest

import aucbench
from aucbench.studies.method_look import colour


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
        from mlflow import MlflowClient

        client = MlflowClient("sqlite:///mlflow.db")
        experiment = client.get_experiment_by_name("breast_cancer")
        runs = client.search_runs([experiment.experiment_id])
        assert len(runs) == 1
        yield folder, result, client, runs[0], words, experiment.experiment_id


def test_the_run_is_flat_finished_and_described(logged):
    _, _, _, run, _, _ = logged
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "solam zeta=2"
    assert "mlflow.parentRunId" not in run.data.tags
    assert run.data.tags["study"] == "first"
    assert run.data.tags["mlflow.runColor"] == colour("solam", "zeta=2")
    assert run.data.params["algo.zeta"] == "2.0"
    assert run.data.params["scaling"] == "standard"
    assert run.data.params["rescale"] == "True"


def test_the_curve_lies_over_training_time(logged):
    _, result, client, run, _, _ = logged
    points = client.get_metric_history(run.info.run_id, "test/auc")
    curve = result.curve
    assert [point.step for point in points] == list(curve["iteration"])
    assert [point.value for point in points] == pytest.approx(list(curve["auc"]), abs=1e-12)
    begin = run.info.start_time
    expected = [begin + round(seconds * 1000) for seconds in curve["train_seconds"]]
    assert [point.timestamp for point in points] == expected
    exact = client.get_metric_history(run.info.run_id, "cost/train_seconds")
    assert [point.value for point in exact] == pytest.approx(list(curve["train_seconds"]), abs=1e-12)


def test_all_cells_are_one_parquet_file_and_their_records_are_kept(logged, tmp_path):
    import pandas as pd

    _, result, client, run, _, _ = logged
    assert {each.tags[0].value for each in run.inputs.dataset_inputs} == {"train", "test"}
    names = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert names == {"cells.parquet", "records.json", "weights.npz", "curve.png"}
    folder = client.download_artifacts(run.info.run_id, "", str(tmp_path))
    cells = pd.read_parquet(f"{folder}/cells.parquet")
    assert sorted(cells["seed"].unique()) == [0, 1, 2]
    last = cells.groupby("seed")["auc"].last()
    assert list(last) == [cell.auc for cell in result.cells]
    with open(f"{folder}/records.json") as file:
        environment = json.load(file)[0]["environment"]
    assert environment["packages"]["numba"]
    assert environment["concurrency"] == 1
    assert environment["cpu"]


def test_an_entry_is_logged_once_per_address_until_its_run_is_gone(logged):
    _, _, client, run, words, experiment = logged
    aucbench.run(*words)
    assert len(client.search_runs([experiment])) == 1
    aucbench.run(*words, "tracking.uri=sqlite:///other.db")
    from mlflow import MlflowClient

    other = MlflowClient("sqlite:///other.db")
    other_experiment = other.get_experiment_by_name("breast_cancer").experiment_id
    assert len(other.search_runs([other_experiment])) == 1
    aucbench.run("algo=solam", "algo.zeta=3", "tracking=mlflow", "store.path=store")
    assert len(client.search_runs([experiment])) == 2
    assert run.info.run_id in {found.info.run_id for found in client.search_runs([experiment])}


def test_files_of_ones_own_are_experiments_of_their_own(uri, tmp_path, monkeypatch):
    from mlflow import MlflowClient

    monkeypatch.chdir(tmp_path)
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("".join(f"{i % 2} 1:{i % 7} 2:{i % 5}\n" for i in range(60)))
        aucbench.run("algo=solam", "dataset=libsvm", f"dataset.path={name}", "tracking=mlflow")
    experiments = {found.name for found in MlflowClient(uri).search_experiments()}
    assert {"one.txt", "two.txt"} <= experiments
