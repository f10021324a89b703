"""scikit-learn's SGDClassifier on single examples, the common choice, which does not use pairs.

    alpha / 2 |w|^2 + mean of c_y l(y (w.x + b)),   c_y = n / (2 n_y)

where l is the hinge (`sgd_hinge`) or the logistic loss (`sgd_log`). Counts in the training set balance the
classes. From w = 0 and b = 0, for t = 1, 2, ... (scikit-learn's default schedule `optimal`):

    eta = 1 / (alpha (t0 + t - 1)),   t0 = alpha^(-3/4),   k = -eta c_y y l'(y (w.x + b))
    w = max(0, 1 - eta alpha) w + k x,   b = b + k

The model is the average of all iterates, or the last one (average=False). Rows are taken in the given order,
without shuffling. The scores leave the intercept b out: it does not change the AUC, and adding it would round
close scores into ties.

The recursion is written out here because scikit-learn's `partial_fit` (1.5 to 1.9) has two faults. While
averaging, it forgets the intercept between two calls, so the weights depend on how rows are cut into calls.
With sparse rows, it takes a hundredth of the intercept's step.

With row weights, n_y is a sum of weights, and a step is multiplied by the weight of its row.

Without an intercept (intercept=False), b stays 0.

Cost per example: O(nnz).

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aucbench import Access, Claims, Positive, Problem, kernels
from aucbench.kernels import Move, RuleState
from aucbench_algorithms._linear_method import class_totals, total


class Intercept(NamedTuple):
    """The intercept, and its sum."""

    b: float
    total: float  # sum of the b so far


class Params(NamedTuple):
    """Constant parameters of the rule."""

    alpha: float
    t0: float
    negative: float  # c_-
    positive: float  # c_+
    average: bool
    hinge: bool  # or else the logistic loss
    intercept: bool


@kernels.rule
def _step(row, scalars, params):
    """A step along the gradient of a regularised loss."""
    label, c = (1.0, params.positive) if row.positive else (-1.0, params.negative)
    margin = label * (row.s + scalars.b)
    eta = 1.0 / (params.alpha * (params.t0 + row.t - 1.0))
    hinge = 0.0 if margin > 1.0 else 1.0
    slope = hinge if params.hinge else 1.0 / (1.0 + np.exp(margin))
    k = row.weight * eta * c * label * slope
    keep = max(0.0, 1.0 - eta * params.alpha)
    b = scalars.b + k if params.intercept else 0.0
    after = 1.0 if params.average else 0.0
    return Move(step=k, keep=keep, before=0.0, after=after), Intercept(b, scalars.total + b)


@dataclass(frozen=True)
class _Sgd(kernels.RuleMethod):
    """Base class of both methods.

    Parameters
    ----------
    alpha : float > 0 or None
        Weight of |w|^2 / 2; also sets the step size. None means 1 / n for n training rows, but at most 1 / n
        of the rescaled rows.
    average : bool
        Whether the model is the average of all iterates, or the last one.
    intercept : bool
        Whether an intercept is fitted, which is not regularised.
    """

    weighted = True
    rule = _step
    access = Access.stream
    resumable = True
    grid = {"alpha": tuple(10.0**power for power in range(-6, 1))}
    claims = Claims(rate="1/t", cost="nnz")
    regularisation = {"alpha": 2}
    citation = "pedregosa2011scikit"
    deviations = (
        "The intercept is carried through chunks of rows and averaged as w is; scikit-learn's partial_fit "
        "starts each call from an older intercept while averaging.",
        "The intercept takes full steps on sparse rows, as on dense ones; scikit-learn takes a hundredth.",
    )

    alpha: Positive | None = None
    average: bool = True
    intercept: bool = True

    def init(self, problem: Problem, rng: np.random.Generator) -> RuleState:
        """Zero weights; counts the classes of the training set."""
        n, (n_pos, n_neg) = problem.n_samples, class_totals(problem)
        negative, positive = n / (2 * n_neg), n / (2 * n_pos)
        alpha = min(1.0, problem.row_factor**2) / total(problem) if self.alpha is None else self.alpha
        is_hinge = self.losses == ("hinge",)
        params = Params(alpha, alpha**-0.75, negative, positive, self.average, is_hinge, self.intercept)
        return self.first_state(problem, params, Intercept(0.0, 0.0))

    @classmethod
    def together(cls, algorithms: Sequence[Any], states: Sequence[Any]) -> Any:
        """Settings in lockstep; None with the logistic loss.

        The steps, 1 / (alpha (t + alpha^-0.75)), are so long with the small values of the grid that with this
        loss rounding grows until the first digits differ, and lockstep rounds in another order.
        """
        return super().together(algorithms, states) if cls.losses == ("hinge",) else None

    def fitted_intercept(self, state: RuleState) -> float:
        """The intercept b, or with `average` its mean; 0 if none is fitted. No score contains it."""
        steps, _ = state.counts
        return float(state.scalars.total / steps if self.average and steps else state.scalars.b)


@dataclass(frozen=True)
class SgdHinge(_Sgd):
    """scikit-learn's SGDClassifier with the hinge loss, classes balanced."""

    name = "sgd_hinge"
    losses = ("hinge",)


@dataclass(frozen=True)
class SgdLog(_Sgd):
    """scikit-learn's SGDClassifier with the logistic loss, classes balanced."""

    name = "sgd_log"
    losses = ("logistic",)
