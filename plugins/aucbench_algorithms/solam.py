"""SOLAM, stochastic online AUC maximisation, with an l2 or an l1 ball, or with a ridge.

Saddle point of the square loss over pairs, F(w, a, b, alpha; x, y) with s = w.x and p the running share
of positives:

    (1 - p) (s - a)^2 [y = 1] + p (s - b)^2 [y = -1] - p (1 - p) alpha^2
    + 2 (1 + alpha) (p s [y = -1] - (1 - p) s [y = 1])

A step of size g_t = zeta / sqrt(t) descends in (w, a, b), ascends in alpha, and ends with projection on
|w| <= R, |a|, |b| <= R kappa, |alpha| <= 2 R kappa. The model is the mean of w_t weighted by g_t.

`solam_l1` is the method on the l1 ball, with the choices of the paper that proposed it: it starts at zero and
averages the points after the steps.

`regsolam` adds lam / 2 |w|^2 to F, so that the gradient of w becomes dF/dw + lam w, and takes the radius
R = sqrt(2 / lam): comparing with w = 0 gives lam / 2 |w*|^2 <= 1.

Cost per example: O(nnz), because the l2 projection and the ridge change the scale of w only (see
`aucbench.kernels.rules`). With large steps on a small ball, or g_t lam about 1, the scale is folded often, in
O(d). With norm l1 the projection costs O(d) whenever it is active (O(nnz log d) in the lazy layout of sparse
rows); it is skipped, exactly, while the triangle inequality bounds |w|_1 by R.

The step is bounded by the curvature of F in (w, a, b) at the row, 2 (1 - p) (1 + |x|^2) for a positive row
and 2 p (1 + |x|^2) for a negative row. With this number h, the step size is g_t / (1 + g_t h). A row far
longer than the others then cannot throw the weights beyond its own minimum. Without the bound, the order was
reversed or lost on data sets with such rows (standardised rare features).

If the negatives spread far on one side, the AUC of the square loss itself is more than 0.1 below that of the
logistic loss, as on ADBench's annthyroid (0.83 against 0.99 at the optimum of either loss).

Source: Ying, Wen, Lyu, Stochastic online AUC maximization, NIPS 2016, Algorithm 1. The l1 ball: Liu, Zhang,
Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate, ICML 2018, section 5. The
ridge: Natole, Ying, Lyu, Stochastic AUC optimization algorithms with linear convergence, Front. Appl. Math.
Stat. 2019, section 3.2, equation (6).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aucbench import Access, Claims, Norm, Objective, Positive, Problem, kernels
from aucbench.kernels import Move, saddle
from aucbench.kernels.vectors import clip
from aucbench_algorithms._choices import Average, Start


class Params(NamedTuple):
    """Constant parameters of the rule."""

    zeta: float
    radius: float
    kappa: float
    lam: float  # 0 for `solam`
    averages_before: bool  # w_t enters the average, not w_(t+1)
    one_sided: bool  # a and b are clipped from above only
    bounded: bool  # the step is bounded by the curvature


def _step(row, scalars, params):
    """The loop of Algorithm 1; its v is (w, a, b), its gamma_t is g.

    1. Receive a sample and update p_t: the framework does, p_t = row.positives / row.t.
    2. Take the gradients at (v_t, alpha_t): `saddle.gradients`.
    3. v_(t+1) and alpha_(t+1), projected: `after` has a, b and alpha; `Move` has the step of w along x and
       the factor of w, and the framework projects w on the ball of the rule.
    4. Average the v_t with the weights g: `Move` has the weight, the framework divides by their sum.
    """
    g, p = params.zeta / np.sqrt(row.t), row.positives / row.t
    if params.bounded:
        g /= 1.0 + g * 2.0 * (1.0 - p if row.positive else p) * (1.0 + row.square)
    ds, da, db, dalpha = saddle.gradients(row, scalars)  # dF/dw = ds x + lam w
    bound = params.radius * params.kappa
    a, b = scalars.a - g * da, scalars.b - g * db
    after = saddle.Variables(
        min(a, bound) if params.one_sided else clip(a, bound),
        min(b, bound) if params.one_sided else clip(b, bound),
        clip(scalars.alpha + g * dalpha, 2.0 * bound),
    )
    before = g if params.averages_before else 0.0
    return Move(-g * ds, keep=1.0 - g * params.lam, before=before, after=g - before), after


IN_L2_BALL = kernels.rule(_step, ball="l2")
IN_L1_BALL = kernels.rule(_step, ball="l1")


@dataclass(frozen=True, kw_only=True)
class _Solam(kernels.RuleMethod):
    """Base class of the methods.

    Parameters
    ----------
    zeta : float > 0
        Step size; g_t = zeta / sqrt(t).
    start : author or zero
        First point: w = R / sqrt(d), a = b = R, alpha = 2 R, or zero.
    average : before or after
        Whether w_t or w_(t+1) is averaged.
    kappa : float > 0 or None
        Bound on the row norms; None means the largest row norm of the training data.
    bounded : bool
        Whether steps are bounded by the curvature; in the papers they are not.
    """

    access = Access.stream
    resumable = True
    losses = ("square",)
    step_size = "zeta"

    zeta: Positive = 10.0
    bounded: bool = field(default=True, metadata={"later": True})
    start: Start = Start.zero
    average: Average = Average.before
    kappa: Positive | None = None

    def _is_wide(self, problem: Problem) -> bool:
        """Whether a, b and alpha may reach the means of the scores, wherever w is in its ball."""
        return self.kappa is None or self.kappa >= problem.max_norm

    def _first_state(
        self, problem: Problem, radius: float, lam: float = 0.0, one_sided: bool = False
    ) -> kernels.RuleState:
        """The first point; measures the largest row norm unless `kappa` is given."""
        kappa = problem.max_norm if self.kappa is None else self.kappa
        first = radius if self.start is Start.author else 0.0
        params = Params(
            self.zeta, radius, kappa, lam, self.average is Average.before, one_sided, self.bounded
        )
        scalars = saddle.Variables(first, first, 2.0 * first)
        return self.first_state(problem, params, scalars, w=first / np.sqrt(problem.n_features))


@dataclass(frozen=True, kw_only=True)
class Solam(_Solam):
    """Stochastic online AUC maximisation: saddle point of the square loss, projected on a ball.

    Parameters
    ----------
    radius : float > 0
        R, the radius of the ball of w.
    norm : l2 or l1
        Norm of the ball.
    one_sided_ab : bool
        Whether a and b are clipped from above only, as in the authors' scripts.
    """

    name = "solam"
    grid = {"zeta": (0.3, 1.0, 3.0, 10.0, 30.0), "radius": (1.0, 10.0, 100.0, 1000.0)}
    claims = Claims(rate="1/sqrt(t)", cost="nnz")
    citation = "ying2016solam"
    deviations = (
        "a and b are clipped from both sides, as in the paper; the authors' scripts clip from above only "
        "(one_sided_ab).",
        "The start is zero, as in later papers; the authors' scripts start on the boundary (start=author).",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    radius: Positive = 10.0
    norm: Norm = Norm.l2
    one_sided_ab: bool = False

    @property
    def rule(self) -> kernels.Rule:
        return IN_L1_BALL if self.norm is Norm.l1 else IN_L2_BALL

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState:
        return self._first_state(problem, self.radius, one_sided=self.one_sided_ab)

    def objective(self, problem: Problem) -> Objective | None:
        """The square loss on the ball; None with a `kappa` that may keep a, b and alpha from their values."""
        if not self._is_wide(problem):
            return None
        return Objective(problem.loss, radius=self.radius, norm=self.norm)


@dataclass(frozen=True, kw_only=True)
class SolamL1(Solam):
    """Stochastic online AUC maximisation on an l1 ball: `Solam` with other defaults."""

    name = "solam_l1"
    grid = {"zeta": (0.3, 1.0, 3.0, 10.0, 30.0), "radius": (1.0, 10.0, 100.0, 1000.0, 10000.0)}
    claims = Claims(rate="1/sqrt(t)", cost="d")
    citation = "liu2018fsauc"

    radius: Positive = 100.0
    norm: Norm = Norm.l1
    average: Average = Average.after


@dataclass(frozen=True, kw_only=True)
class RegSolam(_Solam):
    """Stochastic online AUC maximisation with a ridge, the radius following from it.

    Parameters
    ----------
    lam : float > 0 or None
        Weight of |w|^2 / 2; the radius is sqrt(2 / lam). None means 3 / n for n rescaled training rows.
    """

    name = "regsolam"
    rule = IN_L2_BALL
    grid = {"zeta": (0.3, 1.0, 3.0, 10.0, 30.0), "lam": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)}
    claims = Claims(rate="1/sqrt(t)", cost="nnz")
    regularisation = {"lam": 2}
    citation = "natole2019spdam"
    deviations = (
        "lam / 2 |w|^2 stands inside the saddle function, as in equation (6); the proof adds it after "
        "dividing by p (1 - p).",
        "The start is zero: with a small lam the authors' start on the boundary is far away (start=author).",
        "Steps are bounded by the curvature (bounded=false is the paper's step).",
    )

    lam: Positive | None = None

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState:
        lam = self._lam(problem)
        return self._first_state(problem, np.sqrt(2.0 / lam), lam)

    def objective(self, problem: Problem) -> Objective | None:
        """F is p (1 - p) times the mean over pairs; its minimum lies inside the ball."""
        if not self._is_wide(problem):
            return None
        return Objective(problem.loss, l2=self._lam(problem) / (problem.p * (1.0 - problem.p)))

    def _lam(self, problem: Problem) -> float:
        return 3.0 / problem.n_samples if self.lam is None else self.lam
