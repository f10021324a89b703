"""Plugins without registration, for tests of functions that take objects."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench import Access


class CountingState(NamedTuple):
    w: NDArray[np.float64]
    steps: int


@dataclass(frozen=True)
class Perceptron:
    """A stream method in plain NumPy."""

    name: ClassVar[str] = "perceptron"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    eta: float = 0.1

    def init(self, problem, rng):
        return CountingState(np.zeros(problem.n_features), 0)

    def step(self, state, batch):
        w = state.w.copy()
        for x, label in batch:
            if label * (x @ w) < 1.0:
                w += self.eta * label * x
        return CountingState(w, state.steps + len(batch))

    def weights(self, state):
        return state.w

    def score(self, state, X):
        return X @ state.w


class Weightless(Perceptron):
    """The same without weights, so that it is scored by its state."""

    name: ClassVar[str] = "weightless"
    weights: ClassVar = None


@dataclass(frozen=True)
class Exploding(Perceptron):
    """Its weights become infinite at a given iteration."""

    name: ClassVar[str] = "exploding"
    at: int = 37

    def step(self, state, batch):
        w, steps = state.w + 1.0, state.steps + len(batch)
        return CountingState(w * np.inf if steps >= self.at else w, steps)


@dataclass(frozen=True)
class Iterating(Perceptron):
    """A full method that knows when it is done."""

    name: ClassVar[str] = "iterating"
    access: ClassVar[Access] = Access.full
    needed: int = 7

    def step(self, state, batch):
        return CountingState(np.ones_like(state.w), state.steps + len(batch))

    def done(self, state):
        return state.steps >= self.needed


def two_clouds(n=200, d=5, seed=0, positive=0.3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < positive, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, d)) + 0.7 * y[:, None]
    return X, y
