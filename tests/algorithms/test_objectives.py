"""Methods approach the certified minimum of the objective that they declare, and of no other.

One table states the run of each method and how far from the minimum it may end, relative to it. The tolerance
is what the rate of the method promises after that run, and it is sharp: a declaration whose regulariser, or
radius, were off by a quarter would fail with any method.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import aucbench
from aucbench import Access, Problem
from aucbench.evaluation.pair_objective import objective_value
from aucbench.studies.execution.optimum import minimum
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square
from tests.helpers.training import random_pairs, random_problem, weights

X, Y = random_problem(1, 90, 4)
MANY = 500_000  # rows or pairs


class Run(NamedTuple):
    """A setting, how near the minimum it must end, and how long it is run."""

    name: str
    tolerance: float
    iterations: int
    loss: Any
    fields: dict[str, Any]

    def __str__(self):
        return f"{self.name} {self.fields} {self.loss or ''}"


def run(name, tolerance, iterations=MANY, loss=None, **fields):
    return Run(name, tolerance, iterations, loss, fields)


RUNS = [
    # 1/sqrt(t), with averages that remember the start
    run("solam", 2e-2, radius=0.5, zeta=1.0),
    run("solam", 2e-2, radius=0.5, zeta=1.0, norm="l1"),
    run("solam_l1", 2e-2, radius=0.5, zeta=1.0),
    run("fsauc", 5e-3, radius=0.5, eta=0.1),
    run("spam", 1e-3, penalty="ball", radius=0.5, C=1.2),
    run("fifo_ogd", 5e-3, radius=0.5),
    run("fifo_ogd", 1e-2, radius=0.5, partner="opposite"),
    run("fifo_ogd", 5e-3, loss=Square(), radius=0.5),
    run("aogd", 1e-3, radius=0.5, eta=0.1),
    run("aogd", 5e-3, radius=0.5, partner="opposite"),
    # without a regulariser
    run("ftrl_auc", 1e-5),
    run("ftrl_auc", 1e-5, l1=5.0, l2=1.0),
    run("pesg", 5e-5, lam=0.0, stages=4, average=True),
    # strongly convex, averaged or with falling steps: 1/t
    run("regsolam", 1e-4, lam=0.1, zeta=1.5),
    run("spam", 1e-5, beta=0.05),
    run("spam", 3e-4, penalty="net", beta=0.05, nu=0.01, C=1.2),
    run("spauc", 1e-5, beta=0.05),
    run("spauc", 3e-4, penalty="net", beta=0.05, nu=0.01, C=1.2),
    run("spauc", 3e-5, beta=0.05, schedule="fast", statistics="train"),
    run("pair_batch", 1e-4, lam=0.1, schedule="sqrt", average=True, block=8),
    run("pair_batch", 2e-4, loss=Hinge(), lam=0.1, schedule="sqrt", average=True, pairing="matched"),
    run("roc_sgd", 1e-4, lam=0.1, schedule="pegasos"),
    run("roc_sgd", 1e-4, lam=0.1, schedule="pegasos", pegasos=True),
    run("roc_sgd", 1e-4, lam=0.1, schedule="basic"),
    run("psam", 1e-4, gamma=0.1),
    run("asam", 1e-4, gamma=0.1),
    run("asam", 1e-4, loss=Logistic(), gamma=0.1),
    run("adaoam", 1e-5, eta=0.03, lam=0.2),
    # constant step against exact moments: the noise is proportional to the step
    run("opauc", 1e-5, eta=3e-4, lam=0.2),
    # moments, whose error falls as 1/sqrt(t), and so the objective as 1/t
    run("mba", 3e-5, 30_000, lam=0.05, block=20),
    run("spdam", 1e-9, 2_000, lam=0.05, batch_fraction=0.1),
    run("ls_svm", 1e-12, 5, lam=0.05),
    run("ls_svm", 1e-12, 5, lam=0.05, l1=0.02),
    run("bam", 1e-12, 50, C=1e-3),
    run("bam", 1e-12, 50, loss=Logistic(), C=1e-3),
    run("bam", 1e-12, 50, loss=Exponential(), C=1e-3),
    run("bam", 1e-12, 50, loss=SmoothHinge(), C=1e-3),
    run("svm_or", 2e-6, 300, lam=0.1),
    run("svm_or", 2e-6, 300, loss=Hinge(margin=0.5), lam=0.1),
]


def rows_of(algorithm, count):
    rng, n = np.random.default_rng(3), len(Y)
    match Access(algorithm.access):
        case Access.stream:
            return np.concatenate([rng.permutation(n) for _ in range(count // n)])
        case Access.pairs:
            return random_pairs(4, Y, count)
        case Access.minibatch:
            return np.argsort(rng.random((count, n)), axis=1)[:, : algorithm.batch_size(n)].copy()
    return np.zeros((count, 0), np.int64)


def suboptimality(objective, w):
    """Relative to the certified minimum."""
    least = minimum(aucbench.catalog(), objective, X, Y).certificate.value
    return objective_value(objective, w, X @ w, Y) / least - 1.0


@pytest.mark.slow
@pytest.mark.parametrize("setting", RUNS, ids=str)
def test_a_long_run_reaches_the_minimum_of_the_declared_objective_and_of_no_other(setting):
    cls = aucbench.catalog().algorithm(setting.name)
    algorithm = cls(**setting.fields)
    loss = setting.loss or aucbench.catalog().loss(cls.losses[0])()
    objective = algorithm.objective(Problem(X, Y, loss=loss))
    w = weights(algorithm, X, Y, rows_of(algorithm, setting.iterations), loss=loss)
    assert abs(suboptimality(objective, w)) < setting.tolerance
    if not objective.is_bounded:
        assert abs(suboptimality(replace(objective, l2=5e-2), w)) > 3 * setting.tolerance
    for factor in (0.75, 1.25) if objective.is_bounded else ():
        radius = objective.radius and factor * objective.radius
        wrong = replace(objective, l2=factor * objective.l2, l1=factor * objective.l1, radius=radius)
        assert abs(suboptimality(wrong, w)) > 3 * setting.tolerance


def test_every_method_that_declares_an_objective_is_in_the_table():
    algorithms = aucbench.catalog().plugins["algorithms"].values()
    declaring = {plugin.name for plugin in algorithms if hasattr(plugin.cls, "objective")}
    assert declaring == {setting.name for setting in RUNS}


@pytest.mark.parametrize("name", ["solam", "regsolam", "fsauc"])
def test_a_bound_that_may_cut_the_saddle_point_leaves_no_objective(name):
    cls, problem = aucbench.catalog().algorithm(name), Problem(X, Y, loss=aucbench.catalog().loss("square")())
    assert cls(kappa=0.5).objective(problem) is None
    assert cls(kappa=2.0).objective(problem) == cls().objective(problem)


def test_the_ball_of_pegasos_counts_where_it_binds():
    problem = Problem(X, Y, loss=aucbench.catalog().loss("hinge")(margin=2.0))
    cls = aucbench.catalog().algorithm("roc_sgd")
    assert cls(lam=0.25, pegasos=True).objective(problem).radius == 2.0
    assert cls(lam=0.25).objective(problem).radius is None


@pytest.mark.parametrize("fields", [{}, {"lam": 0.0, "margin": 0.5}])
def test_pesg_has_no_objective_where_a_and_b_decay_or_the_margin_is_another(fields):
    problem = Problem(X, Y, loss=aucbench.catalog().loss("square")())
    with pytest.raises(aucbench.ParameterError, match="lam=0"):
        aucbench.catalog().algorithm("pesg")(**fields).objective(problem)
