"""A package of a third party: one method in plain NumPy, one data set, one loss."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import aucbench


@dataclass(frozen=True)
class PairSgd:
    """Stochastic gradient steps on random pairs."""

    name: ClassVar[str] = "pair_sgd"
    access: ClassVar[str] = "pairs"
    losses: ClassVar[tuple[str, ...]] = ("ramp", "*")
    eta: float = 0.1

    def init(self, problem, rng):
        return np.zeros(problem.n_features), problem.loss

    def step(self, state, batch):
        w, loss = state
        for x_pos, x_neg in batch:
            w = w - self.eta * loss.derivative(w @ (x_pos - x_neg), 1.0) * (x_pos - x_neg)
        return w, loss

    def score(self, state, X):
        return X @ state[0]


@dataclass(frozen=True)
class Ramp:
    """The hinge with a slope that ends at the margin -scale."""

    name: ClassVar[str] = "ramp"
    scale: float = 1.0

    @staticmethod
    def value(m, theta):
        return min(max(1.0 - m, 0.0), 1.0 + theta)

    @staticmethod
    def derivative(m, theta):
        return -1.0 if -theta < m < 1.0 else 0.0


@dataclass(frozen=True)
class Moons:
    """Two noisy half circles."""

    name: ClassVar[str] = "my_moons"
    n: int = 400

    def load(self):
        rng = np.random.default_rng(0)
        angle, y = rng.uniform(0, np.pi, self.n), np.arange(self.n) % 2 * 2 - 1
        X = np.column_stack([np.cos(angle) * y + y * 0.5, np.sin(angle) * y])
        return aucbench.Samples(X + 0.1 * rng.standard_normal(X.shape), y)


@aucbench.hookimpl
def aucbench_algorithms():
    return (PairSgd,)


@aucbench.hookimpl
def aucbench_losses():
    return (Ramp,)


@aucbench.hookimpl
def aucbench_datasets():
    return (Moons,)
