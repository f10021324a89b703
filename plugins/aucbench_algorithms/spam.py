"""SPAM, stochastic proximal AUC maximisation, with a ridge, an elastic net or a ball.

The saddle point of `solam`, where a, b and alpha take their optimal values for w: a = w.m+, b = w.m-,
alpha = b - a. The class means m+ and m- and the share p of positives are those of the training data, known
before the pass. For a sample x with s = w.x, and eta = C / sqrt(t):

    u = w - eta coef x,  coef = 2 (1 - p) (s - a - 1 - alpha) for positives, 2 p (s - b + 1 + alpha) else
    l2:   w = u / (1 + eta beta)
    net:  w = sign(u) max(|u| - eta nu, 0) / (1 + eta beta)
    ball: w = u projected on |w| <= radius

The model is the mean of the w. The curvature along x is h = 2 (1 - p) |x|^2 for positives and 2 p |x|^2 else,
and the step size is eta / (1 + eta h). Otherwise a row far longer than the others, above all one of a rare
class, would throw the weights beyond its own minimum and lose the order for the rest of the run.

Cost per example: O(nnz) with l2 and ball, because shrinking and projecting change the scale of w only (see
`aucbench.kernels.rules`), and a and b move by the products of the rows with m+ and m-, computed beforehand.
The net costs O(nnz log d) on sparse rows, where w is a thresholded vector (see
`aucbench.kernels.thresholded`), and O(d) on others. While eta beta is about 1 the scale is folded every few
steps, at O(d), or at the number of non-zero weights with the net.

Source: Natole, Ying, Lyu, Stochastic proximal algorithms for AUC maximization, ICML 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, NonNegative, Objective, Positive, Problem, kernels
from aucbench.kernels import Move, fast_helper, rows, thresholded
from aucbench.kernels.thresholded import Thresholded

REFRESH = 1024  # steps between exact computations of a and b with the net on sparse rows, at least
Penalty = StrEnum("Penalty", "l2 net ball")


class Params(NamedTuple):
    """Constant parameters of the rule."""

    C: float
    beta: float  # 0 with the ball
    p: float  # share of positives
    radius: float  # radius of the ball
    bounded: bool  # bound the step by the curvature


def _step(row, scalars, params):
    """The loop of Algorithm 1: a gradient step, and the proximal step of R(w).

    With the ridge, R(w) = beta / 2 |w|^2, u shrinks by `keep`, as in the module's docstring; with the ball
    beta is 0, keep is 1, and the framework projects u.
    """
    eta = _eta(params.C, row.t, params.p, row.positive, row.square, params.bounded)
    a, b = row.fixed
    keep = 1.0 / (1.0 + eta * params.beta)
    step = -eta * keep * _coefficient(row.s, a, b, params.p, row.positive)
    return Move(step, keep=keep, before=0.0, after=1.0), scalars


@kernels.scalar
def _coefficient(s, a, b, p, positive):
    """The derivative of the objective by s."""
    return 2.0 * (1.0 - p) * (s - a - 1.0 - (b - a)) if positive else 2.0 * p * (s - b + 1.0 + (b - a))


@kernels.scalar
def _eta(C, t, p, positive, square, bounded):
    """The step at a row with the squared norm `square`."""
    eta = C / np.sqrt(t)
    return eta / (1.0 + eta * 2.0 * (1.0 - p if positive else p) * square) if bounded else eta


RIDGE = kernels.rule(_step)
IN_BALL = kernels.rule(_step, ball="l2")


class NetState(NamedTuple):
    """The state with an elastic net: w and the sum of the w, or a thresholded vector on sparse rows."""

    w: np.ndarray | Thresholded  # (2, d) w and minus the sum
    ab: np.ndarray  # (2,) a and b; unused on sparse rows
    steps: np.ndarray  # (1,) t
    means: np.ndarray  # (2, d) m+ and m-
    products: np.ndarray  # (n, 2) x.m+ and x.m- of every row
    p: float  # share of positives


@dataclass(frozen=True)
class Spam(kernels.RuleMethod):
    """Stochastic proximal AUC maximisation with the square loss.

    Parameters
    ----------
    C : float > 0
        Step size; eta = C / sqrt(t).
    beta : float >= 0 or None
        Weight of |w|^2 / 2, with l2 and net; None means 3 / n for n rescaled training rows.
    nu : float >= 0
        Weight of |w|_1, with net.
    penalty : l2, net or ball
        Ridge, elastic net, or the constraint |w| <= radius.
    radius : float > 0
        Radius of the ball.
    bounded : bool
        Whether steps are bounded by the curvature; in the paper they are not.
    """

    name = "spam"
    step_size = "C"
    access = Access.stream
    losses = ("square",)
    grid = {
        "C": (0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
        "beta": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
        "nu": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
        "radius": (1.0, 10.0, 100.0),
    }
    claims = Claims(rate="1/t", cost="nnz")
    regularisation = {"beta": 2}
    citation = "natole2018spam"
    deviations = (
        "The step is C / sqrt(t), as in the authors' code; the paper's theory takes 1 / t.",
        "The ball is that of the comparison in Yang et al. 2020, whose code has alpha with the wrong sign.",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    C: Positive = 10.0
    beta: NonNegative | None = None
    nu: NonNegative = 1e-5
    penalty: Penalty = Penalty.l2
    radius: Positive = 100.0
    bounded: bool = field(default=True, metadata={"later": True})

    def ignored(self) -> tuple[str, ...]:
        if self.penalty is Penalty.ball:
            return ("beta", "nu")
        return ("radius",) if self.penalty is Penalty.net else ("nu", "radius")

    @property
    def rule(self) -> kernels.Rule:
        """The step with a ridge or in a ball; the step with the net is not a rule."""
        return IN_BALL if self.penalty is Penalty.ball else RIDGE

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState | NetState:
        """Zero; computes p, m+, m- and the products of all rows with m+ and m-."""
        means, p = np.array([problem.mean_pos, problem.mean_neg]), problem.p
        if self.penalty is not Penalty.net:
            ball = self.penalty is Penalty.ball
            params = Params(
                self.C, 0.0 if ball else self._beta(problem.n_samples), p, self.radius, self.bounded
            )
            return self.first_state(problem, params, fixed=means)
        w: np.ndarray | Thresholded = kernels.two_vectors(problem.X)
        if kernels.layout(problem.X) is kernels.Layout.lazy:
            w = thresholded.thresholded(problem.n_features, means.T)
        products = np.ascontiguousarray(problem.X @ means.T)
        return NetState(w, np.zeros(2), np.zeros(1, np.int64), means, products, p)

    def objective(self, problem: Problem) -> Objective:
        """The steps minimise p (1 - p) times the mean over pairs; the regulariser is divided by p (1 - p)."""
        factor = problem.p * (1.0 - problem.p)
        if self.penalty is Penalty.ball:
            return Objective(problem.loss, radius=self.radius)
        nu = self.nu if self.penalty is Penalty.net else 0.0
        return Objective(problem.loss, l2=self._beta(problem.n_samples) / factor, l1=nu / factor)

    def _beta(self, n_samples: int) -> float:
        return 3.0 / n_samples if self.beta is None else self.beta

    def step(self, state: Any, batch: Batch) -> Any:
        if self.penalty is not Penalty.net or len(batch.rows) == 0:
            return super().step(state, batch)
        w, ab, steps, means, products, p = state
        where, beta = (batch.rows_view, batch.y, batch.rows), self._beta(len(batch.y))
        if isinstance(w, Thresholded):
            _run_sparse_net(*where, w, steps, products, p, self.C, beta, self.nu, self.bounded)
        else:
            _run_net(*where, w[0], w[1], ab, steps, means, p, self.C, beta, self.nu, self.bounded)
        return state

    @classmethod
    def together(cls, algorithms: Sequence[Any], states: Sequence[Any]) -> Any:
        """Settings with a ridge or in a ball in lockstep; None with the net."""
        if any(isinstance(state, NetState) for state in states):
            return None
        return super().together(algorithms, states)

    def weights(self, state: Any) -> np.ndarray:
        """(d,) mean of the points so far; zero before the first step."""
        if self.penalty is not Penalty.net:
            return super().weights(state)
        w, steps = state.w, max(1, int(state.steps[0]))
        total: np.ndarray = thresholded.accumulated(w) if isinstance(w, Thresholded) else -w[1]
        return total / steps


@kernels.kernel
def _run_net(X, y, order, w, v, ab, steps, means, p, C, beta, nu, bounded):
    a, b = ab
    for k in range(order.size):
        i = rows.visit(X, order, k)
        steps[0] += 1
        score, square = rows.dot_norm(X, i, w)
        eta = _eta(C, steps[0], p, y[i] > 0, square, bounded)
        rows.axpy(-eta * _coefficient(score, a, b, p, y[i] > 0), X, i, w)
        a, b = _threshold(w, v, means, eta * nu, 1.0 / (1.0 + eta * beta))
    ab[0], ab[1] = a, b


@fast_helper
def _threshold(w, v, means, cut, factor):
    """Soft-threshold and shrink w, subtract it from v; returns w.m+ and w.m-."""
    a = b = 0.0
    for j in range(w.size):
        size = abs(w[j]) - cut
        size = 0.0 if size <= 0.0 else factor * size  # NaN stays
        w[j] = size if w[j] > 0.0 else -size
        v[j] -= w[j]
        a += w[j] * means[0, j]
        b += w[j] * means[1, j]
    return a, b


@kernels.kernel
def _run_sparse_net(X, y, order, w, steps, products, p, C, beta, nu, bounded):
    refresh = max(REFRESH, w.keys.size)
    for k in range(order.size):
        i = rows.visit(X, order, k)
        rows.visit(products, order, k)
        steps[0] += 1
        eta = _eta(C, steps[0], p, y[i] > 0, rows.norm(X, i), bounded)
        scale = w.numbers[0].scale
        a, b = scale * w.products[0, 0], scale * w.products[0, 1]
        step = -eta * _coefficient(thresholded.score(X, i, w), a, b, p, y[i] > 0)
        thresholded.step(step, X, i, w)
        w.products[0, 0] += step / scale * products[i, 0]
        w.products[0, 1] += step / scale * products[i, 1]
        thresholded.shrink(w, eta * nu, 1.0 / (1.0 + eta * beta))
        if steps[0] % refresh == 0:
            thresholded.fold(w)
        thresholded.accumulate(w, 1.0)
