"""Faults of the machine are not results of a method; a short form of the attack benchmark."""

import errno

import pytest

import aucbench
from aucbench import PluginError
from aucbench.errors import FAULTS, MachineError
from aucbench.studies.execution import worker
from aucbench.studies.record import Failure
from benchmarks import attacks


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_of_the_machine_is_told_from_a_failure_of_a_plugin(code):
    fault, outer = OSError(code, "the reason", "the file"), PluginError("psam failed")
    outer.__cause__ = fault
    for error in (fault, outer):
        report = worker.report_of(error, None)
        assert isinstance(report, MachineError)
        assert "the reason (the file)" in str(report)
    for error in (OSError(errno.ENOENT, "none", "own"), ValueError("x"), PluginError("y")):
        assert isinstance(worker.report_of(error, None), Failure)


def test_a_study_that_met_a_fault_stops_keeps_nothing_and_goes_on_later(tmp_path, monkeypatch):
    overrides = ["algo=ls_svm", f"store.path={tmp_path / 'store'}", "runs=3"]
    calls, real = [], worker.run_cell

    def broken(*arguments, **named):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments, **named)

    monkeypatch.setattr(worker, "run_cell", broken)
    with pytest.raises(MachineError, match="No space left"):
        aucbench.run(*overrides)
    assert len(calls) == 2
    result = aucbench.run(*overrides)
    assert len(calls) == 4
    assert result.auc > 0.9


@pytest.mark.faults
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("kind", "tries", "more"),
    [("killed_studies", 1, (1,)), ("killed_studies", 1, (2,)),
     *((kind, 20, ()) for kind in ("flipped_bits", "changed_stores", "changed_archives"))],
)  # fmt: skip
def test_killed_studies_and_changed_files_lose_nothing(kind, tries, more):
    row = getattr(attacks, kind)(tries, *more)
    assert (row.tries, row.survived) == (tries, tries)
