"""scikit-learn's SGDClassifier on single examples: what people use today, which is blind to pairs.

    alpha / 2 |w|^2 + mean of c_y l(y (w.x + b)),   c_y = n / (2 n_y)

with l the hinge (`sgd_hinge`) or the logistic loss (`sgd_log`) and the classes balanced by their counts in
the training set. From w = 0 and b = 0, for t = 1, 2, ... (scikit-learn's default schedule `optimal`):

    eta = 1 / (alpha (t0 + t - 1)),   t0 = alpha^(-3/4),   k = -eta c_y y l'(y (w.x + b))
    w = max(0, 1 - eta alpha) w + k x,   b = b + k

The model is the average of all iterates, or the last one (average=False). Rows are taken in the given order,
without shuffling. The scores leave the intercept b out: the AUC does not see it, and adding it would round
close scores into ties.

The recursion is written out here because scikit-learn's `partial_fit` (1.5 to 1.9) forgets the intercept
between two calls while averaging, so that the weights depend on how rows are cut into calls, and takes a
hundredth of the intercept's step with sparse rows.

With weights of the rows, n_y is a sum of weights, and a step is multiplied by the weight of its row.

Without an intercept (intercept=False) scikit-learn itself trains. Its `partial_fit` folds its scale of w at
the end of every call, which rounds. So that no bit depends on the cut, it is called on runs of 1,024 rows;
rows of an unfinished run wait in the state, and enter a copy of the model when weights are asked for.

Cost per example: O(nnz), and O(d) per run of 1,024 without an intercept.

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from aucbench import Access, Batch, Claims, ParameterError, Positive, Problem, kernels
from aucbench.kernels import Move, RuleState
from aucbench_algorithms._linear_method import class_totals, total

RUN = 1024  # rows of one call of partial_fit
DEVIATIONS = (
    "The intercept is carried through chunks of rows and averaged as w is; scikit-learn's partial_fit starts "
    "each call from an older intercept while averaging.",
    "The intercept takes full steps on sparse rows, as on dense ones; scikit-learn takes a hundredth.",
)


class Intercept(NamedTuple):
    """What is fitted besides the weights."""

    b: float
    total: float  # sum of the b so far


class Given(NamedTuple):
    """What the rule is given."""

    alpha: float
    t0: float
    negative: float  # c_-
    positive: float  # c_+
    average: bool
    hinge: bool  # or else the logistic loss


class Unfinished(NamedTuple):
    """Without an intercept: scikit-learn's model, and the rows that it has not seen yet."""

    model: Any  # SGDClassifier; its coef_ (1, d) float64
    waiting: list[Any]  # their parts: (k, d) ndarray or CSR, float64
    labels: list[np.ndarray]  # (k,) of each part
    d: int  # columns
    diverged: bool


@kernels.rule
def _step(row, own, given):
    """A step along the gradient of a regularised loss."""
    label, c = (1.0, given.positive) if row.positive else (-1.0, given.negative)
    margin = label * (row.s + own.b)
    eta = 1.0 / (given.alpha * (given.t0 + row.t - 1.0))
    hinge = 0.0 if margin > 1.0 else 1.0
    slope = hinge if given.hinge else 1.0 / (1.0 + np.exp(margin))
    k = row.weight * eta * c * label * slope
    keep = max(0.0, 1.0 - eta * given.alpha)
    b = own.b + k
    after = 1.0 if given.average else 0.0
    return Move(step=k, keep=keep, before=0.0, after=after), Intercept(b, own.total + b)


