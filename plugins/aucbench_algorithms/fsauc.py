"""FSAUC, fast stochastic AUC maximisation: a stagewise primal-dual method of rate 1/t.

The saddle point of F of `solam` without regulariser, over |w|_1 <= R. The planned n samples are divided into
m stages of n0. Within a stage, v = (w, a, b) descends and alpha ascends with a constant step size eta, and

    w is projected on the l1 ball, a and b are clipped to R kappa, v is projected on the ball of radius r
    around v1, alpha is clipped to 2 R kappa and to D around alpha1.

The step at a row is bounded by the curvature of F there, as for `solam`: eta / (1 + eta h).

A stage starts from the mean v1 of the previous stage, with alpha1 = (m- - m+).w from the running class means;
r and eta are halved and D is recomputed. Within a stage, the model is the stage's running mean. The last
n - m n0 samples are unused.

Cost per example: O(nnz) while no projection is active: both are skipped, exactly, while the triangle
inequality bounds |w|_1 and |v - v1|. An active projection costs O(d), because the l1 threshold and the pull
towards v1 move every weight. In the lazy layout of sparse rows, the l1 projection costs O(nnz log d) (see
`aucbench.kernels.thresholded`), and only the pull costs O(d).

Source: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate,
ICML 2018, Algorithms 1 and 2.
"""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Claims,
    LinearMethod,
    Norm,
    Objective,
    OpenUnit,
    Positive,
    Problem,
    kernels,
)
from aucbench.kernels import rows, saddle, thresholded, vectors
from aucbench.kernels.thresholded import Thresholded
from aucbench_algorithms import _fsauc_weights as stage_weights
from aucbench_algorithms._choices import Average
from aucbench_algorithms._linear_method import planned_iterations

HALVE, PAPER, CAPPED = 0, 1, 2  # rules of the step as the kernel takes them
EtaRule = StrEnum("EtaRule", "halve paper capped")
RULES = {EtaRule.halve: HALVE, EtaRule.paper: PAPER, EtaRule.capped: CAPPED}
Scope = StrEnum("Scope", "global stage")  # samples of the class means and the share of positives


class Point(NamedTuple):
    """The point of a stage besides w, and the sums of its points."""

    a: float
    b: float
    alpha: float
    weight: float = 0.0  # see `_fsauc_weights`
    sum_a: float = 0.0
    sum_b: float = 0.0
    bound: float = 0.0  # bound on |w|_1
    distance: float = 0.0  # bound on |v - v1|


class Stage(NamedTuple):
    """The first point of a stage besides w, its step and its bounds."""

    a: float
    b: float
    alpha: float
    eta: float
    r: float
    D: float
    beta: float


class Counts(NamedTuple):
    """Numbers of stages, steps and samples so far."""

    stages: int
    steps: int  # steps in this stage
    positives: int
    negatives: int


class Params(NamedTuple):
    """Constant parameters of the kernel."""

    stages: int  # m
    length: int  # n0
    radius: float
    kappa: float
    delta: float
    rule: int
    before: bool  # average the point of the gradient, not the point after the step
    per_stage: bool  # restart class means and the share of positives with each stage
    bounded: bool  # bound the step by the curvature at the row


class State(NamedTuple):
    """The weights, and the other variables of the method."""

    w: np.ndarray | Thresholded  # (2, d) u and v, or a thresholded vector on sparse rows
    start: np.ndarray  # (d,) w of the stage's first point v1
    sums: np.ndarray  # (2, d) sums of the positives and the negatives seen
    point: Point
    stage: Stage
    counts: Counts
    params: Params


