"""Every check of losses finds the loss that breaks its rule."""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.testing import LOSS_CHECKS, CheckFailure, Status, check_loss
from tests.helpers.findings import failed
from tests.third_party.my_methods import Ramp

SCALE = 1.0  # compiled code keeps the value it had


@dataclass(frozen=True)
class Square:
    name: ClassVar[str] = "square_of_a_test"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 2.0
    target: float = 1.0

    @staticmethod
    def value(m, theta):
        return (theta - m) ** 2

    @staticmethod
    def derivative(m, theta):
        return 2.0 * (m - theta)

    @staticmethod
    def prox(m, c, theta):
        return (m + 2.0 * c * theta) / (1.0 + 2.0 * c)


class WrongSign(Square):
    @staticmethod
    def derivative(m, theta):
        return 2.0 * (theta - m)


class Scaled(Square):
    @staticmethod
    def value(m, theta):
        return SCALE * (theta - m) ** 2


@dataclass
class Thawed:
    name: ClassVar[str] = "thawed"
    value, derivative = staticmethod(Square.value), staticmethod(Square.derivative)


def changed(base=Square, **attributes):
    """A loss with other attributes; functions become static methods."""
    made = {name: staticmethod(each) if callable(each) else each for name, each in attributes.items()}
    return dataclass(frozen=True)(type("Mine", (base,), made))


CULPRITS = [  # the checks that find each of them
    (Thawed, {"declared"}),
    (changed(other=2.0, __annotations__={"other": float}), {"form"}),
    (changed(value=lambda m, theta: (theta - m) ** 2 if abs(m) < 20.0 else math.inf), {"finite"}),
    (WrongSign, {"derivative"}),
    (changed(prox=lambda m, c, theta: (m + c * theta) / (1.0 + c)), {"prox"}),
    (changed(Ramp, convex=True), {"facts"}),
    (changed(lipschitz=3.0), {"facts"}),
    (changed(smoothness=1.0), {"facts"}),
    (changed(pieces=lambda target: ((math.inf, target * target, -target, 1.0),)), {"structure"}),
    (changed(pieces=lambda target: ((3.0, target * target, -2.0 * target, 1.0),)), {"structure"}),
    (changed(multiplicative=True), {"structure"}),
    (changed(exempt={"pair": "no reason"}), {"exempt"}),
]


@pytest.mark.parametrize(("culprit", "checks"), CULPRITS)
def test_a_loss_that_breaks_a_rule_is_found_by_its_checks_alone(culprit, checks):
    assert failed(check_loss(culprit, raise_on_failure=False)) == checks


@pytest.mark.parametrize("check", LOSS_CHECKS, ids=str)
def test_sound_losses_pass_each_check(check):
    assert check(Square).status is Status.passed
    assert check(Square(target=0.3)).status is Status.passed
    assert check(Ramp()).status is Status.passed


def test_compiled_code_that_computes_something_else_is_found(monkeypatch):
    assert failed(check_loss(Scaled)) == set()
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert "compiled" in failed(check_loss(Scaled, raise_on_failure=False))


def test_a_parameter_that_is_no_number_is_named():
    with pytest.raises(CheckFailure, match=r"form: .*'target' .*'1'"):
        check_loss(changed(target="1", __annotations__={"target": str}))


def test_the_failure_names_the_margin_and_both_slopes():
    with pytest.raises(CheckFailure) as caught:
        check_loss(WrongSign)
    assert "derivative(0, 1) is 2, the slopes of `value` to the left and right of that margin are -2.00" in (
        str(caught.value)
    )


def test_a_loss_whose_functions_are_no_static_ones_of_numbers_says_so_at_its_line():
    class BoundPlugin(Square):
        def value(self, m, theta):
            return (theta - m) ** 2

    class Forgetful(Square):
        @staticmethod
        def value(m, theta):
            (theta - m) ** 2

    class Leaving(Square):
        @staticmethod
        def value(m, theta):
            sys.exit(1)

    for culprit, check, words, line in (
        (
            BoundPlugin,
            "form",
            "`value` is no static method: write @staticmethod",
            "def value(self, m, theta):",
        ),
        (Forgetful, "finite", "returned None: end it with `return`", "def value(m, theta):"),
        (Leaving, "finite", "`value` ends the program (sys.exit, 1)", "sys.exit(1)"),
    ):
        findings = check_loss(culprit, raise_on_failure=False)
        (found,) = [finding for finding in findings if finding.status is Status.failed]
        assert found.check == check
        assert words in found.message
        assert found.place.endswith(f": {line}")
