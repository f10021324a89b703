"""The short form of `python -m benchmarks attacks`, and the table that it printed last."""

import pytest

from benchmarks import attacks


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
