"""Methods that are tried: one keeps the rules, the others break one each."""

import time
from dataclasses import dataclass
from typing import ClassVar

from tests.helpers.fake_plugins import Perceptron, Weightless
from tests.third_party.my_methods import PairSgd


@dataclass(frozen=True)
class Bursting(Perceptron):
    """It diverges with a large step, which is its default."""

    name: ClassVar[str] = "bursting"
    grid: ClassVar = {"eta": (0.01, 0.1)}
    eta: float = 1e200

    def step(self, state, batch):
        for x, label in batch:
            state = state._replace(w=state.w + self.eta * label * x * (1.0 + self.eta * 1e200))
        return state


class DenseOnly(Perceptron):
    name: ClassVar[str] = "dense_only"
    requires: ClassVar = {"dense": "its solver knows nothing else."}


class AnyLoss(PairSgd):
    name: ClassVar[str] = "any_loss"
    losses: ClassVar = ("*",)


class Raising(Perceptron):
    name: ClassVar[str] = "raising"

    def step(self, state, batch):
        raise KeyError("no such thing")


class WrongShape(Weightless):
    name: ClassVar[str] = "wrong_shape"

    def score(self, state, X):
        return (X @ state.w)[:, None]


class Reversed(Weightless):
    name: ClassVar[str] = "reversed"

    def score(self, state, X):
        return -(X @ state.w)


class Slow(Weightless):
    name: ClassVar[str] = "slow"
    grid: ClassVar = {"eta": (0.01, 0.1)}

    def step(self, state, batch):
        time.sleep(0.025 * len(batch))  # whatever else the machine does
        return super().step(state, batch)


class Hanging(Perceptron):
    name: ClassVar[str] = "hanging"

    def step(self, state, batch):
        while True:
            time.sleep(0.1)


OWN = (
    Perceptron, Bursting, DenseOnly, AnyLoss, Raising, WrongShape, Reversed, Slow, Hanging,
)  # fmt: skip
