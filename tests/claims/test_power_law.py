"""Exponents of made curves are recovered, and their intervals cover them as often as stated."""

import math

import numpy as np
import pytest

from studies.claims.power_law import CONFIDENCE, Interval, Verdict, exponent, group_interval, verdict

T = np.geomspace(1e3, 1e5, 20)


def test_the_exponent_of_an_exact_law_is_exact_whatever_its_factor_and_outliers_hardly_move_it():
    for power in (-2.0, -0.5, 0.0, 1.0):
        y = 3.7 * T**power
        assert exponent(T, y) == pytest.approx(power, abs=1e-12)
        y[[16, 17, 19]] *= 1e4
        assert exponent(T, y) == pytest.approx(power, abs=0.05)


def noisy_curve(rng, power):
    """c t^power whose noise is as correlated from point to point as that of an averaged iterate."""
    noise = np.zeros(len(T))
    for k in range(1, len(T)):
        noise[k] = 0.7 * noise[k - 1] + 0.4 * rng.standard_normal()
    return T**power * np.exp(noise + rng.standard_normal())


def gaps(rng, spread):
    """Slopes of five curves on each of six data sets, whose powers differ."""
    powers = -1.0 + spread * rng.standard_normal(6)
    return [[exponent(T, noisy_curve(rng, power)) for _ in range(5)] for power in powers]


def passes(rng, repetitions):
    """Exponents of a cost: noise in a pass over the design is noise of its exponent."""
    return [rng.normal(-1.0, 0.1, repetitions).tolist()]


@pytest.mark.slow
@pytest.mark.parametrize(("slopes", "by", "trials"), [(gaps, 0.1, 100), (passes, 3, 1000)])
def test_the_interval_covers_the_exponent_as_often_as_stated(slopes, by, trials):
    rng = np.random.default_rng(0)
    intervals = [group_interval(slopes(rng, by)) for _ in range(trials)]
    covered = np.mean([interval.low <= -1.0 <= interval.high for interval in intervals])
    assert abs(covered - CONFIDENCE) < 3 * math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / trials)
    assert np.median([interval.high - interval.low for interval in intervals]) < 0.6  # separates t^-1, t^-0.5


@pytest.mark.parametrize(
    ("low", "high", "claimed", "expected"),
    [
        (-1.6, -0.9, (-1.0, -1.0, 0.15), Verdict.holds),
        (-1.6, -1.3, (-1.0, -1.0, 0.15), Verdict.faster),
        (-0.7, -0.4, (-1.0, -1.0, 0.15), Verdict.slower),
        (-1.1, -0.7, (-1.0, -1.0, 0.15), Verdict.unknown),
        (-math.inf, math.inf, (-1.0, -1.0, 0.15), Verdict.unknown),
        (0.4, 0.6, (0.0, 1.0, 0.25), Verdict.holds),  # any term of a claimed sum may dominate
        (1.4, 1.6, (0.0, 1.0, 0.25), Verdict.slower),
    ],
)
def test_a_verdict_is_that_of_the_whole_interval(low, high, claimed, expected):
    assert verdict(Interval((low + high) / 2, low, high), *claimed) is expected
