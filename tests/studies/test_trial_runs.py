"""Trying how fast a method is, whatever it does."""

import pytest

from aucbench.studies.settings import Limits
from aucbench.studies.trial_run import TrialRuns
from tests.studies.methods import Exiting, Gentle, Greedy, Raising, Sleeper
from tests.studies.support import entry


@pytest.fixture(scope="module")
def trials():
    with TrialRuns() as found:
        yield found


def test_a_method_has_a_speed_and_those_after_a_bad_one_too(trials):
    assert trials.seconds(entry(Gentle()), 0, 0) > 0.0
    for bad in (Exiting(), Raising()):
        assert trials.seconds(entry(bad), 0, 0) is None
        assert trials.seconds(entry(Gentle()), 0, 0) > 0.0


def test_a_method_that_hangs_or_takes_all_memory_has_no_speed(trials):
    limits = Limits(seconds=0.5, grace=3.0, memory="300MB")
    for bad in (Sleeper(), Greedy()):
        assert trials.seconds(entry(bad, limits=limits), 0, 0) is None


def test_a_plugin_of_this_process_alone_cannot_be_tried(trials):
    class Local(Gentle):
        pass

    assert trials.seconds(entry(Local()), 0, 0) is None
