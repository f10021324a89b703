"""Uni-Exp, the exponential loss of single examples with weighted classes, online.

    k = eta c_y y exp(-y (w.x + b)),    w += k x,  b += k,    c_+ = 1 - p,  c_- = p

where p is the share of positives in the training data or among the examples so far (the current one
included). Minimising a weighted univariate exponential loss is consistent with the AUC. One pass; the model
is the last iterate, from w = 0 and b = 0. The exponent is capped at 700. The intercept b stays 0 with
intercept=False; the scores leave it out, because it does not change the AUC and adding it would round close
scores into ties. With row weights, a step is multiplied by the weight of its row over the mean weight.

Cost per example: O(nnz).

Source: Kotlowski, Dembczynski, Huellermeier, Bipartite ranking through minimization of univariate loss,
ICML 2011; run online as in the comparison of Gao et al., ICML 2013.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from aucbench import Access, Claims, ParameterError, Positive, Problem, kernels
from aucbench.kernels import Move
from aucbench_algorithms._linear_method import total

LARGEST = 700.0  # largest exponent
Ratio = StrEnum("Ratio", "train running")


class Intercept(NamedTuple):
    """The intercept."""

    b: float


class Params(NamedTuple):
    """Constant parameters of the rule."""

    eta: float
    p: float  # share of positives of the training data
    running: bool  # use the share of positives so far instead of p
    intercept: bool


@kernels.rule
def _step(row, scalars, params):
    """A gradient step of the weighted exponential loss."""
    p = row.positives / row.t if params.running else params.p
    label, c = (1.0, 1.0 - p) if row.positive else (-1.0, p)
    exponent = -label * (row.s + scalars.b)
    k = row.weight * params.eta * c * label * np.exp(LARGEST if exponent > LARGEST else exponent)
    return Move(step=k, keep=1.0, before=0.0, after=0.0), Intercept(
        scalars.b + k if params.intercept else 0.0
    )


@dataclass(frozen=True)
class UniExp(kernels.RuleMethod):
    """Online univariate exponential loss with weighted classes.

    Parameters
    ----------
    eta : float > 0
        Step size.
    ratio : train or running
        Whether the share of positives is that of the training data or of the examples so far.
    intercept : bool
        Whether an intercept is fitted, with the same steps.
    """

    name = "uni_exp"
    rule = _step
    access = Access.stream
    resumable = True
    weighted = True
    losses = ("exponential",)
    grid = {"eta": (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)}
    step_size = "eta"
    claims = Claims(rate="1/sqrt(t)", cost="nnz")
    citation = "kotlowski2011bipartite"
    deviations = (
        "The paper minimises in batch; the online run is that of the comparison in OPAUC's paper.",
        "An intercept is fitted, which the comparison does not mention (intercept=False).",
        "Class weights 1 - p and p instead of 1 / p and 1 / (1 - p); the factor p (1 - p) is in the step.",
    )

    eta: Positive = 0.03
    ratio: Ratio = Ratio.train
    intercept: bool = True

    def init(self, problem: Problem, rng: np.random.Generator) -> kernels.RuleState:
        """Zero weights; counts the positives of the training data where their share is used.

        Raises `ParameterError` when rows have weights and the share is that of the examples so far,
        for which weights are not defined.
        """
        running = self.ratio is Ratio.running
        if running and problem.weights is not None:
            raise ParameterError("uni_exp: rows have no weights with ratio=running: use ratio=train.")
        eta = self.eta / (total(problem) / problem.n_samples)
        params = Params(eta, 0.0 if running else problem.p, running, self.intercept)
        return self.first_state(problem, params, Intercept(0.0))

    def fitted_intercept(self, state: kernels.RuleState) -> float:
        intercept: float = state.scalars.b
        return intercept