class _Sgd(kernels.RuleMethod):
    """What both losses share."""

    weighted = True
    rule = _step
    alpha: float | None
    average: bool
    intercept: bool
    _loss: ClassVar[str]

    def init(self, problem: Problem, rng: np.random.Generator) -> RuleState | Unfinished:
        """Zero weights; counts the classes of the training set.

        Raises
        ------
        ParameterError
            Rows have weights, and there is no intercept: scikit-learn itself trains then.
        """
        n, (n_pos, n_neg) = problem.n_samples, class_totals(problem)
        negative, positive = n / (2 * n_neg), n / (2 * n_pos)
        alpha = 1.0 / total(problem) if self.alpha is None else self.alpha
        if problem.weights is not None and not self.intercept:
            raise ParameterError(f"{self.name}: rows have no weights without an intercept.")
        if self.intercept:
            given = Given(alpha, alpha**-0.75, negative, positive, self.average, self._loss == "hinge")
            return self.first_state(problem, given, Intercept(0.0, 0.0))
        from sklearn.linear_model import SGDClassifier  # costs half a second to import

        model = SGDClassifier(
            loss=self._loss,
            alpha=alpha,
            average=self.average,
            class_weight={-1: negative, 1: positive},
            fit_intercept=False,
            shuffle=False,
            random_state=0,  # seeds the shuffling only
        )
        return Unfinished(model, [], [], problem.n_features, False)

    def step(self, state: Any, batch: Batch) -> Any:
        """Consume the rows of a chunk, in order."""
        if isinstance(state, RuleState) or len(batch.rows) == 0:
            return super().step(state, batch)
        return _append(state, batch)

    @classmethod
    def together(cls, algorithms: Sequence[Any], states: Sequence[Any]) -> Any:
        """Settings in lockstep; None where scikit-learn trains, and with the logistic loss.

        The steps, 1 / (alpha (t + alpha^-0.75)), are so long with the small values of the grid that with this
        loss rounding grows until the first digits differ, and lockstep rounds in another order.
        """
        rules = all(isinstance(state, RuleState) for state in states)
        return super().together(algorithms, states) if rules and cls._loss == "hinge" else None

    def finalize(self, state: RuleState | Unfinished) -> RuleState | Unfinished:
        """The waiting rows enter a copy of the model; only the copy is scored."""
        if isinstance(state, RuleState) or not state.labels:
            return state
        return _fitted(state._replace(model=deepcopy(state.model)))

    def weights(self, state: RuleState | Unfinished) -> np.ndarray:
        """(d,) coefficients, averaged where asked for; zero before the first row."""
        if isinstance(state, RuleState):
            return super().weights(state)
        final: Any = self.finalize(state)
        if final.diverged:
            return np.full(state.d, np.nan)
        return np.array(final.model.coef_[0]) if hasattr(final.model, "coef_") else np.zeros(state.d)

    def fitted_intercept(self, state: RuleState | Unfinished) -> float:
        """The intercept b, averaged where asked for, which no score contains; 0 where none is fitted."""
        if isinstance(state, Unfinished):
            return 0.0
        steps, _ = state.counts
        return float(state.own.total / steps if self.average and steps else state.own.b)

    def score(self, state: Any, X: Any) -> np.ndarray:
        """(n,) decision values w.x, without the intercept."""
        return X @ self.weights(state)


@dataclass(frozen=True)
class SgdHinge(_Sgd):
    """scikit-learn's SGDClassifier with the hinge loss, classes balanced.

    Parameters
    ----------
    alpha : float > 0 or None
        Weight of |w|^2 / 2; also sets the step. None is 1 / n for n training rows.
    average : bool
        Whether the model is the average of all iterates, or the last one.
    intercept : bool
        Whether an intercept is fitted, which is not regularised; without one scikit-learn itself trains.
    """

    name = "sgd_hinge"
    access = Access.stream
    resumable = True
    losses = ("hinge",)
    grid = {"alpha": tuple(10.0**power for power in range(-7, 0))}
    claims = Claims(rate="1/t", cost="nnz")
    citation = "pedregosa2011scikit"
    deviations = DEVIATIONS
    _loss: ClassVar[str] = "hinge"

    alpha: Positive | None = None
    average: bool = True
    intercept: bool = True


@dataclass(frozen=True)
class SgdLog(_Sgd):
    """scikit-learn's SGDClassifier with the logistic loss, classes balanced.

    Parameters
    ----------
    alpha : float > 0 or None
        Weight of |w|^2 / 2; also sets the step. None is 1 / n for n training rows.
    average : bool
        Whether the model is the average of all iterates, or the last one.
    intercept : bool
        Whether an intercept is fitted, which is not regularised; without one scikit-learn itself trains.
    """

    name = "sgd_log"
    access = Access.stream
    resumable = True
    losses = ("logistic",)
    grid = {"alpha": tuple(10.0**power for power in range(-7, 0))}
    claims = Claims(rate="1/t", cost="nnz")
    citation = "pedregosa2011scikit"
    deviations = DEVIATIONS
    _loss: ClassVar[str] = "log_loss"

    alpha: Positive | None = None
    average: bool = True
    intercept: bool = True


def _append(state: Unfinished, batch: Batch) -> Unfinished:
    """The state after a chunk, whose full runs are fitted."""
    if state.diverged:
        return state
    begin, order = 0, batch.rows
    room = RUN - sum(map(len, state.labels))
    while begin < len(order):
        part = order[begin : begin + room]
        begin += len(part)
        room -= len(part)
        state.waiting.append(float64_rows(batch.X[part]))
        state.labels.append(batch.y[part])
        if room == 0:
            state, room = _fitted(state), RUN
    return state


def float64_rows(X: Any) -> Any:
    """Rows as scikit-learn takes them."""
    if not sparse.issparse(X):
        return np.asarray(X, np.float64)
    X = X.tocsr()
    parts = (X.data.astype(np.float64), X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=X.shape)


def _fitted(state: Unfinished) -> Unfinished:
    """The state after its waiting rows; changes the model."""
    from sklearn import config_context

    if not state.labels or state.diverged:
        return state
    stack = np.vstack if isinstance(state.waiting[0], np.ndarray) else sparse.vstack
    X, y = float64_rows(stack(state.waiting)), np.concatenate(state.labels)
    diverged = not np.isfinite((X.data if sparse.issparse(X) else X).sum())  # the hinge would pass over NaN
    with config_context(assume_finite=True):
        try:
            if not diverged:
                state.model.partial_fit(X, y, classes=np.array([-1, 1]))
        except ValueError as error:
            if "overflow" not in str(error):
                raise
            diverged = True
    return Unfinished(state.model, [], [], state.d, diverged)
