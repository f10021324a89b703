"""A fitted estimator: its scaling, feature map, model, and the threshold at which scores are cut."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucbench.contracts import MethodFacts
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data.preprocess import Rescaling, check_magnitude
from aucbench.data.scaler import Scaling, fit_scaling
from aucbench.errors import DataError, ParameterError
from aucbench.runner.budget_and_checkpoints import IterationBudget, make_budget
from aucbench.runner.cell import training_context
from aucbench.runner.sampler import batch_sampler
from aucbench.sklearn._compile_notice import compile_notice
from aucbench.sklearn._enumerations import restore_members
from aucbench.sklearn._threshold import Sample, best_threshold
from aucbench.sklearn._trainer import PARTIAL_FIT, ModelTrainer, task_of
from aucbench.studies.adapted_plugins import why_not_on

FEW_ROWS = 100  # fewer rows in the first call of partial_fit give a warning


class Ingredients(NamedTuple):
    """Settings that decide a training; all are fixed by the first call of `partial_fit`."""

    algo: Any
    loss: Any
    features: Any
    scaling: str
    rescale: bool
    order: str
    iterations: int | None


class Representation:
    """Scaling, feature map and rescaling, fitted to training rows as in a run."""

    def __init__(self, parts: Ingredients):
        self._parts = parts

    def fit_transform(self, X: Any, seed: int, weights: NDArray[np.float64] | None = None) -> Any:
        """Fit everything to the training rows; the rows as methods take them, in new arrays.

        Means and deviations are weighted; a feature map takes all rows alike.
        """
        X = _canonical(X)
        self._scaler = fit_scaling(self._parts.scaling, X, weights=weights)
        scaled = self._scaler.apply(X)
        if self._scaler.scaling is Scaling.none:  # every other scaling bounds the values
            check_magnitude(scaled)
        self._map = self._parts.features.fit(scaled, generator(seed, RandomStream.features))
        Z = self._map.transform(scaled)
        self._is_mapped = Z is not scaled
        self._rescaling = Rescaling.fit(Z, weights) if self._parts.rescale else None
        return self._rescaled(Z, scaled, X)

    def transform(self, X: Any) -> Any:
        """The rows as methods take them, in new arrays of the same type."""
        X = _canonical(X)
        scaled = self._scaler.apply(X)
        return self._rescaled(self._map.transform(scaled), scaled, X)

    def _rescaled(self, Z: Any, scaled: Any, X: Any) -> Any:
        if self._rescaling is None:
            return Z
        return self._rescaling.apply(Z, in_place=Z is scaled and scaled is not X)

    @property
    def why_not_affine(self) -> str | None:
        """The reason why a linear model is not linear in the raw features; None if it is."""
        if self._is_mapped:
            return "the model is linear in the mapped features only"
        if self._scaler.scaling in (Scaling.none, Scaling.maxabs, Scaling.minmax, Scaling.standard):
            return None
        return f"scaling={self._scaler.scaling} divides each row by its own norm"

    def raw(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights and offset that give the raw rows the scores w.x of those the method takes; if affine."""
        w, constant = (w.copy(), 0.0) if self._rescaling is None else self._rescaling.raw(w)
        scaling, offset, divisor = self._scaler.scaling, self._scaler.offset, self._scaler.divisor
        if scaling is Scaling.none:
            return w, constant
        if scaling is Scaling.maxabs:
            return w / divisor, constant
        varies = divisor > 0.0  # a constant column is 0 whatever its value
        coef = np.where(varies, w / np.where(varies, divisor, 1.0), 0.0)
        if scaling is Scaling.standard:
            return coef, constant - float(coef @ offset)
        return 2.0 * coef, constant - 2.0 * float(coef @ offset) - float(w[varies].sum())


