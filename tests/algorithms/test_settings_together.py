"""Settings that cannot be trained together, and what others share; plugins are checked for the rest."""

import numpy as np
import pytest

import aucbench
from aucbench import Batch, ParameterError
from aucbench_algorithms import Mba
from tests.helpers.training import problem_of, random_problem

N, D = 200, 30
X, Y = random_problem(2, N, D, density=0.3)
CATALOG = aucbench.catalog()


def starts(several):
    return [each.init(problem_of(each, X, Y, 600), np.random.default_rng(0)) for each in several]


@pytest.mark.parametrize("name", ["oam_seq", "oam_gra", "cbr_diag"])
def test_settings_that_do_not_fit_the_memory_together_or_share_no_buffer_train_one_by_one(name, monkeypatch):
    cls = CATALOG.algorithm(name)
    apart, several = [cls(buffer=buffer) for buffer in (3, 8)], [cls(C=C) for C in (0.1, 1.0)]
    assert cls.together(apart, starts(apart)) is None
    monkeypatch.setattr("aucbench.data.memory.available", lambda: 0)
    assert cls.together(several, starts(several)) is None


@pytest.mark.parametrize("name", ["opauc", "adaoam"])
def test_moments_without_memory_for_all_weights_are_refused(name, monkeypatch):
    several = [CATALOG.algorithm(name)()] * 600
    states = starts(several)
    monkeypatch.setattr("aucbench.data.memory.available", lambda: 2 * 8 * D * D)
    with pytest.raises(ParameterError, match=rf"{name}: \d+ x 30 numbers"):
        type(several[0]).together(several, states)


def test_moments_of_blocks_are_summed_once_for_all_settings(monkeypatch):
    several, steps, step = [Mba(lam=lam, block=20) for lam in (1e-4, 1e-2, 1.0)], [], Mba.step
    monkeypatch.setattr(Mba, "step", lambda self, *args: steps.append(self.lam) or step(self, *args))
    together = Mba.together(several, starts(several))
    together.step(Batch(X, Y, np.arange(N).reshape(-1, 20)))
    assert len(steps) == 1
