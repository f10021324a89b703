"""What training has made of rows: their representation, the model, and where its scores are cut."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from aucbench.errors import DataError, ParameterError
from aucbench.sklearn import training
from aucbench.sklearn.representing import Representation, represented
from aucbench.sklearn.thresholds import Sample, best_threshold

FEW_ROWS = 100  # to begin with is warned of


class Ingredients(NamedTuple):
    """What decides a training, beside rows and seed; all is fixed by the first call of `partial_fit`."""

    algo: Any
    loss: Any
    features: Any
    scaling: str
    rescale: bool
    order: str
    iterations: int | None


class Fitted:
    """A model for rows as users have them; made by `fitted` or `begun`.

    Parameters
    ----------
    parts : Ingredients
        Of the training.
    representation : Representation
        Of the rows.
    seed : int
        Of the sample that decides the cut while rows keep coming.
    is_sparse : bool
        Whether the training rows are.

    Attributes
    ----------
    cut : float
        The score above which rows are positive.
    iterations : int
        Iterations so far.
    """

    cut: float = 0.0
    iterations: int = 0

    def __init__(self, parts: Ingredients, representation: Representation, seed: int, is_sparse: bool):
        self._parts, self._representation, self._sparse = parts, representation, is_sparse
        self._training: training.Fitting | None = None
        self._sample = Sample(seed)

    def go_on(self, parts: Ingredients, X: Any, y: NDArray[np.int8]) -> None:
        """Take each of some other rows once.

        Raises
        ------
        ParameterError
            Ingredients differ from those of the first call, or the training cannot go on.
        DataError
            Rows were sparse and are dense, or the other way round.
        """
        changed = [name for name in parts._fields if getattr(parts, name) != getattr(self._parts, name)]
        if changed:
            raise ParameterError(
                f"partial_fit goes on with the settings of the first call, but {', '.join(changed)} changed: "
                f"call fit, or begin with a clone."
            )
        if sparse.issparse(X) != self._sparse:
            kinds = ("sparse", "dense") if self._sparse else ("dense", "sparse")
            raise DataError(f"The rows of the first call were {kinds[0]}, these are {kinds[1]}.")
        self._take_in(self._representation.transform(X), y)

    def _take_in(self, Z: Any, y: NDArray[np.int8]) -> None:
        """Train on rows as the method takes them, each once."""
        assert self._training is not None  # partial_fit is there only for a training that was kept
        self._training.go_on(Z, y)
        self._sample.add(Z, y)
        self._take(self._training)
        if self._sample.complete:
            self.cut = self._sample.threshold(self._parts.algo.name, self._model)

    def _take(self, fitting: training.Fitting) -> None:
        self._model, self.iterations = fitting.model, fitting.iteration

    def scores(self, X: Any) -> NDArray[np.float64]:
        """(n,) scores, positive above the cut."""
        return self._model.scores(self._representation.transform(X)) - self.cut

    @property
    def why_no_coef(self) -> str | None:
        """Why there are no weights for the raw features; None if there are."""
        why = self._representation.why_not_affine
        if self._model.weights is None:
            why = "the method is not linear"
        return None if why is None else f"There are no coef_ and intercept_ for raw features: {why}."

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(1, d) weights for the raw features and (1,) offset, where there are some."""
        if self._model.weights is None:
            raise AttributeError(self.why_no_coef)
        coef, offset = self._representation.raw(self._model.weights)
        return coef[None], np.array([offset - self.cut])


def fitted(parts: Ingredients, X: Any, y: NDArray[np.int8], seed: int, epochs: float | None) -> Fitted:
    """Train on all rows at once.

    Parameters
    ----------
    parts : Ingredients
        Of the training.
    X : (n, d) ndarray or scipy CSR
        Training rows.
    y : (n,) int8 array
        Labels in {-1, 1}.
    seed : int
        Of order, method and feature map.
    epochs : float or None
        Passes, unless the ingredients say how many iterations.
    """
    representation, Z = represented(parts.scaling, parts.features, parts.rescale, X, seed)
    made = Fitted(parts, representation, seed, sparse.issparse(X))
    budget = {"iterations": parts.iterations} if parts.iterations is not None else {"epochs": epochs}
    task = training.task_of(parts.algo, parts.loss, Z, y, parts.order, seed, **budget)
    done = training.trained(task)
    if hasattr(parts.algo, "done") and done.stop_reason is None:
        warnings.warn(
            f"{parts.algo.name} has not converged after {done.iteration} iterations: allow more, "
            f"or set epochs=None, with which it runs until it has converged, for 1,000 at most.",
            ConvergenceWarning,
            stacklevel=3,
        )
    made._take(done)
    made.cut = best_threshold(parts.algo.name, made._model.scores(Z), y)
    if training.why_not_on(parts.algo, done.iteration) is None:
        made._training = done
    return made


def begun(parts: Ingredients, X: Any, y: NDArray[np.int8], seed: int) -> Fitted:
    """Train on the first of several parts of the rows, each row once; parameters as those of `fitted`."""
    counts = np.count_nonzero(y == 1), np.count_nonzero(y == -1)
    if len(y) < FEW_ROWS or 0 in counts:
        warnings.warn(
            f"The first call of partial_fit had {counts[0]} positive and {counts[1]} negative rows. Scaling, "
            f"feature map and what {parts.algo.name} measures on rows are settled by them for good: begin "
            f"with at least {FEW_ROWS} rows, of both classes in random order.",
            stacklevel=3,
        )
    representation, Z = represented(parts.scaling, parts.features, parts.rescale, X, seed)
    made = Fitted(parts, representation, seed, sparse.issparse(X))
    task = training.task_of(parts.algo, parts.loss, Z, y, parts.order, seed)
    made._training = training.begun(task, parts.iterations)
    made._take_in(Z, y)
    return made
