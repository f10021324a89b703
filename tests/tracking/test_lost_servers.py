"""A server that stalls or loses its database in the middle of an entry: all is there once in the end."""

import contextlib
import os
import shutil
import signal
import tempfile
from pathlib import Path

import psutil
import pytest
from mlflow import MlflowClient

from aucbench.cli.main import main
from aucbench.studies.store import Store
from aucbench.tracking import run_data
from tests.helpers import mlflow_servers
from tests.tracking.conftest import entries_of, runs_of
from tests.tracking.test_servers import lacking


@pytest.fixture(scope="module")
def real():
    """A database of PostgreSQL and the address of a server over it."""
    if why := lacking("postgresql"):
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="aucbench-lost-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs as another user
        database = stack.enter_context(mlflow_servers.postgres(folder / "postgres"))
        yield database, stack.enter_context(mlflow_servers.mlflow_server(folder, database.address))


@pytest.fixture
def middle(monkeypatch):
    """Does something once, when the metrics of an entry are sent and its files are not."""
    usual = run_data.write_files

    def do(action):
        def first(*arguments):
            monkeypatch.setattr(run_data, "write_files", usual)
            action()
            return usual(*arguments)

        monkeypatch.setattr(run_data, "write_files", first)

    return do


def runs_by_key(address):
    client = MlflowClient(address)
    found = {}
    for run in runs_of(address):
        names = {file.path for file in client.list_artifacts(run.info.run_id)}
        found.setdefault(run.data.tags["key"], []).append((run.info.status, len(names)))
    return found


def signalled(address, number):
    """Send a signal to the server at an address and its processes."""
    port = address.rpartition(":")[2]
    living = (each for each in psutil.Process().children() if each.status() != psutil.STATUS_ZOMBIE)
    (server,) = (each for each in living if port in each.cmdline())
    os.killpg(server.pid, number)


@pytest.mark.faults
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("trouble", ["it stalls", "its database is killed"])
def test_a_server_fails_in_the_middle_of_an_entry(
    trouble, real, finished, middle, monkeypatch, capsys, tmp_path
):
    database, address = real
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    monkeypatch.setattr("aucbench.tracking.client.PROBE_SECONDS", 1.0)
    store = Store(shutil.copytree(finished, tmp_path / "store"))
    words = ["sync", "--store", str(store.path), "--uri", address]
    is_stalled = trouble == "it stalls"
    middle(lambda: signalled(address, signal.SIGSTOP) if is_stalled else database.kill())
    try:
        assert main(words) == 2
    finally:
        signalled(address, signal.SIGCONT)
    said = capsys.readouterr().err
    assert len([line for line in said.splitlines() if line.startswith("aucbench: ")]) == 1
    assert f"aucbench sync --store {store.path}" in said
    if not is_stalled:
        database.start()
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "30")
    monkeypatch.setattr("aucbench.tracking.client.PROBE_SECONDS", 5.0)
    assert any(main(words) == 0 for _ in range(8))  # the server's own connections fail once each
    assert runs_by_key(address) == {entry.key: [("FINISHED", 3)] for entry in entries_of(store)}
    capsys.readouterr()
    assert main(words) == 0
    assert "0 entries sent, 3 were there" in capsys.readouterr().out
    client = MlflowClient(address)
    for run in runs_of(address):
        client.delete_run(run.info.run_id)
