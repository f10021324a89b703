"""The same runs reach MLflow's server, whatever it keeps them in, and its pages compare them."""

import contextlib
import importlib.util
import shutil
import tempfile
from pathlib import Path

import pytest
from mlflow import MlflowClient

from aucbench.cli.main import main
from aucbench.studies.store import Store
from tests.helpers import mlflow_servers
from tests.tracking.conftest import entries_of, runs_of


@pytest.fixture(scope="module")
def server(empty_file):
    """The address of a running server, on PostgreSQL where that is installed."""
    # Not below pytest's folder, which only its owner may enter: PostgreSQL runs as another user.
    with tempfile.TemporaryDirectory(prefix="aucbench-server-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        if mlflow_servers.postgres_tools() and importlib.util.find_spec("psycopg"):
            backend = stack.enter_context(mlflow_servers.postgres(folder / "postgres"))
        else:
            backend = f"sqlite:///{shutil.copyfile(empty_file, folder / 'mlflow.db')}"
        yield stack.enter_context(mlflow_servers.mlflow_server(folder, backend))


@pytest.fixture(scope="module")
def sent(server, finished, tmp_path_factory):
    """The study's store after it was sent, and the server's address."""
    store = Store(shutil.copytree(finished, tmp_path_factory.mktemp("sent") / "store"))
    assert main(["sync", "--store", str(store.path), "--uri", server]) == 0
    return store, server


@pytest.mark.usefixtures("process")
def test_entries_are_read_back_as_they_were_sent(sent, tmp_path):
    store, uri = sent
    client = MlflowClient(uri)
    runs = {run.data.tags["key"]: run for run in runs_of(uri)}
    for entry in entries_of(store):
        run = runs.pop(entry.key)
        assert run.info.status == "FINISHED"
        points = client.get_metric_history(run.info.run_id, "test/auc")
        assert points[-1].value == pytest.approx(sum(cell.auc for cell in entry.cells) / 2, abs=1e-12)
        names = {file.path for file in client.list_artifacts(run.info.run_id)}
        assert names == {"cells.parquet", "records.json", "weights.npz"}
    assert not runs


@pytest.mark.usefixtures("process")
def test_the_address_of_the_charts_shows_every_method_over_training_time(sent, capsys, browser):
    store, uri = sent
    assert main(["charts", "--store", str(store.path), "--uri", uri]) == 0
    said = capsys.readouterr().out
    assert "mlflow ui" not in said
    (url,) = (word for word in said.split() if word.startswith(uri))
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
    said = capsys.readouterr().out
    assert f"mlflow ui --backend-store-uri {uri}" in said
    assert "http://127.0.0.1:5000/#/experiments/" in said
    assert main(["charts", "--study", "none of them", "--uri", uri]) == 2
    assert "no run of a study 'none of them'" in capsys.readouterr().err
