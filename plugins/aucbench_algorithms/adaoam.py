"""AdaOAM, adaptive online AUC maximisation: OPAUC's gradient with a step of its own for each weight.

With the running mean c and covariance S of each class, a sample x of label s gives, against the other
class o seen so far,

    g = lam w - s (x - c_o) + (x - c_o) ((x - c_o).w) + S_o w
    q += g^2,  w -= eta g / (delta + sqrt(q))                 (each weight by itself)

and w is projected on |w| <= 1 / sqrt(lam). Nothing moves while the other class is empty.

Cost per example: O(d^2) time and memory, on sparse rows too: S_o w has d entries, each of which moves its
weight at a rate of its own. Of the matrices only the lower triangle is kept, as sums of x x^T.

Source: Ding, Zhao, Hoi, Ong, An adaptive gradient method for online AUC maximization, AAAI 2015.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Claims,
    NonNegative,
    Positive,
    Problem,
    check_fields,
    kernels,
    require_memory,
)
from aucbench.kernels import fast_kernel, rows, vectors

AHEAD = 4  # rows prefetched before their use


class State(NamedTuple):
    """Weights, sums of squared gradients, and the first two moments of each class."""

    wq: np.ndarray  # (2, d) w and q
    means: np.ndarray  # (2, d) of the positives and the negatives seen
    moments: np.ndarray  # (2, d, d) lower triangles of the sums of x x^T of each class
    work: np.ndarray  # (2, d) scratch
    counts: np.ndarray  # (2,) positives and negatives seen


@dataclass(frozen=True)
class AdaOam:
    """Adaptive online AUC maximisation: OPAUC with AdaGrad's steps.

    Parameters
    ----------
    eta : float > 0
        Step.
    lam : float >= 0
        Weight of |w|^2 / 2; the weights are kept within 1 / sqrt(lam).
    delta : float > 0
        Added to the root of the summed squares of the gradient.
    """

    name: ClassVar[str] = "adaoam"
    colour: ClassVar[str] = "#9905b8"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "eta": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
        "lam": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
    }
    step_size: ClassVar[str] = "eta"
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="d^2")
    citation: ClassVar[str] = "ding2015adaoam"
    deviations: ClassVar[tuple[str, ...]] = (
        "Written from the paper's description, not verified against code: none was found.",
        "The covariance is exact, as in `opauc`.",
    )

    eta: Positive = 0.3
    lam: NonNegative = 1e-4
    delta: Positive = 1e-8

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero.

        Raises
        ------
        ParameterError
            When two d x d matrices exceed the available memory.
        """
        d = problem.n_features
        require_memory("adaoam", (2, d, d), "use algo=opauc_r, or features=projection")
        wq, means = np.zeros((2, 2, d))
        return State(wq, means, np.zeros((2, d, d)), np.zeros((2, d)), np.zeros(2, np.int64))

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        _run(batch.rows_view, batch.y, batch.rows, *state, self.eta, self.lam, self.delta)
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) the last iterate."""
        return state.wq[0].copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ state.wq[0]


@kernels.kernel
def _run(X, y, order, wq, means, moments, work, counts, eta, lam, delta):
    w, q = wq[0], wq[1]
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        label = 1.0 if y[i] > 0 else -1.0
        own, other = (0, 1) if y[i] > 0 else (1, 0)
        counts[own] += 1
        x, image = work[0], work[1]
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        _move(means[own], moments[own], x, counts[own])
        if counts[other] == 0:
            continue
        product = _spread(moments[other], means[other], w, x, image)
        size = _adapt(w, q, x, means[other], image, product - label, eta, lam, delta)
        if not lam * size <= 1.0:
            vectors.scale(1.0 / np.sqrt(lam * size) if size < np.inf else np.nan, w)


# Means and moments are recursions of one form, and S is formed entry by entry: where a column is constant
# so far, x - c and the column of S are exactly zero, and so is its gradient. A sum divided by the count
# leaves 1e-17 there, which the division by sqrt(q) would make a step of full size.
@kernels.kernel
def _move(c, M, x, count):
    """Take the count-th sample x into the mean c and the second moment M, its lower triangle."""
    for j in range(c.size):
        c[j] += (x[j] - c[j]) / count
        for k in range(j + 1):
            M[j, k] += (x[j] * x[k] - M[j, k]) / count


@kernels.kernel
def _spread(M, c, w, x, image):
    """Set image to S w with S = M - c c^T; returns (x - c).w."""
    product = 0.0
    for j in range(c.size):
        product += (x[j] - c[j]) * w[j]
        total = (M[j, j] - c[j] * c[j]) * w[j]
        for k in range(j):
            entry = M[j, k] - c[j] * c[k]
            total += entry * w[k]
            image[k] += entry * w[j]
        image[j] = total
    return product


@fast_kernel
def _adapt(w, q, x, c, image, coefficient, eta, lam, delta):
    """Step along lam w + coefficient (x - c) + S w, coordinate by coordinate; returns the new |w|^2."""
    size = 0.0
    for j in range(w.size):
        g = lam * w[j] + coefficient * (x[j] - c[j]) + image[j]
        q[j] += g * g
        w[j] -= eta * g / (delta + np.sqrt(q[j]))
        size += w[j] * w[j]
    return size
