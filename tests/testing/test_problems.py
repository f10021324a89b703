"""A failing check names a small input that fails in the same way, and a line that fails again."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.errors import ParameterError
from aucbench.testing import CheckFailure, Status, check_algorithm, check_loss, reproduce
from aucbench.testing.problems import line_for
from tests.helpers import broken_plugins as broken
from tests.helpers.broken_plugins import CULPRITS
from tests.testing.checks import test_features, test_losses
from tests.third_party.my_methods import Ramp

AGAIN = [
    cls
    for cls in CULPRITS
    # What is compiled stays so in this process, and the random one may be lucky.
    if cls not in (broken.Recompiling, broken.ClaimsSparse)
]


def failures(plugin, **options):
    findings = check_algorithm(plugin, raise_on_failure=False, **options)
    return {finding.check: finding for finding in findings if finding.status is Status.failed}


@dataclass(frozen=True)
class NeedsFive(broken.Healthy):
    """It fails on five rows and more, of three features and more."""

    requires: ClassVar = {"dense": "so that the number of features is that of the problem"}

    def score(self, state, X):
        if len(state.w) >= 3 and X.shape[0] >= 5:
            raise RuntimeError("five")
        return X @ state.w


@pytest.mark.slow
@pytest.mark.parametrize("culprit", AGAIN, ids=lambda cls: cls.__name__)
def test_the_line_of_a_failure_fails_again(culprit):
    for check, finding in failures(culprit).items():
        assert f"'{check}'" in finding.line
        with pytest.raises(CheckFailure, match=f"fails 1 check:\n  {check}: "):
            exec(finding.line, {})


def test_rows_and_features_are_as_few_as_fail():
    finding = failures(NeedsFive)["runs"]
    assert "n=5, d=3, epochs=1" in finding.line
    assert "5 x 3 dense rows of float64, seed 0, 5 iterations" in finding.message


def test_the_line_names_parameters_and_the_loss_that_were_given():
    findings = failures(broken.StepPerChunk(eta=0.25), loss=Ramp(scale=2.0))
    line = findings["chunks"].line
    assert "reproduce(StepPerChunk(eta=0.25), 'chunks', n=2, d=1, epochs=1, loss=Ramp(scale=2.0))" in line
    assert "from tests.third_party.my_methods import Ramp" in line


def test_a_check_with_a_problem_of_its_own_is_tried_once_and_names_no_size():
    line = failures(broken.Worst)["auc"].line
    assert line.endswith("reproduce(Worst(), 'auc')")


def test_maps_and_losses_fail_again_too():
    with pytest.raises(CheckFailure, match=r"(?s)margin.*derivative'\)"):
        check_loss(test_losses.WrongSign())
    with pytest.raises(CheckFailure, match="2 x 1 dense rows"):
        reproduce(test_features.broken(test_features.Centring), "companions", n=2, d=1)
    assert reproduce(test_losses.Square, "prox").status is Status.passed


def test_an_unknown_check_is_named_with_a_suggestion():
    with pytest.raises(ParameterError, match=r"'chunk' .*algorithms.* chunks"):
        reproduce(broken.Healthy, "chunk")


def test_a_class_made_in_a_function_is_not_imported():
    @dataclass(frozen=True)
    class Local(broken.Healthy):
        pass

    assert line_for("chunks", Local()).startswith("from aucbench.testing import reproduce; reproduce(Local()")
