"""Balanced logistic regression whose regularisation is chosen by inner cross-validation on the AUC.

The model is that of `log_reg`,

    1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i (w.x_i + b))),   c_i = n / (2 n_y)

The candidates for its C are `values` powers of ten around the field C, in
ascending order. The rows of each class are dealt out at random to `folds` parts. For each candidate and each
part, a model is fitted to the other parts, starting from the model for the previous candidate. The candidate
with the largest mean AUC over the parts (the smallest if several tie) is fitted to all rows. One iteration
tries one candidate, and the last iteration fits all rows, so the choice counts as training.

If the rarer class has fewer rows than folds, there is one fold per row of this class; if it has a single row,
C itself is used. A row that is left out has weight 0, so no rows are copied and all fits share X X^T where
n < d. Row weights count in fits and in AUCs. Fits on parts end when the gradient is 2e-4 of that at zero: the
remaining error hardly changes the AUC. The last fit ends as in `log_reg`.

Before the last iteration, the weights are the mean over the parts for the last candidate.

Cost: folds x values fits of about three Newton iterations each, O(n d min(n, d)) per Newton iteration.

Source: Stone, Cross-validatory choice and assessment of statistical predictions, JRSS B 1974; values and
criterion are those of LogisticRegressionCV(scoring="roc_auc") of Pedregosa et al., JMLR 2011.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, Count, Interval, LinearMethod, Positive, Problem
from aucbench.evaluation import exact_auc
from aucbench_algorithms import univariate_batch
from aucbench_algorithms._linear_method import total
from aucbench_algorithms.univariate_batch import newton_iteration

MOST_ITERATIONS = 100  # most Newton iterations in one fit

Folds = Annotated[int, Interval(low=2)]


class State(NamedTuple):
    """The candidates tried so far, and the model."""

    w: np.ndarray  # (d,)
    b: float  # intercept
    solved: bool
    held_out: tuple[np.ndarray, ...]  # row numbers of each part
    models: tuple[univariate_batch.State, ...]  # model of each part for the last candidate
    aucs: tuple[float, ...]  # mean AUC of the candidates tried so far
    gram: np.ndarray | None  # X X^T where n < d


@dataclass(frozen=True)
class LogRegCV(LinearMethod):
    """Balanced logistic regression, C chosen by inner cross-validation on the AUC.

    Parameters
    ----------
    C : float > 0
        The middle candidate for the weight of the loss relative to |w|^2 / 2.
    values : int >= 1
        Number of candidates C 10^k; with 7, k = -3, ..., 3.
    folds : int >= 2
        Number of parts of the cross-validation.
    """

    name = "log_reg_cv"
    access = Access.full
    losses = ("logistic",)
    grid = {"folds": (5, 10)}
    claims = Claims(rate="quadratic", cost="folds values n d min(n, d)")
    regularisation = {"C": -2}
    weighted = True
    exempt: ClassVar[dict[str, str]] = {
        "weighted": "a row of weight k lies in one part of the cross-validation, where k rows lie in several"
    }
    citation = "stone1974cross"
    deviations: ClassVar[tuple[str, ...]] = (
        "Fits on parts of the rows end when the gradient is 2e-4 of that at zero.",
    )

    C: Positive = 1.0
    values: Count = 7
    folds: Folds = 5

    def candidates(self) -> np.ndarray:
        """(values,) the values of C that are tried, in ascending order."""
        return self.C * 10.0 ** (np.arange(self.values) - (self.values - 1) / 2)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """No candidate tried; the rows are dealt out to the parts."""
        return self.first_state(problem, stratified_parts(problem.y, self.folds, rng))

    def first_state(self, problem: Problem, held_out: Sequence[np.ndarray]) -> State:
        """The first state for given parts."""
        zero = np.zeros(problem.n_features)
        gram = univariate_batch.shared_gram(problem.X)
        model = univariate_batch.State(zero, 0.0, False, np.inf, gram, problem.row_factor)
        return State(zero, 0.0, False, tuple(held_out), (model,) * len(held_out), (), gram)

    def step(self, state: State, batch: Batch) -> State:
        """Try one candidate per iteration; then fit all rows."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            tried = len(state.aucs)
            state = self._try(state, batch) if self._tries(state, tried) else self._refit(state, batch)
        return state

    def _tries(self, state: State, tried: int) -> bool:
        return bool(state.held_out) and tried < self.values

    def _try(self, state: State, batch: Batch) -> State:
        C, models, aucs = self.candidates()[len(state.aucs)], [], []
        for rows, model in zip(state.held_out, state.models, strict=True):
            weights = np.ones(len(batch.y)) if batch.weights is None else batch.weights.copy()
            held_out = None if batch.weights is None else weights[rows]
            weights[rows] = 0.0
            train = Batch(batch.X, batch.y, batch.rows, weights=weights)
            models.append(_fitted(model, train, C, rough=True))
            scores = batch.X[rows] @ models[-1].w
            finite = np.all(np.isfinite(scores))
            aucs.append(exact_auc(scores, batch.y[rows], held_out) if finite else -np.inf)
        w, b = np.mean([fit.w for fit in models], axis=0), float(np.mean([fit.b for fit in models]))
        return state._replace(w=w, b=b, models=tuple(models), aucs=(*state.aucs, float(np.mean(aucs))))

    def _refit(self, state: State, batch: Batch) -> State:
        start = univariate_batch.State(np.zeros(batch.X.shape[1]), 0.0, False, np.inf, state.gram, 1.0)
        model = _fitted(start, batch, self.chosen(state))
        return state._replace(w=model.w, b=model.b, solved=True, models=(), gram=None)

    def chosen(self, state: State) -> float:
        """The candidate with the largest mean AUC; C where there was no cross-validation."""
        return float(self.candidates()[int(np.argmax(state.aucs))]) if state.aucs else self.C

    def done(self, state: State) -> bool:
        return state.solved

    def fitted_intercept(self, state: State) -> float:
        return state.b


def stratified_parts(y: np.ndarray, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Row numbers of parts with rows of both classes each; none where a class has one row, or no row."""
    classes = [rng.permutation(np.flatnonzero(y == label)) for label in (1, -1)]
    count = min(folds, *(len(rows) for rows in classes))
    if count < 2:
        return []
    dealt = np.concatenate(classes)  # one class after the other: sizes differ by at most one row
    return [np.sort(dealt[k::count]) for k in range(count)]


def _fitted(start: Any, batch: Batch, C: float, rough: bool = False) -> univariate_batch.State:
    """The model for C, started at the model for another value."""
    model = start._replace(solved=False, gradient=np.inf)
    for _ in range(MOST_ITERATIONS):
        if model.solved:
            break
        model = newton_iteration(model, batch, 1.0 / (C * total(batch)), True, rough)
    return model
