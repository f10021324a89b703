"""Addresses that cannot be written to are refused before any training."""

import contextlib
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

from aucbench.cli.console import print_next
from aucbench.errors import TrackingError
from aucbench.studies.study import Study
from aucbench.tracking import check_address
from aucbench.tracking.client import Connection, reason, sqlite_file
from tests.helpers.processes import forked

pytestmark = pytest.mark.slow  # whole studies

REFUSED = {
    "mlflow.db": "sqlite, http.*mlflow.db",
    "sqlite:///{folder}": "is not an SQLite file",
    "sqlite:///{folder}/notes.txt": "notes.txt is not an SQLite file",
    "sqlite:///{folder}/notes.txt/mlflow.db": "notes.txt cannot be written to",
}


def test_a_folder_or_a_file_without_the_right_to_write_is_named(tmp_path, monkeypatch):
    (tmp_path / "read.db").touch()
    check_address(f"sqlite:///{tmp_path}/read.db")
    for locked, file in ((tmp_path, "new.db"), (tmp_path, "read.db"), (tmp_path / "read.db", "read.db")):
        monkeypatch.setattr(os, "access", lambda path, mode, locked=locked: path != locked)
        with pytest.raises(TrackingError, match="cannot be written to"):
            check_address(f"sqlite:///{tmp_path}/{file}")


@pytest.mark.parametrize("uri", REFUSED)
def test_what_is_no_address_is_refused(uri, tmp_path):
    (tmp_path / "notes.txt").write_text("no database")
    with pytest.raises(TrackingError, match=REFUSED[uri]):
        check_address(uri.format(folder=tmp_path))
    check_address(f"sqlite:///{tmp_path}/new/mlflow.db")
    assert not (tmp_path / "new").exists()


def test_a_lock_is_the_reason_whatever_line_of_an_error_tells_it():
    error = RuntimeError("(raised as a result of Query-invoked autoflush)\ndatabase is locked")
    assert reason(error, "sqlite:///mlflow.db").startswith("another process keeps the file locked")


def test_after_a_run_the_next_steps_lead_to_the_comparison_of_its_data_set(uri, capsys):
    number = Connection(uri).experiment("breast_cancer")
    print_next(Study([], tracking_uri=uri), ["breast_cancer"], name=None)
    command, address = (line.split()[-1] for line in capsys.readouterr().out.splitlines())
    assert command == uri
    assert f"/#/experiments/{number}/runs?" in address
    print_next(Study([], tracking_uri="http://me:secret@localhost:9"), ["breast_cancer"], name=None)
    assert "secret" not in capsys.readouterr().out


def test_an_address_with_an_escaped_character_means_one_file(empty_file, tmp_path):
    shutil.copyfile(empty_file, tmp_path / "a b.db")
    connection = Connection(f"sqlite:///{tmp_path}/a%20b.db")
    connection.experiment("mine")
    assert sqlite_file(connection.address) == tmp_path / "a b.db"
    endings = {"", ".lock", "-wal", "-shm"}
    assert {file.name.removeprefix("a b.db") for file in tmp_path.iterdir()} <= endings


def test_a_process_that_is_killed_while_it_makes_a_file_leaves_none_that_is_half_made(tmp_path):
    def killed():
        Path.rename = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        Connection(f"sqlite:///{tmp_path}/mlflow.db")

    assert forked(killed) == [-signal.SIGKILL]
    assert not (tmp_path / "mlflow.db").exists()
    number = Connection(f"sqlite:///{tmp_path}/mlflow.db").experiment("mine")
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        (stored,) = database.execute("SELECT experiment_id FROM experiments WHERE name = 'mine'").fetchone()
    assert str(stored) == number
