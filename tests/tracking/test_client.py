"""Addresses that cannot be written to are refused before anything is trained."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest

from aucbench.cli.console import print_next
from aucbench.errors import TrackingError
from aucbench.studies.study import Study
from aucbench.tracking import check_address, client
from aucbench.tracking.client import Connection, sqlite_file

pytestmark = pytest.mark.slow  # whole studies

NOBODY = 65534
# Root may write anywhere; the check is made as somebody else, after the imports.
CHECK = """
import os, sys
from aucbench.tracking import check_address
if os.getuid() == 0:
    os.setuid(int(sys.argv[2]))
try:
    check_address(sys.argv[1])
    print("accepted")
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def open_folder(tmp_path):
    """A folder that others may enter, below pytest's, which they may not otherwise."""
    folder = tmp_path / "open"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    closed = []
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            closed.append((parent, parent.stat().st_mode))
            parent.chmod(0o711)
    tmp_path.chmod(0o711)
    yield folder
    for parent, mode in closed:
        parent.chmod(mode)


def checked(uri):
    words = [sys.executable, "-c", CHECK, uri, str(NOBODY)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.usefixtures("process")
def test_folders_and_files_without_the_right_to_write_are_named(open_folder):
    assert checked(f"sqlite:///{open_folder}/mlflow.db") == "accepted"
    for name, mode in (("kept", 0o555), ("secret", 0o000)):
        (open_folder / name).mkdir()
        (open_folder / name).chmod(mode)
    (open_folder / "read.db").touch()
    (open_folder / "read.db").chmod(0o444)
    for file, named in (("kept/mlflow.db", "kept"), ("secret/mlflow.db",) * 2, ("read.db",) * 2):
        answer = checked(f"sqlite:///{open_folder}/{file}")
        assert answer.startswith("TrackingError")
        assert f" {open_folder}/{named} " in answer


REFUSED = {
    "mlflow.db": "sqlite, http.*mlflow.db",
    "sqlite:///{folder}": "is a folder",
    "sqlite:///{folder}/notes.txt": "notes.txt is not",
    "sqlite:///{folder}/notes.txt/mlflow.db": "notes.txt is a file",
}


@pytest.mark.parametrize("uri", REFUSED)
def test_what_is_no_address_is_refused(uri, tmp_path):
    (tmp_path / "notes.txt").write_text("no database")
    with pytest.raises(TrackingError, match=REFUSED[uri]):
        check_address(uri.format(folder=tmp_path))
    check_address(f"sqlite:///{tmp_path}/new/mlflow.db")
    assert not (tmp_path / "new").exists()


def test_after_a_run_the_next_steps_lead_to_the_comparison_of_its_data_set(tmp_path, capsys):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    number = Connection(uri).experiment("breast_cancer")
    print_next(Study([], tracking_uri=uri), ["breast_cancer"], name=None)
    command, address = (line.split()[-1] for line in capsys.readouterr().out.splitlines())
    assert command == uri
    assert f"/#/experiments/{number}/runs?" in address
    print_next(Study([], tracking_uri="http://me:secret@localhost:9"), ["breast_cancer"], name=None)
    assert "secret" not in capsys.readouterr().out


TOGETHER = """
import multiprocessing, sys, mlflow
from aucbench.tracking.client import Connection

def opened(number):
    connection = Connection(sys.argv[1])
    connection.client.create_run(connection.experiment("mine"), run_name=str(number))

context = multiprocessing.get_context("fork")
processes = [context.Process(target=opened, args=(number,)) for number in range(4)]
for process in processes:
    process.start()
for process in processes:
    process.join()
sys.exit(sum(process.exitcode != 0 for process in processes))
"""


@pytest.mark.usefixtures("process")
def test_several_processes_that_open_a_new_file_at_once_all_write_to_it(tmp_path):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    assert subprocess.run([sys.executable, "-c", TOGETHER, uri], stderr=subprocess.DEVNULL).returncode == 0
    connection = Connection(uri)
    names = {run.info.run_name for run in connection.runs(connection.experiment("mine"), "")}
    assert names == {str(number) for number in range(4)}
    with contextlib.closing(sqlite3.connect(tmp_path / "mlflow.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_address_with_an_escaped_character_means_one_file(tmp_path):
    connection = Connection(f"sqlite:///{tmp_path}/a%20b.db")
    connection.experiment("mine")
    ours = sqlite_file(connection.address)
    assert ours.exists()
    endings = {"", ".lock", "-wal", "-shm"}
    assert {file.name.removeprefix(ours.name) for file in tmp_path.iterdir()} <= endings


KILLED_AT = """
import os, signal, sys, mlflow
from aucbench.tracking.client import Connection
address, wanted, ending, times = sys.argv[1:]
seen = []

def kill_there(event, arguments):
    if event == wanted and str(arguments[0]).endswith(ending):
        seen.append(event)
        if len(seen) == int(times):
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill_there)
Connection(address)
"""


@pytest.mark.faults
@pytest.mark.usefixtures("process")
def test_a_process_killed_while_it_makes_the_file_leaves_none_that_is_half_made(tmp_path):
    file = tmp_path / "mlflow.db"
    # While MLflow makes the tables of the draft, before they are copied, and before the copy gets its name.
    for event, ending, times in (
        ("sqlite3.connect", ".new1", "2"),
        ("sqlite3.connect", ".new2", "1"),
        ("os.rename", ".new2", "1"),
    ):
        command = [sys.executable, "-c", KILLED_AT, f"sqlite:///{file}", event, ending, times]
        assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode == -signal.SIGKILL
        assert not file.exists()
        assert any(tmp_path.glob("*.new1"))
    connection = Connection(f"sqlite:///{file}")
    assert connection.runs(connection.experiment("mine"), "") == []
    assert sqlite3.connect(file).execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert {each.name for each in tmp_path.glob("mlflow.db*")} <= {
        "mlflow.db", "mlflow.db.lock", "mlflow.db-wal", "mlflow.db-shm",
    }  # fmt: skip


KILLED = """
import os, signal, sys
from aucbench.tracking.client import Connection
connection = Connection(sys.argv[1])
connection.client.create_run(connection.experiment("removed"))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.faults
@pytest.mark.usefixtures("process")
def test_what_a_killed_process_wrote_beside_a_removed_file_is_no_part_of_the_next(tmp_path):
    file = tmp_path / "mlflow.db"
    subprocess.run(
        [sys.executable, "-c", KILLED, f"sqlite:///{file}"], stderr=subprocess.DEVNULL, check=False
    )
    assert (tmp_path / "mlflow.db-wal").stat().st_size
    file.unlink()
    names = [each.name for each in Connection(f"sqlite:///{file}").client.search_experiments()]
    assert "removed" not in names


def test_a_file_that_is_half_made_by_others_is_named_with_what_to_do(tmp_path):
    file = tmp_path / "mlflow.db"
    Connection(f"sqlite:///{file}")
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("UPDATE alembic_version SET version_num = '451aebb31d03'")  # MLflow 1.0's first
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other = tmp_path / "other.db"  # MLflow does not ask again about an address that it knows
    shutil.copy(file, other)
    with pytest.raises(TrackingError, match=r"other\.db .*remove it"):
        Connection(f"sqlite:///{other}")


def test_a_file_that_another_process_keeps_locked_is_named_at_once(uri, monkeypatch):
    monkeypatch.setattr(client, "PROBE_SECONDS", 0.3)
    with contextlib.closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as database:
        database.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TrackingError, match=r"mlflow.db locked for 0.3 s"):
            Connection(uri)
    Connection(uri)
