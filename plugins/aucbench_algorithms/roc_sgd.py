"""SGD on random pairs, the hinge loss with an l2 regulariser; with projections it is Pegasos.

Minimises lam / 2 |w|^2 + mean over pairs z = x+ - x- of max(0, margin - w.z), with the step size eta_t of a
schedule (10 / (t + 10), 1 / (lam t), or 0.02):

    w' = max(1 - eta_t lam, 1e-7) w;  w' += eta_t z if w.z < margin

The margin is tested before w shrinks. For Pegasos, w is then projected on |w| <= 1 / sqrt(lam). The model is
the last iterate.

Cost per pair: O(nnz), because shrinking and projecting change the scale of w only (see
`aucbench.kernels.rules`).

Source: Sculley, Large scale learning to rank, NIPS workshop 2009 (sofia-ml, sampling of pairs by ROC).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from aucbench import Access, Claims, NonNegative, Objective, ParameterError, Problem, check_fields, kernels
from aucbench.kernels import Move

SMALLEST_FACTOR = 1e-7  # smallest factor of one shrinking
Schedule = StrEnum("Schedule", "basic pegasos constant")


class Params(NamedTuple):
    """Constant parameters of the rule; the step is size / (slope t + offset)."""

    size: float
    slope: float
    offset: float
    lam: float
    margin: float
    radius: float  # radius of the ball, for Pegasos


def _step(pair, scalars, params):
    """Sculley's algorithm 1 with the stochastic gradient step of its section 3."""
    eta = params.size / (params.slope * pair.t + params.offset)
    keep = max(1.0 - eta * params.lam, SMALLEST_FACTOR)
    step = 0.0 if pair.s >= params.margin else eta  # NaN must reach the weights
    return Move(step, keep, before=0.0, after=0.0), scalars


FREE = kernels.rule(_step)
IN_BALL = kernels.rule(_step, ball="l2")


@dataclass(frozen=True)
class RocSgd(kernels.RuleMethod):
    """Stochastic gradient descent on the hinge loss of random pairs, as sofia-ml does it.

    Parameters
    ----------
    lam : float >= 0 or None
        Weight of |w|^2 / 2; above 0 for the Pegasos schedule and projection. None means 1 / n for n training
        rows, but at most 1 / n of the rescaled rows.
    schedule : basic, pegasos or constant
        Step size 10 / (t + 10), 1 / (lam t), or 0.02.
    pegasos : bool
        Whether w is projected on |w| <= 1 / sqrt(lam) after each step.
    """

    name = "roc_sgd"
    access = Access.pairs
    losses = ("hinge",)
    grid = {"lam": tuple(10.0**power for power in range(-6, 1))}
    claims = Claims(rate="1/t", cost="nnz")
    regularisation = {"lam": 2}
    citation = "sculley2009large"
    deviations = (
        "Unless told otherwise it is plain SGD with the constant step and lam = 1 / n, which comes closest "
        "to the optimum; sofia-ml's own start is Pegasos with 0.1.",
        "Double precision; sofia-ml computes in single precision.",
    )

    lam: NonNegative | None = None
    schedule: Schedule = Schedule.constant
    pegasos: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.lam == 0.0 and (self.pegasos or self.schedule is Schedule.pegasos):
            raise ParameterError("roc_sgd: lam must be > 0 for the Pegasos schedule or projection, got 0.")

    @property
    def rule(self) -> kernels.Rule:
        return IN_BALL if self.pegasos else FREE

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState:
        """Zero weights; the margin is that of the loss."""
        margin = kernels.theta(problem.loss)
        lam = self._lam(problem)
        schedules = {
            Schedule.basic: (10.0, 1.0, 10.0),
            Schedule.pegasos: (1.0, lam, 0.0),
            Schedule.constant: (0.02, 0.0, 1.0),
        }
        radius = 1.0 / np.sqrt(lam) if self.pegasos else np.inf
        return self.first_state(problem, Params(*schedules[self.schedule], lam, margin, radius))

    def objective(self, problem: Problem) -> Objective:
        """As in the formula; the ball contains the minimum while the margin is 1 or less."""
        lam = self._lam(problem)
        binds = self.pegasos and kernels.theta(problem.loss) > 1.0
        return Objective(problem.loss, l2=lam, radius=1.0 / np.sqrt(lam) if binds else None)

    def _lam(self, problem: Problem) -> float:
        return min(1.0, problem.row_factor**2) / problem.n_samples if self.lam is None else self.lam
