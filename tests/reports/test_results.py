"""Rulesets, machines and replications in reports, against counts and times put in by hand."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from aucbench.reports.build import build
from aucbench.reports.results import SELF_REPORTED
from aucbench.studies.archives.replications import replication_of
from tests.helpers.board_cells import altered, finished

CELLS = [
    altered(finished(0.9, seed=seed, algorithm=name), environment={"machine": "a", "platform": "Linux-glibc"})
    for name in ("psam", "solam")
    for seed in (0, 1)
]


def on(cell, machine):
    """The cell as another machine would have run it."""
    environment = changed(cell.record.environment, machine=machine)
    result = changed(cell.record.result, train_seconds=1.0)
    return replace(cell, record=changed(cell.record, environment=environment, result=result))


def replicated(cell, *machines, auc=0.0):
    """The cell with replications on some machines, with AUCs moved by `auc`."""
    replications = [replication_of(on(cell, machine).record) for machine in machines]
    replications = [changed(replication, auc=replication.auc + auc) for replication in replications]
    return replace(cell, replications=tuple(replications))


def rows(cells):
    """Results by algorithm."""
    return build(list(cells), "s", True).results.set_index("algorithm").to_dict("index")


def psam_everywhere_and_solam_once(cell):
    if cell.described.algorithm.name == "psam":
        return replicated(cell, "b", "c")
    return replicated(cell, "b") if cell.run.seed == 0 else cell


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda cell: cell, [SELF_REPORTED] * 2),
        (psam_everywhere_and_solam_once, ["replicated on 3 machines", "replicated in 1 of 2 runs"]),
        # The machine that ran a cell is not counted again.
        (lambda cell: replicated(cell, cell.record.environment.machine, "b", "b"),
         ["replicated on 2 machines"] * 2),
        (lambda cell: replicated(cell, "b", auc=-0.3), ["2 of 2 runs disagree with a replication"] * 2),
    ],
)  # fmt: skip
def test_a_row_is_replicated_on_as_many_machines_as_agree_on_each_of_its_runs(change, expected):
    results = rows(map(change, CELLS))
    assert [results[name]["reported"] for name in ("psam", "solam")] == expected


@pytest.mark.parametrize(
    ("machine", "marked"),
    [
        (lambda cell: cell.described.algorithm.name, 1),  # the other machine is usual on the data set
        (lambda cell: "b" if cell.run.seed else "a", 2),
    ],
)
def test_times_of_two_machines_are_marked(machine, marked):
    results = rows(on(cell, machine(cell)) for cell in CELLS)
    assert sum(bool(row["timing_mark"]) for row in results.values()) == marked
    report = build([on(cell, machine(cell)) for cell in CELLS], "s", True, reference="solam")
    assert report.verdicts["time_ratio"].isna().any()  # marked times are not compared


def test_runs_that_stopped_before_they_converged_are_counted_and_a_method_that_cannot_know_has_none():
    results = rows(altered(cell, result={"converged": [False, None][cell.run.seed]}) for cell in CELLS)
    assert [row["unconverged"] for row in results.values()] == [1, 1]
