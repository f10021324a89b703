"""A plugin that hangs, crashes or exits in its process is a failure at its line."""

import pytest

from aucbench.contracts.validation import Family
from aucbench.testing import ALGORITHM_CHECKS, Status, check_algorithm
from aucbench.testing.check_plugin import examined_apart
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.findings import by_name

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("process")]


def apart(plugin, patience=60.0, grace=15.0):
    return by_name(examined_apart(Family.algorithms, plugin, patience, lambda message: None, grace))


@pytest.mark.parametrize(
    ("method", "line"),
    [(mistaken.Endless, ": w = w + 0.0"), (mistaken.EndlessCompiled, ": return w * _forever(1.0)")],
)
def test_code_that_hangs_compiled_or_not_is_a_failure_at_its_line(method, line):
    findings = apart(method, patience=4.0, grace=1.0)
    assert findings["runs"].status is Status.failed
    assert "9 s" in findings["runs"].message
    assert findings["runs"].place.endswith(line)
    assert findings["chunks"].follows == "runs"
    assert len(findings) == len(ALGORITHM_CHECKS)


def test_a_crash_is_a_failure_at_its_line_and_the_command_goes_on():
    findings = apart(mistaken.Crashing)
    assert findings["runs"].status is Status.failed
    assert "SIGABRT" in findings["runs"].message
    assert findings["runs"].place.endswith(": os.abort()")
    assert findings["declared"].status is Status.passed
    assert findings["auc"].follows == "runs"


def test_a_method_that_ends_the_process_is_a_failure():
    found = apart(mistaken.Leaving)["runs"]
    assert found.status is Status.failed
    assert "os._exit, status 7" in found.message


def test_an_interruption_from_the_keyboard_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        apart(mistaken.Interrupting)
    with pytest.raises(KeyboardInterrupt):
        check_algorithm(mistaken.Interrupting)


def test_a_sound_method_passes_in_a_process_of_its_own_and_its_progress_is_reported():
    messages = []
    findings = examined_apart(Family.algorithms, mistaken.Plain, 60.0, messages.append)
    assert {finding.status for finding in findings} == {Status.passed}
    *reported, seconds = messages
    assert reported == [each for finding in findings for each in (finding.check, finding)]
    assert 0.0 < seconds < 60.0
