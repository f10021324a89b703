"""scikit-learn's SGDClassifier on single examples: what people use today, which is blind to pairs.

    alpha / 2 |w|^2 + mean of c_y l(y w.x),   c_y = n / (2 n_y)

with l the hinge (`sgd_hinge`) or the logistic loss (`sgd_log`), the classes balanced by their counts in the
training set, the step 1 / (alpha (t0 + t)) of scikit-learn's default schedule `optimal`, and by default the
average of all iterates. Rows are taken in the given order by `partial_fit`, without shuffling.

There is no intercept: the AUC has no use for one, and while averaging `partial_fit` forgets it between two
calls (scikit-learn 1.5 to 1.9), so that the weights would depend on how rows are cut into calls.
`partial_fit` also folds its scale of w at the end of every call, which rounds. So that no bit depends on the
cut, it is called on runs of 1,024 rows; rows of an unfinished run wait in the state, and enter a copy of the
model when weights are asked for.

Cost per example: O(nnz), and O(d) per run of 1,024.

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from aucbench import Access, Batch, Claims, Positive, Problem, check_fields

RUN = 1024  # rows of one call of partial_fit
NO_INTERCEPT = "No intercept is fitted, where scikit-learn's default is to fit one."


class State(NamedTuple):
    """The model, and the rows that it has not seen yet."""

    model: Any  # SGDClassifier; its coef_ (1, d) float64
    waiting: list[Any]  # their parts: (k, d) ndarray or CSR, float64
    labels: list[np.ndarray]  # (k,) of each part
    d: int  # columns
    diverged: bool


class _Sgd:
    """What both losses share."""

    alpha: float
    average: bool
    _loss: ClassVar[str]

    def __post_init__(self) -> None:
        check_fields(self)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero weights."""
        from sklearn.linear_model import SGDClassifier  # costs half a second to import

        n, n_pos = problem.n_samples, int(np.count_nonzero(problem.y == 1))
        balanced = {1: n / (2 * max(1, n_pos)), -1: n / (2 * max(1, n - n_pos))}
        model = SGDClassifier(
            loss=self._loss,
            alpha=self.alpha,
            average=self.average,
            class_weight=balanced,
            fit_intercept=False,
            shuffle=False,
            random_state=0,  # seeds the shuffling only
        )
        return State(model, [], [], problem.n_features, False)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0 or state.diverged:
            return state
        begin, rows = 0, batch.rows
        room = RUN - sum(map(len, state.labels))
        while begin < len(rows):
            part = rows[begin : begin + room]
            begin += len(part)
            room -= len(part)
            state.waiting.append(_float64(batch.X[part]))
            state.labels.append(batch.y[part])
            if room == 0:
                state, room = _fitted(state), RUN
        return state

    def finalize(self, state: State) -> State:
        """The waiting rows enter a copy of the model; only the copy is scored."""
        return _fitted(state._replace(model=deepcopy(state.model)))

    def weights(self, state: State) -> np.ndarray:
        """(d,) coefficients, averaged where asked for; zero before the first row."""
        state = self.finalize(state) if state.labels else state
        if state.diverged:
            return np.full(state.d, np.nan)
        return np.array(state.model.coef_[0]) if hasattr(state.model, "coef_") else np.zeros(state.d)

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@dataclass(frozen=True)
class SgdHinge(_Sgd):
    """scikit-learn's SGDClassifier with the hinge loss, classes balanced.

    Parameters
    ----------
    alpha : float > 0
        Weight of |w|^2 / 2; also sets the step.
    average : bool
        Whether the model is the average of all iterates, or the last one.
    """

    name: ClassVar[str] = "sgd_hinge"
    colour: ClassVar[str] = "#b74dde"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"alpha": tuple(10.0**power for power in range(-7, 0))}
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    citation: ClassVar[str] = "pedregosa2011scikit"
    deviations: ClassVar[tuple[str, ...]] = (NO_INTERCEPT,)
    _loss: ClassVar[str] = "hinge"

    alpha: Positive = 1e-4
    average: bool = True


@dataclass(frozen=True)
class SgdLog(_Sgd):
    """scikit-learn's SGDClassifier with the logistic loss, classes balanced.

    Parameters
    ----------
    alpha : float > 0
        Weight of |w|^2 / 2; also sets the step.
    average : bool
        Whether the model is the average of all iterates, or the last one.
    """

    name: ClassVar[str] = "sgd_log"
    colour: ClassVar[str] = "#5d323a"
    access: ClassVar[Access] = Access.stream
    resumable: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("logistic",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {"alpha": tuple(10.0**power for power in range(-7, 0))}
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    citation: ClassVar[str] = "pedregosa2011scikit"
    deviations: ClassVar[tuple[str, ...]] = (NO_INTERCEPT,)
    _loss: ClassVar[str] = "log_loss"

    alpha: Positive = 1e-4
    average: bool = True


def _float64(X: Any) -> Any:
    """Rows as scikit-learn takes them."""
    if not sparse.issparse(X):
        return np.asarray(X, np.float64)
    X = X.tocsr()
    parts = (X.data.astype(np.float64), X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=X.shape)


def _fitted(state: State) -> State:
    """The state after its waiting rows; changes the model."""
    from sklearn import config_context

    if not state.labels or state.diverged:
        return state
    stack = np.vstack if isinstance(state.waiting[0], np.ndarray) else sparse.vstack
    X, y = _float64(stack(state.waiting)), np.concatenate(state.labels)
    diverged = not np.isfinite((X.data if sparse.issparse(X) else X).sum())  # the hinge would pass over NaN
    with config_context(assume_finite=True):
        try:
            if not diverged:
                state.model.partial_fit(X, y, classes=np.array([-1, 1]))
        except ValueError as error:
            if "overflow" not in str(error):
                raise
            diverged = True
    return State(state.model, [], [], state.d, diverged)
