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


class Raising(Perceptron):
    name: ClassVar[str] = "raising"

    def step(self, state, batch):
        raise KeyError("no such thing")


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


def named(name, base, **attributes):
    return type(name, (base,), {"name": name, "__module__": __name__, **attributes})


dense_only = named("dense_only", Perceptron, requires={"dense": "its solver knows nothing else."})
any_loss = named("any_loss", PairSgd, losses=("*",))
reversed_scores = named("reversed_scores", Weightless, score=lambda self, state, X: -(X @ state.w))

METHODS = (Perceptron, Bursting, dense_only, any_loss, Raising, reversed_scores, Slow, Hanging)
