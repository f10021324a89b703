"""AdaOAM, adaptive online AUC maximisation: OPAUC's gradient with a separate step size for each weight.

With the running mean c and covariance S of each class, a sample x of label s gives, against the other
class o seen so far,

    g = lam w - s (x - c_o) + (x - c_o) ((x - c_o).w) + S_o w
    q += g^2,  w -= eta g / (delta + sqrt(q))                 (each weight by itself)

and w is projected on |w| <= 1 / sqrt(lam). Nothing moves while the other class is empty.

Cost per example: O(d^2) time and memory, on sparse rows too: S_o w has d entries, and each moves its weight
at its own rate. Only the lower triangles of the matrices are stored, as sums over samples of (x - c)
(x - c)^T times (T - 1) / T, where c is the mean before the sample and T counts the sample.

Source: Ding, Zhao, Hoi, Ong, An adaptive gradient method for online AUC maximization, AAAI 2015.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucbench import Batch, Claims, Positive, kernels
from aucbench.kernels import fast_helper, rows, symmetric, vectors
from aucbench_algorithms import _moments_together as moments
from aucbench_algorithms._moments_together import State


@dataclass(frozen=True)
class AdaOam(moments.SecondMoments):
    """Adaptive online AUC maximisation: OPAUC with AdaGrad's steps, and weights within 1 / sqrt(lam).

    Parameters
    ----------
    delta : float > 0
        Number added to the square root of the summed squares of the gradient.
    """

    name = "adaoam"
    grid = {"eta": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0), "lam": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)}
    claims = Claims(rate="1/sqrt(t)", cost="d^2")
    citation = "ding2015adaoam"
    deviations = (
        "Written from the paper's description, not verified against code: none was found.",
        "The covariance is exact, as in `opauc`.",
    )

    eta: Positive = 0.3
    delta: Positive = 1e-8

    _vectors = 2  # w and q

    def step(self, state: State, batch: Batch) -> State:
        return self._stepped(_run, state, batch)

    @classmethod
    def together(cls, algorithms: Sequence["AdaOam"], states: Sequence[State]) -> moments.MomentsTogether:
        """Settings that share the moments."""
        return cls._together(_run_together, algorithms, states)


@kernels.kernel
def _run(X, y, order, wq, means, scatter, counts, eta, lam, delta):
    w, q = wq[0], wq[1]
    x, image, deviation = np.empty(w.size), np.empty(w.size), np.empty((1, w.size))
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, side, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        counts[side] += 1
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        _deviate(x, means[side], counts[side], deviation[0])
        symmetric.rank_one(deviation, 0, scatter[side])
        if counts[other] == 0:
            continue
        x -= means[other]
        coefficient = vectors.dot(x, w) - label
        symmetric.product(scatter[other], w, image)
        vectors.scale(1.0 / counts[other], image)
        vectors.add(coefficient, x, image)
        _adapt(w, q, image, eta, lam, delta)


# S is a sum of squares of x - c: where a column is constant so far, x - c and the column of S are exactly
# zero, and so is its gradient. Sums of x and x x^T leave 1e-17 there, which the division by sqrt(q) would
# make a step of full size.
@kernels.helper
def _deviate(x, c, count, out):
    """Take the count-th sample x into the mean c; set out to the vector whose square is added to T S."""
    root = np.sqrt((count - 1) / count)
    for j in range(c.size):
        change = x[j] - c[j]
        c[j] += change / count
        out[j] = root * change


@fast_helper
def _adapt(w, q, image, eta, lam, delta):
    """Step along lam w + image, coordinate by coordinate, and project on |w| <= 1 / sqrt(lam)."""
    size = 0.0
    for j in range(w.size):
        g = lam * w[j] + image[j]
        q[j] += g * g
        w[j] -= eta * g / (delta + np.sqrt(q[j]))
        size += w[j] * w[j]
    if not lam * size <= 1.0:
        vectors.scale(1.0 / np.sqrt(lam * size) if size < np.inf else np.nan, w)


@kernels.kernel
def _run_together(X, y, order, means, scatter, counts, W, Q, eta, lam, delta):
    samples, waiting = moments.room(W.shape[1]), np.zeros(2, np.int64)
    x, G, H = np.empty(W.shape[1]), np.empty_like(W), np.empty_like(W)
    P = np.empty((samples.shape[1], W.shape[0]))
    for k in range(order.size):
        i = rows.visit(X, order, k)
        label, side, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        counts[side] += 1
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        _deviate(x, means[side], counts[side], samples[side, waiting[side]])
        if counts[other] > 0:
            last, count = waiting[other], counts[other]
            V, products = samples[other, : last + 1], P[: last + 1]
            for j in range(x.size):
                V[last, j] = x[j] - means[other, j]
            np.dot(V, W.T, products)
            for s in range(W.shape[0]):
                products[last, s] = count * (products[last, s] - label)
            np.dot(products.T, V, H)
            np.dot(W, scatter[other], G)
            for s in range(W.shape[0]):
                for j in range(W.shape[1]):
                    G[s, j] = (G[s, j] + H[s, j]) / count
                _adapt(W[s], Q[s], G[s], eta[s], lam[s], delta[s])
        waiting[side] = moments.wait(samples[side], waiting[side], scatter[side])
    for c in range(2):
        moments.flush(samples[c], waiting[c], scatter[c])
