"""Rulesets, machines and replications in reports, against counts and times put in by hand."""

import math
from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from aucbench import api
from aucbench.reports.build import build
from aucbench.reports.cells import from_store
from aucbench.reports.origins import SELF_REPORTED, unit
from aucbench.studies.record import CalibrationRecord, DataRecord
from aucbench.studies.replications import replication_of
from aucbench.studies.store import Store

SLOW = CalibrationRecord(
    version=1, dense_cached=2.0, dense_memory=2.0, csr_cached=2.0, csr_memory=2.0, seconds=1.0
)
FAST = changed(SLOW, dense_cached=0.5)


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Four finished cells, two of each method, on one machine."""
    folder = tmp_path_factory.mktemp("store")
    words = ["-m", "algo=psam,solam", "dataset=wine", "runs=2", "study=s", "budget.checkpoints=3"]
    api.run_study([*words, f"store.path={folder}", "tracking=none"])
    return from_store(Store(folder), "s")


def on(cell, machine, calibration=SLOW, seconds=1.0):
    """The cell as a machine of that speed would have run it."""
    there = changed(cell.record.environment, machine=machine, calibration=calibration)
    result = changed(cell.record.result, train_seconds=seconds)
    return replace(cell, record=changed(cell.record, environment=there, result=result))


def replicated(cell, *machines, auc=0.0):
    """The cell with replications on some machines, whose AUC is moved."""
    others = [replication_of(on(cell, machine).record) for machine in machines]
    others = [changed(each, auc=each.auc + auc) for each in others]
    return replace(cell, replications=tuple(others))


def rows(cells):
    """Results by algorithm, and the facts of the data set."""
    report = build(cells, "s", True)
    return report.results.set_index("algorithm").to_dict("index"), report.data_sets.iloc[0]


def test_results_of_one_machine_are_self_reported(cells):
    found, facts = rows(cells)
    assert {row["reported"] for row in found.values()} == {SELF_REPORTED}
    assert not facts["several_machines"]


def test_a_row_is_replicated_on_as_many_machines_as_each_of_its_runs(cells):
    moved = [
        replicated(cell, "b", "c")
        if cell.described.algorithm.name == "psam"
        else replicated(cell, "b")
        if cell.run.seed == 0
        else cell
        for cell in cells
    ]
    found, _ = rows(moved)
    assert found["psam"]["reported"] == "replicated on 3 machines"
    assert found["solam"]["reported"] == "replicated in 1 of 2 runs"


def test_one_machine_that_ran_a_cell_twice_counts_once(cells):
    own = cells[0].record.environment.machine
    found, _ = rows([replicated(cell, own, "b", "b") for cell in cells])
    assert {row["reported"] for row in found.values()} == {"replicated on 2 machines"}


def test_disagreeing_replications_are_said_and_do_not_count(cells):
    found, _ = rows([replicated(cell, "b", auc=-0.3) for cell in cells])
    assert {row["reported"] for row in found.values()} == {"2 of 2 runs disagree with a replication"}


def test_times_of_two_machines_are_marked_and_shown_in_units_that_their_speeds_make_equal(cells):
    moved = [
        on(cell, "slow", SLOW, 4.0)
        if cell.described.algorithm.name == "psam"
        else on(cell, "fast", FAST, 1.0)
        for cell in cells
    ]
    found, facts = rows(moved)
    assert facts["several_machines"]
    assert found["psam"]["calibrated"] == pytest.approx(4.0 / 2.0e-9 / 1e6)
    assert found["solam"]["calibrated"] == pytest.approx(found["psam"]["calibrated"])
    assert sum(bool(row["timing_mark"]) for row in found.values()) == 1  # the other is usual on the data set


def test_a_row_that_mixes_two_machines_is_marked(cells):
    moved = [on(cell, "b" if cell.run.seed else "a") for cell in cells]
    found, facts = rows(moved)
    assert facts["several_machines"]
    assert all(row["timing_mark"] for row in found.values())


def test_without_the_speed_of_a_machine_there_are_no_units(cells):
    found, _ = rows([on(cell, "a", None) for cell in cells])
    assert all(math.isnan(row["calibrated"]) for row in found.values())


def data(rows, features, kind, nonzeros):
    return DataRecord(
        sha256=(), train_rows=rows, test_rows=1, features=features, train_positives=1, format=kind,
        nonzeros_per_row=nonzeros,
    )  # fmt: skip


def test_the_unit_of_a_cell_is_that_of_its_rows():
    speed = changed(SLOW, dense_cached=1.0, dense_memory=2.0, csr_cached=3.0, csr_memory=4.0)
    assert unit(speed, data(100, 50, "dense", 50.0)) == 1.0
    assert unit(speed, data(100_000, 50, "dense", 50.0)) == 2.0
    assert unit(speed, data(1_000, 50_000, "csr", 100.0)) == 3.0
    assert unit(speed, data(100_000, 50_000, "csr", 100.0)) == 4.0
