"""The same runs reach MLflow's server, and its pages compare them."""

import shutil

import pytest
from mlflow import MlflowClient

from aucbench.cli.main import main
from aucbench.studies.store import Store
from tests.helpers.mlflow_servers import mlflow_server
from tests.tracking.conftest import entries_of, runs_of


@pytest.fixture
def server(empty_file, tmp_path):
    """The address of a running server."""
    with mlflow_server(tmp_path, f"sqlite:///{shutil.copyfile(empty_file, tmp_path / 'mlflow.db')}") as uri:
        yield uri


def sent(finished, folder, uri):
    """Send the study's store to a server, assert that the server has its entries, and return the store."""
    store, client = Store(shutil.copytree(finished, folder / "store")), MlflowClient(uri)
    assert main(["sync", "--store", str(store.path), "--uri", uri]) == 0
    runs = {run.data.tags["key"]: run for run in runs_of(uri)}
    for entry in entries_of(store):
        run = runs.pop(entry.key)
        assert run.info.status == "FINISHED"
        points = client.get_metric_history(run.info.run_id, "test/auc")
        assert points[-1].value == pytest.approx(sum(cell.auc for cell in entry.cells) / 2, abs=1e-12)
        names = {file.path for file in client.list_artifacts(run.info.run_id)}
        assert names == {"cells.parquet", "records.json", "weights.npz"}
    assert not runs
    return store


def test_entries_are_read_back_as_they_were_sent(finished, server, tmp_path):
    sent(finished, tmp_path, server)


def test_the_address_of_the_charts_shows_every_method_over_training_time(
    finished, server, tmp_path, capsys, browser
):
    store, uri = sent(finished, tmp_path, server), server
    assert main(["charts", "--store", str(store.path), "--uri", uri]) == 0
    output = capsys.readouterr().out
    assert "mlflow ui" not in output
    (url,) = (word for word in output.split() if word.startswith(uri))
    with browser.new_page(viewport={"width": 1600, "height": 1100}) as page:
        page.goto(url)
        # plotly writes the title of an axis, and a legend, as SVG
        page.wait_for_selector("svg text.xtitle:has-text('cost/train_seconds')", timeout=60_000)
        page.wait_for_selector("svg text.xtitle:has-text('cost/samples')", timeout=10_000)
        assert page.locator("svg text.xtitle:has-text('Step')").count() == 0
        for name in ("solam", "psam", "ls_svm"):
            page.wait_for_selector(f"text={name}", timeout=10_000)
        assert "viewStateShareKey" in page.url
        assert page.locator("text=3 matching runs").count() == 1


@pytest.mark.slow
def test_the_pages_of_a_file_have_a_command(store, uri, capsys):
    assert main(["sync", "--store", str(store.path), "--uri", uri]) == 0
    capsys.readouterr()
    assert main(["charts", "--store", str(store.path), "--uri", uri]) == 0
    output = capsys.readouterr().out
    assert f"mlflow ui --backend-store-uri {uri}" in output
    assert "http://127.0.0.1:5000/#/experiments/" in output
    assert main(["charts", "--study", "none of them", "--uri", uri]) == 2
    assert "no run of a study 'none of them'" in capsys.readouterr().err
