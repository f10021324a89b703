"""Slow methods are tried on smaller problems, and the alarm interrupts those that hang."""

import math
import threading
from time import sleep

import pytest

from aucbench.humanize import duration
from aucbench.testing import Status, check_algorithm
from aucbench.testing.findings import Untried
from aucbench.testing.time_limit import OutOfTime, TimeLimit
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.findings import by_name


@pytest.mark.slow
def test_a_slow_method_is_tried_on_smaller_problems_and_told_so():
    findings = by_name(check_algorithm(mistaken.Slow, patience=6.0, raise_on_failure=False))
    assert "one iteration takes " in findings["runs"].message
    assert " one pass, not 220 and 5" in findings["runs"].message
    assert not [each for each in findings.values() if each.status is Status.failed]
    assert findings["chunks"].status is Status.passed


def test_checks_without_time_are_untried_with_the_reason_and_warned_of():
    with pytest.warns(UserWarning, match="healthy: .*one iteration takes"):
        findings = check_algorithm(mistaken.Slow, patience=0.3)
    untried = [each for each in findings if each.status is Status.untried]
    assert untried
    for finding in untried:
        assert not finding.follows
        assert "one iteration takes" in finding.message
        assert "0.3 s" in finding.message
    assert by_name(findings)["declared"].status is Status.passed


def test_a_call_is_refused_when_no_time_is_left():
    limit = TimeLimit(0.001)
    limit.begin("step", 1)
    sleep(0.002)
    with pytest.raises(Untried, match=r"0\.001 s"):
        limit.begin("step", 1)


@pytest.mark.timeout(0)  # its alarm is the same one
def test_the_alarm_interrupts_code_that_takes_too_long():
    with pytest.raises(OutOfTime), TimeLimit(0.05).alarm():
        sleep(5.0)


def test_an_alarm_interrupts_only_the_main_thread_and_leaves_none_behind():
    outcome = []

    def elsewhere():
        with TimeLimit(0.01).alarm():
            sleep(0.05)
            outcome.append("done")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert outcome == ["done"]


def test_plugins_that_catch_exceptions_do_not_catch_the_alarm():
    assert not issubclass(OutOfTime, Exception)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (20.0, "20 s"),
        (0.02134, "21.3 ms"),
        (3.3e-6, "3.3 us"),
        (1e-9, "1 ns"),
        (5400.0, "1.5 h"),
        (math.inf, "never"),
    ],
)
def test_times_are_told_in_three_digits(seconds, words):
    assert duration(seconds) == words
