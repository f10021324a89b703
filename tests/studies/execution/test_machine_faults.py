"""Faults of the machine are no results of a method, and the short form of the benchmark of attacks."""

import errno

import pytest

from aucbench import PluginError
from aucbench.errors import FAULTS, MachineError
from aucbench.studies.execution import worker
from aucbench.studies.record import Failure
from benchmarks import attacks


@pytest.mark.parametrize("code", FAULTS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_fault_of_the_machine_is_told_from_a_failure_of_a_plugin(code, wrapped):
    error = OSError(code, "the reason", "the file")
    if wrapped:
        outer = PluginError("psam of distribution aucbench failed")
        outer.__cause__ = error
        error = outer
    found = worker._report_of(error, None)
    assert isinstance(found, MachineError)
    assert "the reason (the file)" in str(found)


@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "none", "own"), ValueError("x"), PluginError("y")])
def test_other_errors_stay_failures_of_the_method(error):
    assert isinstance(worker._report_of(error, None), Failure)


def test_a_study_that_met_a_fault_stops_keeps_nothing_and_goes_on_later(tmp_path, monkeypatch):
    import aucbench

    words = ["algo=ls_svm", f"store.path={tmp_path / 'store'}", "runs=3"]
    calls, real = [], worker.run_cell

    def broken(*arguments, **named):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments, **named)

    monkeypatch.setattr(worker, "run_cell", broken)
    with pytest.raises(MachineError, match="No space left"):
        aucbench.run(*words)
    assert len(calls) == 2
    found = aucbench.run(*words)
    assert len(calls) == 4
    assert found.auc > 0.9


@pytest.mark.faults
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_study_that_is_killed_loses_nothing(workers):
    row = attacks.killed_studies(1, workers)
    assert (row.tries, row.survived) == (1, 1)


@pytest.mark.faults
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("kind", ["flipped_bits", "changed_stores", "changed_archives"])
def test_changed_files_are_survived(kind):
    row = getattr(attacks, kind)(20)
    assert (row.tries, row.survived) == (20, 20)
