"""The runs of a study show its standings, and those of an extended study take the place of earlier ones."""

import pytest
from mlflow import MlflowClient

import aucbench

pytestmark = pytest.mark.slow  # whole studies


def study(tmp_path, uri, runs):
    words = ["algo=psam,log_reg", "dataset=breast_cancer", f"runs={runs}", "study=grown", "parallel=1"]
    aucbench.run_study(["-m", *words, f"store.path={tmp_path / 'store'}", f"tracking.uri={uri}"])
    return client_runs(uri, "breast_cancer")


def client_runs(uri, experiment):
    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id], "tags.study = 'grown'")


def test_an_extended_study_has_one_run_for_each_method_with_its_rank_gain_and_verdict(tmp_path, uri):
    for runs in (2, 3):
        found = study(tmp_path, uri, runs)
        assert sorted(run.data.tags["algo"] for run in found) == ["log_reg", "psam"]
        assert len({run.data.tags["mlflow.runColor"] for run in found}) == 2
        assert {run.data.params["runs"] for run in found} == {str(runs)}
        assert {run.data.metrics["standing/rank"] for run in found} == {1.0, 2.0}
        report = aucbench.leaderboard(tmp_path / "store", "grown")
        (gain,) = report.gains.to_dict("records")
        (own,) = (run for run in found if run.data.tags["algo"] == gain["method"])
        assert own.data.tags["verdict"] == gain["verdict"]
        for name, key in (("gain", "gain"), ("gain_low", "low"), ("gain_high", "high")):
            assert own.data.metrics[f"standing/{name}"] == pytest.approx(gain[key])
        (board,) = client_runs(uri, "studies")
        page = f"#/experiments/{board.info.experiment_id}/runs/{board.info.run_id}/artifacts/leaderboard.html"
        experiment = MlflowClient(uri).get_experiment_by_name("breast_cancer")
        for described in (*found, experiment):
            tags = described.tags if described is experiment else described.data.tags
            assert tags["mlflow.note.content"].count(page) == 1
        assert "leaderboard.html" in {
            each.path for each in MlflowClient(uri).list_artifacts(board.info.run_id)
        }
