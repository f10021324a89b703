"""Training for the estimator, by the functions of the runner: on all rows at once or in parts."""

import warnings
from dataclasses import is_dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucbench.contracts import MethodFacts, for_rows
from aucbench.contracts.batch import canonical
from aucbench.data.memory import check_width
from aucbench.data.preprocess import Preprocessing
from aucbench.errors import DataError, ParameterError
from aucbench.runner.cell import batches, check_requirements, training_context
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.scorer import linear_scores
from aucbench.runner.task import Budget, Order, StopReason, Task, hold_out, make_budget
from aucbench.runner.trainer import Trainer
from aucbench.sklearn._threshold import LatestRows, best_threshold
from aucbench.studies.adapted_plugins import check_plan, divergence, why_not_on

PARTIAL_FIT = ("partial_fit", 'fit, algo="solam", or ')  # the refused call and an alternative
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


class Fitted:
    """A method trained on all rows at once or in parts; scores above the `cut` are positive."""

    def __init__(self, parts: Ingredients, X: Any):
        self.cut, self.iterations = 0.0, 0
        self._parts, self._is_sparse = parts, sparse.issparse(X)
        self._preprocessing = Preprocessing(parts.scaling, parts.features, parts.rescale)
        self._trainer: Trainer | None = None  # kept only if training can go on
        self._latest, self._calls = LatestRows(), 0
        self._planned: int | None = None  # planned iterations

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: restore_members(value, set()) for name, value in state.items()})

    def fit(
        self,
        X: Any,
        y: NDArray[np.int8],
        seed: int,
        epochs: float | None,
        weights: NDArray[np.float64] | None,
        groups: NDArray[np.int64] | None,
    ) -> "Fitted":
        """Train on all rows at once, for `epochs` unless the ingredients set a number of iterations."""
        algo, iterations = self._parts.algo, self._parts.iterations
        Z = self._preprocessing.fit_transform(canonical(X), seed, weights)
        length = {"epochs": epochs} if iterations is None else {"iterations": iterations}
        (task,) = hold_out([self._task(Z, y, seed, weights=weights, groups=groups, **length)], seed)
        budget = make_budget(task)
        trainer = self._run(task, budget, budget.iterations)
        if MethodFacts(algo).done is not None and trainer.stop_reason is None:
            warnings.warn(
                f"{algo.name} has not converged after {trainer.iteration} iterations: allow more, "
                f"or set epochs=None, with which it runs until it has converged, for 1,000 at most.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.cut = best_threshold(algo.name, self._model.scores(Z), y, weights)
        if why_not_on(algo, trainer.iteration, *PARTIAL_FIT) is not None:
            self._trainer = None
        return self

    def begin(self, X: Any, y: NDArray[np.int8], seed: int) -> "Fitted":
        """Train on the first of several parts of the rows, each row once."""
        counts, algo = (np.count_nonzero(y == 1), np.count_nonzero(y == -1)), self._parts.algo
        if len(y) < FEW_ROWS or 0 in counts:
            warnings.warn(
                f"The first call of partial_fit had {counts[0]} positive and {counts[1]} negative rows. They "
                f"alone decide scaling, feature map and what {algo.name} measures on rows: begin with at "
                f"least {FEW_ROWS} rows, of both classes in random order.",
                stacklevel=3,
            )
        Z = self._preprocessing.fit_transform(canonical(X), seed)
        self._run(self._task(Z, y, seed), Budget([0]), self._parts.iterations)
        self._train_rows(Z, y)
        return self

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
        self._train_rows(self._preprocessing.transform(canonical(X)), y)

    def _train_rows(self, Z: Any, y: NDArray[np.int8]) -> None:
        """Train on preprocessed rows, once each, in an order that differs from call to call."""
        trainer = self._trainer
        if trainer is None:
            raise ParameterError("The model forgot its training rows, so partial_fit cannot go on: call fit.")
        self._check_finite(trainer)
        task, end = replace(trainer.task, X=Z, y=y, fold=self._calls), trainer.iteration + len(y)
        if MethodFacts(task.algorithm).plans:
            scope = "of all calls of partial_fit"
            check_plan(task.algorithm, self._planned or 0, trainer.iteration, len(y), scope)
        self._run(task, Budget([end]))
        self._latest.add(Z, y)
        if self._latest.complete:
            self.cut = self._latest.threshold(self._parts.algo.name, self._model)

    def _task(self, Z: Any, y: NDArray[np.int8], seed: int, **more: Any) -> Task:
        """The task of a training without test rows; a ParameterError if the method cannot take the rows."""
        parts, factor = self._parts, self._preprocessing.row_factor
        if parts.order not in list(Order):
            raise ParameterError(f"order must be one of {', '.join(Order)}, got {parts.order!r}.")
        task = Task(
            for_rows(parts.algo, factor), parts.loss, Z, y, Z[:0], y[:0], checkpoints=1,
            order=Order(parts.order), seed=seed, order_seed=seed, row_factor=factor, **more,
        )  # fmt: skip
        check_requirements(task)
        check_width(Z.shape[1])
        return task

    def _run(self, task: Task, budget: Budget, planned: int | None = None) -> Trainer:
        """Train until the budget ends, with a new trainer unless there is one, and release the rows."""
        next_batch = batch_sampler(task)
        with training_context():
            if self._trainer is None:
                problem, self._planned = task.problem(planned), planned
                self._trainer = Trainer(task, budget, None, problem)
            trainer = self._trainer
            trainer.task, trainer.budget = task, budget
            for batch in batches(trainer, next_batch):
                trainer.advance(batch)
        none = {"X": task.X_test.copy(), "y": task.y_test.copy(), "X_test": task.X_test.copy()}
        trainer.task = replace(task, **none, y_test=none["y"], weights=None, validation=None, groups=None)
        self._check_finite(trainer)
        if trainer.iteration > 0:
            self._model, self.iterations = Model(task.algorithm, trainer.final), trainer.iteration
            self._calls += 1
        return trainer

    def forget_rows(self) -> None:
        """Drop the state of the training and the latest rows; the model stays."""
        self._trainer, self._latest = None, LatestRows()

    def _check_finite(self, trainer: Trainer) -> None:
        if trainer.stop_reason is StopReason.diverged:
            where = f"within {trainer.iteration:,} iterations"
            advice = "" if self._parts.rescale else ", or set rescale=True"
            raise ParameterError(f"{divergence(self._parts.algo, where, 'algo__')}{advice}.")

    def scores(self, X: Any) -> NDArray[np.float64]:
        """(n,) scores, positive above the cut."""
        return self._model.scores(self._preprocessing.transform(canonical(X))) - self.cut

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(1, d) weights for the raw features and (1,) offset; raises AttributeError if there are none."""
        weights, reason = self._model.weights, self._preprocessing.why_not_affine
        if weights is None:
            reason = "the method is not linear"
        if reason is not None or weights is None:
            raise AttributeError(f"There are no coef_ and intercept_ for raw features: {reason}.")
        coef, offset = self._preprocessing.raw(weights)
        return coef[None], np.array([offset - self.cut])


def restore_members(part: Any, seen: set[int]) -> Any:
    """Turn texts into members where annotations declare an `Enum`, in place except in tuples.

    skops stores a `StrEnum` member as its text. Methods compare members by identity, so a loaded model would
    silently train by other rules.
    """
    is_tuple = hasattr(part, "_asdict")
    is_ours = is_dataclass(part) or type(part).__module__.startswith("aucbench.")
    has_values = is_ours and hasattr(part, "__dict__") and not isinstance(part, type | Enum)
    if not is_tuple and (not has_values or id(part) in seen):
        return part
    seen.add(id(part))
    try:
        hints = get_type_hints(type(part))
    except (NameError, TypeError):  # names imported only for type checking
        hints = {}
    changed = {}
    for name, value in (part._asdict() if is_tuple else vars(part)).items():
        restored = restore_members(value, seen)
        for kind in (hints.get(name), *get_args(hints.get(name))):
            if type(restored) is str and isinstance(kind, type) and issubclass(kind, Enum):
                restored = kind(restored)
        if restored is not value:
            changed[name] = restored
    if is_tuple:
        return part._replace(**changed)
    for name, value in changed.items():
        object.__setattr__(part, name, value)
    return part
