"""Every check of losses finds the loss that breaks its rule."""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aucbench.testing import LOSS_CHECKS, CheckFailure, Status, check_loss
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


@dataclass(frozen=True)
class TwoParameters(Square):
    other: float = 2.0


@dataclass(frozen=True)
class WordParameter(Square):
    target: str = "1"


@dataclass(frozen=True)
class Overflowing(Square):
    @staticmethod
    def value(m, theta):
        return (theta - m) ** 2 if abs(m) < 20.0 else math.inf


@dataclass(frozen=True)
class WrongSign(Square):
    @staticmethod
    def derivative(m, theta):
        return 2.0 * (theta - m)


@dataclass(frozen=True)
class Scaled(Square):
    @staticmethod
    def value(m, theta):
        return SCALE * (theta - m) ** 2


@dataclass(frozen=True)
class HalfProx(Square):
    @staticmethod
    def prox(m, c, theta):
        return (m + c * theta) / (1.0 + c)


@dataclass(frozen=True)
class ConvexRamp(Ramp):
    convex: ClassVar[bool] = True


@dataclass(frozen=True)
class LipschitzSquare(Square):
    lipschitz: ClassVar[float] = 3.0


@dataclass(frozen=True)
class SmoothSquare(Square):
    smoothness: ClassVar[float] = 1.0


@dataclass(frozen=True)
class WrongPieces(Square):
    @staticmethod
    def pieces(target):
        return ((math.inf, target * target, -target, 1.0),)


@dataclass(frozen=True)
class OpenPieces(Square):
    @staticmethod
    def pieces(target):
        return ((3.0, target * target, -2.0 * target, 1.0),)


@dataclass(frozen=True)
class NoProduct(Square):
    multiplicative: ClassVar[bool] = True


@dataclass(frozen=True)
class Excused(Square):
    exempt: ClassVar = {"pair": "no reason"}


@dataclass
class Thawed:
    name: ClassVar[str] = "thawed"
    value, derivative = staticmethod(Square.value), staticmethod(Square.derivative)


CULPRITS = {
    Thawed: {"declared"},
    TwoParameters: {"one_parameter"},
    Overflowing: {"finite"},
    WrongSign: {"derivative"},
    HalfProx: {"prox"},
    ConvexRamp: {"facts"},
    LipschitzSquare: {"facts"},
    SmoothSquare: {"facts"},
    WrongPieces: {"structure"},
    OpenPieces: {"structure"},
    NoProduct: {"structure"},
    Excused: {"exempt"},
}


def failed(findings):
    return {finding.check for finding in findings if finding.status is Status.failed}


@pytest.mark.parametrize("culprit", CULPRITS, ids=lambda cls: cls.__name__)
def test_a_loss_that_breaks_one_rule_is_found_by_its_check(culprit):
    findings = check_loss(culprit, raise_on_failure=False)
    found = failed(findings)
    # What is infinite is neither smooth nor differentiable.
    assert found - ({"derivative", "prox", "facts"} if culprit is Overflowing else set()) == CULPRITS[culprit]


@pytest.mark.parametrize("check", LOSS_CHECKS, ids=str)
def test_sound_losses_pass_each_check(check):
    assert check(Square).status is Status.passed
    assert check(Square(target=0.3)).status is Status.passed
    assert check(Ramp()).status is Status.passed


def test_compiled_code_that_computes_something_else_is_found(monkeypatch):
    assert failed(check_loss(Scaled)) == set()
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    found = failed(check_loss(Scaled, raise_on_failure=False))
    assert {"compiled", "pairs"} <= found


def test_a_parameter_that_is_no_number_is_named():
    with pytest.raises(CheckFailure, match=r"one_parameter: .*'target' .*'1'"):
        check_loss(WordParameter)


def test_the_failure_names_the_margin_and_both_slopes():
    with pytest.raises(CheckFailure) as caught:
        check_loss(WrongSign)
    assert "derivative(0, 1) is 2, the slopes of `value` to the left and right of that margin are -2.00" in (
        str(caught.value)
    )


def test_a_loss_whose_functions_are_no_static_ones_of_numbers_says_so_at_its_line():
    @dataclass(frozen=True)
    class BoundPlugin(Square):
        def value(self, m, theta):
            return (theta - m) ** 2

    @dataclass(frozen=True)
    class Forgetful(Square):
        @staticmethod
        def value(m, theta):
            (theta - m) ** 2

    @dataclass(frozen=True)
    class Leaving(Square):
        @staticmethod
        def value(m, theta):
            sys.exit(1)

    for culprit, check, words, line in (
        (
            BoundPlugin,
            "static",
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
