"""`python -m benchmarks verdicts`: what it counts as covered and as wrong."""

import numpy as np
import pytest

import benchmarks.verdicts as simulation
from aucbench.reports.statistics.family_intervals import Intervals

RNG = np.random.default_rng(0)
EDGE = simulation.ROPE


@pytest.fixture
def population(monkeypatch):
    monkeypatch.setattr(simulation, "STUDIES", 40)
    return simulation.Population(np.random.default_rng(1).normal(0.004, 0.01, (500, 3)))


@pytest.mark.parametrize(
    ("low", "high", "truth", "wrong"),
    [
        (0.006, 0.02, EDGE, (True, False)),
        (0.006, 0.02, 0.01, (False, False)),
        (-0.02, -0.006, -EDGE, (True, False)),
        (-0.004, 0.004, 0.006, (False, True)),
        (-0.004, 0.004, 0.004, (False, False)),
        (-0.1, 0.1, 0.3, (False, False)),
    ],
)
def test_a_verdict_is_wrong_by_the_true_gain(low, high, truth, wrong):
    assert simulation._wrong(np.array([low]), np.array([high]), np.array([truth])) == wrong


def test_intervals_that_are_too_short_are_noticed(population, monkeypatch):
    good = simulation.tally(population, 30, 3, RNG)
    whole = simulation.family_intervals

    def third(values):
        found = whole(values)
        return Intervals(*found[:4], *(found.mean + (each - found.mean) / 3 for each in found[4:]))

    monkeypatch.setattr(simulation, "family_intervals", third)
    short = simulation.tally(population, 30, 3, RNG)
    assert good.coverage > 0.85
    assert short.coverage < 0.6
    assert short.edge_side > good.edge_side
    assert short.edge_equivalent > 0.05
