"""SGD on random pairs, the hinge loss with an l2 regulariser; with projections it is Pegasos.

Minimises lam / 2 |w|^2 + mean over pairs z = x+ - x- of max(0, margin - w.z), with the step eta_t of a
schedule (10 / (t + 10), 1 / (lam t), or 0.02):

    w' = max(1 - eta_t lam, 1e-7) w;  w' += eta_t z if w.z < margin

where the margin is tested before w shrinks, and for Pegasos w is then projected on |w| <= 1 / sqrt(lam).
The model is the last iterate.

Cost per pair: O(nnz), for w is kept as scale * u, which shrinking and projecting change in its scale only;
|w|^2 follows from the products at hand and is computed anew every max(1024, d) pairs, and where its terms
cancel.

Source: Sculley, Large scale learning to rank, NIPS workshop 2009 (sofia-ml, sampling of pairs by ROC).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, NonNegative, ParameterError, Problem, check_fields, kernels
from aucbench.kernels import pairs, rows, vectors, weights

AHEAD = 8  # pairs prefetched before their use
SMALLEST_FACTOR = 1e-7  # of one shrinking
REFRESH = 1024  # pairs between exact computations of |w|^2, at least
CANCELLED = 1e-4  # |w|^2 against the terms it is the sum of, below which it is computed exactly
BASIC, PEGASOS, CONSTANT = 0, 1, 2  # schedules as the kernel takes them


class Schedule(StrEnum):
    """The step: 10 / (t + 10), 1 / (lam t), or 0.02."""

    basic = "basic"
    pegasos = "pegasos"
    constant = "constant"


CODES = {Schedule.basic: BASIC, Schedule.pegasos: PEGASOS, Schedule.constant: CONSTANT}


class State(NamedTuple):
    """Weights w = scale u."""

    u: np.ndarray  # (d,)
    lazy: np.ndarray  # (2,) scale, |w|^2 (kept up for Pegasos only)
    counts: np.ndarray  # (1,) steps t
    margin: float  # of the hinge loss


@dataclass(frozen=True)
class RocSgd:
    """Stochastic gradient descent on the hinge loss of random pairs, as sofia-ml does it.

    Parameters
    ----------
    lam : float >= 0 or None
        Weight of |w|^2 / 2; above 0 for the Pegasos schedule and projection. None is 1 / n for n training
        rows.
    schedule : basic, pegasos or constant
        Step 10 / (t + 10), 1 / (lam t), or 0.02.
    pegasos : bool
        Project on |w| <= 1 / sqrt(lam) after each step.
    """

    name: ClassVar[str] = "roc_sgd"
    colour: ClassVar[str] = "#a27412"
    access: ClassVar[Access] = Access.pairs
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"lam": tuple(10.0**power for power in range(-7, 0))}
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    citation: ClassVar[str] = "sculley2009large"
    deviations: ClassVar[tuple[str, ...]] = (
        "Unless told otherwise it is plain SGD with the constant step and lam = 1 / n, which comes closest "
        "to the optimum on rescaled rows; sofia-ml's own start is Pegasos with 0.1.",
        "Double precision; sofia-ml computes in single precision.",
    )

    lam: NonNegative | None = None
    schedule: Schedule = Schedule.constant
    pegasos: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.lam == 0.0 and (self.pegasos or self.schedule is Schedule.pegasos):
            raise ParameterError("roc_sgd: lam must be > 0 for the Pegasos schedule or projection, got 0.")

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights; the margin is that of the loss."""
        margin = 1.0 if problem.loss is None else kernels.theta(problem.loss)
        return State(np.zeros(problem.n_features), np.array([1.0, 0.0]), np.zeros(1, np.int64), margin)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the pairs of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        u, lazy, counts, margin = state
        schedule = CODES[self.schedule]
        lam = 1.0 / len(batch.y) if self.lam is None else self.lam
        _run(batch.rows_view, batch.rows, u, lazy, counts, margin, lam, schedule, self.pegasos)
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) the last iterate."""
        return state.lazy[0] * state.u

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@kernels.kernel
def _run(X, order, u, lazy, counts, margin, lam, schedule, projected):
    t = counts[0]
    scale, size = lazy
    refresh = max(REFRESH, u.size)
    Z = pairs.room(X, order)
    for k in range(order.shape[0]):
        if k + AHEAD < order.shape[0]:
            pairs.prefetch(X, order[k + AHEAD, 0], order[k + AHEAD, 1])
        t += 1
        if schedule == BASIC:
            eta = 10.0 / (t + 10.0)
        elif schedule == PEGASOS:
            eta = 1.0 / (lam * t)
        else:
            eta = 0.02
        pairs.subtract(X, order[k, 0], order[k, 1], Z)
        product, square = rows.dot_norm(Z, 0, u)
        s = scale * product
        shrink = max(1.0 - eta * lam, SMALLEST_FACTOR)
        scale *= shrink
        if scale < weights.SMALLEST_SCALE_ALONE:
            vectors.scale(scale, u)
            scale = 1.0
        size *= shrink * shrink
        exact = t % refresh == 0
        if not s >= margin:  # so that NaN goes on into the weights
            rows.axpy(eta / scale, Z, 0, u)
            terms = size + eta * eta * square
            size = terms + 2.0 * eta * shrink * s
            exact = exact or not size > CANCELLED * terms
        if projected:
            if exact:
                size = scale * scale * vectors.square(u)
            if not size * lam <= 1.0:
                # an infinite |w| must not be scaled to zero: it would look like a finite model
                scale *= 1.0 / np.sqrt(lam * size) if size < np.inf else np.nan
                size = 1.0 / lam
    lazy[0], lazy[1] = scale, size
    counts[0] = t