def _canonical(X: Any) -> Any:
    """Sparse rows with ascending columns that do not repeat; a copy where they have not."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


class Fitted:
    """A model for rows as users have them, and the `cut` above which scores are positive."""

    def __init__(self, parts: Ingredients, seed: int, is_sparse: bool):
        self.cut, self.iterations = 0.0, 0
        self._parts, self._is_sparse, self._sample = parts, is_sparse, Sample(seed)
        self._representation = Representation(parts)
        self._trainer: ModelTrainer | None = None  # only if it can go on

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: restore_members(value) for name, value in state.items()})

    def go_on(self, parts: Ingredients, X: Any, y: NDArray[np.int8]) -> None:
        """Take each of some other rows once, with the ingredients and the kind of rows of the first call."""
        changed = [name for name in parts._fields if getattr(parts, name) != getattr(self._parts, name)]
        if changed:
            raise ParameterError(
                f"partial_fit goes on with the settings of the first call, but {', '.join(changed)} changed: "
                f"call fit, or begin with a clone."
            )
        if sparse.issparse(X) != self._is_sparse:
            kinds = ("sparse", "dense") if self._is_sparse else ("dense", "sparse")
            raise DataError(f"The rows of the first call were {kinds[0]}, these are {kinds[1]}.")
        self._take_in(self._representation.transform(X), y)

    def _take_in(self, Z: Any, y: NDArray[np.int8]) -> None:
        """Train on rows as the method takes them, each once."""
        assert self._trainer is not None  # partial_fit is there only for a training that was kept
        self._check_finite(self._trainer)
        self._trainer.go_on(Z, y)
        self._sample.add(Z, y)
        self._take(self._trainer)
        if self._sample.complete:
            self.cut = self._sample.threshold(self._parts.algo.name, self._model)

    def _take(self, trainer: ModelTrainer) -> None:
        self._check_finite(trainer)
        self._model, self.iterations = trainer.model, trainer.iteration

    def _check_finite(self, trainer: ModelTrainer) -> None:
        if not trainer.diverged:
            return
        algo = self._parts.algo
        step = MethodFacts(algo).step_size
        advice = f"lower algo__{step}, now {getattr(algo, step)}" if step else "set other hyperparameters"
        if not self._parts.rescale:
            advice += ", or set rescale=True"
        raise ParameterError(
            f"{algo.name} diverged {trainer.diverged}: its weights are NaN or infinite; {advice}."
        )

    def scores(self, X: Any) -> NDArray[np.float64]:
        """(n,) scores, positive above the cut."""
        return self._model.scores(self._representation.transform(X)) - self.cut

    @property
    def why_no_coef(self) -> str | None:
        """The reason why there are no weights for the raw features; None if there are."""
        why = self._representation.why_not_affine
        if self._model.weights is None:
            why = "the method is not linear"
        return None if why is None else f"There are no coef_ and intercept_ for raw features: {why}."

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(1, d) weights for the raw features and (1,) offset; AttributeError where there are none."""
        why = self.why_no_coef
        if why is not None or self._model.weights is None:
            raise AttributeError(why)
        coef, offset = self._representation.raw(self._model.weights)
        return coef[None], np.array([offset - self.cut])


@contextmanager
def former_fit_kept(estimator: Any) -> Iterator[None]:
    """An error in the block leaves the estimator as it was: scikit-learn sets attributes before fitting."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@compile_notice()
def fitted(
    parts: Ingredients,
    X: Any,
    y: NDArray[np.int8],
    seed: int,
    epochs: float | None,
    weights: NDArray[np.float64] | None,
) -> Fitted:
    """Train on all rows at once, for some epochs unless the ingredients set a number of iterations."""
    made = Fitted(parts, seed, sparse.issparse(X))
    Z = made._representation.fit_transform(X, seed, weights)
    budget = {"iterations": parts.iterations} if parts.iterations is not None else {"epochs": epochs}
    task = task_of(parts.algo, parts.loss, Z, y, parts.order, seed, weights=weights, **budget)
    limit, next_batch = make_budget(task), batch_sampler(task)
    with training_context():
        done = ModelTrainer(task, limit, limit.iterations)
        done.run(next_batch)
    if MethodFacts(parts.algo).done is not None and done.stop_reason is None:
        warnings.warn(
            f"{parts.algo.name} has not converged after {done.iteration} iterations: allow more, "
            f"or set epochs=None, with which it runs until it has converged, for 1,000 at most.",
            ConvergenceWarning,
            stacklevel=4,  # behind `compile_notice`
        )
    made._take(done)
    made.cut = best_threshold(parts.algo.name, made._model.scores(Z), y, weights)
    if why_not_on(parts.algo, done.iteration, *PARTIAL_FIT) is None:
        made._trainer = done
    return made


@compile_notice()
def begun(parts: Ingredients, X: Any, y: NDArray[np.int8], seed: int) -> Fitted:
    """Train on the first of several parts of the rows, each row once."""
    counts = np.count_nonzero(y == 1), np.count_nonzero(y == -1)
    if len(y) < FEW_ROWS or 0 in counts:
        warnings.warn(
            f"The first call of partial_fit had {counts[0]} positive and {counts[1]} negative rows. They "
            f"alone decide scaling, feature map and what {parts.algo.name} measures on rows: begin with at "
            f"least {FEW_ROWS} rows, of both classes in random order.",
            stacklevel=4,
        )
    made = Fitted(parts, seed, sparse.issparse(X))
    Z = made._representation.fit_transform(X, seed)
    task = task_of(parts.algo, parts.loss, Z, y, parts.order, seed)
    with training_context():  # the method may measure these rows
        made._trainer = ModelTrainer(task, IterationBudget(0, []), parts.iterations)
    made._take_in(Z, y)
    return made
