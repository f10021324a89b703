"""Foundations of the benchmarks: families of data sets, mutated lines, verdicts of simulated studies."""

import numpy as np
import pytest

import benchmarks.verdicts as simulation
from aucbench import catalog
from aucbench.data import load
from aucbench_datasets import catalogue
from benchmarks.families import families, row_hashes, shared
from benchmarks.mutations import MUTATIONS, ROOT
from benchmarks.real_sets import Choice

SAME = [("diabetes", "keel_pima"), ("keel_satimage", "adbench_satimage_2"), ("keel_wisconsin", "adbench_wbc")]


@pytest.mark.mirror
def test_data_sets_that_share_rows_are_declared_one_family(monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    hashes = {name: row_hashes(load(catalog().dataset(name)()).X) for pair in SAME for name in pair}
    assert all(shared(hashes[left], hashes[right]) > 0.9 for left, right in SAME)
    collected = [cls for cls in catalogue.CLASSES if cls.name.startswith(("keel_", "adbench_"))]
    small = tuple(cls.name for cls in collected if cls.files[0].rows < 1_000)
    measures = list(families(Choice(sets=small)))
    assert all(measure.reached for measure in measures), [str(measure) for measure in measures]


def test_every_line_stands_once():
    for mutation in MUTATIONS:
        assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.line) == 1, mutation.file
        assert mutation.changed != mutation.line
        assert (ROOT / mutation.tests).is_dir()


def test_a_verdict_is_wrong_by_the_true_gain():
    edge = simulation.ROPE
    for low, high, truth, wrong in (
        (0.006, 0.02, edge, (True, False)),
        (0.006, 0.02, 0.01, (False, False)),
        (-0.02, -0.006, -edge, (True, False)),
        (-0.004, 0.004, 0.006, (False, True)),
        (-0.1, 0.1, 0.3, (False, False)),
    ):
        assert simulation._wrong(np.array([low]), np.array([high]), np.array([truth])) == wrong
