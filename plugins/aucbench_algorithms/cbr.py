"""CBR, confidence-weighted bipartite ranking with two first-in-first-out buffers (cbr_diag: diagonal).

CBR keeps a Gaussian over w with mean mu and covariance Sigma, which start at 0 and I. Each example x of label
s enters the buffer of its class, and the oldest leaves. Then x is paired with the examples x_j of the other
buffer, oldest first, z = x - x_j. With v = z.Sigma z, m = s mu.z, phi = Phi^-1(eta), psi = 1 + phi^2 / 2,
zeta = 1 + phi^2, the soft confidence-weighted loss max(0, phi sqrt(v) - m) moves the Gaussian by

    a = min(C, max(0, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta)))
    mu += a s Sigma z;   Sigma -= b (Sigma z)(Sigma z)^T,   b = a phi / (sqrt(u) + v a phi)
    sqrt(u) = (-a v phi + sqrt(a^2 v^2 phi^2 + 4 v)) / 2

The diagonal version keeps only the diagonal of Sigma. The model is mu.

Cost per example: O(B d^2) time and O(d^2) memory, on sparse rows too, because Sigma fills up. Only the lower
triangle of Sigma is stored; one pass narrows it by the last pair and multiplies it by the next. The diagonal
version costs O(B nnz) time and O(d) memory.

Source: Khalid, Ray, Chitsaz, Confidence-weighted bipartite ranking, ADMA 2016; the step is SCW-I of Wang,
Zhao, Hoi, Exact soft confidence-weighted learning, ICML 2012.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Claims,
    Count,
    Interval,
    LinearMethod,
    Positive,
    Problem,
    kernels,
    require_memory,
)
from aucbench.kernels import buffers, lanes, pairs, rows, symmetric, vectors
from aucbench_algorithms import _cbr_confidence as confidence
from aucbench_algorithms._groups import Groups
from aucbench_algorithms._kept_rows import KeptRows, Piece, by_buffer

Confidence = Annotated[float, Interval(low=0.5, high=1.0, open_low=True, open_high=True)]


class State(NamedTuple):
    """The Gaussian without its last narrowing, and the buffers."""

    mu: np.ndarray  # (d,)
    sigma: np.ndarray  # (d, d) lower triangle; Sigma = sigma - pending g g^T
    g: np.ndarray  # (d,) Sigma z of the last pair that moved mu
    pending: np.ndarray  # (1,) b of that pair, 0 if there is none
    members: np.ndarray  # (2, B) row numbers, positives first
    seen: np.ndarray  # (2,) positives and negatives so far


class DiagonalState(NamedTuple):
    """The Gaussian of independent weights and the buffers."""

    gaussian: np.ndarray  # (2, d) means and variances
    members: np.ndarray  # (2, B) row numbers, positives first
    seen: np.ndarray  # (2,) positives and negatives so far


@dataclass(frozen=True)
class _Cbr(LinearMethod):
    """Base class of both methods, whose loss depends on more than the margin.

    Parameters
    ----------
    C : float > 0
        Weight of the loss, and the largest step size.
    eta : float in (0.5, 1)
        Confidence with which a pair should be ranked correctly.
    buffer : int >= 1
        Number of examples kept of each class.
    """

    access = Access.stream
    grid = {"C": tuple(10.0**power for power in range(-5, 2))}
    citation = "khalid2016cbr"
    deviations = ("Buffered examples are met oldest first; the paper does not say in which order.",)

    C: Positive = 0.1
    eta: Confidence = 0.7
    buffer: Count = 50


@dataclass(frozen=True)
class Cbr(_Cbr):
    """Confidence-weighted bipartite ranking with a full covariance."""

    name = "cbr"
    claims = Claims(rate="1/sqrt(t)", cost="buffer d^2")

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """The standard Gaussian and empty buffers.

        Raises `ParameterError` when a d x d matrix exceeds the available memory.
        """
        d = problem.n_features
        require_memory("cbr", (d, d), "use algo=cbr_diag, or features=projection")
        mu, g = np.zeros((2, d))
        return State(mu, np.eye(d), g, np.zeros(1), *_empty_buffers(self.buffer))

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        phi = NormalDist().inv_cdf(self.eta)
        _full(batch.rows_view, batch.y, batch.rows, *state, self.C, phi)
        return state

    def weights(self, state: State) -> np.ndarray:
        return state.mu.copy()


@dataclass(frozen=True)
class CbrDiag(_Cbr):
    """Confidence-weighted bipartite ranking with a diagonal covariance."""

    name = "cbr_diag"
    claims = Claims(rate="1/sqrt(t)", cost="buffer nnz")

    C: Positive = 0.003

    def init(self, problem: Problem, rng: np.random.Generator) -> DiagonalState:
        gaussian = kernels.two_vectors(problem.X)
        gaussian[1] = 1.0
        return DiagonalState(gaussian, *_empty_buffers(self.buffer))

    @classmethod
    def together(cls, algorithms: Sequence["CbrDiag"], states: Sequence[DiagonalState]) -> Groups | None:
        """Lockstep of several settings: the difference of a pair is made once and serves eight of them."""
        return by_buffer(algorithms, states, states[0].gaussian.shape, _Eight, _turns)

    def step(self, state: DiagonalState, batch: Batch) -> DiagonalState:
        if len(batch.rows) == 0:
            return state
        (mu, sigma), members, seen = state
        phi = NormalDist().inv_cdf(self.eta)
        _diagonal(batch.rows_view, batch.y, batch.rows, members, seen, mu, sigma, self.C, phi)
        return state

    def weights(self, state: DiagonalState) -> np.ndarray:
        return np.array(state.gaussian[0])


class _Eight:
    """Eight settings of `cbr_diag` side by side."""

    def __init__(self, algorithms: list[CbrDiag], states: list[DiagonalState]):
        self._start = states[0]
        self._gaussian = lanes.joined([state.gaussian for state in states])
        numbers = [(algorithm.C, NormalDist().inv_cdf(algorithm.eta)) for algorithm in algorithms]
        self._numbers = np.array(numbers).T.copy()

    def run(self, piece: Piece) -> None:
        _eight_diagonal(piece, self._gaussian, self._numbers)

    def states(self, kept: KeptRows) -> list[DiagonalState]:
        gaussians = [np.zeros_like(self._start.gaussian) for _ in range(lanes.WIDTH)]
        lanes.separate(self._gaussian, gaussians)
        return [DiagonalState(gaussian, kept.members.copy(), kept.seen.copy()) for gaussian in gaussians]


def _turns(batch: Batch, seen: np.ndarray, size: int) -> np.ndarray:
    """(k,) the slots of the rows of a batch in the buffers of their classes: each replaces the oldest row."""
    positive = batch.y[batch.rows] > 0
    counts = [seen[0] + np.cumsum(positive), seen[1] + np.cumsum(~positive)]
    return (np.where(positive, *counts) - 1) % size


def _empty_buffers(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((2, size), np.int64), np.zeros(2, np.int64)


@kernels.helper
def _enter(i, label, members, seen):
    """Put a row in the buffer of its class; returns the other class, and the range of turns in its buffer."""
    side = 0 if label > 0 else 1
    members[side, seen[side] % members.shape[1]] = i
    seen[side] += 1
    other = 1 - side
    return other, max(0, seen[other] - members.shape[1]), seen[other]


@kernels.kernel
def _full(X, y, order, mu, sigma, g, pending, members, seen, C, phi):
    b = pending[0]
    z, product = np.empty(mu.size), np.empty(mu.size)
    for k in range(order.size):
        i = order[k]
        label = 1.0 if y[i] > 0 else -1.0
        other, start, stop = _enter(i, y[i], members, seen)
        for turn in range(start, stop):
            z[:] = 0.0
            rows.axpy(1.0, X, i, z)
            rows.axpy(-1.0, X, members[other, turn % members.shape[1]], z)
            if b == 0.0:
                symmetric.product(sigma, z, product)
            else:
                confidence.narrow_product(sigma, b, g, z, product)
                b = 0.0
            v, m = vectors.dot(z, product), label * vectors.dot(mu, z)
            if not (v <= 0.0 or phi * np.sqrt(v) - m <= 0.0):
                a, b = confidence.step(m, v, C, phi)
                vectors.add(a * label, product, mu)
                vectors.copy(product, g)
    pending[0] = b


@kernels.kernel
def _diagonal(X, y, order, members, seen, mu, sigma, C, phi):
    """Steps of one setting, or of eight if mu, sigma, C and phi are lanes."""
    longest = buffers.longest(X, order, members)
    Z = pairs.room(X, np.array([[longest, longest]]))
    for k in range(order.size):
        i = order[k]
        label = 1.0 if y[i] > 0 else -1.0
        other, start, stop = _enter(i, y[i], members, seen)
        for turn in range(start, stop):
            pairs.subtract(X, i, members[other, turn % members.shape[1]], Z)
            product, v = confidence.moments(Z, mu, sigma)
            m = label * product
            gap = phi * lanes.root(v) - m
            if lanes.any_moves(lanes.where_less(0.0, gap, 1.0, gap - gap)):
                a, b = confidence.step(m, v, C, phi)
                confidence.move(a * label, b, Z, mu, sigma)


@kernels.kernel
def _eight_diagonal(piece, gaussian, numbers):
    """`_diagonal` of eight settings, with means and variances (d, 2, 8) and numbers (2, 8)."""
    X, y, order, _, members, _, seen = piece
    moments, n = lanes.array(gaussian), lanes.array(numbers)
    _diagonal(X, y, order, members, seen, moments[:, 0], moments[:, 1], n[0], n[1])
