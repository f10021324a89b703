"""PSAM and ASAM, proximal and averaged stochastic AUC maximisation.

Minimises gamma / 2 |w|^2 + mean over pairs of a loss of the margin w.z, z = x+ - x-, by steps on single
pairs with the step l_t = 1 / (gamma (t + t0)). PSAM takes proximal steps of max(0, margin - w.z), ASAM
gradient steps of any loss l:

    PSAM: w += l_t clip((margin - w.z) / (l_t |z|^2), 0, 1) z
    ASAM: w -= l_t l'(w.z) z

every `rskip` steps w shrinks by the factor 1 - rskip / (t + t0), every `askip` steps it enters the mean
that is the model.

Cost per pair: O(d), or O(nnz) in the lazy layout of sparse rows, where w is kept as scale * u and the sum
of the averaged w as weight * u - v. The layout is chosen by the number of non-zeros a row.

Source: Khalid, Chitsaz, Ray, proximal stochastic AUC maximisation, Algorithm 1 and appendix; we follow
them, not the displayed update of the text, which has no meaning. ASAM: Khalid, Ray, Chitsaz, Scalable
nonlinear AUC maximization methods, ECML PKDD 2018.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Count, NonNegative, Positive, Problem, check_fields, kernels
from aucbench.kernels import pairs, rows, vectors, weights

AHEAD = 8  # pairs prefetched before their use


class State(NamedTuple):
    """Weights w = scale u, sum of the averaged w = weight u - v."""

    uv: np.ndarray  # (2, d) u and v
    lazy: np.ndarray  # (2,) scale, weight
    counts: np.ndarray  # (4,) steps t, averaged points q, steps until the next shrinking, the next averaging
    margin: float  # of the hinge loss; the parameter of ASAM's loss
    layout: kernels.Layout  # eager: scale 1, weight 0
    loss: Any = None  # ASAM's; compiled by address at each call


@dataclass(frozen=True)
class Psam:
    """Proximal stochastic AUC maximisation: exact proximal steps of the hinge loss on random pairs.

    Parameters
    ----------
    gamma : float > 0 or None
        Weight of |w|^2 / 2; the step is 1 / (gamma (t + t0)). None is 6 / n for n training rows.
    t0 : float >= 0 or None
        Start of the step's clock; None is gamma^-0.75.
    rskip, askip : int >= 1
        Steps between two shrinkings, and between two points of the average.
    """

    name: ClassVar[str] = "psam"
    colour: ClassVar[str] = "#f129ff"
    access: ClassVar[Access] = Access.pairs
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"gamma": tuple(10.0**power for power in range(-7, 0))}
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    citation: ClassVar[str] = "khalid_psam"
    deviations: ClassVar[tuple[str, ...]] = (
        "t0 = gamma^-0.75, rskip = 16 and askip = 16 are those of the code the paper builds on; the paper "
        "does not give them.",
        "gamma is 6 / n on rescaled rows, and the grid 1e-7 ... 1e-1; in the paper's grid, 1e-10 ... 1e-7, "
        "all values give nearly the same model.",
    )

    gamma: Positive | None = None
    t0: NonNegative | None = None
    rskip: Count = 16
    askip: Count = 16

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights; the margin is that of the loss."""
        margin = 1.0 if problem.loss is None else kernels.theta(problem.loss)
        counts = np.array([0, 0, self.rskip, self.askip])
        uv, lazy = kernels.two_vectors(problem.X), np.array([1.0, 0.0])
        return State(uv, lazy, counts, margin, kernels.layout(problem.X))

    def step(self, state: State, batch: Batch) -> State:
        """Consume the pairs of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        (u, v), lazy, counts, margin, layout, loss = state
        derivative = 0 if loss is None else kernels.compile_loss(loss).derivative
        gamma = 6.0 / len(batch.y) if self.gamma is None else self.gamma
        t0 = gamma**-0.75 if self.t0 is None else self.t0
        is_lazy = layout is kernels.Layout.lazy
        _run(
            batch.rows_view, batch.rows, u, v, lazy, counts,
            derivative, margin, gamma, t0, self.rskip, self.askip, is_lazy,
        )  # fmt: skip
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) mean of the averaged points; w itself before the first."""
        (u, v), (scale, weight), averaged = state.uv, state.lazy, state.counts[1]
        return weights.mean(u, v, weight, averaged) if averaged else scale * u

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@dataclass(frozen=True)
class SmoothHinge:
    """The loss where none is given: with r = 1 - m it is 0 for r <= 0, r^2 / 2 up to r = 1, then r - 1/2."""

    name: ClassVar[str] = "smooth_hinge"

    @staticmethod
    def value(m: float, theta: float) -> float:
        """0, r^2 / 2 or r - 1/2."""
        r = 1.0 - m
        if r <= 0.0:
            return 0.0
        return r - 0.5 if r >= 1.0 else 0.5 * r * r

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        """-clip(1 - m, 0, 1)."""
        r = 1.0 - m
        if r <= 0.0:
            return 0.0
        return -1.0 if r >= 1.0 else -r


