"""Every check of algorithms finds the method that breaks its rule, and no other check does.

Mistakes that are easily made are one failure each, in words that say what was done and what to do.
"""

import inspect
import linecache
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from aucbench.testing import ALGORITHM_CHECKS, CheckFailure, Status, check_algorithm
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.broken_plugins import CULPRITS, CountsWeights, Healthy, StepPerChunk, broken
from tests.helpers.fake_plugins import Perceptron
from tests.helpers.findings import by_name, failed, failures
from tests.helpers.mistaken_plugins import MARK, Plain
from tests.third_party.my_methods import PairSgd, Ramp


def other(**functions):
    return type("Other", (Plain,), functions)


def of_few_rows(self, w, batch):
    if batch.X.shape[0] == 400:
        raise RuntimeError("there are many")
    return Plain.step(self, w, batch)


MISTAKES = [  # the check that fails, and the values and the advice in its message
    (mistaken.InitReturnsNothing, "runs", "`init` returned None: .*`return`"),
    (other(score=lambda self, w, X: None), "scores", "`score` of 2 rows returned None"),
    (mistaken.Column, "scores", r"ndarray of shape \(2, 1\); .*\(2,\)"),
    (other(score=lambda self, w, X: float((X @ w).sum())), "scores", r"2 rows returned float of shape \(\)"),
    (other(score=lambda self, w, X: np.rint(X @ w).astype(int)), "scores", r"int64: .*\.astype\(float\)"),
    (mistaken.DenseOnly, "runs", r"`score` raised .*CSR.*X @ w.*requires:.* 2 x 1 CSR rows"),
    (mistaken.NumberOfRows, "declared", "`batch_size`"),
    (mistaken.Exiting, "runs", r"`step` .*sys.exit, 3"),
    (mistaken.NotANumber, "scores", "2 of 2 scores are NaN; the state is finite.*`score`"),
    (other(step=lambda self, w, batch: w / 0.0 if len(batch) else w), "scores", "the state is not finite"),
    (other(score=lambda self, w, X: -(X @ w)), "auc", r"opposite order.*\+1"),
    (mistaken.Generating, "pickling", r"pickled \(TypeError: .*generators"),
    (mistaken.Untypable, "runs", r"TypingError: No implementation of .*add\(array\(float64"),
    (mistaken.Centring, "inputs_untouched", "^`step` changes X, which is not its own; work on a copy"),
    (other(step=of_few_rows, weighted=True), "weighted", "RuntimeError: there are many"),  # and not in auc
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # dividing by zero is a mistake
@pytest.mark.parametrize(
    ("culprit", "checks", "words"),
    [
        *((cls, {check}, words) for cls, check, words in MISTAKES),
        *(pytest.param(*row, id=name, marks=pytest.mark.slow) for name, row in CULPRITS.items()),
    ],
)
def test_a_method_that_breaks_one_rule_is_found_by_its_check_alone_at_its_line(culprit, checks, words):
    found = failures(check_algorithm(culprit, raise_on_failure=False))
    assert set(found) == checks, [str(finding) for finding in found.values()]
    first = next(iter(found.values()))
    assert re.search(words, first.message), first.message
    if culprit.__module__ == mistaken.__name__ and MARK in inspect.getsource(culprit):
        file, number, line = first.place.split(":", 2)
        assert (file, MARK in line) == (mistaken.__file__, True)
        assert linecache.getline(file, int(number)).strip() == line.strip()


def test_there_is_a_culprit_for_every_check():
    names = {check.name for check in ALGORITHM_CHECKS}
    assert set().union(*(checks for _, checks, _ in CULPRITS.values())) == names


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=str)
def test_a_healthy_method_passes_each_check_alone(check):
    assert check(Healthy).status is Status.passed
    assert check(Healthy(eta=0.4)).status is Status.passed


def test_methods_pass_that_heed_weights_or_lack_finalize_grid_and_loss_or_are_of_a_third_party():
    findings = by_name(check_algorithm(CountsWeights))
    assert (findings["weighted"].status, findings["weighted"].message) == (Status.passed, "")
    assert failed(check_algorithm(Perceptron)) == set()
    assert len(check_algorithm(PairSgd, loss=Ramp())) == len(ALGORITHM_CHECKS)
    (sparse_rows,) = (check for check in ALGORITHM_CHECKS if check.name == "sparse_rows")
    assert sparse_rows(mistaken.NotANumber).status is Status.passed  # NaN does not differ from NaN


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
    ("method", "check", "told"),
    [
        (broken(StepPerChunk, exempt={"chunks": REASON}), "chunks", REASON),
        (broken(requires={"dense": REASON}), "sparse_rows", f"requires dense: {REASON}"),
        (broken(requires={"float64": REASON}), "float32_rows", f"requires float64: {REASON}"),
    ],
)
def test_an_exempt_check_is_shown_with_its_reason_and_not_run(method, check, told):
    assert str(by_name(check_algorithm(method))[check]) == f"{check} exempt: {told}"


@dataclass(frozen=True)
class Turned(Healthy):
    grid: ClassVar = {"sign": (-1.0, 1.0)}
    sign: float = -1.0

    def finalize(self, state):
        return state._replace(w=self.sign * state.total / max(1, state.counts[0]))


def test_a_method_whose_default_suits_other_data_may_learn_with_its_grid():
    message = by_name(check_algorithm(Turned))["auc"].message
    assert re.fullmatch("test AUC 0.07.*with sign=1.0 of its grid", message)


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
    assert {each.follows for each in untried} == {""}
    assert all("0.3 s" in each.message for each in untried)
    assert by_name(findings)["declared"].status is Status.passed
