"""OPAUC, one-pass AUC optimisation with the square loss.

OPAUC keeps the running mean c and covariance S of each class. A sample x of label s gives a step of descent
on the square loss against all samples of the other class o seen so far, plus lam / 2 |w|^2:

    w -= eta (lam w - s (x - c_o) + (x - c_o) ((x - c_o).w) + S_o w)

Nothing moves while the other class is empty. The step is bounded by the curvature of this loss, which is at
most b = |x - c_o|^2 + tr S_o: eta / (1 + eta b) instead of eta. If the mean of |x|^2 is 1, this is nearly
eta; but a far longer row, or a class of such rows, cannot throw the weights beyond the minimum.

Cost per example: O(d^2) time and memory; only the lower triangles of the matrices are stored, as sums of
x x^T, so that S_o w = M_o w / T_o - c_o (c_o.w). Sparse rows update nnz^2 / 2 entries, but the product
S_o w stays O(d^2).

Source: Gao, Jin, Zhu, Zhou, One-pass AUC optimization, ICML 2013, Algorithm 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aucbench import Batch, Claims, Positive, kernels
from aucbench.kernels import fast_helper, rows, symmetric, vectors
from aucbench_algorithms import _moments_together as moments
from aucbench_algorithms._moments_together import State


@dataclass(frozen=True)
class Opauc(moments.SecondMoments):
    """One-pass AUC optimisation: square loss against the running mean and covariance of the other class.

    Parameters
    ----------
    bounded : bool
        Whether the step size is eta / (1 + eta b), or eta, as in the paper.
    """

    name = "opauc"
    grid = {"eta": (0.003, 0.01, 0.03, 0.1, 0.3), "lam": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)}
    claims = Claims(rate="1/t", cost="d^2")
    citation = "gao2013opauc"
    deviations = (
        "The covariance is exact, as in the authors' code; the recursion printed in the paper is not.",
        "The step is eta / (1 + eta b); with bounded=false it is eta, as in the paper.",
    )

    eta: Positive = 0.05
    bounded: bool = field(default=True, metadata={"later": True})

    def step(self, state: State, batch: Batch) -> State:
        return self._stepped(_run, state, batch)

    @classmethod
    def together(cls, algorithms: Sequence["Opauc"], states: Sequence[State]) -> moments.MomentsTogether:
        """Settings that share the moments."""
        return cls._together(_run_together, algorithms, states)


@kernels.kernel
def _run(X, y, order, W, sums, M, counts, eta, lam, bounded):
    w, work = W[0], np.empty(W.shape[1])
    sum_pos, sum_neg, M_pos, M_neg = sums[0], sums[1], M[0], M[1]
    positives, negatives = counts
    for k in range(order.size):
        i = rows.visit(X, order, k)
        if y[i] > 0:
            positives += 1
            rows.axpy(1.0, X, i, sum_pos)
            symmetric.rank_one(X, i, M_pos)
            _descend(X, i, 1.0, w, sum_neg, M_neg, negatives, work, eta, lam, bounded)
        else:
            negatives += 1
            rows.axpy(1.0, X, i, sum_neg)
            symmetric.rank_one(X, i, M_neg)
            _descend(X, i, -1.0, w, sum_pos, M_pos, positives, work, eta, lam, bounded)
    counts[0], counts[1] = positives, negatives


@kernels.helper
def _descend(X, i, label, w, total, M, count, work, eta, lam, bounded):
    """Step against the other class, given by the sums of its x and x x^T and its count."""
    if count == 0:
        return
    centre = vectors.dot(total, w) / count  # c.w
    product = rows.dot(X, i, w) - centre  # (x - c).w
    coefficient = product - label
    if bounded:
        eta /= 1.0 + eta * _curvature(X, i, total, _trace(M), count)
    symmetric.product(M, w, work)
    vectors.scale(1.0 - eta * lam, w)
    vectors.add(-eta / count, work, w)
    vectors.add(eta * (coefficient + centre) / count, total, w)
    rows.axpy(-eta * coefficient, X, i, w)


@kernels.helper
def _curvature(X, i, total, squares, count):
    """|x - c|^2 + tr S of the other class, given by the sums of its x and |x|^2: |c|^2 cancels."""
    return rows.norm(X, i) + (squares - 2.0 * rows.dot(X, i, total)) / count


@kernels.helper
def _trace(M):
    trace = 0.0
    for j in range(M.shape[0]):
        trace += M[j, j]
    return trace


@kernels.kernel
def _run_together(X, y, order, sums, M, counts, W, eta, lam, bounded):
    d = W.shape[1]
    squares = np.array([_trace(M[0]), _trace(M[1])])
    samples, waiting = moments.room(d), np.zeros(2, np.int64)
    G, H, P = np.empty_like(W), np.empty_like(W), np.empty((samples.shape[1], W.shape[0]))
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, side, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        counts[side] += 1
        rows.axpy(1.0, X, i, sums[side])
        squares[side] += rows.norm(X, i)
        x = samples[side, waiting[side]]
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        if counts[other] > 0:
            last, count = waiting[other], counts[other]
            V, Q = samples[other, : last + 2], P[: last + 2]
            for j in range(d):
                V[last + 1, j] = sums[other, j] / count
                V[last, j] = x[j] - V[last + 1, j]
            np.dot(V, W.T, Q)
            for j in range(W.shape[0]):
                Q[last, j] = count * (Q[last, j] - label)  # products with x - c, which occurs squared
                Q[last + 1, j] *= -count  # and with c, subtracted for the covariance
            np.dot(Q.T, V, H)
            np.dot(W, M[other], G)
            steps = eta
            if bounded[0]:
                steps = eta / (1.0 + eta * _curvature(X, i, sums[other], squares[other], count))
            _descend_all(W, G, H, count, steps, lam)
        waiting[side] = moments.wait(samples[side], waiting[side], M[side])
    for c in range(2):
        moments.flush(samples[c], waiting[c], M[c])


@fast_helper
def _descend_all(W, G, H, count, eta, lam):
    """Step of each setting s along lam w + (G + H) / count.

    G is M w; H has the rest of count times the gradient, (x - c) (count ((x - c).w - label)) - c (count c.w).
    """
    for s in range(W.shape[0]):
        ridge, step = 1.0 - eta[s] * lam[s], eta[s] / count
        for j in range(W.shape[1]):
            W[s, j] = ridge * W[s, j] - step * (G[s, j] + H[s, j])
