"""Plugins for tests of studies: one healthy method, and one for each way to go wrong.

Registered by the metadata that the fixture `registered` writes, so that other processes see them too.
"""

import os
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import aucbench

COUNTER = "AUCBENCH_TEST_COUNTER"  # a folder: one file is made in it for each training
WARMING_ROWS = 16  # problems this small only warm kernels


@dataclass(frozen=True)
class Gentle:
    """A stream method that always ends well."""

    name: ClassVar[str] = "fake_gentle"
    access: ClassVar[str] = "stream"
    grid: ClassVar[dict[str, tuple[Any, ...]]] = {"eta": (0.01, 0.1, 1.0)}
    eta: aucbench.Positive = 0.1
    shrink: float = 0.0
    pause: float = 0.0

    __post_init__ = aucbench.check_fields

    def init(self, problem, rng):
        if problem.n_samples > WARMING_ROWS:
            folder = os.environ.get(COUNTER)
            if folder:
                (Path(folder) / f"{self.name}-{uuid.uuid4().hex}").touch()
            time.sleep(self.pause)
            self.harm()
        return np.zeros(problem.n_features)

    def harm(self):
        pass

    def step(self, w, batch):
        for x, label in batch:
            if label * (x @ w) < 1.0:
                w = w + self.eta * label * x
            w = w * (1.0 - self.shrink)
        return w

    def weights(self, w):
        return w

    def score(self, w, X):
        return X @ w


class Other(Gentle):
    """A second healthy method, without a grid."""

    name: ClassVar[str] = "fake_other"
    grid: ClassVar[dict[str, tuple[Any, ...]]] = {}


@dataclass(frozen=True)
class Sleeper(Gentle):
    """Sleeps longer than any test."""

    name: ClassVar[str] = "fake_sleeper"
    naps: float = 3600.0

    def harm(self):
        time.sleep(self.naps)


@dataclass(frozen=True)
class Slow(Gentle):
    """Takes its time in every chunk, and can be ended between two."""

    name: ClassVar[str] = "fake_slow"
    nap: float = 0.05

    def step(self, w, batch):
        if len(batch):
            time.sleep(self.nap)
        return super().step(w, batch)


class Raising(Gentle):
    """Raises."""

    name: ClassVar[str] = "fake_raising"

    def harm(self):
        raise RuntimeError("out of luck")


class Exiting(Gentle):
    """Ends its process."""

    name: ClassVar[str] = "fake_exiting"

    def harm(self):
        sys.stdout.flush()
        os._exit(7)


class Greedy(Gentle):
    """Allocates without bound."""

    name: ClassVar[str] = "fake_greedy"

    def harm(self):
        arrays = []
        while True:
            arrays.append(np.ones(1 << 23))


@dataclass(frozen=True)
class Diverging(Gentle):
    """Its numbers become NaN when eta is large."""

    name: ClassVar[str] = "fake_diverging"
    above: float = 0.0

    def step(self, w, batch):
        w = super().step(w, batch)
        return w * np.nan if len(batch) and self.eta > self.above else w


class Moody(Gentle):
    """Ends its process when eta is 1."""

    name: ClassVar[str] = "fake_moody"

    def harm(self):
        if self.eta == 1.0:
            os._exit(7)


@dataclass(frozen=True)
class Clouds:
    """Two clouds of points; points of `noisy` rows may be replaced by noise."""

    name: ClassVar[str] = "fake_clouds"
    n: int = 120
    d: int = 4
    seed: int = 0
    distance: float = 0.5
    noisy: tuple[int, ...] = ()
    flipped: bool = True  # labels of noisy rows, too

    def load(self):
        rng = np.random.default_rng(self.seed)
        y = np.where(rng.random(self.n) < 0.4, 1, -1)
        X = rng.standard_normal((self.n, self.d)) + self.distance * y[:, None]
        rows = np.array(self.noisy, np.int64)
        X[rows] = 1e3 * np.random.default_rng(self.seed + 1).standard_normal((len(rows), self.d))
        if self.flipped:
            y[rows] = -y[rows]
        return aucbench.Samples(X, y)


ALGORITHMS = (Gentle, Other, Sleeper, Slow, Raising, Exiting, Greedy, Diverging, Moody)


@aucbench.hookimpl
def aucbench_algorithms():
    return ALGORITHMS


@aucbench.hookimpl
def aucbench_datasets():
    return (Clouds,)
