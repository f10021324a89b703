"""Slow methods are tried on smaller problems, and what there is no time for is told."""

import pytest

from aucbench.testing import Status, check_algorithm
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
    with pytest.warns(UserWarning, match="healthy: .*the 0.3 s for all checks"):
        findings = check_algorithm(mistaken.Slow, patience=0.3)
    untried = [each for each in findings if each.status is Status.untried]
    assert untried
    for finding in untried:
        assert not finding.follows
        assert "0.3 s" in finding.message
    assert by_name(findings)["declared"].status is Status.passed
