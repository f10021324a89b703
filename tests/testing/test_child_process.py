"""A plugin that hangs, crashes or exits in its process is a failure at its line."""

import pytest

from aucbench.contracts.validation import Family
from aucbench.testing import ALGORITHM_CHECKS, Status, check_algorithm
from aucbench.testing.check_plugin import examined_apart
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.findings import by_name

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("process")]


@pytest.mark.parametrize(
    ("method", "patience", "message", "line"),
    [
        (mistaken.Endless, 4.0, "9 s", ": w = w + 0.0"),
        (mistaken.EndlessCompiled, 4.0, "9 s", ": return w * _forever(1.0)"),
        (mistaken.Crashing, 30.0, "SIGABRT", ": os.abort()"),
        (mistaken.Leaving, 30.0, "os._exit, status 7", ""),
    ],
)
def test_code_that_hangs_crashes_or_exits_is_a_failure_at_its_line(method, patience, message, line):
    findings = by_name(examined_apart(Family.algorithms, method, patience, lambda message: None, 1.0))
    assert findings["declared"].status is Status.passed
    assert findings["runs"].status is Status.failed
    assert message in findings["runs"].message
    assert findings["runs"].place.endswith(line)
    assert findings["auc"].follows == "runs"
    assert len(findings) == len(ALGORITHM_CHECKS)


def test_an_interruption_from_the_keyboard_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        examined_apart(Family.algorithms, mistaken.Interrupting, 60.0, lambda message: None)
    with pytest.raises(KeyboardInterrupt):
        check_algorithm(mistaken.Interrupting)


def test_a_sound_method_passes_in_a_process_of_its_own_and_its_progress_is_reported():
    messages = []
    findings = examined_apart(Family.algorithms, mistaken.Plain, 60.0, messages.append)
    assert {finding.status for finding in findings} == {Status.passed}
    *reported, seconds = messages
    assert reported == [report for finding in findings for report in (finding.check, finding)]
    assert 0.0 < seconds < 60.0
