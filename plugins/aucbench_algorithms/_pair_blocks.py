"""Blocks of B consecutive pairs: B positives and B negatives, each drawn uniformly with replacement.

Any position (a, b) of the B x B grid of a block is a uniform pair. The mean over all B^2 pairs is therefore
an unbiased estimate of the mean over all pairs of the data, whatever the share of positives, and no block
lacks a class. The state stores the row numbers of the pairs in an unfinished block, which do not change the
weights: the state does not depend on how pairs are cut into chunks.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Count,
    Interval,
    LinearMethod,
    NonNegative,
    ParameterError,
    Positive,
    Problem,
    kernels,
)
from aucbench.kernels import loss_pieces, pairs, rows
from aucbench_algorithms import _optimisers as optimisers
from aucbench_algorithms._choices import Schedule
from aucbench_algorithms._optimisers import Optimiser, Weights

NONE, PIECES, PRODUCT = range(3)  # the structure of a loss: none, quadratic by pieces, multiplicative

Momentum = Annotated[float, Interval(low=0.0, high=1.0, open_high=True)]
ETA = tuple(10.0**power for power in range(-3, 2))
DEVIATIONS = (
    "Rows of both classes are drawn uniformly with replacement; LibAUC's sampler goes through the classes in "
    "turn.",
    "No entry of the gradient is clipped, and momentum is that of PyTorch; LibAUC clips at 1 and "
    "damps by 0.1.",
    "A linear model without intercept or sigmoid, in double precision.",
)


class LossAt(NamedTuple):
    """A loss as compiled code takes it."""

    structure: int  # NONE, PIECES or PRODUCT
    value: int  # address
    derivative: int  # address
    theta: float
    last: loss_pieces.Piece  # piece of the largest margins of a piecewise quadratic loss
    knots: np.ndarray  # (k, 3) fields of each `Knot` below
    rate: float  # rate of a loss e^(rate m)


class State(NamedTuple):
    """Weights, and the pairs of the unfinished block."""

    weights: Weights
    waiting: np.ndarray  # (fewer than B, 2) row numbers
    kept: np.ndarray  # (0, 0), (1, n) or (2, n) numbers for each row, used at positives
    loss: Any
    share: float  # share of positives in the training data, for methods that weight by it


@dataclass(frozen=True, kw_only=True)
class BlockMethod(LinearMethod):
    """Base class of methods on blocks of pairs with an optimiser.

    Parameters
    ----------
    block : int >= 1
        B, the number of pairs in a block: B positives and B negatives.
    optimiser : sgd, momentum or adam
        How steps are made from gradients.
    eta : float > 0 or None
        Step size; None means 0.1.
    momentum : float in [0, 1)
        Share of the last step that is kept, for optimiser=momentum.
    lam : float >= 0
        Weight of |w|^2 / 2.
    """

    regularisation = {"lam": 2}
    access = Access.pairs
    losses = ("squared_hinge", "*")
    step_size = "eta"

    _sgd_eta = 0.1  # eta of sgd if eta is None

    block: Count = 32
    optimiser: Optimiser = Optimiser.sgd
    eta: Positive | None = None
    momentum: Momentum = 0.9
    lam: NonNegative = 0.0

    def ignored(self) -> frozenset[str]:
        return frozenset() if self.optimiser is Optimiser.momentum else frozenset({"momentum"})

    def _first_state(
        self,
        problem: Problem,
        numbers: np.ndarray,
        share: float = 0.5,
        schedule: Schedule = Schedule.constant,
        average: bool = False,
    ) -> State:
        refuse_larger(self.name, self.block, problem)
        eta = self.eta
        if eta is None:
            eta = self._sgd_eta if self.optimiser is Optimiser.sgd else 0.1
        first = optimisers.first_weights(
            problem.X, self.block, self.optimiser, eta, self.momentum, self.lam, schedule, average
        )
        return State(first, np.zeros((0, 2), np.int64), numbers, problem.loss, share)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        blocks, waiting = whole_blocks(state.waiting, batch.rows, self.block)
        if len(blocks):
            factors = self._train(batch.rows_view, blocks, state, loss_at(state.loss))
            state = state._replace(weights=state.weights._replace(factors=factors))
        return state._replace(waiting=waiting)

    def _train(self, X: Any, blocks: np.ndarray, state: State, loss: LossAt) -> Any:
        """The `Factors` after blocks."""
        raise NotImplementedError

    def weights(self, state: State) -> np.ndarray:
        """(d,) weights, or with averaging their mean; zero before the first block is full."""
        return optimisers.current(state.weights)


def refuse_larger(name: str, block: int, problem: Problem, blocks: int = 1) -> None:
    """Raise `ParameterError` if the budget ends before `blocks` blocks, when the weights first move."""
    planned = problem.iterations
    if planned and planned < blocks * block:
        raise ParameterError(
            f"{name}: block must be at most {planned // blocks:,}, got {block}: there are {planned:,} pairs "
            f"and its weights move with block {blocks}; lower algo.block or give a longer budget."
        )


def whole_blocks(waiting: np.ndarray, new: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The full blocks (u, size, 2) of waiting and new pairs, and the pairs that are left."""
    order = np.concatenate([waiting, new])
    end = len(order) - len(order) % size
    return order[:end].reshape(-1, size, 2), order[end:].copy()


@lru_cache(64)
def loss_at(loss: Any) -> LossAt:
    """A loss with the addresses of its compiled functions in this process."""
    compiled, parts, rate = kernels.compile_loss(loss), loss_pieces.knots(loss), loss_pieces.rate(loss)
    last, knots = parts or (loss_pieces.Piece(0.0, 0.0, 0.0, 0.0, 0.0), ())
    structure = PIECES if parts else NONE if rate is None else PRODUCT
    addresses = compiled.value, compiled.derivative, compiled.theta
    return LossAt(structure, *addresses, last, np.array(knots, np.float64).reshape(-1, 3), rate or 0.0)


@kernels.helper
def pair_losses(score, others, loss, values, slopes):
    """Set values and slopes to the losses and their derivatives at the margins score - others."""
    if loss.structure != PIECES:
        for b in range(others.size):
            values[b] = kernels.call(loss.value, score - others[b], loss.theta)
            slopes[b] = kernels.call(loss.derivative, score - others[b], loss.theta)
        return
    last, knots = loss.last, loss.knots
    for b in range(others.size):
        m = score - others[b]
        values[b] = last.c0 + m * (last.c1 + m * last.c2)
        slopes[b] = last.c1 + 2.0 * m * last.c2
    for k in range(knots.shape[0]):
        at, jump, bend = knots[k, 0], knots[k, 1], knots[k, 2]
        for b in range(others.size):  # no branches, so that it vectorises
            below = min(score - others[b] - at, 0.0)
            values[b] += below * (jump + 0.5 * bend * below)
            slopes[b] += jump + bend * below if below < 0.0 else 0.0


@kernels.helper
def scores(X, blocks, u, cells, slow, fast, s):
    """Set s (2, B) to the scores of block u by w = slow cells[0] + fast cells[1]; True if all are finite."""
    order = blocks.reshape(-1, 2)
    size = blocks.shape[1]
    total = 0.0
    for k in range(size):
        pairs.visit(X, order, u * size + k)
        for side in range(2):
            i = blocks[u, k, side]
            s[side, k] = slow * rows.dot(X, i, cells[0])
            if fast != 0.0:
                s[side, k] += fast * rows.dot(X, i, cells[1])
            total += abs(s[side, k])
    return total < np.inf
