"""Entries reach an address exactly once, whatever ended before they were there."""

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from mlflow import MlflowClient

from aucbench.errors import TrackingError
from aucbench.tracking import Tracker
from aucbench.tracking.client import shown
from aucbench.tracking.tracker import sync


def runs_of(uri, experiment="breast_cancer"):
    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id]) if found else []


def synced(store, uri):
    return sync(store, uri, store.plans(), lambda plan: plan.study)


def test_what_a_store_has_is_sent_later_and_only_once(store, uri):
    first = synced(store, uri)
    assert (first.sent, first.known) == (3, 0)
    runs = runs_of(uri)
    assert {run.info.run_name for run in runs} == {"solam", "psam", "ls_svm"}
    assert {run.data.tags["study"] for run in runs} == {"pair"}
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert first.boards == ["pair"]
    assert [run.info.run_name for run in runs_of(uri, "studies")] == ["pair"]
    second = synced(store, uri)
    assert (second.sent, second.known, second.boards) == (0, 3, [])
    assert len(runs_of(uri)) == 3


def test_a_run_whose_note_was_lost_is_found_again(store, uri):
    synced(store, uri)
    before = {run.info.run_id for run in runs_of(uri)}
    shutil.rmtree(store.path / "tracked")  # as after a crash between the run and the note of it
    synced(store, uri)
    assert {run.info.run_id for run in runs_of(uri)} == before


def test_a_half_written_run_is_replaced(store, entries, uri):
    client = MlflowClient(uri)
    place = client.create_experiment("breast_cancer", artifact_location=(store.path / "mlruns").as_uri())
    half = client.create_run(place, tags={"key": entries[0].key, "study": "pair"}, run_name="half")
    run_id = Tracker(uri, store).log(entries[0])
    (left,) = runs_of(uri)
    assert left.info.run_id == run_id != half.info.run_id
    assert client.get_run(half.info.run_id).info.lifecycle_stage == "deleted"


def test_a_complete_entry_takes_the_place_of_the_incomplete_one(store, entries, uri):
    whole = entries[0]
    part = replace(whole, key=f"{whole.key}-1", cells=whole.cells[:1], missing=1)
    Tracker(uri, store).log(part)
    (run,) = runs_of(uri)
    assert run.data.tags["incomplete"] == "0 cells failed, 1 not run"
    run_id = Tracker(uri, store).log(whole)
    (run,) = runs_of(uri)
    assert run.info.run_id == run_id
    assert "incomplete" not in run.data.tags


def test_entries_that_are_not_complete_wait(store, uri):
    key = next(iter(store.plans()[0].entries[0].cells))
    next(store.path.rglob(f"{key}.npz")).unlink()
    done = synced(store, uri)
    assert (done.sent, done.incomplete) == (2, 1)


def test_one_tracker_makes_one_connection(store, entries, uri, monkeypatch):
    from aucbench.tracking import tracker

    made = []
    connection = tracker.Connection
    monkeypatch.setattr(tracker, "Connection", lambda uri: made.append(uri) or connection(uri))
    tracker = Tracker(uri, store)
    for entry in entries:
        tracker.log(entry)
    assert len(made) == 1
    again = Tracker(uri, store)
    for entry in entries:
        again.log(entry)
    assert len(made) == 1


@pytest.mark.parametrize("place", ["/proc/nowhere/mlflow.db", "/dev/null/mlflow.db"])
def test_a_file_that_cannot_be_made_is_named_at_once(entries, place):
    with pytest.raises(TrackingError, match=r"cannot be written to|is a file, expected a folder") as caught:
        Tracker(f"sqlite:///{place}", None).log(entries[0])
    assert len(str(caught.value).splitlines()) == 1


def test_passwords_are_neither_printed_nor_kept():
    assert shown("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"
    assert shown("http://127.0.0.1:5000") == "http://127.0.0.1:5000"


def test_the_files_of_a_study_are_those_of_one_run(store, entries, uri, tmp_path):
    Tracker(uri, store).log(entries[0])
    folder = tmp_path / "board"
    (folder / "tables").mkdir(parents=True)
    for name in ("index.html", "old.txt", "tables/one.csv"):
        (folder / name).write_text("first")
    run_id = Tracker(uri, store).log_study("pair", folder)
    (folder / "old.txt").unlink()
    (folder / "index.html").write_text("second")
    assert Tracker(uri, store).log_study("pair", folder) == run_id
    (run,) = runs_of(uri, "studies")
    assert run.info.run_name == "pair"
    client = MlflowClient(uri)
    assert {file.path for file in client.list_artifacts(run_id)} == {"index.html", "tables"}
    got = client.download_artifacts(run_id, "index.html", str(tmp_path))
    with open(got) as file:
        assert file.read() == "second"
    assert len(runs_of(uri)) == 1
    tracker = Tracker(uri, store)
    assert tracker.known_study("pair", folder) == run_id
    (folder / "index.html").write_text("first")  # as it was, but not as it is there
    assert tracker.known_study("pair", folder) is None
    assert Tracker(uri, store).log_study("other", folder) != run_id


@pytest.mark.usefixtures("process")
def test_two_processes_that_send_one_store_send_each_entry_once(store, uri):
    words = [sys.executable, "-m", "aucbench", "sync", "--store", str(store.path), "--uri", uri]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(text.count(": run ") for text in said) >= 3
    assert len(runs_of(uri)) == 3


@pytest.mark.usefixtures("process")
def test_what_a_killed_process_left_is_completed_without_a_second_run(store, uri):
    words = [sys.executable, "-u", "-m", "aucbench", "sync", "--store", str(store.path), "--uri", uri]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert ": run " in process.stdout.readline()
    process.kill()  # in the middle of the second entry, or about there
    process.communicate()
    synced(store, uri)
    runs = runs_of(uri)
    assert sorted(run.info.run_name for run in runs) == ["ls_svm", "psam", "solam"]
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert synced(store, uri).sent == 0
