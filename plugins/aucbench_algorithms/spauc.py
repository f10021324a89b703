"""SPAUC, stochastic proximal AUC maximisation with running estimates of the share and means of the classes.

Minimises p (1 - p) times the mean over pairs of (1 - w.z)^2, z = x+ - x-, plus a penalty. For example t,
(x, y), the share of positives p and class means c+, c- are first updated (with statistics=train, they are
those of the training data). Then, with a = w.c+, b = w.c-, and c the mean of the example's class,

    k = 2 (1 - p) (w.x - a) for positives, 2 p (w.x - b) for negatives
    g = k (x - c) + 2 p (1 - p) (1 + b - a) (c- - c+),   u = w - eta g
    l2:  w = u / (1 + eta beta)
    net: w = sign(u) max(|u| - eta nu, 0) / (1 + eta beta)

with eta = C / sqrt(t), or 2 C / (t + C) (`fast`). The model is the mean of the w, or the last w
(average=False). Nothing moves until both classes have been seen. With known p and means, the expectation of g
is the gradient, and beta stands for lam = beta / (2 p (1 - p)) of `ls_svm`. Unlike in `spam`, the means are
subtracted from x, which reduces the noise at the optimum, and need not be known before the pass.

Cost per example: O(nnz) with l2, although g contains the dense means. With the sums Q+ = T+ c+ and Q- of the
rows of each class, and the numbers A+ and A-,

    w = scale (u + A+ Q+ + A- Q-),   sum of the averaged w = weight u + W+ Q+ + W- Q- - v

A row of class s adds x to Q_s; adding -A_s x to u keeps w unchanged. g moves u along x and changes the
numbers A+ and A-; v corrects the sum, along x. The products of u, Q+ and Q- with each other are updated by
their products with x. At times, and when the scale has shrunk a thousandfold, all is folded into u and
computed exactly, in O(d). With `train`, Q+ and Q- are the means and stay constant. The net thresholds w along
the dense means, which costs O(d) per example.

The curvature of the objective at the example is at most h = 2 (1 - p) |x - c|^2 for positives, 2 p |x - c|^2
for negatives, plus 2 p (1 - p) |c- - c+|^2, and eta is divided by 1 + eta h, so an example far from the mean
of its class cannot throw the weights beyond the minimum.

Source: Lei, Ying, Stochastic proximal AUC maximization, JMLR 2021.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, LinearMethod, NonNegative, Objective, Positive, Problem, kernels
from aucbench.kernels import fast_helper, rows, vectors, weights

REFRESH = 1024  # examples between foldings, at least
Schedule = StrEnum("Schedule", "sqrt fast")
Penalty = StrEnum("Penalty", "l2 net")
Statistics = StrEnum("Statistics", "running train")


class Params(NamedTuple):
    """Constant parameters of the kernel."""

    C: float
    fast: bool
    beta: float
    nu: float  # 0 with the ridge
    net: bool
    running: bool
    average: bool
    bounded: bool  # bound the step by the curvature
    p: float  # share of positives of the training data, where it is used


class Scalars(NamedTuple):
    """The numbers that change."""

    t: int
    n_pos: float  # c+ = Q+ / n_pos: positives so far, or 1 where Q+ is the mean
    n_neg: float
    scale: float = 1.0
    a_pos: float = 0.0  # A+
    a_neg: float = 0.0
    weight: float = 0.0
    sum_pos: float = 0.0  # W+
    sum_neg: float = 0.0


class Products(NamedTuple):
    """Products of the vectors with each other."""

    u_pos: float  # u.Q+
    u_neg: float
    pos_pos: float  # |Q+|^2
    pos_neg: float
    neg_neg: float


class State(NamedTuple):
    """The vectors and the scalars."""

    uqv: np.ndarray  # (4, d) u, Q+, Q-, v
    scalars: Scalars
    products: Products
    p: float  # share of positives of the training data; 0 where it is not used


@dataclass(frozen=True)
class Spauc(LinearMethod):
    """Stochastic proximal AUC maximisation with the square loss and no statistics before the pass.

    Parameters
    ----------
    C : float > 0
        Step size.
    schedule : sqrt or fast
        Step size C / sqrt(t), or 2 C / (t + C).
    penalty : l2 or net
        Ridge, or elastic net, whose steps cost O(d).
    beta : float >= 0
        Weight of |w|^2 / 2.
    nu : float >= 0
        Weight of |w|_1, with net.
    statistics : running or train
        Whether p and the class means are those of the examples so far, or of the training data.
    average : bool
        Whether the model is the mean of the w, or the last w.
    bounded : bool
        Whether the step size is divided by 1 + eta h; in the paper it is not.
    """

    name = "spauc"
    access = Access.stream
    resumable = True
    losses = ("square",)
    grid = {
        "C": tuple(10.0**power for power in range(-3, 5)),
        "beta": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
        "nu": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
    }
    step_size = "C"
    claims = Claims(rate="1/t", cost="nnz")
    regularisation = {"beta": 2}
    citation = "lei2021stochastic"
    deviations = (
        "The average is uniform; the paper weights the points.",
        "Both products a and b are those of the present w; two public implementations refresh a at positives "
        "and b at negatives only.",
        "The ridge divides by 1 + eta beta, as its proximal step does; a public code divides by 1 + beta.",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    C: Positive = 10.0
    schedule: Schedule = Schedule.sqrt
    penalty: Penalty = Penalty.l2
    beta: NonNegative = 1e-4
    nu: NonNegative = 1e-4
    statistics: Statistics = Statistics.running
    average: bool = True
    bounded: bool = field(default=True, metadata={"later": True})

    def ignored(self) -> tuple[str, ...]:
        return ("nu",) if self.penalty is Penalty.l2 else ()

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero; computes p and the class means of the training data where they are used."""
        d, lazy = problem.n_features, kernels.layout(problem.X) is kernels.Layout.lazy
        uqv = np.zeros((d, 4)).T if lazy else np.zeros((4, d))
        if self.statistics is Statistics.running:
            return State(uqv, Scalars(0, 0.0, 0.0), Products(0.0, 0.0, 0.0, 0.0, 0.0), 0.0)
        uqv[1], uqv[2] = pos, neg = problem.mean_pos, problem.mean_neg
        products = Products(0.0, 0.0, float(pos @ pos), float(pos @ neg), float(neg @ neg))
        return State(uqv, Scalars(0, 1.0, 1.0), products, float(problem.p))

    def objective(self, problem: Problem) -> Objective:
        """The formula is p (1 - p) times the mean over pairs, so the regulariser is divided by p (1 - p)."""
        factor = problem.p * (1.0 - problem.p)
        nu = self.nu if self.penalty is Penalty.net else 0.0
        return Objective(problem.loss, l2=self.beta / factor, l1=nu / factor)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0:
            return state
        uqv, scalars, products, p = state
        fast, running = self.schedule is Schedule.fast, self.statistics is Statistics.running
        net = self.penalty is Penalty.net
        nu = self.nu if net else 0.0
        params = Params(self.C, fast, self.beta, nu, net, running, self.average, self.bounded, p)
        scalars, products = _run(batch.rows_view, batch.y, batch.rows, uqv, scalars, products, params)
        return State(uqv, scalars, products, p)

    def weights(self, state: State) -> np.ndarray:
        (u, pos, neg, v), scalars = state.uqv, state.scalars
        if self.average and scalars.t:
            total: np.ndarray = scalars.weight * u + scalars.sum_pos * pos + scalars.sum_neg * neg - v
            return total / scalars.t
        return scalars.scale * (u + scalars.a_pos * pos + scalars.a_neg * neg)


