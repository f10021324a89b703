"""FSAUC, fast stochastic AUC maximisation: a stagewise primal-dual method of rate 1/t.

The saddle point F of `solam` without regulariser, over |w|_1 <= R. The planned n samples are cut into m
stages of n0; within a stage v = (w, a, b) descends and alpha ascends with one constant step eta, and

    w is projected on the l1 ball, a and b are clipped to R kappa, v is projected on the ball of radius r
    around v1, alpha is clipped to 2 R kappa and to D around alpha1.

A stage starts from the mean v1 of the one before, with alpha1 = (m- - m+).w from the running class
means, r and eta halved and D recomputed. Inside a stage the model is the stage's running mean; the last
n - m n0 samples are unused.

Cost per example: O(nnz) while no projection is active: the sum of the w of a stage is kept as
weight * u - v, and both projections are skipped, exactly, while the triangle inequality bounds |w|_1 and
|v - v1|; the exact norms are computed when a bound is passed. O(d) while one is active, on sparse rows
too: the l1 threshold and the pull towards v1 move every weight.

Source: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate,
ICML 2018, Algorithms 1 and 2.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, OpenUnit, ParameterError, Positive, Problem, check_fields, kernels
from aucbench.kernels import rows, vectors, weights
from aucbench_algorithms._choices import Average

AHEAD = 8  # rows prefetched before their use
HALVE, PAPER, CAPPED = 0, 1, 2  # step rules as the kernel takes them


class EtaRule(StrEnum):
    """The step of the next stage: half of the last, the paper's rule, or that rule without growth."""

    halve = "halve"
    paper = "paper"
    capped = "capped"


# over which samples the class means and the share of positives run; "global" cannot be written as a name
Scope = StrEnum("Scope", {"global": "global", "stage": "stage"})


class State(NamedTuple):
    """Weights w = u, sum of the w of the stage = weight u - v."""

    u: np.ndarray  # (d,)
    v: np.ndarray  # (d,)
    start: np.ndarray  # (d,) w of the stage's first point v1
    sum_pos: np.ndarray  # (d,) sum of the positives seen
    sum_neg: np.ndarray  # (d,) sum of the negatives seen
    numbers: np.ndarray  # (15,) see `_run`
    counts: np.ndarray  # (4,) finished stages, steps in this one, positives and negatives seen
    plan: tuple[int, int]  # stages m, their length n0
    kappa: float  # bound on |x|


@dataclass(frozen=True)
class Fsauc:
    """Fast stochastic AUC maximisation: stagewise saddle point of the square loss on an l1 ball.

    Parameters
    ----------
    radius : float > 0
        R, of the l1 ball of w.
    eta : float > 0
        Step of the first stage.
    delta : float in (0, 1)
        Probability with which the bounds D may fail.
    eta_rule : halve, paper or capped
        Step of the next stage: eta / 2, sqrt(beta_k / beta_(k-1)) / 2 * eta, or that but never growing.
    average : before or after
        Whether the point of the gradient or the one just produced is averaged.
    p_scope : global or stage
        Whether class means and the share of positives run over all samples or restart with each stage.
    kappa : float > 0 or None
        Bound on the row norms; None measures the largest of the training data.
    """

    name: ClassVar[str] = "fsauc"
    colour: ClassVar[str] = "#4abf0c"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    plans: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "radius": (1.0, 10.0, 100.0, 1000.0, 10000.0),
        "eta": (0.01, 0.03, 0.1, 0.3, 1.0),
    }
    step_size: ClassVar[str] = "eta"
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="d")
    citation: ClassVar[str] = "liu2018fsauc"
    deviations: ClassVar[tuple[str, ...]] = (
        "The step is halved from stage to stage, as in the authors' code; the paper's rule multiplies it by "
        "20 and more at the first restart (eta_rule=paper).",
        "The ball projection is v1 + r (v - v1) / |v - v1|; the authors' code omits v1 inside.",
        "One round of the alternating projections; it suffices for feasibility.",
        "kappa is the largest row norm; the authors' code takes the largest entry for the first radius.",
    )

    radius: Positive = 100.0
    eta: Positive = 0.05
    delta: OpenUnit = 0.1
    eta_rule: EtaRule = EtaRule.halve
    average: Average = Average.after
    p_scope: Scope = Scope["global"]
    kappa: Positive | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero, and the plan of the stages.

        Raises
        ------
        ParameterError
            When the number of iterations is not planned.
        """
        n, d = problem.iterations, problem.n_features
        if n is None:
            raise ParameterError(
                "fsauc: the number of iterations must be known beforehand, got a budget in seconds; "
                "give budget.epochs or budget.iterations."
            )
        kappa = problem.max_norm if self.kappa is None else self.kappa
        stages = max(1, math.floor(0.5 * math.log2(2 * n / math.log2(n))) - 1) if n > 1 else 1
        r = 2.0 * math.sqrt(1.0 + 2.0 * kappa**2) * self.radius
        numbers = np.zeros(15)
        numbers[8:12] = self.eta, r, 2.0 * math.sqrt(2.0) * kappa * r, 1.0 + 8.0 * kappa**2
        u, v, start, sum_pos, sum_neg = np.zeros((5, d))
        return State(
            u, v, start, sum_pos, sum_neg, numbers, np.zeros(4, np.int64), (stages, n // stages), kappa
        )

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order; rows beyond the last stage change nothing."""
        if len(batch.rows) == 0:
            return state
        u, v, start, sum_pos, sum_neg, numbers, counts, (stages, length), kappa = state
        rule = (
            HALVE if self.eta_rule is EtaRule.halve else PAPER if self.eta_rule is EtaRule.paper else CAPPED
        )
        before, per_stage = self.average is Average.before, self.p_scope is Scope.stage
        _run(
            batch.rows_view, batch.y, batch.rows, u, v, start, sum_pos, sum_neg, numbers, counts,
            stages, length, self.radius, kappa, self.delta, rule, before, per_stage,
        )  # fmt: skip
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) mean of the points of the current stage; the stage's first point before its first step."""
        steps, weight = state.counts[1], state.numbers[12]
        return weights.mean(state.u, state.v, weight, steps) if steps else state.u.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@kernels.kernel
