"""Losses against finite differences, numeric minimisation and their stated facts."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from aucbench import ParameterError, kernels
from aucbench_losses import Hinge, Square

LOSSES = [Square(), Hinge(), Hinge(margin=0.3)]
MARGINS = np.random.default_rng(0).normal(scale=2.0, size=200)
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


@each_loss
def test_the_derivative_equals_finite_differences(loss):
    theta, h = kernels.theta(loss), 1e-6
    for m in MARGINS:
        slope = (loss.value(m + h, theta) - loss.value(m - h, theta)) / (2 * h)
        assert loss.derivative(m, theta) == pytest.approx(slope, abs=1e-8, rel=1e-7)


@each_loss
@pytest.mark.parametrize("c", [1e-3, 0.5, 20.0])
def test_the_prox_is_the_numeric_minimiser(loss, c):
    theta = kernels.theta(loss)
    for m in MARGINS[:50]:

        def objective(z, m=m):
            return c * loss.value(z, theta) + (z - m) ** 2 / 2

        numeric = minimize_scalar(objective, bounds=(-50, 50), method="bounded", options={"xatol": 1e-10})
        closed = loss.prox(m, c, theta)
        assert objective(closed) <= numeric.fun + 1e-12
        assert closed == pytest.approx(numeric.x, abs=1e-4)


@each_loss
def test_the_facts_hold_on_random_margins(loss):
    theta = kernels.theta(loss)
    left, right = MARGINS[:100], MARGINS[100:]
    for a, b in zip(left, right, strict=True):
        middle = loss.value((a + b) / 2, theta)
        assert loss.convex == (middle <= (loss.value(a, theta) + loss.value(b, theta)) / 2 + 1e-12)
        if math.isfinite(loss.lipschitz):
            assert abs(loss.value(a, theta) - loss.value(b, theta)) <= loss.lipschitz * abs(a - b) + 1e-12
        if math.isfinite(loss.smoothness):
            change = abs(loss.derivative(a, theta) - loss.derivative(b, theta))
            assert change <= loss.smoothness * abs(a - b) + 1e-12


@each_loss
def test_a_margin_that_is_not_a_number_gives_none(loss):
    assert math.isnan(loss.value(math.nan, kernels.theta(loss)))


def test_a_margin_out_of_range_is_refused():
    with pytest.raises(ParameterError, match="hinge: margin must be > 0"):
        Hinge(margin=0.0)