@kernels.kernel
def _run(X, y, order, uqv, scalars, products, params):
    """Steps along rows; with the net every step is folded, for it thresholds all weights."""
    refresh = max(REFRESH, uqv.shape[1])
    for k in range(order.size):
        i = rows.visit(X, order, k)
        scalars, products, cut = _step(X, i, y[i] > 0, uqv, scalars, products, params)
        is_due = scalars.t % refresh == 0 or scalars.scale < weights.SMALLEST_SCALE
        if params.net or is_due:
            scalars, products = _fold(uqv, scalars, products, cut, is_due)
        if params.average:
            t, n_pos, n_neg, scale, a_pos, a_neg, weight, sum_pos, sum_neg = scalars
            sums = weight + scale, sum_pos + scale * a_pos, sum_neg + scale * a_neg
            scalars = Scalars(t, n_pos, n_neg, scale, a_pos, a_neg, *sums)
    return scalars, products


@kernels.helper
def _step(X, i, positive, uqv, scalars, products, params):
    """The step but for thresholding: scalars, products, and the cut below which u + A+ Q+ + A- Q- is zero."""
    u, pos, neg, v = uqv[0], uqv[1], uqv[2], uqv[3]
    t, n_pos, n_neg, scale, a_pos, a_neg, weight, sum_pos, sum_neg = scalars
    u_pos, u_neg, pos_pos, pos_neg, neg_neg = products
    t, p = t + 1, params.p
    ux, square = rows.dot_norm(X, i, u)
    px, nx = rows.dot(X, i, pos), rows.dot(X, i, neg)
    along = moved = 0.0  # coefficients of x in u and v
    if params.running:  # x enters the sum of its class, while w and the sum of the w stay
        if positive:
            n_pos += 1.0
            along, moved = -a_pos, sum_pos
            rows.axpy(1.0, X, i, pos)
            u_pos += ux + along * (px + square)
            u_neg += along * nx
            pos_pos += 2.0 * px + square
            pos_neg += nx
            px += square
        else:
            n_neg += 1.0
            along, moved = -a_neg, sum_neg
            rows.axpy(1.0, X, i, neg)
            u_neg += ux + along * (nx + square)
            u_pos += along * px
            neg_neg += 2.0 * nx + square
            pos_neg += px
            nx += square
        ux += along * square
        p = n_pos / t
    keep, cut = 1.0, 0.0
    if 0.0 < p < 1.0:
        s = scale * (ux + a_pos * px + a_neg * nx)
        a = scale * (u_pos + a_pos * pos_pos + a_neg * pos_neg) / n_pos
        b = scale * (u_neg + a_pos * pos_neg + a_neg * neg_neg) / n_neg
        share = 2.0 * (1.0 - p if positive else p)
        eta = 2.0 * params.C / (t + params.C) if params.fast else params.C / np.sqrt(t)
        if params.bounded:
            of_pos, of_neg = pos_pos / n_pos**2, neg_neg / n_neg**2
            deviation = square + (of_pos - 2.0 * px / n_pos if positive else of_neg - 2.0 * nx / n_neg)
            spread = of_pos + of_neg - 2.0 * pos_neg / (n_pos * n_neg)
            eta /= 1.0 + eta * (share * deviation + 2.0 * p * (1.0 - p) * spread)
        step = eta * share * (s - (a if positive else b)) / scale
        pull = eta * 2.0 * p * (1.0 - p) * (1.0 + b - a) / scale
        along -= step
        u_pos -= step * px
        u_neg -= step * nx
        a_pos += (pull + step if positive else pull) / n_pos
        a_neg -= (pull if positive else pull - step) / n_neg
        keep, cut = 1.0 / (1.0 + eta * params.beta), eta * params.nu / scale
    moved += weight * along
    if moved != 0.0:
        rows.axpy2(along, X, i, u, moved, v)
    elif along != 0.0:
        rows.axpy(along, X, i, u)
    scalars = Scalars(t, n_pos, n_neg, keep * scale, a_pos, a_neg, weight, sum_pos, sum_neg)
    return scalars, Products(u_pos, u_neg, pos_pos, pos_neg, neg_neg), cut


@fast_helper
def _fold(uqv, scalars, products, cut, is_due):
    """Make u the weights, thresholded, and -v their sum; compute its products exactly, or all if due."""
    u, pos, neg, v = uqv[0], uqv[1], uqv[2], uqv[3]
    u_pos = u_neg = 0.0
    for j in range(u.size):
        v[j] -= scalars.weight * u[j] + scalars.sum_pos * pos[j] + scalars.sum_neg * neg[j]
        moved = u[j] + scalars.a_pos * pos[j] + scalars.a_neg * neg[j]
        size = abs(moved) - cut
        size = 0.0 if size <= 0.0 else scalars.scale * size  # NaN stays
        u[j] = size if moved > 0.0 else -size
        u_pos += u[j] * pos[j]
        u_neg += u[j] * neg[j]
    sums = products.pos_pos, products.pos_neg, products.neg_neg
    if is_due:
        sums = vectors.square(pos), vectors.dot(pos, neg), vectors.square(neg)
    scalars = Scalars(scalars.t, scalars.n_pos, scalars.n_neg, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return scalars, Products(u_pos, u_neg, *sums)
