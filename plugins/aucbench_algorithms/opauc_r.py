"""OPAUCr, `opauc` with the covariances replaced by random projections of rank tau.

For a sample x of class s, r = g / sqrt(tau) with g standard normal, Z_s += x r^T, h_s the running mean of r
and c_s that of x; the step is that of `opauc` against the other class o, with

    S_o w = Z_o (Z_o^T w) / T_o - c_o |h_o|^2 (c_o.w)                    (centring = author)
    S_o w = Z_o (Z_o^T w) / T_o - Z_o h_o (c_o.w) - c_o (h_o.(Z_o^T w)) + T_o |h_o|^2 (c_o.w) c_o    (exact)

The sum of x is kept as one more column of Z, with r = 1.

Cost per example: O(tau d), on sparse rows O(tau nnz + tau^2), exactly. On sparse rows, w is kept as
scale * (u + Z_+ b_+ + Z_- b_-) with tau numbers b of each class. A step adds multiples of x to u and changes
b; u also compensates for adding x r^T to Z. The products Z^T Z and Z^T u, which give Z^T w, are updated with
each sample. At intervals everything is folded into u, at O(tau d).

Source: Gao, Jin, Zhu, Zhou, One-pass AUC optimization, ICML 2013, section 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from aucbench import Batch, Claims, Count, Positive, Problem, kernels, require_memory
from aucbench_algorithms import _moments_together as moments
from aucbench_algorithms import _opauc_r_low_rank as low_rank
from aucbench_algorithms._groups import Groups


class Centring(StrEnum):
    """The subtraction of the means: as in the paper and the code, or without bias."""

    author = "author"
    exact = "exact"


class State(NamedTuple):
    """Weights w = scale (u + Z_+ b_+ + Z_- b_-); b stays zero and scale one in the eager layout.

    The last axis of b, products, scale and u runs over the settings that train together; here there is one.
    """

    Z: np.ndarray  # (2, d, tau + 1) of each class, lazy: (d, 2, tau + 1); empty before the first step
    sums: np.ndarray  # (2, tau + 1) sums of r, the last being the number of samples
    gram: np.ndarray  # (2, tau + 1, 2, tau + 1) Z'Z
    b: np.ndarray  # (2, tau + 1, 1)
    products: np.ndarray  # (2, tau + 1, 1) Z'u
    scale: np.ndarray  # (1,)
    u: np.ndarray  # (d, 1)
    rng: np.random.Generator
    layout: kernels.Layout


@dataclass(frozen=True)
class OpaucR(moments.MomentsMethod):
    """One-pass AUC optimisation with covariances of low rank.

    Parameters
    ----------
    tau : int >= 1
        Rank: how many numbers are kept for each weight and class.
    centring : author or exact
        How the class means are subtracted from the second moments.
    """

    name = "opauc_r"
    grid = {"eta": (0.001, 0.003, 0.01, 0.03, 0.1), "lam": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)}
    claims = Claims(rate="1/t", cost="tau nnz")
    citation = "gao2013opauc"
    deviations = (
        "Random numbers are divided by sqrt(tau), as in the authors' code; the text has tau.",
        "The centring of the paper subtracts almost nothing (centring=author); the default is unbiased.",
    )

    eta: Positive = 0.01
    tau: Count = 50
    centring: Centring = Centring.exact

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero; raises `ParameterError` when two d x tau matrices exceed the available memory."""
        d, size = problem.n_features, self.tau + 1
        require_memory("opauc_r", (2, d, size), "lower tau")
        b, products = np.zeros((2, 2, size, 1))
        gram, layout = np.zeros((2, size, 2, size)), kernels.layout(problem.X)
        empty, sums = np.zeros((2, 0, 0)), np.zeros((2, size))
        return State(empty, sums, gram, b, products, np.ones(1), np.zeros((d, 1)), rng, layout)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order; draws tau numbers for each."""
        if len(batch.rows) == 0:
            return state
        state = low_rank.allocated(state)
        *arrays, _, _ = state
        numbers = np.array([self.eta]), np.array([self.lam])
        exact = self.centring is Centring.exact
        low_rank.run(batch.rows_view, batch.y, batch.rows, state, exact, *arrays, *numbers)
        return state

    @classmethod
    def together(cls, algorithms: Sequence["OpaucR"], states: Sequence[State]) -> Groups:
        """Settings that share Z where their rank is the same; their random numbers are the same."""
        return Groups(algorithms, states, "tau", low_rank.of_rank)

    def weights(self, state: State) -> np.ndarray:
        w = state.u[:, 0]
        if state.layout is kernels.Layout.lazy and state.b.any():
            w = w + state.Z.reshape(w.size, -1) @ state.b.ravel()
        return state.scale[0] * w
