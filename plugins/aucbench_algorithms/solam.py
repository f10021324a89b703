"""SOLAM, stochastic online AUC maximisation, with an l2 or an l1 ball.

Saddle point of the square loss over pairs, F(w, a, b, alpha; x, y) with s = w.x and p the running share
of positives:

    (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
    + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

Descent in (w, a, b), ascent in alpha, step g_t = zeta / sqrt(t), projection on |w| <= R,
|a|, |b| <= R kappa, |alpha| <= 2 R kappa; the model is the mean of w_t weighted by g_t.

Cost per example: O(nnz), for w is kept as scale * u, which the l2 projection changes in its scale only,
and the sum of g_t w_t as weight * u - v. Whenever the projections have shrunk w a thousandfold in all, both
are folded in O(d); large steps on a small ball make that frequent. With norm l1 the projection costs O(d)
whenever it is active (O(nnz log d) in the lazy layout of sparse rows); it is skipped, exactly, while the
triangle inequality bounds |w|_1 by R.

The default zeta is for rescaled rows. Where the square of the longest row is a hundred times the mean and
more (standardised rare features, raw features of very different size), it is too large a step for such rows:
lower it.

`solam_l1` is the method on the l1 ball, with the choices of the paper that proposed it: started at zero, the
points just produced being averaged.

Source: Ying, Wen, Lyu, Stochastic online AUC maximization, NIPS 2016, Algorithm 1. The l1 ball: Liu, Zhang,
Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate, ICML 2018, section 5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields, kernels
from aucbench.kernels import rows, vectors, weights
from aucbench_algorithms import _solam_l1_ball as l1_ball
from aucbench_algorithms._choices import Average, Start

AHEAD = 8  # rows prefetched before their use
REFRESH = 1024  # steps between exact computations of |w|^2, at least


class Norm(StrEnum):
    """The ball of the weights."""

    l2 = "l2"
    l1 = "l1"


class State(NamedTuple):
    """Weights w = scale u, sum of g_t w_t = weight u - v."""

    uv: np.ndarray  # (2, d) u and v
    saddle: np.ndarray  # (3,) a, b, alpha
    lazy: np.ndarray  # (4,) scale, weight, sum of g_t, |w|^2 (norm l2) or a bound on |w|_1 (norm l1)
    counts: np.ndarray  # (2,) steps t, positives among them
    kappa: float  # bound on |x|


@dataclass(frozen=True)
class Solam:
    """Stochastic online AUC maximisation: saddle point of the square loss, projected on a ball.

    Parameters
    ----------
    zeta : float > 0
        Step; g_t = zeta / sqrt(t).
    radius : float > 0
        R, of the ball of w.
    norm : l2 or l1
        Norm of the ball.
    start : author or zero
        First point: w = R / sqrt(d), a = b = R, alpha = 2 R, or zero.
    average : before or after
        Whether w_t or w_(t+1) is averaged.
    one_sided_ab : bool
        Clip a and b from above only, as the authors' scripts do.
    kappa : float > 0 or None
        Bound on the row norms; None measures the largest of the training data.
    """

    name: ClassVar[str] = "solam"
    colour: ClassVar[str] = "#0014c9"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "zeta": (0.1, 0.3, 1.0, 3.0, 10.0),
        "radius": (1.0, 10.0, 100.0, 1000.0),
    }
    step_size: ClassVar[str] = "zeta"
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="nnz")
    citation: ClassVar[str] = "ying2016solam"
    deviations: ClassVar[tuple[str, ...]] = (
        "a and b are clipped from both sides, as in the paper; the authors' scripts clip from above only "
        "(one_sided_ab).",
        "The start is zero, as in later papers; the authors' scripts start on the boundary (start=author).",
    )

    zeta: Positive = 1.5
    radius: Positive = 10.0
    norm: Norm = Norm.l2
    start: Start = Start.zero
    average: Average = Average.before
    one_sided_ab: bool = False
    kappa: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State | l1_ball.State:
        """The first point; measures the largest row norm unless `kappa` is given."""
        d, R = problem.n_features, self.radius
        kappa = problem.max_norm if self.kappa is None else self.kappa
        if self.norm is Norm.l1 and kernels.layout(problem.X) is kernels.Layout.lazy:
            first = R if self.start is Start.author else 0.0
            return l1_ball.init(d, first / np.sqrt(d), first, first, 2.0 * first, kappa)
        uv, saddle, size = kernels.two_vectors(problem.X), np.zeros(3), 0.0
        if self.start is Start.author:
            uv[0] = R / np.sqrt(d)
            saddle[:] = R, R, 2.0 * R
            size = R * R if self.norm is Norm.l2 else R * np.sqrt(d)
        return State(uv, saddle, np.array([1.0, 0.0, 0.0, size]), np.zeros(2, np.int64), kappa)

    def step(self, state: State | l1_ball.State, batch: Batch) -> State | l1_ball.State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        if isinstance(state, l1_ball.State):
            before = self.average is Average.before
            l1_ball.run(
                batch.rows_view, batch.y, batch.rows, *state,
                self.zeta, self.radius, before, self.one_sided_ab,
            )  # fmt: skip
            return state
        (u, v), saddle, lazy, counts, kappa = state
        l1, before = self.norm is Norm.l1, self.average is Average.before
        _run(
            batch.rows_view, batch.y, batch.rows, u, v, saddle, lazy, counts,
            self.zeta, self.radius, kappa, l1, before, self.one_sided_ab,
        )  # fmt: skip
        return state

    def weights(self, state: State | l1_ball.State) -> np.ndarray:
        """(d,) weighted mean of the points so far; zero before the first step."""
        if isinstance(state, l1_ball.State):
            return l1_ball.weights(state)
        (u, v), (_, weight, total, _) = state.uv, state.lazy
        return weights.mean(u, v, weight, total) if total > 0.0 else np.zeros(u.size)

    def score(self, state: State | l1_ball.State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@dataclass(frozen=True)
class SolamL1(Solam):
    """Stochastic online AUC maximisation on an l1 ball: `Solam` with other defaults."""

    name: ClassVar[str] = "solam_l1"
    colour: ClassVar[str] = "#990d61"
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "zeta": (0.1, 0.3, 1.0, 3.0, 10.0),
        "radius": (1.0, 10.0, 100.0, 1000.0, 10000.0),
    }
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="d")
    citation: ClassVar[str] = "liu2018fsauc"

    radius: Positive = 100.0
    norm: Norm = Norm.l1
    average: Average = Average.after


@kernels.kernel
def _run(X, y, order, u, v, saddle, lazy, counts, zeta, radius, kappa, l1, before, one_sided):
    t, positives = counts
    a, b, alpha = saddle
    scale, weight, total, size = lazy
    bound = radius * kappa
    refresh = max(REFRESH, u.size)
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        t += 1
        positive = y[i] > 0
        positives += positive
        p = positives / t
        g = zeta / np.sqrt(t)
        absolute = 0.0
        if l1:
            product, square, absolute = rows.dot_norms(X, i, u)
        else:
            product, square = rows.dot_norm(X, i, u)
        s = scale * product
        if positive:
            gradient = 2.0 * (1.0 - p) * (s - a - 1.0 - alpha)
            next_a = a + g * 2.0 * (1.0 - p) * (s - a)
            next_b = b
            ascent = -2.0 * (1.0 - p) * s - 2.0 * p * (1.0 - p) * alpha
        else:
            gradient = 2.0 * p * (s - b + 1.0 + alpha)
            next_a = a
            next_b = b + g * 2.0 * p * (s - b)
            ascent = 2.0 * p * s - 2.0 * p * (1.0 - p) * alpha
        a = min(next_a, bound) if one_sided else vectors.clip(next_a, bound)
        b = min(next_b, bound) if one_sided else vectors.clip(next_b, bound)
        alpha = vectors.clip(alpha + g * ascent, 2.0 * bound)

        if before:
            weight += g * scale
        step = -g * gradient
        if size == 0.0 and step != 0.0 and vectors.square(u) == 0.0:
            weight = 0.0  # the sum so far is exactly zero, and weight u - v would not cancel to that
        if l1:
            size += abs(step) * absolute
            if size <= radius:
                rows.axpy2(step, X, i, u, weight * step, v)
            else:
                weights.fold(u, 1.0, v, weight)
                weight = 0.0
                rows.axpy(step, X, i, u)
                size = vectors.project_l1(u, radius)
        else:
            if t % refresh == 0:
                size = scale * scale * vectors.square(u)
            size += step * (2.0 * s + step * square)
            shrink = 1.0
            if not size <= radius * radius:
                # an infinite |w| must not be scaled to zero: it would look like a finite model
                shrink = radius / np.sqrt(size) if size < np.inf else np.nan
                size = radius * radius
            if scale * shrink >= weights.SMALLEST_SCALE:
                rows.axpy2(step / scale, X, i, u, weight * step / scale, v)
                scale *= shrink
            else:  # folded before the step, which may be far larger than what is left of it
                weights.fold(u, scale * shrink, v, weight)
                scale, weight = 1.0, 0.0
                rows.axpy(step * shrink, X, i, u)
        if not before:
            weight += g * scale
        total += g
    counts[0], counts[1] = t, positives
    saddle[0], saddle[1], saddle[2] = a, b, alpha
    lazy[0], lazy[1], lazy[2], lazy[3] = scale, weight, total, size