def _run(
    X, y, order, u, v, start, sum_pos, sum_neg, numbers, counts,
    stages, length, radius, kappa, delta, rule, before, per_stage,
):  # fmt: skip
    """Numbers: a, b, alpha; the same of the stage's start; sums of a, b; eta, r, D, beta; weight; bounds."""
    a, b, alpha, a1, b1, alpha1, sum_a, sum_b, eta, r, D, _, weight, size, distance = numbers
    stage, steps, positives, negatives = counts
    bound = radius * kappa
    for k in range(order.size):
        if stage == stages:
            break
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        product, square, absolute = rows.dot_norms(X, i, u)
        if y[i] > 0:
            positives += 1
            rows.axpy(1.0, X, i, sum_pos)
            p = positives / (positives + negatives)
            gradient = 2.0 * (1.0 - p) * (product - a - 1.0 - alpha)
            step_a, step_b = eta * 2.0 * (1.0 - p) * (product - a), 0.0
            ascent = -2.0 * (1.0 - p) * product - 2.0 * p * (1.0 - p) * alpha
        else:
            negatives += 1
            rows.axpy(1.0, X, i, sum_neg)
            p = positives / (positives + negatives)
            gradient = 2.0 * p * (product - b + 1.0 + alpha)
            step_a, step_b = 0.0, eta * 2.0 * p * (product - b)
            ascent = 2.0 * p * product - 2.0 * p * (1.0 - p) * alpha

        if before:
            weight += 1.0
            sum_a += a
            sum_b += b
        step = -eta * gradient
        a = vectors.clip(a + step_a, bound)
        b = vectors.clip(b + step_b, bound)
        distance += np.sqrt(step * step * square + step_a * step_a + step_b * step_b)
        size += abs(step) * absolute
        if size <= radius and distance <= r:
            rows.axpy2(step, X, i, u, weight * step, v)
        else:  # folded before the step, which may be far larger than what the projections leave of it
            weights.fold(u, 1.0, v, weight)
            weight = 0.0
            rows.axpy(step, X, i, u)
            if not size <= radius:
                size = vectors.project_l1(u, radius)
            if not distance <= r:
                distance = np.sqrt(vectors.distance(u, start) + (a - a1) ** 2 + (b - b1) ** 2)
            if not distance <= r:
                # an infinite distance must not be pulled to zero: it would look like a finite model
                shrink = r / distance if distance < np.inf else np.nan
                vectors.pull(u, start, shrink)
                a = a1 + (a - a1) * shrink
                b = b1 + (b - b1) * shrink
                size, distance = radius, r
        highest, lowest = min(2.0 * bound, alpha1 + D), max(-2.0 * bound, alpha1 - D)
        alpha = max(lowest, min(highest, alpha + eta * ascent))
        if not before:
            weight += 1.0
            sum_a += a
            sum_b += b

        steps += 1
        if steps == length:
            stage += 1
            steps = 0
            weights.average(u, v, weight, length)
            start[:] = u
            v[:] = 0.0
            weight = 0.0
            a = a1 = sum_a / length
            b = b1 = sum_b / length
            sum_a = sum_b = 0.0
            alpha = alpha1 = vectors.dot(sum_neg, u) / max(1, negatives) - vectors.dot(sum_pos, u) / max(
                1, positives
            )
            _restart(numbers, p, length, radius, kappa, delta, rule)
            eta, r, D = numbers[8], numbers[9], numbers[10]
            size, distance = vectors.norm1(u), 0.0
            if per_stage:
                positives = negatives = 0
                sum_pos[:] = 0.0
                sum_neg[:] = 0.0
    counts[0], counts[1], counts[2], counts[3] = stage, steps, positives, negatives
    numbers[:8] = a, b, alpha, a1, b1, alpha1, sum_a, sum_b
    numbers[12:] = weight, size, distance


@kernels.kernel
def _restart(numbers, p, length, radius, kappa, delta, rule):
    """Set eta, r, D and beta of the next stage; p is the share of positives at the end of the last."""
    eta, r, _, beta = numbers[8:12]
    rare = min(p, 1.0 - p)
    doubt = 2.0 * np.log(12.0 / delta)
    c = 2.0 + np.sqrt(doubt)
    spread = c * (1.0 + 2.0 * kappa)
    r = r / 2.0
    q = rare * length - np.sqrt(length * doubt)
    D = np.inf
    if q > 0.0:
        D = 2.0 * np.sqrt(2.0) * kappa * r + 4.0 * np.sqrt(2.0) * kappa * spread * radius / np.sqrt(q)
    margin = rare - np.sqrt(doubt / length)
    next_beta = 1.0 + 8.0 * kappa**2 + 32.0 * kappa**2 * spread**2 / margin
    if margin <= 0.0:
        next_beta = 1e7 if rule == CAPPED else np.nan  # undefined: the paper's rule then halves
    factor = 0.5
    if rule != HALVE and not np.isnan(next_beta / beta):
        factor = 0.5 * np.sqrt(next_beta / beta)
    if rule == CAPPED:
        factor = min(factor, 1.0)
    numbers[8:12] = eta * factor, r, D, next_beta
