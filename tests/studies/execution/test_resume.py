"""A study whose process is killed, again and again, ends as if nothing had happened."""

import os
import signal
import time

import pytest

from aucbench.studies.store import Store
from tests.helpers.studies import contents, finished, process_environment, started, trials_of, write_metadata

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("process")]

WORDS = (
    "-m", "algo=fake_gentle,fake_other", "algo.pause=choice(0.04)", "dataset=fake_clouds", "runs=4",
    "tuning=optuna", "tuning.trials=4", "tuning.folds=2", "split_seed=0,1", "order_seed=null",
    "budget.checkpoints=4", "tracking=none", "store.path=store",
)  # fmt: skip
TRAININGS = 2 * 4 * 2 + 2 * 2 * 4  # two searches of four settings on two folds, and the cells


def counted(folder):
    return len(list(folder.iterdir()))


def stored(store):
    return len(list((store / "cells").rglob("*.npz"))), len(trials_of(Store(store)))


def killed(words, folder, environment, reached):
    """Run until `reached` says so of the numbers of cells and trials, then end all of it at once."""
    process = started(words, folder, environment)
    end = time.monotonic() + 120
    while process.poll() is None and not reached(*stored(folder / "store")):
        assert time.monotonic() < end, "the study does not come on"
        time.sleep(0.02)  # looking takes time of the processor that the study needs
    assert process.poll() is None, "the study was over before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What the study comes to, and the metadata of the plugins."""
    folder = tmp_path_factory.mktemp("undisturbed")
    site = write_metadata(folder / "site")
    (folder / "counter").mkdir()
    status, _, said = finished(WORDS, folder, process_environment(site, folder / "counter"))
    assert status == 0, said
    assert counted(folder / "counter") == TRAININGS
    return site, contents(folder / "store")


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_study_that_is_killed_at_any_moment_ends_as_an_undisturbed_one(parallel, undisturbed, tmp_path):
    site, expected = undisturbed
    counter = tmp_path / "counter"
    counter.mkdir()
    environment = process_environment(site, counter)
    words = (*WORDS, f"parallel={parallel}")
    killed(words, tmp_path, environment, lambda cells, trials: trials >= 3)
    killed(words, tmp_path, environment, lambda cells, trials: cells >= 5)
    (file, *_) = (tmp_path / "store" / "trials").rglob("*.jsonl")
    with open(file, "ab") as handle:
        handle.write(b'{"number": 2, "fo')  # a line that was cut short
    killed(words, tmp_path, environment, lambda cells, trials: cells >= 11)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "store" / "cells").rglob("*.npz")}
    status, _, said = finished(words, tmp_path, environment)
    assert status == 0, said
    assert contents(tmp_path / "store") == expected
    assert {path: path.stat().st_mtime_ns for path in before} == before
    # Of each kill a worker may have to repeat the unit it was at: a cell, or a setting on both inner folds.
    assert TRAININGS <= counted(counter) <= TRAININGS + 3 * parallel * 2
