"""The mean over all pairs and its derivatives against the pairs written out; bounds against the minimum."""

import numpy as np
import pytest
from scipy import optimize

from aucbench import Norm, Objective, kernels
from aucbench.evaluation.pair_objective import Certificate, certificate, objective_value
from aucbench.kernels import loss_pieces
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.helpers.training import random_problem


def brute(function, loss, scores, y):
    margins = scores[y == 1][:, None] - scores[y == -1][None]
    return np.array([[function(m, kernels.theta(loss)) for m in row] for row in margins])


@pytest.mark.parametrize("width", [0.5, 1e-2, 1e-5])
@pytest.mark.parametrize("margin", [1.0, 0.3])
def test_a_smoothed_hinge_is_below_it_and_its_tangents_too(margin, width):
    width = width * margin
    loss = loss_pieces.Smoothed(width, Hinge(margin))
    parts = loss_pieces.pieces(loss)
    excess = loss_pieces.pieces(loss_pieces.Excess(width, Hinge(margin)))

    def of(pieces, m):
        part = next(part for part in pieces if m <= part.upper)
        return part.c0 + part.c1 * m + part.c2 * m * m, part.slope(m)

    points = np.linspace(-3, 3, 61)
    hinge = np.maximum(0, margin - points)
    for m in np.concatenate([np.linspace(-3, 3, 41), margin - width * np.linspace(0, 1, 11)]):
        value, slope = of(parts, m)
        r = margin - m
        assert value == pytest.approx(
            0 if r <= 0 else r * r / (2 * width) if r < width else r - width / 2, abs=1e-9
        )
        tangent = max(0, r) - of(excess, m)[0] + slope * (points - m)
        assert np.all(tangent <= hinge + 1e-9)
        assert np.max(tangent - hinge) >= -1e-9


OBJECTIVES = [
    Objective(Square(), l2=1e-2), Objective(Square()), Objective(Square(), l1=1e-2),
    Objective(Square(), l1=1e-2, l2=1e-2), Objective(Square(), radius=0.5),
    Objective(Square(), radius=0.5, norm=Norm.l1),
    Objective(SmoothHinge(), l2=1e-2, radius=0.5), Objective(SquaredHinge(), radius=0.7),
    Objective(Hinge(), l2=1e-2), Objective(Hinge(0.5), l2=0.3, radius=0.2), Objective(Hinge(), l1=0.05),
    Objective(Logistic(), l2=1e-2, l1=1e-2), Objective(Exponential(), radius=1.0),
]  # fmt: skip


def minimum_by_slsqp(objective, X, y):
    """The minimum of the objective over w = u - v, u, v >= 0, with the pairs written out."""
    Z = (X[y == 1][:, None] - X[y == -1][None]).reshape(-1, X.shape[1])
    value = np.vectorize(lambda m: objective.loss.value(m, kernels.theta(objective.loss)))
    derivative = np.vectorize(lambda m: objective.loss.derivative(m, kernels.theta(objective.loss)))
    d = X.shape[1]

    def function(uv):
        w = uv[:d] - uv[d:]
        return value(Z @ w).mean() + objective.l2 / 2 * w @ w + objective.l1 * uv.sum()

    def slope(uv):
        w = uv[:d] - uv[d:]
        g = Z.T @ derivative(Z @ w) / len(Z) + objective.l2 * w
        return np.concatenate([g, -g]) + objective.l1

    constraints = []
    if objective.radius is not None:
        room = {
            Norm.l2: lambda uv: objective.radius**2 - np.sum((uv[:d] - uv[d:]) ** 2),
            Norm.l1: lambda uv: objective.radius - uv.sum(),
        }[objective.norm]
        constraints = [{"type": "ineq", "fun": room}]
    solution = optimize.minimize(
        function, np.full(2 * d, 1e-2), jac=slope, method="SLSQP", bounds=[(0, None)] * (2 * d),
        constraints=constraints, options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    return solution.x[:d] - solution.x[d:], solution.fun


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_the_bound_is_below_the_minimum_from_anywhere_and_near_it_at_the_minimum(objective):
    X, y = random_problem(7, 40, 3)
    w, least = minimum_by_slsqp(objective, X, y)
    if objective.radius is not None:
        w = w * min(1.0, objective.radius / (np.linalg.norm(w, 1 if objective.norm is Norm.l1 else 2)))
    best = certificate(objective, w, X, y)
    mean = brute(objective.loss.value, objective.loss, X @ w, y).mean()
    penalty = objective.l2 / 2 * w @ w + objective.l1 * np.abs(w).sum()
    assert best.value == objective_value(objective, w, X @ w, y) == pytest.approx(mean + penalty, rel=1e-9)
    assert best.bound <= least + 1e-9
    if not isinstance(objective.loss, Hinge):  # a solution to 1e-8 misses the kinks of its minimum
        assert best.gap < 1e-3
    rng = np.random.default_rng(1)
    for size in (0.0, 0.1, 1.0, 10.0):
        point = size * rng.normal(size=3)
        if objective.radius is not None:
            point *= objective.radius / max(objective.radius, np.abs(point).sum())
        away = certificate(objective, point, X, y)
        assert away.bound <= least * (1 + 1e-9) + 1e-12
        assert away.gap >= away.value - least - 1e-9


def test_a_minimum_that_is_nearly_0_is_measured_against_the_objective_at_zero_weights():
    result = Certificate(1e-5, 1e-6, start=2.0)
    assert (result.size, result.relative) == pytest.approx((2e-3, 5e-4))


def test_the_gap_of_a_square_loss_does_not_overlook_columns_of_a_small_scale():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.4, 1, -1).astype(np.int8)
    X = np.c_[rng.normal(size=(400, 2)), 1e-9 * (y + 0.1 * rng.normal(size=400))]
    w = np.array([0.0, 0.0, 5e8])
    better = objective_value(Objective(Square()), w, X @ w, y)
    result = certificate(Objective(Square()), np.zeros(3), X, y)
    assert better < 0.01
    assert result.bound <= better
    assert result.value == 1.0


def test_no_minimum_is_bounded_below_zero_and_one_that_may_not_exist_not_at_all():
    X, y = random_problem(7, 40, 3)
    for loss in (Hinge(), SquaredHinge(), Logistic()):
        assert certificate(Objective(loss, radius=100.0), np.ones(3), X, y).bound >= 0.0
    for objective in (
        Objective(SmoothHinge()),
        Objective(Hinge()),
        Objective(Square(), l2=0.1, radius=0.3, norm=Norm.l1),
    ):
        assert certificate(objective, 0.1 * np.ones(3), X, y).gap == np.inf
