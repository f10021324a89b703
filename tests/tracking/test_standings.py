"""The runs of a study show its standings; the runs of an extended study replace earlier runs."""

import shutil

import pytest
from mlflow import MlflowClient

import aucbench
from aucbench.tracking.chart_views import comparison
from tests.helpers.mlflow_servers import mlflow_server
from tests.tracking.conftest import runs_of

pytestmark = pytest.mark.slow  # whole studies
WORDS = ["algo=psam,log_reg", "dataset=breast_cancer", "study=grown", "parallel=1"]


@pytest.fixture(scope="module")
def grown(tmp_path_factory, empty_file):
    """The folder of a study with 2 and then 3 runs, its MLflow address, and the runs and gains of both."""
    folder = tmp_path_factory.mktemp("grown")
    uri = f"sqlite:///{shutil.copyfile(empty_file, folder / 'mlflow.db')}"
    history = []
    for runs in (2, 3):
        overrides = ["-m", *WORDS, f"runs={runs}", f"store.path={folder / 'store'}", f"tracking.uri={uri}"]
        aucbench.run_study(overrides)
        history.append((runs_of(uri), aucbench.leaderboard(folder / "store", "grown").gains))
    return folder, uri, history


def test_an_extended_study_has_one_run_for_each_method_with_its_rank_gain_and_verdict(grown):
    for number, (runs, gains) in zip((2, 3), grown[-1], strict=True):
        assert sorted(run.data.tags["algo"] for run in runs) == ["log_reg", "psam"]
        assert len({run.data.tags["mlflow.runColor"] for run in runs}) == 2
        assert {run.data.params["runs"] for run in runs} == {str(number)}
        assert {run.data.metrics["standing/rank"] for run in runs} == {1.0, 2.0}
        (gain,) = gains.to_dict("records")
        (method_run,) = (run for run in runs if run.data.tags["algo"] == gain["method"])
        assert method_run.data.tags["verdict"] == gain["verdict"]
        for name, key in (("gain", "gain"), ("gain_low", "low"), ("gain_high", "high")):
            assert method_run.data.metrics[f"standing/{name}"] == pytest.approx(gain[key])


def test_first_lines_of_descriptions_lead_to_the_leaderboard(grown):
    _, uri, (*_, (runs, _)) = grown
    (board,) = runs_of(uri, "studies")
    page = f"#/experiments/{board.info.experiment_id}/runs/{board.info.run_id}/artifacts/leaderboard.html"
    experiment = MlflowClient(uri).get_experiment_by_name("breast_cancer")
    for tags in (experiment.tags, *(run.data.tags for run in runs)):
        first, *lines = tags["mlflow.note.content"].splitlines()
        assert first.count(page) == 1
        assert page not in "".join(lines)
    assert "leaderboard.html" in {file.path for file in MlflowClient(uri).list_artifacts(board.info.run_id)}


def test_the_pages_show_an_extended_study_once_with_its_standings_and_its_leaderboard(grown, browser):
    folder, backend, (*_, (runs, _)) = grown
    with (
        mlflow_server(folder, backend) as uri,
        browser.new_page(viewport={"width": 1500, "height": 950}) as page,
    ):
        page.set_default_timeout(120_000)
        page.goto(comparison(uri, "breast_cancer"))
        page.wait_for_selector("text=2 matching runs")
        for run in runs:
            assert page.get_by_role("link", name=run.info.run_name, exact=True).count() == 1
        assert page.get_by_role("link", name="AUC and cost").count() >= 1
        heads = page.locator("[role=columnheader]")
        for name in ("cost/train_seconds", "standing/gain", "standing/rank", "test/auc"):
            box = heads.filter(has_text=name).first.bounding_box()
            assert box["x"] + 50 < 1085  # visible without scrolling: the table ends at MLflow's panel
        (gain,) = {run.data.metrics["standing/gain"] for run in runs if "standing/gain" in run.data.metrics}
        assert page.locator(f"[role=gridcell]:has-text('{gain:.5f}')").count() == 1
        # The link opens another tab.
        page.goto(page.get_by_role("link", name="Leaderboard of grown").first.evaluate("a => a.href"))
        board = page.frame_locator("iframe")
        board.locator("h1:text-is('grown')").wait_for()
        assert board.get_by_text("Gain over log_reg").first.is_visible()
