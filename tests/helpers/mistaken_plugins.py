"""Methods with mistakes at a line that is named, and methods that hang or end their process."""

import os
import sys
import time

import numba
import numpy as np

from tests.helpers.broken_plugins import Healthy, Plain

MARK = "# the mistake"  # at the line named in the failure


class Column(Plain):
    def score(self, w, X):  # the mistake
        return (X @ w)[:, None]


class DenseOnly(Plain):
    def score(self, w, X):
        return np.einsum("ij,j->i", X, w)  # the mistake


class Exiting(Plain):
    def step(self, w, batch):
        sys.exit(3)  # the mistake


@numba.njit
def _strange(w, text):
    return w + text


class Untypable(Plain):
    def step(self, w, batch):
        return _strange(w, "a")  # the mistake


CULPRITS = [  # as in broken_plugins
    ("scores", Column, r"ndarray of shape \(2, 1\); .*\(2,\)"),
    ("runs", DenseOnly, r"`score` raised .*CSR.*X @ w.*requires:.* 2 x 1 CSR rows"),
    ("runs", Exiting, r"`step` .*sys.exit, 3"),
    ("runs", Untypable, r"TypingError: No implementation of .*add\(array\(float64"),
]


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
