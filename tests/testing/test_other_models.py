"""Checks of methods that are not linear; test_builtin_plugins.py runs them on networks and trees."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from aucbench.testing import check_algorithm
from aucbench.testing.checks import ALGORITHM_CHECKS
from aucbench.testing.findings import Status
from aucbench.testing.trainee import Trainee
from aucbench_algorithms import Mlp, SklearnClassifier
from aucbench_algorithms.estimator import Estimator
from tests.helpers.findings import failures


class Dependent(Mlp):
    """Scores that depend on the rows beside them, by more than the precision explains."""

    def score(self, state, X):
        scores = np.float32(super().score(state, X))
        return scores + np.float32(1e-3) * scores.mean()


@pytest.mark.jax
def test_single_precision_excuses_no_dependence_on_other_rows():
    findings = check_algorithm(Dependent(batch=16), raise_on_failure=False, patience=120.0)
    assert "companions" in failures(findings)


@dataclass(frozen=True)
class Trees(SklearnClassifier):
    """Trees whose scores may be turned round."""

    exempt: ClassVar[dict[str, str]] = {}
    estimator: Estimator = Estimator.random_forest
    sign: float = 1.0

    def score(self, state, X):
        return self.sign * super().score(state, X)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sign", "status"), [(1.0, Status.passed), (-1.0, Status.failed), (0.0, Status.failed)]
)
def test_trees_are_not_measured_against_a_linear_yardstick_but_must_learn(sign, status):
    (auc,) = (check for check in ALGORITHM_CHECKS if check.name == "auc")
    assert auc.find(Trainee(Trees(sign=sign))).status is status
