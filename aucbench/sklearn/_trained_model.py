"""Training for the estimator, by the functions of the runner: on all rows at once or in parts."""

import warnings
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucbench.contracts import Batch, MethodFacts, for_rows
from aucbench.contracts.batch import canonical
from aucbench.data.memory import check_width
from aucbench.data.preprocess import Preprocessing
from aucbench.errors import DataError, ParameterError
from aucbench.runner.cell import batches, check_requirements, training_context
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.scorer import Scorer, linear_scores
from aucbench.runner.task import Budget, IterationBudget, Order, StopReason, Task, hold_out, make_budget
from aucbench.runner.trainer import Trainer, finalize
from aucbench.sklearn._threshold import LatestRows, best_threshold
from aucbench.studies.adapted_plugins import check_plan, divergence, why_not_on

PARTIAL_FIT = ("partial_fit", 'fit, algo="solam", or ')  # for `why_not_on`: the refused call, an alternative
FEW_ROWS = 100  # a first call of partial_fit with fewer rows warns


class Ingredients(NamedTuple):
    """Settings of a training; the first call of `partial_fit` fixes all of them."""

    algo: Any
    loss: Any
    features: Any
    scaling: str
    rescale: bool
    order: str
    iterations: int | None


class Model:
    """A trained method: its weights, or the final state of a method without weights."""

    def __init__(self, algorithm: Any, state: Any):
        linear = MethodFacts(algorithm).weights is not None
        self.weights = np.array(algorithm.weights(state), np.float64) if linear else None
        self._algorithm, self._state = algorithm, None if linear else state

    def scores(self, X: Any) -> NDArray[np.float64]:
        """(n,) scores of preprocessed rows."""
        if self.weights is not None:
            return linear_scores(self.weights[None], X)[0]
        return np.asarray(self._algorithm.score(self._state, X), np.float64)


class ModelTrainer(Trainer):
    """A training that keeps the last model and can go on with other rows.

    The method plans for `planned` iterations.
    """

    model: Model

    def __init__(self, task: Task, budget: Budget, planned: int | None):
        problem = task.problem(planned)
        super().__init__(task, budget, Scorer(task.X_test, task.y_test), problem)
        self._calls, self._planned = 0, planned

    def _measure(self) -> None:
        algorithm = self.task.algorithm
        self.model = Model(algorithm, finalize(algorithm, self.state))

    def run(self, next_batch: Callable[[int], Batch]) -> None:
        """Train until the budget ends, then release the rows."""
        for batch in batches(self, next_batch):
            self.advance(batch)
        task = self.task
        self._calls += 1
        none, no_labels = task.X[:0].copy(), task.y[:0].copy()
        self.task = replace(
            task, X=none, y=no_labels, X_test=none, y_test=no_labels, weights=None, validation=None
        )

    def go_on(self, X: Any, y: NDArray[np.int8]) -> None:
        """Train on other rows, once each, in an order that differs from call to call."""
        end, task = self.iteration + len(y), self.task
        if MethodFacts(task.algorithm).plans:
            whole = "of all calls of partial_fit"
            check_plan(task.algorithm, self._planned or 0, self.iteration, len(y), whole)
        self.task = replace(task, X=X, y=y)
        self._budget = IterationBudget(end, [end])
        with training_context():
            self.run(batch_sampler(replace(self.task, fold=self._calls)))


def task_of(
    parts: Ingredients, X: Any, y: NDArray[np.int8], seed: int, row_factor: float, **more: Any
) -> Task:
    """The task of a training without test rows; raises ParameterError if the method cannot take the rows."""
    if parts.order not in list(Order):
        raise ParameterError(f"order must be one of {', '.join(Order)}, got {parts.order!r}.")
    task = Task(
        for_rows(parts.algo, row_factor), parts.loss, X, y, X[:0], y[:0], checkpoints=1,
        order=Order(parts.order), seed=seed, order_seed=seed, row_factor=row_factor, **more,
    )  # fmt: skip
    check_requirements(task)
    check_width(X.shape[1])
    return task


