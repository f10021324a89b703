"""The short form of `python -m benchmarks attacks`, and the table that it printed last."""

import re
from pathlib import Path

import pytest

from benchmarks import attacks
from tests.helpers.hostile_methods import ATTACKS

ROOT = Path(__file__).resolve().parents[3]


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


def test_a_try_that_is_lost_is_counted_and_missed():
    row = attacks.Attacked("kills")
    row.count(True, "")
    row.count(False, "a cell")
    assert (row.tries, row.survived, row.lost, row.reached) == (2, 1, "a cell", False)


def test_the_documented_table_has_all_attacks_and_no_loss():
    text = (ROOT / "docs" / "results" / "attacks.md").read_text()
    rows = re.findall(r"^\| (.*?) \| (\d+) \| (\d+) \| (.*?) \|$", text, re.M)
    assert len(rows) == 8
    assert all(tries == survived and lost == "nothing" for _, tries, survived, lost in rows)
    assert int(rows[0][1]) == len(ATTACKS) >= 45
