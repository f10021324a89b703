"""PSAM and ASAM, proximal and averaged stochastic AUC maximisation.

Minimises gamma / 2 |w|^2 + mean over pairs of a loss of the margin w.z, z = x+ - x-, by steps on single pairs
with the step size l_t = 1 / (gamma (t + t0)). PSAM takes proximal steps of max(0, margin - w.z), ASAM
gradient steps of any loss l:

    PSAM: w += l_t clip((margin - w.z) / (l_t |z|^2), 0, 1) z
    ASAM: w -= l_t l'(w.z) z

Every `rskip` steps w shrinks by the factor 1 - rskip / (t + t0); every `askip` steps w enters the mean, which
is the model.

Cost per pair: O(nnz), because shrinking changes the scale of w only (see `aucbench.kernels.rules`).

Source: Khalid, Chitsaz, Ray, proximal stochastic AUC maximisation, Algorithm 1 and appendix; we follow
them, not the displayed update of the text, which has no meaning. ASAM: Khalid, Ray, Chitsaz, Scalable
nonlinear AUC maximization methods, ECML PKDD 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Claims, Count, NonNegative, Objective, Positive, Problem, kernels
from aucbench.kernels import Move


class Params(NamedTuple):
    """Constant parameters of the rule."""

    gamma: float
    t0: float
    rskip: int
    askip: int
    theta: float  # the margin of the hinge loss, or the parameter of another loss


@kernels.scalar
def _shrinking_and_average(t, params):
    """The factor of w after step t, and the weight of w in the average."""
    keep = 1.0 - params.rskip / (t + params.t0) if t % params.rskip == 0 else 1.0
    return keep, 1.0 if t % params.askip == 0 else 0.0


@kernels.rule
def _proximal_step(pair, scalars, params):
    """The loop of Algorithm 1; the step is taken before w shrinks, and therefore shrinks with it."""
    step = 1.0 / (params.gamma * (pair.t + params.t0))
    slack = params.theta - pair.s
    step = 0.0 if slack <= 0.0 or pair.square == 0.0 else min(step, slack / pair.square)
    keep, average = _shrinking_and_average(pair.t, params)
    return Move(keep * step, keep, before=0.0, after=average), scalars


@kernels.rule
def _gradient_step(pair, scalars, params):
    """The loop of Algorithm 1 with a gradient step of any loss."""
    step = -kernels.call(pair.loss, pair.s, params.theta) / (params.gamma * (pair.t + params.t0))
    keep, average = _shrinking_and_average(pair.t, params)
    return Move(keep * step, keep, before=0.0, after=average), scalars


@dataclass(frozen=True)
class Psam(kernels.RuleMethod):
    """Proximal stochastic AUC maximisation: exact proximal steps of the hinge loss on random pairs.

    Parameters
    ----------
    gamma : float > 0 or None
        Weight of |w|^2 / 2; the step size is 1 / (gamma (t + t0)). None means 3 / n for n training rows, but
        at most 3 / n of the rescaled rows.
    t0 : float >= 0 or None
        Number added to t in the step size; None means gamma^-0.75.
    rskip, askip : int >= 1
        Number of steps between two shrinkings, and between two points of the average.
    """

    name = "psam"
    rule = _proximal_step
    access = Access.pairs
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    grid = {"gamma": tuple(10.0**power for power in range(-6, 1))}
    claims = Claims(rate="1/t", cost="nnz")
    regularisation = {"gamma": 2}
    citation = "khalid_psam"
    deviations: ClassVar[tuple[str, ...]] = (
        "t0 = gamma^-0.75, rskip = 16 and askip = 16 are those of the code the paper builds on; the paper "
        "does not give them.",
        "gamma is 3 / n, and the grid 1e-6 ... 1; in the paper's grid, 1e-10 ... 1e-7, all values give "
        "nearly the same model.",
    )

    gamma: Positive | None = None
    t0: NonNegative | None = None
    rskip: Count = 16
    askip: Count = 16

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState:
        """Zero weights; the margin is that of the loss."""
        return self.first_state(problem, self._params(problem))

    def objective(self, problem: Problem) -> Objective:
        return Objective(problem.loss, l2=self._gamma(problem))

    def _gamma(self, problem: Problem) -> float:
        if self.gamma is None:
            return 3.0 / problem.n_samples * min(1.0, problem.row_factor**2)
        return self.gamma

    def _params(self, problem: Problem) -> Params:
        gamma = self._gamma(problem)
        t0 = gamma**-0.75 if self.t0 is None else self.t0
        return Params(gamma, t0, self.rskip, self.askip, kernels.theta(problem.loss))


@dataclass(frozen=True)
class Asam(Psam):
    """Averaged stochastic AUC maximisation: gradient steps of any loss on random pairs."""

    name = "asam"
    rule = _gradient_step
    losses = ("smooth_hinge", "*")
    citation = "khalid2018asam"
    deviations = (
        "t0 = gamma^-0.75, rskip = 16 and askip = 16 are those of the code the method builds on.",
        "gamma is 3 / n, and the grid 1e-6 ... 1, as for `psam`.",
        "The loss is the smooth hinge unless another is given: its slope is bounded, the squared hinge "
        "diverges with a small gamma.",
    )

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState:
        return self.first_state(problem, self._params(problem), loss=problem.loss)

    @classmethod
    def together(cls, algorithms: Sequence[Any], states: Sequence[Any]) -> None:
        """None: each setting is trained by itself.

        The first steps, 1 / (gamma t0), are so long with the small values of the grid that the method is
        unstable: rounding grows until the first digits differ, and lockstep rounds in another order.
        """
        return
