"""Certified minima against a general solver over all pairs; the store; declined objectives."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import Norm, Objective, ParameterError
from aucbench.cli.main import main
from aucbench.contracts.validation import Family
from aucbench.registry import Catalog, Plugin
from aucbench.studies.execution import optimum
from aucbench.studies.execution.optimum import minimum
from aucbench_algorithms import LsSvm, _newton
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.evaluation.test_pair_objective import minimum_by_slsqp
from tests.helpers.training import random_problem

FOUND = [
    Objective(Square(), l2=1e-2), Objective(Square()), Objective(Square(), l1=2e-2),
    Objective(Square(), l1=1e-2, l2=1e-2), Objective(Square(), radius=0.5), Objective(Square(), radius=9.0),
    Objective(Square(), radius=0.5, norm=Norm.l1), Objective(Square(), radius=9.0, norm=Norm.l1),
    Objective(Square(), l2=0.1, radius=0.3),
    Objective(SquaredHinge(), radius=0.7), Objective(SmoothHinge(0.5), l2=1e-2),
    Objective(Logistic(), radius=2.0), Objective(Exponential(), l2=0.05), Objective(Hinge(), l2=1e-2),
    Objective(Hinge(0.3), radius=0.2),
    # The terms of a slope cancel at the knots; the remaining rounding error is not a kink.
    *(Objective(Hinge(margin), l2=1e-2) for margin in (0.1, 0.7, 1.3, 2.5, 3.3, 7.9)),
]  # fmt: skip


@pytest.mark.parametrize("objective", FOUND, ids=str)
def test_the_certified_minimum_is_that_of_a_general_solver(objective):
    X, y = random_problem(7, 40, 3)
    _, least = minimum_by_slsqp(objective, X, y)
    solution = minimum(aucbench.catalog(), objective, X, y)
    allowed = optimum.KINKED if isinstance(objective.loss, Hinge) else optimum.SMOOTH
    assert solution.certificate.relative <= allowed
    assert solution.certificate.value == pytest.approx(least, rel=1e-5)
    assert solution.certificate.value <= least * (1 + 2 * allowed)
    if objective.radius is not None:
        size = np.linalg.norm(solution.weights, 1 if objective.norm is Norm.l1 else 2)
        assert size <= objective.radius * (1 + 1e-12)


@pytest.mark.parametrize("l2", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("loss", [SmoothHinge(2.5), Hinge()], ids=str)
def test_a_weak_ridge_on_rows_of_a_large_scale_is_certified(loss, l2):
    """Newton's first step is many orders too long where the loss has no curvature."""
    X, y = random_problem(7, 45, 2)
    certificate = minimum(aucbench.catalog(), Objective(loss, l2=l2), 100.0 * X, y).certificate
    assert certificate.relative <= optimum.KINKED
    same = minimum(aucbench.catalog(), Objective(loss, l2=l2 * 1e-4), X, y).certificate
    assert certificate.value == pytest.approx(same.value, rel=1e-5)


def test_zero_weights_are_a_minimum_where_all_rows_are_the_same():
    balls = [Objective(loss, radius=0.3) for loss in (Square(), Hinge(), SmoothHinge())]
    for objective in (*balls, Objective(Square(), radius=0.3, norm=Norm.l1)):
        solution = minimum(aucbench.catalog(), objective, np.ones((6, 2)), np.array([1, -1] * 3, np.int8))
        assert solution.certificate.value == objective.loss.value(0.0, 1.0)


@pytest.mark.parametrize("layout", ["few rows", "csr", "not factored"])
@pytest.mark.parametrize(
    "objective", [FOUND[0], FOUND[2], FOUND[4], FOUND[6], Objective(SmoothHinge(), l2=1e-2)], ids=str
)
def test_wide_and_sparse_rows_are_certified_as_well(objective, layout, monkeypatch):
    X, y = random_problem(7, 40, 90, density=0.3)
    if layout != "few rows":
        X = sparse.csr_array(X)
    if layout == "not factored":
        monkeypatch.setattr(_newton, "LARGEST_FACTORED", 5)
        monkeypatch.setattr("aucbench_algorithms._pair_newton.LARGEST_GRAM", 5)
    solution = minimum(aucbench.catalog(), objective, X, y)
    dense = minimum(aucbench.catalog(), objective, X.toarray() if sparse.issparse(X) else X, y)
    assert solution.certificate.value == pytest.approx(dense.certificate.value, rel=1e-8)


@dataclass(frozen=True)
class Boastful(LsSvm):
    """A method that claims to minimise every objective, and stops beside the minimum."""

    name: ClassVar[str] = "boastful"

    @classmethod
    def minimises(cls, objective, problem):
        return cls(lam=1.01 * objective.l2 / 2)


def test_a_solver_is_not_believed_but_another_is_tried_and_what_has_none_or_no_minimum_is_declined():
    X, y = random_problem(7, 40, 3)
    for declined in (Objective(SmoothHinge()), Objective(Hinge()), Objective(Hinge(), l1=0.1)):
        with pytest.raises(ParameterError, match="minim"):
            minimum(aucbench.catalog(), declined, X, y)
    objective = Objective(Square(), l2=0.1)
    plugins = {cls.name: Plugin(Family.algorithms, cls.name, cls, "mine", "1") for cls in (Boastful, LsSvm)}
    assert minimum(Catalog({Family.algorithms: plugins}), objective, X, y).solver == "ls_svm"
    del plugins["ls_svm"]
    with pytest.raises(ParameterError, match="certified"):
        minimum(Catalog({Family.algorithms: plugins}), objective, X, y)


def test_the_command_prints_the_minimum_and_its_certificate(capsys):
    assert main(["optimum", "spam", "breast_cancer", "store.path=null"]) == 0
    printed = capsys.readouterr().out
    record = aucbench.optimum("algo=spam", "dataset=breast_cancer").record
    for text in (record.objective, f"{record.value:.12g}", f"{record.train_auc:.4f}", "ls_svm"):
        assert text in printed


@pytest.mark.parametrize("loss", [Hinge(), Hinge(0.3), SquaredHinge(), SmoothHinge()], ids=str)
@pytest.mark.parametrize("radius", [2.0, 50.0])
def test_the_minimum_on_separable_rows_in_a_large_ball_is_0(loss, radius):
    X, y = random_problem(3, 60, 3)
    X[:, 0] = y * (0.5 + np.abs(X[:, 0]))  # positives on one side of the plane w_0 = 0
    assert (X[y == 1, 0].min() - X[y == -1, 0].max()) * radius >= 2.0  # weights (radius, 0, 0) have no loss
    solution = minimum(aucbench.catalog(), Objective(loss, radius=radius), X, y)
    assert solution.certificate.value == pytest.approx(0.0, abs=1e-12)
    assert solution.certificate.relative <= optimum.KINKED
    assert np.linalg.norm(solution.weights) <= radius * (1 + 1e-12)


def test_columns_enter_few_at_a_time_where_an_l1_ball_is_small_against_the_free_minimum():
    """On wide rows a much smaller multiplier would have most columns in the set at once."""
    X, y = random_problem(7, 60, 400)
    objective = Objective(Square(), radius=1.0, norm=Norm.l1)
    solution = minimum(aucbench.catalog(), objective, X, y)
    assert solution.certificate.relative <= optimum.SMOOTH
    assert np.abs(solution.weights).sum() == pytest.approx(1.0)
    assert np.count_nonzero(solution.weights) < 60