class Fitted:
    """A model for raw rows, and the `cut`: scores above it are positive."""

    def __init__(self, parts: Ingredients, is_sparse: bool):
        self.cut, self.iterations = 0.0, 0
        self._parts, self._is_sparse, self._latest = parts, is_sparse, LatestRows()
        self._preprocessing = Preprocessing(parts.scaling, parts.features, parts.rescale)
        self._trainer: ModelTrainer | None = None  # kept only if training can go on

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: restore_members(value) for name, value in state.items()})

    def go_on(self, parts: Ingredients, X: Any, y: NDArray[np.int8]) -> None:
        """Train on other rows, once each; settings and row type must be the same as in the first call."""
        changed = [name for name in parts._fields if getattr(parts, name) != getattr(self._parts, name)]
        if changed:
            raise ParameterError(
                f"partial_fit goes on with the settings of the first call, but {', '.join(changed)} changed: "
                f"call fit, or begin with a clone."
            )
        if sparse.issparse(X) != self._is_sparse:
            kinds = ("sparse", "dense") if self._is_sparse else ("dense", "sparse")
            raise DataError(f"The rows of the first call were {kinds[0]}, these are {kinds[1]}.")
        self._take_in(self._preprocessing.transform(canonical(X)), y)

    def _take_in(self, Z: Any, y: NDArray[np.int8]) -> None:
        """Train on preprocessed rows, once each."""
        if self._trainer is None:
            raise ParameterError("The model forgot its training rows, so partial_fit cannot go on: call fit.")
        self._check_finite(self._trainer)
        self._trainer.go_on(Z, y)
        self._latest.add(Z, y)
        self._take(self._trainer)
        if self._latest.complete:
            self.cut = self._latest.threshold(self._parts.algo.name, self._model)

    def forget_rows(self) -> None:
        """Drop the state of the training and the latest rows; the model stays."""
        self._trainer, self._latest = None, LatestRows()

    def _take(self, trainer: ModelTrainer) -> None:
        self._check_finite(trainer)
        self._model, self.iterations = trainer.model, trainer.iteration

    def _check_finite(self, trainer: ModelTrainer) -> None:
        if trainer.stop_reason is StopReason.diverged:
            where = f"within {trainer.iteration:,} iterations"
            advice = "" if self._parts.rescale else ", or set rescale=True"
            raise ParameterError(f"{divergence(self._parts.algo, where, 'algo__')}{advice}.")

    def scores(self, X: Any) -> NDArray[np.float64]:
        """(n,) scores, positive above the cut."""
        return self._model.scores(self._preprocessing.transform(canonical(X))) - self.cut

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(1, d) weights for the raw features and (1,) offset; raises AttributeError if there are none."""
        weights, why = self._model.weights, self._preprocessing.why_not_affine
        if weights is None:
            why = "the method is not linear"
        if why is not None or weights is None:
            raise AttributeError(f"There are no coef_ and intercept_ for raw features: {why}.")
        coef, offset = self._preprocessing.raw(weights)
        return coef[None], np.array([offset - self.cut])


def fitted(
    parts: Ingredients,
    X: Any,
    y: NDArray[np.int8],
    seed: int,
    epochs: float | None,
    weights: NDArray[np.float64] | None,
    groups: NDArray[np.int64] | None,
) -> Fitted:
    """Train on all rows at once, for `epochs` unless the ingredients set a number of iterations."""
    made = Fitted(parts, sparse.issparse(X))
    Z = made._preprocessing.fit_transform(canonical(X), seed, weights)
    budget = {"iterations": parts.iterations} if parts.iterations is not None else {"epochs": epochs}
    factor = made._preprocessing.row_factor
    made_of = {"weights": weights, "groups": groups, **budget}
    (task,) = hold_out([task_of(parts, Z, y, seed, factor, **made_of)], seed)
    limit, next_batch = make_budget(task), batch_sampler(task)
    with training_context():
        done = ModelTrainer(task, limit, limit.iterations)
        done.run(next_batch)
    if MethodFacts(parts.algo).done is not None and done.stop_reason is None:
        warnings.warn(
            f"{parts.algo.name} has not converged after {done.iteration} iterations: allow more, "
            f"or set epochs=None, with which it runs until it has converged, for 1,000 at most.",
            ConvergenceWarning,
            stacklevel=3,
        )
    made._take(done)
    made.cut = best_threshold(parts.algo.name, made._model.scores(Z), y, weights)
    if why_not_on(parts.algo, done.iteration, *PARTIAL_FIT) is None:
        made._trainer = done
    return made


def begun(parts: Ingredients, X: Any, y: NDArray[np.int8], seed: int) -> Fitted:
    """Train on the first of several parts of the rows, each row once."""
    counts = np.count_nonzero(y == 1), np.count_nonzero(y == -1)
    if len(y) < FEW_ROWS or 0 in counts:
        warnings.warn(
            f"The first call of partial_fit had {counts[0]} positive and {counts[1]} negative rows. They "
            f"alone decide scaling, feature map and what {parts.algo.name} measures on rows: begin with at "
            f"least {FEW_ROWS} rows, of both classes in random order.",
            stacklevel=3,
        )
    made = Fitted(parts, sparse.issparse(X))
    Z = made._preprocessing.fit_transform(canonical(X), seed)
    task = task_of(parts, Z, y, seed, made._preprocessing.row_factor)
    with training_context():  # the method may measure these rows
        made._trainer = ModelTrainer(task, IterationBudget(0, []), parts.iterations)
    made._take_in(Z, y)
    return made


def restore_members(found: Any, known: set[int] | None = None) -> Any:
    """Turn texts into enumeration members where the annotations declare an `Enum`, in place except in tuples.

    skops stores a `StrEnum` member as its text. Methods compare members by identity, so a loaded model would
    silently train by other rules.
    """
    known = set() if known is None else known
    is_tuple = isinstance(found, tuple) and hasattr(found, "_fields")
    is_own = is_dataclass(found) or type(found).__module__.partition(".")[0] == "aucbench"
    has_values = is_own and hasattr(found, "__dict__") and not isinstance(found, type | Enum)
    if not is_tuple and (not has_values or id(found) in known):
        return found
    known.add(id(found))
    try:
        hints = get_type_hints(type(found))
    except (NameError, TypeError):  # names imported only for type checking
        hints = {}
    changed = {}
    for name, value in (found._asdict() if is_tuple else vars(found)).items():
        restored = restore_members(value, known)
        for kind in (hints.get(name), *get_args(hints.get(name))):
            if type(restored) is str and isinstance(kind, type) and issubclass(kind, Enum):
                restored = kind(restored)
        if restored is not value:
            changed[name] = restored
    if is_tuple:
        return found._replace(**changed) if changed else found
    for name, value in changed.items():
        object.__setattr__(found, name, value)
    return found
