"""Trying how fast a method is, whatever it does."""

import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.execution.cost_estimate import TrialRuns
from aucbench.studies.default_settings import Limits
from tests.helpers.studies import entry
from tests.helpers.study_methods import Clouds, Exiting, Gentle, Greedy, Raising, Sleeper

pytestmark = pytest.mark.usefixtures("process")


@dataclass(frozen=True)
class Lazy(Gentle):
    """Takes 20 ms an iteration, and wants to know how many there are."""

    name: ClassVar[str] = "fake_lazy"
    plans: ClassVar[bool] = True

    def step(self, w, batch):
        time.sleep(0.02 * len(batch))
        return super().step(w, batch)


@pytest.fixture(scope="module")
def trials():
    with TrialRuns() as found:
        yield found


def test_a_method_has_a_speed_and_those_after_a_bad_one_too(trials):
    assert trials.speed(entry(Gentle()), 0, 0).iteration > 0.0
    for bad in (Exiting(), Raising()):
        assert trials.speed(entry(bad), 0, 0) is None
        assert trials.speed(entry(Gentle()), 0, 0).iteration > 0.0


def test_a_method_that_hangs_or_takes_all_memory_has_no_speed(trials):
    limits = Limits(seconds=0.5, grace=3.0, memory="300MB")
    assert trials.speed(entry(Greedy(), limits=limits), 0, 0) is None
    assert trials.speed(entry(Sleeper(), limits=limits), 0, 0).iteration == float("inf")


def test_a_slow_method_is_tried_on_few_rows_although_it_plans_its_iterations(trials):
    begun = time.monotonic()
    speed = trials.speed(entry(Lazy(), Clouds(n=5_000)), 0, 0)
    assert speed.iteration == pytest.approx(0.02, rel=0.5)
    assert time.monotonic() - begun < 10.0  # a pass over the rows that are tried takes 40 s


def test_a_plugin_of_this_process_alone_cannot_be_tried(trials):
    class Local(Gentle):
        pass

    assert trials.speed(entry(Local()), 0, 0) is None
