"""Every check of algorithms finds the method that breaks its rule, and no other check does."""

import inspect
import linecache
import re
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.testing import ALGORITHM_CHECKS, CheckFailure, Status, check_algorithm
from tests.helpers import broken_plugins
from tests.helpers.broken_plugins import (
    CULPRITS,
    MARK,
    CountsWeights,
    Healthy,
    NotANumber,
    Slow,
    StepPerChunk,
    broken,
    plain,
)
from tests.helpers.fake_plugins import Perceptron
from tests.helpers.findings import by_name, failed, failures
from tests.third_party.my_methods import PairSgd, Ramp


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # dividing by zero is one of the mistakes
@pytest.mark.parametrize(("culprit", "checks", "words"), CULPRITS.values(), ids=CULPRITS)
def test_a_method_that_breaks_one_rule_is_found_by_its_check_alone_at_its_line(culprit, checks, words):
    found = failures(check_algorithm(culprit, raise_on_failure=False))
    assert set(found) == checks, [str(finding) for finding in found.values()]
    first = next(iter(found.values()))
    assert re.search(words, first.message), first.message
    if vars(broken_plugins).get(culprit.__name__) is culprit and MARK in inspect.getsource(culprit):
        file, number, line = first.place.split(":", 2)
        assert file == broken_plugins.__file__
        assert MARK in line
        assert linecache.getline(file, int(number)).strip() == line.strip()


def test_a_failure_at_the_same_line_is_not_told_twice():
    def unfinished(self, w):
        if len(w) and not w.any():
            raise RuntimeError("nothing was learned")
        return w

    (found,) = failures(check_algorithm(plain(finalize=unfinished), raise_on_failure=False)).values()
    assert found.place.endswith(': raise RuntimeError("nothing was learned")')


def test_scores_that_are_nan_on_both_sides_do_not_differ():
    checks = {check.name: check for check in ALGORITHM_CHECKS}
    assert checks["sparse_rows"](NotANumber).status is Status.passed


def test_there_is_a_culprit_for_every_check():
    assert set().union(*(checks for _, checks, _ in CULPRITS.values())) == {
        check.name for check in ALGORITHM_CHECKS
    }


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=str)
def test_a_healthy_method_passes_each_check_alone(check):
    assert check(Healthy).status is Status.passed
    assert check(Healthy(eta=0.4)).status is Status.passed


def test_methods_pass_that_heed_weights_or_lack_finalize_grid_and_loss_or_are_of_a_third_party():
    findings = by_name(check_algorithm(CountsWeights))
    assert (findings["weighted"].status, findings["weighted"].message) == (Status.passed, "")
    assert failed(check_algorithm(Perceptron)) == set()
    assert len(check_algorithm(PairSgd, loss=Ramp())) == len(ALGORITHM_CHECKS)


def test_the_failure_says_what_differs_and_on_which_smallest_input():
    with pytest.raises(CheckFailure) as caught:
        check_algorithm(StepPerChunk)
    text = str(caught.value)
    assert text.startswith("healthy fails 1 check:")  # the name is inherited
    assert "chunks: chunks of 1 give another result" in text
    assert "entry 0 is 0." in text
    assert "2 x 1 dense rows of float64, seed 0, 2 iterations" in text


def test_a_class_that_cannot_be_made_is_one_failure():
    @dataclass(frozen=True)
    class Needy:
        name: ClassVar[str] = "needy"
        eta: float

    with pytest.raises(CheckFailure, match=r"default parameters, which every field needs.*TypeError"):
        check_algorithm(Needy)


def test_an_exempt_check_is_shown_with_its_reason_and_not_run():
    reason = "its step shrinks from call to call, as in the paper"
    findings = by_name(check_algorithm(broken(StepPerChunk, exempt={"chunks": reason})))
    assert str(findings["chunks"]) == f"chunks exempt: {reason}"


@pytest.mark.parametrize(("need", "check"), [("dense", "sparse_rows"), ("float64", "float32_rows")])
def test_a_requirement_needs_a_reason_and_exempts_one_check(need, check):
    reason = "its solver knows nothing else"
    findings = by_name(check_algorithm(broken(requires={need: reason})))
    assert str(findings[check]) == f"{check} exempt: requires {need}: {reason}"
    (wrong,) = failures(check_algorithm(broken(requires={need: ""}), raise_on_failure=False)).values()
    assert wrong.message.startswith(f"`requires` names '{need}' without a reason.")


def test_a_method_whose_default_suits_other_data_may_learn_with_its_grid():
    @dataclass(frozen=True)
    class Turned(Healthy):
        grid: ClassVar = {"sign": (-1.0, 1.0)}
        sign: float = -1.0

        def finalize(self, state):
            return state._replace(w=self.sign * state.total / max(1, state.counts[0]))

    findings = by_name(check_algorithm(Turned))
    assert findings["auc"].message.startswith("test AUC 0.07")
    assert findings["auc"].message.endswith("with sign=1.0 of its grid")


@pytest.mark.slow
def test_a_slow_method_is_tried_on_smaller_problems_and_told_so():
    findings = by_name(check_algorithm(Slow, patience=6.0, raise_on_failure=False))
    assert "one iteration takes " in findings["runs"].message
    assert " one pass, not 220 and 5" in findings["runs"].message
    assert not [each for each in findings.values() if each.status is Status.failed]
    assert findings["chunks"].status is Status.passed


def test_checks_without_time_are_untried_with_the_reason_and_warned_of():
    with pytest.warns(UserWarning, match="healthy: .*the 0.3 s for all checks"):
        findings = check_algorithm(Slow, patience=0.3)
    untried = [each for each in findings if each.status is Status.untried]
    assert untried
    for finding in untried:
        assert not finding.follows
        assert "0.3 s" in finding.message
    assert by_name(findings)["declared"].status is Status.passed
