"""Slow methods are tried on less, and what hangs or crashes ends with a sentence."""

import threading

import pytest

from aucbench.humanize import duration
from aucbench.registry import Family
from aucbench.testing import ALGORITHM_CHECKS, Status, check_algorithm
from aucbench.testing.examining import Watcher
from aucbench.testing.isolating import examined_apart
from aucbench.testing.patience import OutOfTime, Patience
from tests.testing import mistaken


def by_name(findings):
    return {finding.check: finding for finding in findings}


def apart(plugin, patience=60.0, grace=15.0):
    return by_name(examined_apart(Family.algorithms, plugin, patience, Watcher(), grace))


def test_a_slow_method_is_tried_on_smaller_problems_and_told_so():
    findings = by_name(check_algorithm(mistaken.Slow, patience=6.0, raise_on_failure=False))
    assert findings["runs"].message.startswith("one iteration takes ")
    assert findings["runs"].message.endswith(" rows and one pass, not 220 and 5")
    assert not [each for each in findings.values() if each.status is Status.failed]
    assert findings["chunks"].status is Status.passed


def test_what_there_is_no_time_for_is_untried_with_the_reason_and_warned_of():
    with pytest.warns(UserWarning, match="healthy: not everything was tried: .*one iteration takes"):
        findings = check_algorithm(mistaken.Slow, patience=0.3)
    untried = [each for each in findings if each.status is Status.untried]
    assert untried
    for finding in untried:
        assert not finding.follows
        assert "one iteration takes" in finding.message
    assert by_name(findings)["declared"].status is Status.passed


def test_a_method_that_does_not_come_back_is_a_failure_at_its_line():
    findings = apart(mistaken.Endless, patience=1.0)
    assert findings["runs"].status is Status.failed
    assert (
        "`step`, called for 3 iterations, had not come back after 1 s: it hangs" in findings["runs"].message
    )
    assert "220 x 8 dense rows" in findings["runs"].message
    assert findings["runs"].place.startswith(mistaken.__file__)
    assert findings["chunks"].follows == "runs"


def test_a_method_that_hangs_on_one_kind_of_input_is_checked_on_the_others():
    findings = apart(mistaken.EndlessWhenEmpty, patience=8.0)
    assert "called for 0 iterations, had not come back" in findings["chunks"].message
    empty = findings["empty_chunk"]
    assert (
        empty.follows == "chunks" or "called for 0 iterations" in empty.message
    )  # the same line, or the next
    assert findings["weights"].status is Status.passed


def test_compiled_code_that_does_not_end_is_a_failure_at_its_line():
    findings = apart(mistaken.EndlessCompiled, patience=4.0, grace=1.0)
    assert "compiled code that does not end" in findings["runs"].message
    assert findings["runs"].place.endswith(": return w * _forever(1.0)")
    assert len(findings) == len(ALGORITHM_CHECKS)


def test_a_crash_is_a_failure_at_its_line_and_the_command_goes_on():
    findings = apart(mistaken.Crashing)
    assert "Compiled code crashed (SIGABRT)" in findings["runs"].message
    assert findings["runs"].place.endswith(": os.abort()")
    assert findings["declared"].status is Status.passed
    assert findings["auc"].follows == "runs"


def test_a_method_that_ends_the_process_is_a_failure():
    assert "os._exit, status 7" in apart(mistaken.Leaving)["runs"].message


def test_an_interruption_from_the_keyboard_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        apart(mistaken.Interrupting)
    with pytest.raises(KeyboardInterrupt):
        check_algorithm(mistaken.Interrupting)


def test_a_sound_method_is_found_sound_in_a_process_of_its_own():
    told = []

    class Telling(Watcher):
        def trying(self, name):
            told.append(name)

    findings = examined_apart(Family.algorithms, mistaken.Plain, 60.0, Telling())
    assert {finding.status for finding in findings} == {Status.passed}
    assert told == [check.name for check in ALGORITHM_CHECKS]


def test_an_alarm_interrupts_only_the_main_thread_and_leaves_none_behind():
    outcome = []

    def elsewhere():
        with Patience(0.01).alarm():
            outcome.append(sum(range(10_000)))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert outcome
    assert issubclass(OutOfTime, BaseException)
    assert not issubclass(OutOfTime, Exception)  # `except Exception` of a plugin must not swallow it


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(20.0, "20 s"), (0.0213, "21 ms"), (3.3e-6, "3.3 us"), (1e-9, "less than 1 us")],
)
def test_times_are_told_in_two_digits(seconds, words):
    assert duration(seconds) == words
