"""Checks of methods that are not linear: a network in single precision, whose work runs on, and trees."""

from dataclasses import dataclass, make_dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

import aucbench
from aucbench import Access, ModelClass
from aucbench.contracts.validation import Family, reason_against
from aucbench.testing import check_algorithm
from aucbench.testing.checks import ALGORITHM_CHECKS
from aucbench.testing.findings import Status
from aucbench.testing.trainee import Trainee
from tests.helpers.fake_plugins import Perceptron
from tests.helpers.findings import failures


@cache
def network():
    """Jitted functions of a network with one hidden layer and the logistic loss over pairs of a batch."""
    import jax
    import jax.numpy as jnp

    def score(params, X):
        hidden, out = params
        return jnp.tanh(X @ hidden) @ out

    def loss(params, X):
        s = score(params, X)
        half = X.shape[0] // 2
        return jnp.mean(jnp.logaddexp(0.0, s[half:][None] - s[:half, None]))

    def step(params, X):
        return jax.tree.map(lambda p, g: p - 1.0 * g, params, jax.grad(loss)(params, X))

    return jax, jax.jit(step), jax.jit(score)


@dataclass(frozen=True)
class Network:
    """Tanh units on balanced batches."""

    name: ClassVar[str] = "fake_network"
    access: ClassVar[Access] = Access.balanced
    class_of_model: ClassVar[ModelClass] = ModelClass.network
    packages: ClassVar[tuple[str, ...]] = ("jax",)
    width: aucbench.Count = 16

    def batch_size(self, n):
        return 16

    def init(self, problem, rng):
        sizes = (problem.n_features, self.width), (self.width,)
        return tuple(np.float32(rng.normal(size=size) / np.sqrt(size[0])) for size in sizes)

    def step(self, state, batch):
        for X, _ in batch:
            state = network()[1](state, np.float32(X))
        return state

    def score(self, state, X):
        dense = X.toarray() if hasattr(X, "toarray") else X
        return np.asarray(network()[2](state, np.float32(dense)))


class WaitingNetwork(Network):
    """The same, and waits."""

    name: ClassVar[str] = "fake_waiting_network"

    def wait(self, state):
        network()[0].block_until_ready(state)


@dataclass(frozen=True)
class Trees:
    """A boosted stump per iteration, by scikit-learn."""

    name: ClassVar[str] = "fake_trees"
    access: ClassVar[Access] = Access.full
    class_of_model: ClassVar[ModelClass] = ModelClass.trees
    sign: float = 1.0

    def init(self, problem, rng):
        return ()

    def step(self, state, batch):
        from sklearn.tree import DecisionTreeRegressor

        for _ in batch.rows:
            residual = batch.y - np.sign(batch.y) * np.tanh(np.abs(self._margin(state, batch.X)))
            tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(batch.X, residual)
            state = (*state, tree)
        return state

    def _margin(self, state, X):
        return sum((0.3 * tree.predict(X) for tree in state), start=np.zeros(X.shape[0]))

    def score(self, state, X):
        return self.sign * self._margin(state, X)


def failed(method):
    findings = check_algorithm(method, raise_on_failure=False, patience=120.0)
    assert all(each.status is not Status.untried or each.follows for each in findings)
    return set(failures(findings))


@pytest.mark.jax
def test_a_network_in_single_precision_passes_all_checks_if_it_waits():
    assert failed(WaitingNetwork()) == set()


@pytest.mark.jax
def test_a_network_without_wait_is_told():
    assert failed(Network()) == {"waits"}


class Dependent(WaitingNetwork):
    """Scores that depend on the rows beside them, by more than the precision explains."""

    name: ClassVar[str] = "fake_dependent"

    def score(self, state, X):
        found = super().score(state, X)
        return (found + np.float32(1e-3) * found.mean()).astype(np.float32)


@pytest.mark.jax
def test_single_precision_excuses_no_dependence_on_other_rows():
    assert "companions" in failed(Dependent())


def test_trees_are_not_measured_against_a_linear_yardstick_but_must_learn():
    assert failed(Trees()) == set()
    (auc,) = (check for check in ALGORITHM_CHECKS if check.name == "auc")
    for sign, status in ((1.0, Status.passed), (-1.0, Status.failed), (0.0, Status.failed)):
        assert auc.find(Trainee(replace(Trees(), sign=sign))).status is status


@pytest.mark.parametrize("name", ["objective", "done", "weights", "grid", "losses", "wait", "model"])
@pytest.mark.parametrize(("kind", "default"), [(float, 1.0), (str | None, None), (Any, ())])
def test_a_field_with_the_name_of_a_part_of_the_contract_is_refused(name, kind, default):
    bases = (type("Base", (Perceptron,), {"weights": None}),)
    cls = make_dataclass("Named", [(name, kind, default)], bases=bases, frozen=True)
    reason = reason_against(Family.algorithms, cls)
    assert f"`{name}`" in reason
    assert "rename the field" in reason
