"""Rates under test: laws of made curves, and installed methods whose claims are true, or made too strict."""

import numpy as np
import pytest

import aucbench
from aucbench import Claims
from studies.claims.power_law import Interval, Verdict, group_interval
from studies.claims.rates import Effort, claimed_exponent, rate_finding, rate_verdict, statistic

EFFORT = Effort(seeds=3, seconds=0.1, datasets=3)
T = np.arange(1, 3000)


POWERS = {"1/t": -1.0, "1/sqrt(t)": -0.5, "t^(-1/4)": -0.25, "t^-2": -2.0, "linear": None, "fast": None}


def test_powers_of_t_are_read():
    assert {claimed: claimed_exponent(claimed) for claimed in POWERS} == POWERS


@pytest.mark.parametrize(
    ("curve", "linear", "superlinear"),
    [
        (np.exp(-0.01 * T), Verdict.holds, Verdict.unknown),
        (np.exp(-0.001 * T**1.5), Verdict.faster, Verdict.holds),
        (1.0 / T**2, Verdict.slower, Verdict.slower),
    ],
    ids=["linear", "superlinear", "1/t^2"],
)
def test_linear_rates_are_told_from_faster_and_slower_ones(curve, linear, superlinear):
    def judged(claimed):
        value = statistic(claimed, T, curve, 1e-12, 1.0)
        return rate_verdict(claimed, Interval(value, value - 0.01, value + 0.01))

    assert judged("linear") is linear
    assert judged("superlinear") is superlinear


def test_an_exact_method_is_at_the_minimum_after_one_iteration():
    for first, expected in ((1e-12, Verdict.holds), (1e-3, Verdict.slower)):
        value = statistic("exact", np.array([1]), np.array([first]), 1e-9, 1.0)
        assert rate_verdict("exact", group_interval([[value]])) is expected


def rate_of(monkeypatch, name, rate, *overrides):
    cls = aucbench.catalog().algorithm(name)
    monkeypatch.setattr(cls, "claims", Claims(rate=rate, cost=cls.claims.cost))
    return rate_finding([f"algo={name}", *overrides], EFFORT)


@pytest.mark.slow
def test_a_rate_that_is_slower_than_the_true_one_holds_and_a_faster_one_is_caught(monkeypatch):
    """The regularised hinge loss of psam is approached as 1 / t."""
    assert rate_of(monkeypatch, "psam", "1/sqrt(t)").verdict in (Verdict.holds, Verdict.faster)
    assert rate_of(monkeypatch, "psam", "1/t^2").verdict is Verdict.slower
    finding = rate_of(monkeypatch, "aogd", "1/sqrt(t)", "algo.radius=null")
    assert finding.verdict is Verdict.unknown
    assert finding.measured == ""
    assert "regulariser" in finding.why
