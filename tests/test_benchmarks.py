"""What the benchmarks rest on: lines that are mutated, and verdicts of simulated studies."""

import numpy as np

import benchmarks.verdicts as simulation
from benchmarks.mutations import MUTATIONS, ROOT


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
