"""Online gradient descent on pairs of the current and one earlier example, plain and adaptive.

Example t, (x, y), is paired with one earlier example of the other class: the previous example if it is of the
other class (`previous`), or the latest example of the other class (`opposite`). With z = x+ - x- of this pair
and the gradient g = l'(w.z) z of a loss l,

    fifo_ogd: w = w - eta_t g
    aogd:     m = theta m + (1 - theta) g,  v = v + |g|^2 (one number),  w = w - eta_t m / sqrt(v)

where eta_t is eta / sqrt(t) or eta. Then w is projected on |w| <= radius, if a radius is given. An example
without a partner, such as the first, changes nothing. The model is the mean of the w after all examples, with
and without a partner, or the last w (average=False).

With `previous`, a share 2 p (1 - p) of the examples has a partner, where p is the share of positives. With
`opposite`, every example has a partner once both classes have been seen.

Cost per example: O(nnz). fifo_ogd is a rule on the differences z (see `aucbench.kernels.rules`); `_momentum`
describes the momentum of aogd, which moves every weight.

Source: Yang, Lei, Wang, Yang, Ying, Simple stochastic and online gradient descent algorithms for pairwise
learning, NeurIPS 2021, the buffer of size 1; Sun, Wang, Lei, Li, Wang, Pairwise learning with adaptive online
gradient descent, TMLR 2023.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Claims,
    Interval,
    LinearMethod,
    Method,
    Objective,
    Positive,
    Problem,
    kernels,
)
from aucbench.kernels import Move
from aucbench_algorithms import _momentum as momentum
from aucbench_algorithms._choices import Schedule
from aucbench_algorithms._partners import Partner, Waiting, nobody, pair_up

SIZES = tuple(10.0**power for power in range(-3, 5))
DEVIATIONS = (
    "The first example has no partner; the authors' code pairs it with the last one of the run.",
    "The model is the mean of all w; the authors' code reports means between two evaluations.",
    "The rows come in the order of the run; the authors' code draws them with replacement.",
    "The partner can be the last example of the other class (partner=opposite), so that no example is idle.",
)


class Params(NamedTuple):
    """Constant parameters of the rule."""

    eta: float
    decreases: bool
    average: bool
    radius: float
    theta: float  # the parameter of the loss


def _step(pair, scalars, params):
    """A gradient step on a pair; the row of an example without a partner is zero and not positive."""
    eta = params.eta / np.sqrt(pair.t) if params.decreases else params.eta
    step = -eta * kernels.call(pair.loss, pair.s, params.theta) if pair.positive else 0.0
    return Move(step, keep=1.0, before=0.0, after=1.0 if params.average else 0.0), scalars


FREE = kernels.rule(_step)
IN_BALL = kernels.rule(_step, ball="l2")


class State(NamedTuple):
    """The state of the rule on pairs, and the examples that wait for a partner."""

    rule: kernels.RuleState
    waiting: Waiting


@dataclass(frozen=True, kw_only=True)
class _OnePartner(Method):
    """Base class of both methods.

    Parameters
    ----------
    eta : float > 0
        Step size.
    schedule : sqrt or constant
        Step size eta / sqrt(t), or eta.
    partner : previous or opposite
        The previous example if it is of the other class, or the latest example of the other class.
    radius : float > 0 or None
        Radius of the ball |w| <= radius; None means no projection.
    average : bool
        Whether the model is the mean of the w, or the last w.
    """

    access = Access.stream
    resumable = True
    losses = ("hinge", "*")
    grid = {"eta": SIZES, "radius": SIZES}
    step_size = "eta"
    claims = Claims(rate="1/sqrt(t)", cost="nnz")

    eta: Positive = 1.0
    schedule: Schedule = Schedule.sqrt
    partner: Partner = Partner.previous
    radius: Positive | None = None
    average: bool = True

    def objective(self, problem: Problem) -> Objective:
        """A row and its partner are a uniform pair, and the step is one number for all weights."""
        return Objective(problem.loss, radius=self.radius)


@dataclass(frozen=True, kw_only=True)
class FifoOgd(_OnePartner, kernels.RuleMethod):
    """Online gradient descent on the pair of each example and one before it."""

    name = "fifo_ogd"
    citation = "yang2021simple"
    deviations = DEVIATIONS

    @property
    def rule(self) -> kernels.Rule:
        return FREE if self.radius is None else IN_BALL

    def init(self, problem: Problem, rng: np.random.Generator) -> Any:
        radius = np.inf if self.radius is None else self.radius
        decreases = self.schedule is Schedule.sqrt
        params = Params(self.eta, decreases, self.average, radius, kernels.theta(problem.loss))
        return State(self.first_state(problem, params, loss=problem.loss), nobody())

    def step(self, state: Any, batch: Batch) -> Any:
        (rule, waiting), done, count = state, 0, len(batch.rows)
        while done < count:
            pairs, waiting = pair_up(batch, done, waiting, self.partner)
            rule, done = super().step(rule, pairs), done + len(pairs.rows)
        return State(rule, waiting) if count else state

    @classmethod
    def together(cls, algorithms: Sequence[Any], states: Sequence[Any]) -> Any:
        """Settings in lockstep, with the same partners."""
        rules = super().together(algorithms, [state.rule for state in states])
        return _Together(rules, states[0].waiting, algorithms[0].partner)

    def weights(self, state: Any) -> np.ndarray:
        return super().weights(state.rule)


class _Together:
    """Rules in lockstep on the pairs of a stream."""

    def __init__(self, rules: Any, waiting: Waiting, partner: Partner):
        self._rules, self._waiting, self._partner = rules, waiting, partner
        self.drop = rules.drop

    def step(self, batch: Batch) -> None:
        done = 0
        while done < len(batch.rows):
            pairs, self._waiting = pair_up(batch, done, self._waiting, self._partner)
            self._rules.step(pairs)
            done += len(pairs.rows)

    def state(self, number: int) -> State:
        return State(self._rules.state(number), self._waiting)


class Momentum(NamedTuple):
    """The state with a momentum, and the examples that wait for a partner."""

    vectors: momentum.Vectors
    scalars: momentum.Scalars
    loss: Any
    waiting: Waiting


@dataclass(frozen=True, kw_only=True)
class Aogd(_OnePartner, LinearMethod):
    """Adaptive online gradient descent, with momentum, on the pair of each example and one before it.

    Parameters
    ----------
    schedule : sqrt or constant
        Step size eta / sqrt(t), or eta; both are divided by the root of the sum of the squared gradients.
    theta : float in [0, 1)
        Share of the momentum that is kept after a pair.
    """

    name = "aogd"
    citation = "sun2023pairwise"
    deviations = (
        *DEVIATIONS,
        "Nothing moves before the first gradient that is not zero, where the authors' code divides 0 by 0.",
    )

    schedule: Schedule = Schedule.constant
    theta: Annotated[float, Interval(low=0.0, high=1.0, open_high=True)] = 0.85

    def init(self, problem: Problem, rng: np.random.Generator) -> Momentum:
        d = problem.n_features
        lazy = kernels.layout(problem.X) is kernels.Layout.lazy
        uqv = np.zeros((d, 3)).T if lazy else np.zeros((3, d))
        vectors = momentum.Vectors(uqv, np.zeros(d, np.uint32), np.zeros(d, np.bool_))
        return Momentum(vectors, momentum.Scalars(), problem.loss, nobody())

    def step(self, state: Momentum, batch: Batch) -> Momentum:
        if len(batch.rows) == 0:
            return state
        vectors, scalars, loss, waiting = state
        radius = np.inf if self.radius is None else self.radius
        compiled, decreases = kernels.compile_loss(loss), self.schedule is Schedule.sqrt
        params = momentum.Params(self.eta, decreases, self.average, radius, self.theta, compiled.theta)
        done = 0
        while done < len(batch.rows):
            pairs, waiting = pair_up(batch, done, waiting, self.partner)
            scalars = momentum.run(pairs.rows_view, pairs.rows, vectors, scalars, compiled.derivative, params)
            done += len(pairs.rows)
        return Momentum(vectors, scalars, loss, waiting)

    def weights(self, state: Momentum) -> np.ndarray:
        return (momentum.mean if self.average else momentum.current)(state.vectors, state.scalars)
