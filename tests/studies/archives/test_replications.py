"""Equal cells of several machines are replications, which agree bit for bit, within a tolerance, or not."""

import pytest
from msgspec.structs import replace

from aucbench.reports.cells import from_store as board_cells
from aucbench.reports.cells import joined
from aucbench.studies.archives.archive import Archive, from_store, into_store, merged
from aucbench.studies.archives.archive_file import read, write
from aucbench.studies.archives.replications import Agreement, compare, machines
from aucbench.studies.codec import subset
from aucbench.studies.record import DESCRIPTION, SEEDS, BudgetRecord, CellStatus, FailureRecord
from aucbench.studies.store import Store
from tests.helpers.archives import altered, moved


def elsewhere(archive, auc=0.0, **environment):
    """The archive as made on another machine, with AUCs moved by `auc`."""
    return altered(archive, moved(auc, **environment))


def outcomes(archive, other, **options):
    """How the cells of two archives agree."""
    return {comparison.agreement for comparison in merged(archive, other, **options)[1]}


@pytest.fixture
def archive(store):
    return from_store(store, "pair")


@pytest.fixture
def record(archive):
    return next(iter(archive.cells.values())).record


def test_equal_runs_on_two_machines_are_identical_and_count_both_machines(archive, tmp_path):
    union, comparisons = merged(archive, elsewhere(archive))
    assert [comparison.agreement for comparison in comparisons] == [Agreement.identical] * len(archive.cells)
    for key, cell in union.cells.items():
        assert len(machines(cell.record, union.replications(key))) == 2
    assert merged(archive, archive)[1] == []  # an archive is no replication of itself
    write(union, tmp_path / "both.zip")
    assert read(tmp_path / "both.zip")[1].others == union.others


def test_under_equal_versions_the_last_bit_counts_and_under_others_the_tolerance(archive, record):
    packages = record.environment.packages | {"mlflow": "0.1"}  # mlflow does no arithmetic
    union, _ = merged(archive, elsewhere(archive, auc=-0.1))
    assert {len(machines(cell.record, union.replications(key))) for key, cell in union.cells.items()} == {1}
    for changed in ({}, {"packages": packages}):
        assert outcomes(archive, elsewhere(archive, auc=1e-9, **changed)) == {Agreement.differs}
    for changed in ({"cpu": "another one"}, {"packages": {"numba": "0.1"}}):
        replica = elsewhere(archive, auc=1e-9, **changed)
        assert outcomes(archive, replica) == {Agreement.close}
        assert outcomes(archive, replica, tolerance=1e-10) == {Agreement.differs}


def test_runs_are_compared_unless_the_clock_ended_them_and_a_divergence_agrees_with_one_alone(record):
    timed = replace(record, budget=BudgetRecord(seconds=1.0))
    rerun = replace(timed, result=replace(record.result, auc=0.1))
    assert compare(timed, rerun).agreement is Agreement.timed
    diverged = replace(record, result=replace(record.result, auc=None, stop_reason="diverged"))
    assert compare(diverged, diverged).agreement is Agreement.identical
    assert compare(record, diverged, tolerance=1.0).agreement is Agreement.differs


def test_a_store_keeps_the_cell_it_has_and_the_imported_one_as_its_replication(store, archive, tmp_path):
    target = Store(tmp_path / "own")
    into_store(archive, target)
    for expected in (len(archive.cells), 0):  # nothing is counted twice
        counts = into_store(elsewhere(archive), target)
        assert (counts.cells, counts.replications) == (0, expected)
    exported = from_store(target, "pair")
    for key in archive.cells:
        assert [replication.environment.machine for replication in exported.replications(key)] == ["there"]
        assert target.record(key).environment == archive.cells[key].record.environment


def test_cells_of_different_runs_of_one_entry_are_one_entry_after_a_merge(archive):
    firsts = {next(iter(entry.cells)) for entry in archive.studies[0].entries}
    union, comparisons = merged(
        altered(archive, keep=lambda key: key in firsts), altered(archive, keep=lambda key: key not in firsts)
    )
    assert comparisons == []
    assert union.studies[0].entries == archive.studies[0].entries
    assert union.cells.keys() == archive.cells.keys()


def test_a_board_of_two_sources_has_each_cell_once_also_one_that_only_the_other_has(store, archive):
    cells = joined([board_cells(store, "pair"), board_cells(elsewhere(archive), "pair")])
    assert len(cells) == len(archive.cells)
    assert {len(cell.replications) for cell in cells} == {1}
    key = next(iter(archive.cells))
    reduced = Archive("less", {k: cell for k, cell in archive.cells.items() if k != key}, archive.studies)
    assert CellStatus.missing in {cell.status for cell in board_cells(reduced, "pair")}
    cells = joined([board_cells(reduced, "pair"), board_cells(archive, "pair")])
    assert {cell.status for cell in cells} == {CellStatus.finished}


def test_failed_cells_travel_and_a_board_counts_them(archive, tmp_path):
    key, cell = next(iter(archive.cells.items()))
    failure = FailureRecord(
        **subset(cell.record, (*DESCRIPTION, *SEEDS, "key")), reason=CellStatus.timeout, message="too late"
    )
    target = Store(tmp_path / "own")
    into_store(archive, target)
    next(target.path.rglob(f"{key}.npz")).unlink()
    target.put_failure(replace(failure, traceback="File /home/me/secret.py"))
    write(from_store(target, "pair"), tmp_path / "failed.zip")
    _, loaded = read(tmp_path / "failed.zip")
    assert loaded.failed[key].message == "too late"
    assert loaded.failed[key].traceback == ""
    assert [board_cell.status for board_cell in board_cells(loaded, "pair")].count(CellStatus.timeout) == 1
    into_store(loaded, copy := Store(tmp_path / "copy"))
    assert copy.failure(key).reason is CellStatus.timeout
    union, _ = merged(loaded, archive)  # the other archive has the cell
    assert union.failed == {}
    assert key in union.cells
