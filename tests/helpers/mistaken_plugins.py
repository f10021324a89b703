"""Methods with the mistakes that are easily made; what is said about each is tested."""

import os
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
from scipy import sparse

from tests.helpers.broken_plugins import Healthy

MARK = "# the mistake"  # at the line that is named


@dataclass(frozen=True)
class Plain:
    """Stochastic gradient of the logistic loss, as short as it can be."""

    name: ClassVar[str] = "plain"
    access: ClassVar[str] = "stream"
    eta: float = 0.5

    def init(self, problem, rng):
        return np.zeros(problem.n_features)

    def step(self, w, batch):
        for x, label in batch:
            w = w + self.eta * label / (1.0 + np.exp(label * (x @ w))) * x
        return w

    def score(self, w, X):
        return X @ w


class InitReturnsNothing(Plain):
    def init(self, problem, rng):  # the mistake
        np.zeros(problem.n_features)


class Column(Plain):
    def score(self, w, X):  # the mistake
        return (X @ w)[:, None]


class DenseOnly(Plain):
    def score(self, w, X):
        return np.einsum("ij,j->i", X, w)  # the mistake


@dataclass(frozen=True)
class NumberOfRows(Plain):
    access: ClassVar[str] = "minibatch"
    batch_size: int = 5


class Exiting(Plain):
    def step(self, w, batch):
        sys.exit(3)  # the mistake


class NotANumber(Plain):
    def score(self, w, X):
        return np.full(X.shape[0], np.nan)


class Centring(Plain):
    """It works on the rows themselves."""

    def step(self, w, batch):
        X = batch.X.data if sparse.issparse(batch.X) else batch.X
        X += 1.0
        return super().step(w, batch)


class Generating(Plain):
    def init(self, problem, rng):
        return np.zeros(problem.n_features), (k for k in range(9))

    def step(self, state, batch):
        return super().step(state[0], batch), state[1]

    def score(self, state, X):
        return X @ state[0]


@numba.njit
def _strange(w, word):
    return w + word


class Untypable(Plain):
    def step(self, w, batch):
        return _strange(w, "a")  # the mistake


class Slow(Healthy):
    """An iteration takes 2 ms."""

    def step(self, state, batch):
        time.sleep(0.002 * len(batch))
        return super().step(state, batch)


class Endless(Plain):
    def step(self, w, batch):
        while True:
            w = w + 0.0


@numba.njit
def _forever(x):
    while x >= 0.0:
        x = x + 1.0 if x < 1e9 else 0.0
    return x


class EndlessCompiled(Plain):
    def step(self, w, batch):
        return w * _forever(1.0)


class Crashing(Plain):
    def step(self, w, batch):
        os.abort()


class Leaving(Plain):
    def step(self, w, batch):
        os._exit(7)


class Interrupting(Plain):
    def step(self, w, batch):
        raise KeyboardInterrupt
