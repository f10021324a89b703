"""Uni-Exp, the exponential loss of single examples with weighted classes, online.

    k = eta c_y y exp(-y (w.x + b)),    w += k x,  b += k,    c_+ = 1 - p,  c_- = p

with p the share of positives, of the training data or among the examples so far (the current one
included). Minimising a weighted univariate exponential loss is consistent with the AUC. One pass; the model
is the last iterate, from w = 0 and b = 0. The exponent is capped at 700. The intercept b stays 0 with
intercept=False; the scores leave it out, because the AUC does not see it and adding it would round close
scores into ties.

Cost per example: O(nnz).

Source: Kotlowski, Dembczynski, Huellermeier, Bipartite ranking through minimization of univariate loss,
ICML 2011; run online as in the comparison of Gao et al., ICML 2013.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields, kernels
from aucbench.kernels import rows

AHEAD = 8  # rows prefetched before their use
LARGEST = 700.0  # exponent


class Ratio(StrEnum):
    """Where the share of positives comes from: all training data, or the examples so far."""

    train = "train"
    running = "running"


class State(NamedTuple):
    """The weights and what the share of positives needs."""

    w: np.ndarray  # (d,)
    b: np.ndarray  # (1,) intercept
    counts: np.ndarray  # (2,) examples and positives so far
    p: float  # share of positives of the training data; unused with ratio running


@dataclass(frozen=True)
class UniExp:
    """Online univariate exponential loss with weighted classes.

    Parameters
    ----------
    eta : float > 0
        Step.
    ratio : train or running
        Whether the share of positives is that of the training data or of the examples so far.
    intercept : bool
        Whether an intercept is fitted, with the same steps.
    """

    name: ClassVar[str] = "uni_exp"
    colour: ClassVar[str] = "#82a068"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("exponential",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "eta": (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    }
    step_size: ClassVar[str] = "eta"
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="nnz")
    citation: ClassVar[str] = "kotlowski2011bipartite"
    deviations: ClassVar[tuple[str, ...]] = (
        "The paper minimises in batch; the online run is that of the comparison in OPAUC's paper.",
        "An intercept is fitted, which the comparison does not mention (intercept=False).",
        "Class weights 1 - p and p instead of 1 / p and 1 / (1 - p); the factor p (1 - p) is in the step.",
    )

    eta: Positive = 0.03
    ratio: Ratio = Ratio.train
    intercept: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights; counts the positives of the training data where their share is used."""
        p = problem.p if self.ratio is Ratio.train else 0.0
        return State(np.zeros(problem.n_features), np.zeros(1), np.zeros(2, np.int64), p)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        running = self.ratio is Ratio.running
        _run(batch.rows_view, batch.y, batch.rows, *state, self.eta, running, self.intercept)
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) the last iterate."""
        return state.w.copy()

    def fitted_intercept(self, state: State) -> float:
        """The intercept b, which no score contains."""
        return float(state.b[0])

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x, without the intercept."""
        return X @ state.w


@kernels.kernel
def _run(X, y, order, w, b, counts, p, eta, running, intercept):
    t, positives = counts
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        positive = y[i] > 0
        t += 1
        positives += positive
        if running:
            p = positives / t
        label = 1.0 if positive else -1.0
        c = 1.0 - p if positive else p
        exponent = -label * (rows.dot(X, i, w) + b[0])
        if exponent > LARGEST:
            exponent = LARGEST
        step = eta * c * label * np.exp(exponent)
        if step != 0.0:
            rows.axpy(step, X, i, w)
            if intercept:
                b[0] += step
    counts[0], counts[1] = t, positives