@dataclass(frozen=True)
class Asam(Psam):
    """Averaged stochastic AUC maximisation: gradient steps of any loss on random pairs.

    Parameters
    ----------
    gamma : float > 0 or None
        Weight of |w|^2 / 2; the step is 1 / (gamma (t + t0)). None is 6 / n for n training rows.
    t0 : float >= 0 or None
        Start of the step's clock; None is gamma^-0.75.
    rskip, askip : int >= 1
        Steps between two shrinkings, and between two points of the average.
    """

    name: ClassVar[str] = "asam"
    colour: ClassVar[str] = "#123d03"
    losses: ClassVar[tuple[str, ...]] = ("smooth_hinge", "*")
    citation: ClassVar[str] = "khalid2018asam"
    deviations: ClassVar[tuple[str, ...]] = (
        "t0 = gamma^-0.75, rskip = 16 and askip = 16 are those of the code the method builds on.",
        "gamma is 6 / n on rescaled rows, and the grid 1e-7 ... 1e-1, as for `psam`.",
        "The loss is the smooth hinge unless another is given: its slope is bounded, the squared hinge "
        "diverges with a small gamma.",
    )

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights."""
        loss = SmoothHinge() if problem.loss is None else problem.loss
        return super().init(problem, rng)._replace(loss=loss)


@kernels.kernel
def _run(
    X, order, u, v, lazy, counts, derivative, margin, gamma, t0, rskip, askip, is_lazy
):  # fmt: skip
    """Steps of the loss at the address `derivative`; 0 is the proximal step of the hinge."""
    t, averaged, until_shrink, until_average = counts
    scale, weight = lazy
    Z = pairs.room(X, order)
    for k in range(order.shape[0]):
        if k + AHEAD < order.shape[0]:
            pairs.prefetch(X, order[k + AHEAD, 0], order[k + AHEAD, 1])
        i, j = order[k, 0], order[k, 1]
        t += 1
        pairs.subtract(X, i, j, Z)
        product, square = rows.dot_norm(Z, 0, u)
        step = 1.0 / (gamma * (t + t0))
        if derivative == 0:
            slack = margin - scale * product
            moves = not (slack <= 0.0 or square == 0.0)  # so that NaN goes on into the weights
            step = min(step, slack / square) / scale
        else:
            step *= -kernels.call(derivative, scale * product, margin) / scale
            moves = step != 0.0
        if moves:
            if weight == 0.0:
                rows.axpy(step, Z, 0, u)
            else:
                rows.axpy2(step, Z, 0, u, weight * step, v)
        until_shrink -= 1
        if until_shrink <= 0:
            until_shrink = rskip
            shrink = 1.0 - rskip / (t + t0)
            if is_lazy:
                scale *= shrink
                if scale < weights.SMALLEST_SCALE:
                    weights.fold(u, scale, v, weight)
                    scale, weight = 1.0, 0.0
            else:
                vectors.scale(shrink, u)
        until_average -= 1
        if until_average <= 0:
            until_average = askip
            averaged += 1
            if is_lazy:
                weight += scale
            else:
                vectors.add(-1.0, u, v)
    lazy[0], lazy[1] = scale, weight
    counts[0], counts[1], counts[2], counts[3] = t, averaged, until_shrink, until_average
