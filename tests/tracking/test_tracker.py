"""Entries reach an address exactly once, even after interruptions."""

import json
import shutil
import time
from dataclasses import replace
from functools import partial

import pytest
from mlflow import MlflowClient

from aucbench.api import run_study
from aucbench.studies.store import Store
from aucbench.tracking import Tracker, run_data
from aucbench.tracking.tracker import sync
from tests.helpers.processes import forked
from tests.tracking.conftest import runs_of

pytestmark = pytest.mark.slow  # whole studies

TAGS = {
    "study": "pair",
    "ruleset": "ruleset defaults, version 2 of 2026-11-26 budget.epochs=2.0",  # as in the ruleset's file
}


def synced(store, uri):
    return sync(store, uri, store.plans())


def test_what_a_store_has_is_sent_later_and_only_once_when_it_is_complete(store, uri):
    file = next(store.path.rglob("*.npz"))
    away = file.rename(file.with_suffix(".away"))
    first = synced(store, uri)
    assert (first.sent, first.incomplete) == (2, 1)
    away.rename(file)
    first = synced(store, uri)
    assert (first.sent, first.known) == (1, 2)
    runs = runs_of(uri)
    assert {run.info.run_name for run in runs} == {"solam", "psam", "ls_svm"}
    for run in runs:
        assert run.data.tags.items() >= TAGS.items()
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert first.boards == ["pair"]
    assert [run.info.run_name for run in runs_of(uri, "studies")] == ["pair"]
    second = synced(store, uri)
    assert (second.sent, second.known) == (0, 3)
    assert [len(runs_of(uri, name)) for name in ("breast_cancer", "studies")] == [3, 1]


def test_runs_that_are_sent_later_equal_those_that_are_sent_at_once(
    store, entries, uri, empty_file, tmp_path
):
    (tmp_path / "later").mkdir()
    later = f"sqlite:///{shutil.copyfile(empty_file, tmp_path / 'later' / 'mlflow.db')}"
    tracker = Tracker(uri, None)
    for entry in entries:
        tracker.log(entry)
    synced(store, later)
    pairs = [sorted(runs_of(address), key=lambda run: run.data.tags["key"]) for address in (uri, later)]
    assert [len(runs) for runs in pairs] == [3, 3]
    for direct, delayed in zip(*pairs, strict=True):
        for part in ("metrics", "params", "tags"):
            assert vars(direct.data)[f"_{part}"] == vars(delayed.data)[f"_{part}"]
        for name in direct.data.metrics:
            histories = [
                [(point.step, point.value) for point in MlflowClient(address).get_metric_history(id_, name)]
                for address, id_ in ((uri, direct.info.run_id), (later, delayed.info.run_id))
            ]
            assert histories[0] == histories[1]


def test_an_experiment_explains_its_metrics_and_keeps_the_words_of_its_user(entries, uri):
    Tracker(uri, None).log(entries[0])
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("breast_cancer")
    view = json.loads(experiment.tags["mlflow.sharedViewState.aucbench"])
    # MLflow versions with a menu of views read the inner state; older versions read the whole view.
    assert json.loads(view["state"])["selectedColumns"] == view["selectedColumns"]
    columns = {name.partition("`")[2][:-1] for name in view["selectedColumns"]} - {"verdict"}
    (run,) = client.search_runs([experiment.experiment_id])
    standings = {"standing/rank", "standing/gain"}  # metrics of studies only
    assert columns - standings <= set(run.data.metrics)
    assert {"test/auc", "cost/train_seconds"} <= columns
    note = experiment.tags["mlflow.note.content"]
    assert "`cost/train_seconds`" in note
    assert f"#/experiments/{experiment.experiment_id}/runs?" in note
    assert all(len(value) <= 5000 for value in experiment.tags.values())  # the limit of MLflow
    client.set_experiment_tag(experiment.experiment_id, "mlflow.note.content", "mine")
    Tracker(uri, None).log(entries[1])
    assert client.get_experiment(experiment.experiment_id).tags["mlflow.note.content"] == "mine"


def test_entries_that_a_later_plan_replaced_are_sent_too(tmp_path, uri, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in (0, 10, 10, 20):
        run_study(["algo=solam", f"seed={seed}", "study=one", "tracking=none", "budget.epochs=1"])
    store = Store("aucbench-store")
    (plan,) = store.plans()
    assert (len(plan.entries), len(plan.replaced)) == (1, 2)
    assert synced(store, uri).sent == 3
    assert {run.data.params["seed"] for run in runs_of(uri)} == {"0", "10", "20"}
    assert synced(store, uri).known == 3


def test_a_whole_entry_takes_the_place_of_a_half_written_and_of_an_incomplete_run(store, entries, uri):
    client, entry = MlflowClient(uri), entries[0]
    experiment = client.create_experiment("breast_cancer", artifact_location=(store.path / "mlruns").as_uri())
    half = client.create_run(experiment, tags={"key": entry.key, "study": "pair"}, run_name="half")
    part = Tracker(uri, store).log(replace(entry, key=f"{entry.key}-1", cells=entry.cells[:1], missing=1))
    # An existing experiment, such as an earlier version's, gets its explanation.
    assert "cost/train_seconds" in client.get_experiment(experiment).tags["mlflow.note.content"]
    assert client.get_run(part).data.tags["incomplete"] == "0 cells failed, 1 not run"
    run_id = Tracker(uri, store).log(entry)
    (run,) = runs_of(uri)
    assert run.info.run_id == run_id
    assert "incomplete" not in run.data.tags
    assert client.get_run(half.info.run_id).info.lifecycle_stage == "deleted"


def test_two_processes_that_send_one_store_to_a_new_file_send_each_entry_once(store, tmp_path, monkeypatch):
    def slow_tags(entry, tags=run_data.tags):
        time.sleep(0.3)  # between the search for a run and its creation
        return tags(entry)

    monkeypatch.setattr(run_data, "tags", slow_tags)
    uri = f"sqlite:///{tmp_path}/new.db"
    assert forked(*[partial(synced, store, uri)] * 2) == [0, 0]
    assert len(runs_of(uri)) == 3
