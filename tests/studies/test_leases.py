"""Several processes divide the work in one store: each cell is trained once, no entry of a plan is lost."""

import os
import signal
import time
from functools import partial

import pytest
from msgspec.structs import replace

from aucbench.errors import MachineError
from aucbench.studies.leases import Leases
from tests.helpers.processes import forked
from tests.helpers.studies import contents, finished, process_environment, started, write_metadata
from tests.studies.conftest import run_in

WORDS = (
    "-m", "algo=fake_gentle,fake_other", "algo.pause=choice(0.04)", "dataset=fake_clouds", "runs=4",
    "tuning=optuna", "tuning.trials=4", "tuning.folds=2", "split_seed=0,1", "order_seed=null",
    "budget.checkpoints=4", "tracking=none", "store.path=store",
)  # fmt: skip
TRAININGS = 2 * 4 * 2 + 2 * 2 * 4  # two searches of four settings on two folds, and the cells


def test_a_lease_has_one_holder_until_it_is_given_back_and_a_link_to_nowhere_has_none(tmp_path):
    with Leases(tmp_path) as first, Leases(tmp_path) as second:
        assert [first.take("cell"), first.take("cell"), second.take("other")] == [True] * 3
        assert not second.take("cell")
        second.give_back("cell")
        assert not second.take("cell")
        first.give_back("cell")
        assert [second.take("cell"), first.take("cell")] == [True, False]
    assert Leases(tmp_path).take("cell")
    (tmp_path / "leases").symlink_to(tmp_path / "nowhere" / "at all")
    with Leases(tmp_path / "leases") as leases, pytest.raises(MachineError):
        leases.take("cell")


def test_a_lease_that_processes_take_and_give_back_all_the_time_never_has_two_holders(tmp_path):
    inside = tmp_path / "inside"

    def take():
        leases, times = Leases(tmp_path / "store" / "leases"), 0
        while times < 25:
            if leases.take("cell"):
                times += 1
                inside.mkdir()  # fails if another process is inside
                inside.rmdir()
                leases.close()

    assert forked(*[take] * 4) == [0] * 4


def test_no_entry_of_a_plan_is_lost_if_two_processes_write_it(tmp_path):
    overrides = ("algo=psam", "dataset=gaussian", "budget.checkpoints=2", "study=both", "tracking=none")
    store = run_in(tmp_path, overrides)
    (plan,) = store.plans()
    (entry,) = plan.entries

    def extend(prefix):
        for number in range(40):
            name = f"{prefix}_{number}"
            described = replace(entry.described, algorithm=replace(entry.described.algorithm, name=name))
            new = replace(entry, key=name, algorithm=name, described=described)
            store.put_plan(replace(plan, entries=(new,)))

    assert forked(partial(extend, "a"), partial(extend, "b")) == [0, 0]
    assert len(store.plans("both")[0].entries) == 81


@pytest.mark.faults
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("dying", [0, 1, 2])
def test_two_commands_on_one_study_train_each_cell_once_and_the_same_command_goes_on(dying, tmp_path):
    site = write_metadata(tmp_path / "site")
    single, shared = tmp_path / "alone", tmp_path / "shared"
    for folder in (single, shared):
        (folder / "counter").mkdir(parents=True)
    assert finished(WORDS, single, process_environment(site, single / "counter"))[0] == 0
    environment = process_environment(site, shared / "counter")
    processes = [started(WORDS, shared, environment) for _ in range(2)]
    if dying:
        while len(list((shared / "store" / "cells").rglob("*.npz"))) < 3:
            assert processes[0].poll() is None
            time.sleep(0.02)
        for process in processes[:dying]:
            os.killpg(process.pid, signal.SIGKILL)
    outputs = [process.communicate() for process in processes]
    expected = [-signal.SIGKILL] * dying + [0] * (2 - dying)
    assert [process.returncode for process in processes] == expected, outputs
    if dying == 2:
        assert finished(WORDS, shared, environment)[0] == 0
    assert contents(shared / "store") == contents(single / "store")
    assert TRAININGS <= len(list((shared / "counter").iterdir())) <= TRAININGS + 2 * dying
    assert not (shared / "store" / "leases").exists()  # removed with the last lease
