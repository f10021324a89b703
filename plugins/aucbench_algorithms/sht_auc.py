"""SHT-AUC, stochastic hard thresholding: the pairwise square loss with a given number of weights.

Minimises p (1 - p) times the mean over pairs of (1 - w.z)^2, plus lam / 2 |w|^2, over w with at most
`sparsity` weights that are not zero. With m+ and m- the class means of the training data and p their share of
positives, from w = 0, each batch of rows gives the mean g of

    2 (1 - p) (w.(x - m+)) (x - m+) for positives, 2 p (w.(x - m-)) (x - m-) for negatives,

plus 2 p (1 - p) (1 + w.(m- - m+)) (m- - m+), and the step

    w = (w - eta g) / (1 + eta lam)

of which the `sparsity` largest |w_j| are kept (among equal ones, the smaller j) and the others are set to
zero. The curvature of the objective on a batch is at most h, the mean of 2 (1 - p) |x - m+|^2 or
2 p |x - m-|^2 over its rows plus 2 p (1 - p) |m- - m+|^2. The step size is eta / (1 + eta h), so a row far
from its class mean cannot throw the weights beyond the minimum.

Cost per batch: O(nnz of its rows + d), because the means make g dense.

Source: Yang, Zhou, Lei, Ying, Stochastic hard thresholding algorithms for AUC maximization, ICDM 2020.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Count, LinearMethod, NonNegative, Positive, Problem, kernels
from aucbench.kernels import rows, vectors


class State(NamedTuple):
    """Weights, and the statistics of the training data."""

    w: np.ndarray  # (d,)
    means: np.ndarray  # (2, d) m+ and m-
    p: float


@dataclass(frozen=True)
class ShtAuc(LinearMethod):
    """A given number of weights by hard thresholding after each stochastic gradient step.

    Parameters
    ----------
    sparsity : int >= 1
        Number of weights that are not zero; all d weights if it is larger.
    eta : float > 0
        Step size.
    lam : float >= 0
        Weight of |w|^2 / 2.
    batch : int >= 1
        Number of rows of a batch; all rows if there are fewer.
    bounded : bool
        Whether the step size is eta / (1 + eta h), or eta, as in the paper.
    """

    name = "sht_auc"
    access = Access.minibatch
    losses = ("square",)
    grid = {"sparsity": (10, 20, 50, 100, 200), "eta": (0.01, 0.1, 1.0, 10.0)}
    step_size = "eta"
    claims = Claims(rate="linear", cost="batch nnz + d")
    regularisation = {"lam": 2}
    citation = "yang2020stochastic"
    deviations = (
        "Exactly `sparsity` weights are kept; the authors' code keeps one less.",
        "Batches are drawn uniformly without replacement; the authors' code draws among fixed blocks of "
        "consecutive rows.",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    sparsity: Count = 50
    eta: Positive = 3.0
    lam: NonNegative = 0.0
    batch: Count = 64
    bounded: bool = field(default=True, metadata={"later": True})

    def batch_size(self, n_samples: int) -> int:
        return min(self.batch, n_samples)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        return State(
            np.zeros(problem.n_features), np.stack([problem.mean_pos, problem.mean_neg]), float(problem.p)
        )

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        _run(batch.rows_view, batch.y, batch.rows, *state, self.sparsity, self.eta, self.lam, self.bounded)
        return state

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x; of dense rows only the columns in w are read."""
        if not isinstance(X, np.ndarray):
            return X @ state.w
        columns = np.flatnonzero(state.w)
        return X[:, columns] @ state.w[columns]


@kernels.kernel
def _run(X, y, batches, w, means, p, sparsity, eta, lam, bounded):
    m = batches.shape[1]
    g = np.zeros(w.size)
    squares = vectors.square(means[0]), vectors.square(means[1])
    gap_square = squares[0] + squares[1] - 2.0 * vectors.dot(means[0], means[1])
    for t in range(batches.shape[0]):
        centres = vectors.dot(w, means[0]), vectors.dot(w, means[1])
        sums, curvature = np.zeros(2), 2.0 * p * (1.0 - p) * gap_square
        for k in range(m):
            i = rows.visit(X, batches[t], k)
            side = 0 if y[i] > 0 else 1
            share = 2.0 * (p if side else 1.0 - p) / m
            size = share * (rows.dot(X, i, w) - centres[side])
            sums[side] += size
            rows.axpy(size, X, i, g)
            if bounded:
                curvature += share * (rows.norm(X, i) - 2.0 * rows.dot(X, i, means[side]) + squares[side])
        step = eta / (1.0 + eta * curvature) if bounded else eta
        shift = 2.0 * p * (1.0 - p) * (1.0 + centres[1] - centres[0])
        _descend(w, g, means[0], means[1], sums[0] + shift, sums[1] - shift, step, 1.0 / (1.0 + step * lam))
        if sparsity < w.size:
            keep_largest(w, sparsity)


@kernels.helper
def _descend(w, g, positive, negative, of_positive, of_negative, eta, keep):
    for j in range(w.size):
        w[j] = keep * (w[j] - eta * (g[j] - of_positive * positive[j] - of_negative * negative[j]))
        g[j] = 0.0


@kernels.kernel
def keep_largest(w, count):
    """Keep the `count` largest |w_j|, of equal weights the first, and set the other weights to zero."""
    threshold = _kth_largest(w, count)
    above = 0
    for j in range(w.size):
        above += abs(w[j]) > threshold
    ties = count - above
    for j in range(w.size):
        size = abs(w[j])
        if size == threshold and ties > 0:
            ties -= 1
        elif size <= threshold:  # NaN stays
            w[j] = 0.0


@kernels.helper
def _kth_largest(w, count):
    """The count-th largest |w_j|, -1 where NaN leaves fewer; values above the last estimate are collected."""
    room = np.empty(2 * count)
    filled, threshold = 0, -1.0
    for j in range(w.size):
        size = abs(w[j])
        if size > threshold:
            room[filled] = size
            filled += 1
            if filled == room.size:
                room.sort()
                room[:count] = room[count:]
                filled, threshold = count, room[0]
    if filled < count:
        return -1.0
    candidates = room[:filled]
    candidates.sort()
    return candidates[filled - count]