@dataclass(frozen=True)
class Fsauc(LinearMethod):
    """Fast stochastic AUC maximisation: stagewise saddle point of the square loss on an l1 ball.

    Parameters
    ----------
    radius : float > 0
        R, the radius of the l1 ball of w.
    eta : float > 0
        Step size of the first stage.
    delta : float in (0, 1)
        Probability with which the bounds D may fail.
    eta_rule : halve, paper or capped
        Step size of the next stage: eta / 2, sqrt(beta_k / beta_(k-1)) / 2 * eta, or the latter, at most eta.
    average : before or after
        Whether the point before or after each step is averaged.
    p_scope : global or stage
        Whether class means and the share of positives run over all samples or restart with each stage.
    kappa : float > 0 or None
        Bound on the row norms; None means the largest row norm of the training data.
    bounded : bool
        Whether steps are bounded by the curvature; in the paper they are not.
    """

    name = "fsauc"
    access = Access.stream
    resumable = True
    plans = True
    losses = ("square",)
    grid = {"radius": (1.0, 10.0, 100.0, 1000.0, 10000.0), "eta": (0.01, 0.03, 0.1, 0.3, 1.0)}
    step_size = "eta"
    claims = Claims(rate="1/t", cost="d")
    citation = "liu2018fsauc"
    deviations = (
        "The step is halved from stage to stage, as in the authors' code; the paper's rule multiplies it by "
        "20 and more at the first restart (eta_rule=paper).",
        "The ball projection is v1 + r (v - v1) / |v - v1|; the authors' code omits v1 inside.",
        "One round of the alternating projections; it suffices for feasibility.",
        "kappa is the largest row norm; the authors' code takes the largest entry for the first radius.",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    radius: Positive = 100.0
    eta: Positive = 0.2
    delta: OpenUnit = 0.1
    eta_rule: EtaRule = EtaRule.halve
    average: Average = Average.after
    p_scope: Scope = Scope["global"]
    kappa: Positive | None = None
    bounded: bool = field(default=True, metadata={"later": True})

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero, and the plan of the stages.

        Raises `ParameterError` when the number of iterations is not planned.
        """
        n, d = planned_iterations(self.name, problem), problem.n_features
        kappa = problem.max_norm if self.kappa is None else self.kappa
        stages = max(1, math.floor(0.5 * math.log2(2 * n / math.log2(n))) - 1) if n > 1 else 1
        r = 2.0 * math.sqrt(1.0 + 2.0 * kappa**2) * self.radius
        D, beta = 2.0 * math.sqrt(2.0) * kappa * r, 1.0 + 8.0 * kappa**2
        lazy = kernels.layout(problem.X) is kernels.Layout.lazy
        return State(
            thresholded.thresholded(d) if lazy else np.zeros((2, d)),
            np.zeros(d),
            np.zeros((2, d)),
            Point(0.0, 0.0, 0.0),
            Stage(0.0, 0.0, 0.0, self.eta, r, D, beta),
            Counts(0, 0, 0, 0),
            Params(
                stages, n // stages, float(self.radius), float(kappa), self.delta, RULES[self.eta_rule],
                self.average is Average.before, self.p_scope is Scope.stage,
                self.bounded,
            ),
        )  # fmt: skip

    def objective(self, problem: Problem) -> Objective | None:
        """The square loss on the ball; None with a `kappa` that may keep a, b and alpha from their values."""
        if self.kappa is not None and self.kappa < problem.max_norm:
            return None
        return Objective(problem.loss, radius=self.radius, norm=Norm.l1)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order; rows beyond the last stage change nothing."""
        if len(batch.rows) == 0:
            return state
        point, stage, counts = _run(batch.rows_view, batch.y, batch.rows, *state)
        return state._replace(point=point, stage=stage, counts=counts)

    def weights(self, state: State) -> np.ndarray:
        """(d,) mean of the points of the current stage; the stage's first point before its first step."""
        return stage_weights.mean(state.w, state.point.weight, state.counts.steps)


@kernels.kernel
def _run(X, y, order, w, start, sums, point, stage, counts, params):
    for k in range(order.size):
        if counts.stages == params.stages:
            break
        i = rows.visit(X, order, k)
        positive = y[i] > 0
        rows.axpy(1.0, X, i, sums[0 if positive else 1])
        counts = Counts(
            counts.stages, counts.steps + 1, counts.positives + positive, counts.negatives + (not positive)
        )  # fmt: skip
        point = _step(X, i, positive, w, start, point, stage, counts, params)
        if counts.steps == params.length:
            stage_weights.restart(w, point.weight, start, params.length)
            stage, counts = _next_stage(start, sums, point, stage, counts, params)
            point = Point(stage.a, stage.b, stage.alpha, 0.0, 0.0, 0.0, vectors.norm1(start), 0.0)
    return point, stage, counts


@kernels.kernel
def _step(X, i, positive, w, start, point, stage, counts, params):
    """Algorithm 1: steps 4 to 7, with the constant step of the stage."""
    a, b, alpha, weight, sum_a, sum_b, bound, distance = point
    s, square, absolute = stage_weights.score(X, i, w)
    total = counts.positives + counts.negatives
    row = kernels.Row(total, positive, counts.positives, s, square, 0.0, (), 0, 1.0)
    ds, da, db, dalpha = saddle.gradients(row, saddle.Variables(a, b, alpha))
    if params.before:
        weight, sum_a, sum_b = stage_weights.accumulate(w, weight), sum_a + a, sum_b + b

    eta, limit = stage.eta, params.radius * params.kappa
    if params.bounded:
        p = counts.positives / total
        eta /= 1.0 + eta * 2.0 * (1.0 - p if positive else p) * (1.0 + square)
    weight, bound = stage_weights.step(X, i, -eta * ds, absolute, w, weight, bound, params.radius)
    a, b = vectors.clip(a - eta * da, limit), vectors.clip(b - eta * db, limit)
    # A projection on a ball that contains v1 brings no point further away from it.
    distance += eta * np.sqrt(ds * ds * square + da * da + db * db)
    if not distance <= stage.r:
        distance = np.sqrt(stage_weights.distance(w, start) + (a - stage.a) ** 2 + (b - stage.b) ** 2)
        if not distance <= stage.r:
            # An infinite distance must not be pulled to zero: it would look like a finite model.
            factor = stage.r / distance if distance < np.inf else np.nan
            weight = stage_weights.pull(w, weight, start, factor)
            a, b = stage.a + factor * (a - stage.a), stage.b + factor * (b - stage.b)
            bound, distance = params.radius, stage.r
    lowest, highest = max(-2.0 * limit, stage.alpha - stage.D), min(2.0 * limit, stage.alpha + stage.D)
    alpha = max(lowest, min(highest, alpha + eta * dalpha))

    if not params.before:
        weight, sum_a, sum_b = stage_weights.accumulate(w, weight), sum_a + a, sum_b + b
    return Point(a, b, alpha, weight, sum_a, sum_b, bound, distance)


@kernels.kernel
def _next_stage(start, sums, point, stage, counts, params):
    """Algorithm 2: the first point of the next stage besides w, its step and its bounds."""
    positives, negatives, length, kappa = counts.positives, counts.negatives, params.length, params.kappa
    alpha = vectors.dot(sums[1], start) / max(1, negatives) - vectors.dot(sums[0], start) / max(1, positives)
    p = positives / (positives + negatives)
    rare = min(p, 1.0 - p)
    doubt = 2.0 * np.log(12.0 / params.delta)
    spread = (2.0 + np.sqrt(doubt)) * (1.0 + 2.0 * kappa)
    r = stage.r / 2.0
    q = rare * length - np.sqrt(length * doubt)
    D = np.inf
    if q > 0.0:
        D = 2.0 * np.sqrt(2.0) * kappa * (r + 2.0 * spread * params.radius / np.sqrt(q))
    margin = rare - np.sqrt(doubt / length)
    beta = 1.0 + 8.0 * kappa**2 + 32.0 * kappa**2 * spread**2 / margin
    if margin <= 0.0:
        beta = 1e7 if params.rule == CAPPED else np.nan  # undefined: the paper's rule then halves
    factor = 0.5
    if params.rule != HALVE and not np.isnan(beta / stage.beta):
        factor = 0.5 * np.sqrt(beta / stage.beta)
    if params.rule == CAPPED:
        factor = min(factor, 1.0)
    if params.per_stage:
        positives = negatives = 0
        sums[:] = 0.0
    after = Stage(point.sum_a / length, point.sum_b / length, alpha, stage.eta * factor, r, D, beta)
    return after, Counts(counts.stages + 1, 0, positives, negatives)
