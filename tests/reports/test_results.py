"""Rulesets, machines and replications in reports, against counts and times put in by hand."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from aucbench import api
from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.results import SELF_REPORTED
from aucbench.studies.archives.replications import replication_of
from aucbench.studies.store import Store


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Four finished cells, two of each method, on one machine."""
    folder = tmp_path_factory.mktemp("store")
    words = ["-m", "algo=psam,solam", "dataset=wine", "runs=2", "study=s", "budget.checkpoints=3"]
    api.run_study([*words, f"store.path={folder}", "tracking=none"])
    return from_store(Store(folder), "s")


def on(cell, machine):
    """The cell as another machine would have run it."""
    there = changed(cell.record.environment, machine=machine)
    result = changed(cell.record.result, train_seconds=1.0)
    return replace(cell, record=changed(cell.record, environment=there, result=result))


def replicated(cell, *machines, auc=0.0):
    """The cell with replications on some machines, whose AUC is moved."""
    others = [replication_of(on(cell, machine).record) for machine in machines]
    others = [changed(each, auc=each.auc + auc) for each in others]
    return replace(cell, replications=tuple(others))


def rows(cells):
    """Results by algorithm."""
    return build(cells, "s", True).results.set_index("algorithm").to_dict("index")


def test_results_of_one_machine_are_self_reported(cells):
    assert {row["reported"] for row in rows(cells).values()} == {SELF_REPORTED}


def test_a_row_is_replicated_on_as_many_machines_as_each_of_its_runs(cells):
    moved = [
        replicated(cell, "b", "c")
        if cell.described.algorithm.name == "psam"
        else replicated(cell, "b")
        if cell.run.seed == 0
        else cell
        for cell in cells
    ]
    found = rows(moved)
    assert found["psam"]["reported"] == "replicated on 3 machines"
    assert found["solam"]["reported"] == "replicated in 1 of 2 runs"


def test_one_machine_that_ran_a_cell_twice_counts_once(cells):
    own = cells[0].record.environment.machine
    found = rows([replicated(cell, own, "b", "b") for cell in cells])
    assert {row["reported"] for row in found.values()} == {"replicated on 2 machines"}


def test_disagreeing_replications_are_said_and_do_not_count(cells):
    found = rows([replicated(cell, "b", auc=-0.3) for cell in cells])
    assert {row["reported"] for row in found.values()} == {"2 of 2 runs disagree with a replication"}


def test_times_of_two_machines_are_marked(cells):
    moved = [on(cell, cell.described.algorithm.name) for cell in cells]
    found = rows(moved)
    assert sum(bool(row["timing_mark"]) for row in found.values()) == 1  # the other is usual on the data set


def test_a_row_that_mixes_two_machines_is_marked(cells):
    moved = [on(cell, "b" if cell.run.seed else "a") for cell in cells]
    found = rows(moved)
    assert all(row["timing_mark"] for row in found.values())
