"""Sweeps from the command line: their output, the files they leave, and their exit status."""

import re

import pytest
from hydra.core.config_store import ConfigStore

from aucbench import api
from tests.helpers.studies import contents, write_metadata
from tests.helpers.study_methods import COUNTER

pytestmark = pytest.mark.slow  # whole studies

COMMON = ("tracking=none", "budget.checkpoints=3", "dataset=fake_clouds", "isolation=none")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Metadata that announces the plugins of `tests.helpers.study_methods`."""
    return write_metadata(tmp_path_factory.mktemp("site") / "site")


@pytest.fixture(autouse=True)
def plugins(site, tmp_path, monkeypatch):
    """The plugins are registered, and count their trainings."""
    monkeypatch.syspath_prepend(str(site))
    (tmp_path / "counter").mkdir()
    monkeypatch.setenv(COUNTER, str(tmp_path / "counter"))
    api.catalog.cache_clear()
    yield
    api.catalog.cache_clear()
    for group in ("algo", "dataset"):
        configs = ConfigStore.instance().repo[group]
        for name in [name for name in configs if name.startswith("fake_")]:
            del configs[name]


def trainings(tmp_path):
    return len(list((tmp_path / "counter").iterdir()))


def sweep(*args):
    return ("-m", *COMMON, *args)


def test_a_sweep_runs_once_and_more_runs_run_only_the_new_ones(run, output, tmp_path):
    out = output(*sweep("algo=fake_gentle,fake_other", "runs=2"))
    assert "4 cells done, 0 failed" in out
    assert trainings(tmp_path) == 4
    assert sorted(line.partition(":")[0] for line in out.splitlines() if "test AUC" in line) == [
        "fake_gentle on fake_clouds", "fake_other on fake_clouds",
    ]  # fmt: skip
    output(*sweep("algo=fake_gentle,fake_other", "runs=2"))
    assert trainings(tmp_path) == 4
    _, out, err = run(*sweep("algo=fake_gentle,fake_other", "runs=3", "timing=exclusive"))
    assert "\r" not in err  # there is no terminal for a bar
    assert len(err.splitlines()) <= 3
    assert {path.name for path in tmp_path.iterdir()} == {"aucbench-store", "counter"}
    assert "6 cells, 4 of them in the store" in err
    assert "6 cells done, 0 failed" in out
    assert trainings(tmp_path) == 6


def test_entries_that_are_named_twice_run_once(output, tmp_path):
    out = output(*sweep("algo=fake_gentle,fake_gentle", "runs=2", "metrics=[ap],[ap,pauc]"))
    assert "2 cells done, 0 failed" in out
    assert trainings(tmp_path) == 2


def test_a_dry_run_counts_what_is_left_and_writes_nothing(run, output, tmp_path):
    args = sweep("algo=fake_gentle,fake_other", "tuning=grid", "tuning.folds=2", "runs=2", "store.path=store")
    _, out, err = run(*args, "--dry-run")
    assert err.startswith("aucbench: planning")
    assert not (tmp_path / "store").exists()
    # Two searches of three settings on two folds, and the cells of both methods.
    assert "2 entries, 4 cells, 0 of them stored; 16 trainings to run" in out
    run(*args, "algo=fake_other")
    before = contents(tmp_path / "store")
    files = sorted(path for path in (tmp_path / "store").rglob("*"))
    out = output(*args, "--dry-run")
    assert "2 entries, 4 cells, 2 of them stored; 14 trainings to run" in out
    assert contents(tmp_path / "store") == before
    assert sorted((tmp_path / "store").rglob("*")) == files


def test_failed_cells_are_counted_and_explained_and_only_failed_runs_these_alone(run, output, tmp_path):
    args = sweep("algo=fake_gentle,fake_raising", "runs=2", "study=mine", "store.path=store")
    status, out, err = run(*args)
    assert status == 1
    assert "2 cells done, 2 failed in " in out
    assert err.count("aucbench: failed: fake_raising on fake_clouds (seed ") == 2
    assert "aucbench status --failures shows tracebacks" in err
    output(*args, status=1)
    assert trainings(tmp_path) == 4
    next((tmp_path / "store" / "cells").rglob("*.npz")).unlink()
    out = output("status", "--store", "store", status=1)
    lines = [line.split() for line in out.splitlines()]
    rows = {row[0]: row[-4:] for row in lines if len(row) > 3 and row[-1].isdigit()}
    assert rows == {  # done, diverged, failed, missing
        "fake_gentle": ["1", "0", "0", "1"],
        "fake_raising": ["0", "0", "2", "0"],
        "all": ["1", "0", "2", "1"],
    }
    assert "Traceback" not in out
    out = run("status", "--store", "store", "--failures")[1]
    assert "Traceback" in out
    assert "RuntimeError: out of luck" in out
    output(*args, "runs=3", "--only-failed", status=1)
    assert trainings(tmp_path) == 6


def test_a_study_stops_after_its_time_names_what_was_not_run_and_the_same_command_continues(
    run, output, tmp_path
):
    tuning = ("tuning=grid", "tuning.folds=2")
    args = (*sweep("algo=fake_gentle,fake_other", "runs=2", "study=s", *tuning), "algo.pause=choice(0.1)")
    status, out, err = run(*args, "store.path=store", "stop_after=0.35")
    first = trainings(tmp_path)
    assert status == 0
    assert re.search(r"stopped by stop_after; not run: [1-4] cells?;", err)
    assert re.search(r", [1-4] not run", out)
    _, out, err = run(*args, "store.path=store")
    assert "4 cells done, 0 failed" in out
    assert "stop_after" not in err
    total = trainings(tmp_path)
    assert 1 <= first < total
    output(*args, "store.path=whole")
    assert trainings(tmp_path) == 2 * total  # nothing was trained twice
    assert contents(tmp_path / "store") == contents(tmp_path / "whole")


def test_a_bad_job_is_refused_and_the_others_run_if_there_are_any(run, refused, tmp_path):
    status, out, err = run(*sweep("algo=fake_gentle,fake_other", "algo.eta=0.1,-1"))
    assert (status, err.count("eta must be > 0, got -1")) == (2, 2)
    assert "2 cells done, 0 failed" in out
    assert trainings(tmp_path) == 2
    args = sweep("algo=fake_gentle", "matrix.skip={fake_gentle:[fake_clouds]}")
    assert "The study's matrix skips every run" in refused(*args)


def test_the_next_command_names_store_and_reference(run):
    args = ("algo=fake_gentle", "store.path='my store'", "reference=fake_other", *COMMON)
    assert "aucbench leaderboard --store 'my store' --reference fake_other" in run(*args)[1]
    assert "next  aucbench leaderboard\n" in run("algo=fake_gentle", "reference=null", *COMMON)[1]
