"""Regularised SOLAM: the saddle point of `solam` with lam / 2 |w|^2 added.

With s = w.x and p the running share of positives:

    lam / 2 |w|^2 + (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
    + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

The gradient of w becomes dF/dw + lam w, and the radius R = sqrt(2 / lam): comparing with w = 0 gives
lam / 2 |w*|^2 <= 1. Everything else is `solam` on the l2 ball: step g_t = zeta / sqrt(t), bounds R kappa
on |a| and |b| and 2 R kappa on |alpha|, and the mean of w_t weighted by g_t.

Cost per example: O(nnz), as w is kept as scale * u, of which shrinking and projection change the scale
only, and the sum of g_t w_t as weight * u - v. While g_t lam is about 1 and the ball does not bind, the
scale is folded every few steps, at O(d).

The default zeta is for rescaled rows. Where the square of the longest row is a hundred times the mean and
more (standardised rare features, raw features of very different size), it is too large a step for such rows:
lower it.

Source: Natole, Ying, Lyu, Stochastic AUC optimization algorithms with linear convergence, Front. Appl.
Math. Stat. 2019, section 3.2, equation (6).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields, kernels
from aucbench.kernels import rows, saddle, vectors, weights
from aucbench_algorithms._choices import Average, Start

AHEAD = 8  # rows prefetched before their use
REFRESH = 1024  # steps between exact computations of |w|^2, at least


class State(NamedTuple):
    """Weights w = scale u, sum of g_t w_t = weight u - v."""

    uv: np.ndarray  # (2, d) u and v
    saddle: np.ndarray  # (3,) a, b, alpha
    lazy: np.ndarray  # (4,) scale, weight, sum of g_t, |w|^2
    counts: np.ndarray  # (2,) steps t, positives among them
    kappa: float  # bound on |x|
    lam: float


@dataclass(frozen=True)
class RegSolam:
    """Stochastic online AUC maximisation with a ridge, the radius following from it.

    Parameters
    ----------
    zeta : float > 0
        Step; g_t = zeta / sqrt(t).
    lam : float > 0 or None
        Weight of |w|^2 / 2; the radius is sqrt(2 / lam). None is 3 / n for n training rows.
    start : author or zero
        First point: w = R / sqrt(d), a = b = R, alpha = 2 R, or zero.
    average : before or after
        Whether w_t or w_(t+1) is averaged.
    kappa : float > 0 or None
        Bound on the row norms; None measures the largest of the training data.
    """

    name: ClassVar[str] = "regsolam"
    colour: ClassVar[str] = "#19a8c3"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "zeta": (0.1, 0.3, 1.0, 3.0, 10.0),
        "lam": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
    }
    step_size: ClassVar[str] = "zeta"
    claims: ClassVar[Claims] = Claims(rate="1/sqrt(t)", cost="nnz")
    citation: ClassVar[str] = "natole2019spdam"
    deviations: ClassVar[tuple[str, ...]] = (
        "lam / 2 |w|^2 stands inside the saddle function, as in equation (6); the proof adds it after "
        "dividing by p (1 - p).",
        "The start is zero: with a small lam the authors' start on the boundary is far away (start=author).",
        "zeta is 1.5, as for solam; the authors' scripts say 10, with which few rows scaled by their largest "
        "value are ranked backwards.",
    )

    zeta: Positive = 1.5
    lam: Positive | None = None
    start: Start = Start.zero
    average: Average = Average.before
    kappa: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """The first point; measures the largest row norm unless `kappa` is given."""
        lam = 3.0 / problem.n_samples if self.lam is None else self.lam
        d, R = problem.n_features, np.sqrt(2.0 / lam)
        uv, point, square = kernels.two_vectors(problem.X), np.zeros(3), 0.0
        if self.start is Start.author:
            uv[0] = R / np.sqrt(d)
            point[:] = R, R, 2.0 * R
            square = R * R
        kappa = problem.max_norm if self.kappa is None else self.kappa
        return State(uv, point, np.array([1.0, 0.0, 0.0, square]), np.zeros(2, np.int64), kappa, lam)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        (u, v), point, lazy, counts, kappa, lam = state
        before = self.average is Average.before
        _run(batch.rows_view, batch.y, batch.rows, u, v, point, lazy, counts,
             kappa, self.zeta, lam, before)  # fmt: skip
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) weighted mean of the points so far; zero before the first step."""
        (u, v), (_, weight, total, _) = state.uv, state.lazy
        return weights.mean(u, v, weight, total) if total > 0.0 else np.zeros(u.size)

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@kernels.kernel
def _run(X, y, order, u, v, point, lazy, counts, kappa, zeta, lam, before):
    t, positives = counts
    a, b, alpha = point
    scale, weight, total, size = lazy
    radius = np.sqrt(2.0 / lam)
    bound = radius * kappa
    refresh = max(REFRESH, u.size)
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        t += 1
        positive = y[i] > 0
        positives += positive
        g = zeta / np.sqrt(t)
        product, square = rows.dot_norm(X, i, u)
        s = scale * product
        ds, da, db, dalpha = saddle.gradients(s, a, b, alpha, positives / t, positive)
        a = vectors.clip(a - g * da, bound)
        b = vectors.clip(b - g * db, bound)
        alpha = vectors.clip(alpha + g * dalpha, 2.0 * bound)

        if before:
            weight += g * scale
        total += g
        if t % refresh == 0:
            size = scale * scale * vectors.square(u)
        step, ridge = -g * ds, 1.0 - g * lam  # w becomes ridge w + step x
        if size == 0.0 and step != 0.0 and vectors.square(u) == 0.0:
            weight = 0.0  # the sum so far is exactly zero, and weight u - v would not cancel to that
        size = ridge * ridge * size + step * (2.0 * ridge * s + step * square)
        shrink = 1.0
        if not size <= radius * radius:
            # an infinite |w| must not be scaled to zero: it would look like a finite model
            shrink = radius / np.sqrt(size) if size < np.inf else np.nan
            size = radius * radius
        factor = ridge * shrink
        if weights.SMALLEST_SCALE <= abs(scale * factor) <= weights.LARGEST_SCALE:
            scale *= factor
            step *= shrink / scale
            rows.axpy2(step, X, i, u, weight * step, v)
        else:  # folded before the step, which may be far larger than what is left of it
            weights.fold(u, scale * factor, v, weight)
            scale, weight = 1.0, 0.0
            rows.axpy(step * shrink, X, i, u)
        if not before:
            weight += g * scale
    counts[0], counts[1] = t, positives
    point[0], point[1], point[2] = a, b, alpha
    lazy[0], lazy[1], lazy[2], lazy[3] = scale, weight, total, size
