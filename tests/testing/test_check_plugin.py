"""Every check of algorithms finds the method that breaks its rule, and no other check does.

Mistakes that are easily made are one failure each, with a message that names the mistake and its remedy.
"""

import linecache
import re
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.testing import ALGORITHM_CHECKS, CheckFailure, Status, check_algorithm, trainee
from aucbench.testing.trainee import Trainee
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.broken_plugins import CULPRITS, NOT_A_NUMBER, CountsWeights, Healthy, StepPerChunk, broken
from tests.helpers.fake_plugins import Perceptron
from tests.helpers.findings import by_name, failed, failures
from tests.helpers.mistaken_plugins import MARK
from tests.third_party.my_methods import PairSgd, Ramp

CHECKS = {check.name: check for check in ALGORITHM_CHECKS}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # dividing by zero is a mistake
@pytest.mark.parametrize(("checks", "culprit", "regex"), CULPRITS + mistaken.CULPRITS)
def test_a_method_that_breaks_one_rule_is_found_by_its_check_alone_at_its_line(
    checks, culprit, regex, monkeypatch
):
    monkeypatch.setattr(trainee, "SIZES", trainee.SIZES[1:])  # small problems show as much
    findings = check_algorithm(culprit, raise_on_failure=False)
    by_check = failures(findings)
    assert set(by_check) == set(checks.split()), [str(finding) for finding in by_check.values()]
    first = next(iter(by_check.values()))
    assert re.search(regex, first.message), first.message
    if checks in ("grid", "exempt"):  # failures that stop no other check
        assert Status.untried not in {finding.status for finding in findings}
    if culprit.__module__ == mistaken.__name__:
        file, number, line = first.place.split(":", 2)
        assert (file, MARK in line) == (mistaken.__file__, True)
        assert linecache.getline(file, int(number)).strip() == line.strip()


def test_there_is_a_culprit_for_every_check():
    assert set(" ".join(checks for checks, *_ in CULPRITS).split()) == set(CHECKS)


def test_methods_pass_that_heed_weights_or_lack_finalize_grid_and_loss_or_are_of_a_third_party():
    assert {CHECKS[name](Healthy(eta=0.4)).status for name in CHECKS} == {Status.passed}
    findings = by_name(check_algorithm(CountsWeights))
    assert (findings["weighted"].status, findings["weighted"].message) == (Status.passed, "")
    assert failed(check_algorithm(Perceptron)) == set()
    assert len(check_algorithm(PairSgd, loss=Ramp())) == len(ALGORITHM_CHECKS)
    assert CHECKS["sparse_rows"](NOT_A_NUMBER).status is Status.passed  # NaN does not differ from NaN


def test_the_failure_says_what_differs_and_on_which_smallest_input():
    with pytest.raises(CheckFailure) as caught:
        check_algorithm(StepPerChunk)
    text = str(caught.value)
    assert text.startswith("healthy fails 1 check:")  # the name is inherited
    assert "chunks: chunks of 1 give another result" in text
    assert "entry 0 is 0." in text
    assert "2 x 1 dense rows of float64, seed 0, 2 iterations" in text


@dataclass(frozen=True)
class Needy:
    name: ClassVar[str] = "needy"
    eta: float


def test_a_class_that_cannot_be_made_is_one_failure():
    with pytest.raises(CheckFailure, match=r"default parameters, which every field needs.*TypeError"):
        check_algorithm(Needy)


REASON = "its step shrinks from call to call"


@pytest.mark.parametrize(
    ("method", "check", "reason"),
    [
        (broken(StepPerChunk, exempt={"chunks": REASON}), "chunks", REASON),
        (broken(requires={"dense": REASON}), "sparse_rows", f"requires dense: {REASON}"),
        (broken(requires={"float64": REASON}), "float32_rows", f"requires float64: {REASON}"),
    ],
)
def test_an_exempt_check_is_shown_with_its_reason_and_not_run(method, check, reason):
    assert str(CHECKS[check].find(Trainee(method))) == f"{check} exempt: {reason}"


@dataclass(frozen=True)
class Turned(Healthy):
    grid: ClassVar = {"sign": (-1.0, 1.0)}
    sign: float = -1.0

    def finalize(self, state):
        return state._replace(w=self.sign * state.total / max(1, state.counts[0]))


def test_a_method_whose_default_suits_other_data_may_learn_with_its_grid():
    message = CHECKS["auc"](Turned).message
    assert re.fullmatch("test AUC 0.07.*with sign=1.0 of its grid", message)


@pytest.mark.slow
def test_a_slow_method_is_tried_on_smaller_problems_and_told_so():
    findings = by_name(check_algorithm(mistaken.Slow, patience=6.0, raise_on_failure=False))
    assert "one iteration takes " in findings["runs"].message
    assert " one pass, not 220 and 5" in findings["runs"].message
    assert not [finding for finding in findings.values() if finding.status is Status.failed]
    assert findings["chunks"].status is Status.passed


def test_checks_without_time_are_untried_with_the_reason_and_warned_of():
    with pytest.warns(UserWarning, match="healthy: .*the 0.3 s for all checks"):
        findings = check_algorithm(mistaken.Slow, patience=0.3)
    untried = [finding for finding in findings if finding.status is Status.untried]
    assert {finding.follows for finding in untried} == {""}
    assert all("0.3 s" in finding.message for finding in untried)
    assert by_name(findings)["declared"].status is Status.passed
