"""Optional declarations of plugins with their defaults, and base classes for methods."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.batch import Access, Batch, Matrix
from aucbench.contracts.hyperparameters import check_fields
from aucbench.contracts.interfaces import Claims, Grouping, ModelClass


class Facts:
    """The declarations of a plugin, an instance or a class, with defaults for missing ones.

    ``MethodFacts(algorithm).losses`` are the losses of a method, () if it declares none. A missing optional
    function is None.
    """

    name: ClassVar[str]
    citation: str | None = None
    exempt: Mapping[str, str] = {}  # check of `aucbench.testing` to reason
    imports: tuple[str, ...] = ()  # fields that hold import paths

    def __init__(self, plugin: Any):
        self._plugin = plugin

    def __getattribute__(self, name: str) -> Any:
        default = object.__getattribute__(self, name)
        return default if name.startswith("_") else getattr(self._plugin, name, default)


class Method:
    """A base class of methods that types their declarations, which therefore need no ``ClassVar``.

    The parameters are checked when an instance is made. Methods without this base class may declare the same.

    ``losses``
        Names of the losses that the method accepts; the first is the default, ``"*"`` accepts any loss.
    ``grid``
        Mapping from a field to the values that a tuning tries, wide enough for any data.
    ``claims``, ``citation``, ``deviations``
        `Claims` of its paper; a BibTeX key; sentences on differences from its paper.
    ``requires``, ``exempt``
        Mappings from a requirement (``"dense"``), and from a check of `aucbench.testing`, to a reason.
    ``plans``
        The method must know the number of iterations beforehand.
    ``resumable``
        Training of a ``stream`` method can continue with other data: `step` reads only the rows of its batch,
        and the state holds values, not row numbers. Statistics that `init` measured, such as
        `problem.max_norm`, keep their values from the first data. Required for
        `aucbench.sklearn.AUCClassifier.partial_fit`.
    ``weighted``
        Rows may have weights, `batch.weights` and `problem.weights`: a row of weight k counts as k rows. A
        ``full`` method solves the problem with k copies of the row; a ``stream`` method multiplies its step
        by the weight over the mean weight. For all other methods, weights are an error.
    ``regularisation``
        The fields that regularise the weights of the *scaled columns*, each with a power of the row factor f:
        2 for the weight of |w|^2 / 2, -2 for its inverse, 1 for the weight of |w|_1, -1 for the radius of a
        ball. Before training, the framework multiplies each field by f to its power, which converts the value
        to the rescaled rows f (x - c); `init`, `step` and `objective` therefore see values for the rows they
        receive. None stays None. All other fields, such as step sizes, refer to the rescaled rows.
    ``step_size``
        Name of the field that scales the steps, such as ``"eta"``; a run that diverges advises lowering it.
    ``block``
        Number of pairs per block, a field or an attribute, for a ``pairs`` method that steps once per block.
        Its kernels are compiled on two blocks, since some methods train when the second block is complete.
    ``class_of_model``
        The `ModelClass` of the method; by default `linear` if it has weights, else `other`.
    ``packages``
        Distributions that the method imports, such as ``("jax", "optax")``. Their versions are recorded with
        each result, and a method with a missing package is listed with the command that installs it.
    ``extra``
        The requirement that installs these packages, such as ``"aucbench[nn]"``; their names by default.
    ``threads``
        Number of threads that train at the same time, a field or an attribute; 0 if the method does not know
        it. For a method with the package jax, records then give the number in the environment variable
        ``PJRT_NPROC``.
    ``validation``
        Share of the training rows, a field or an attribute, that is held out for the method:
        `problem.validation` has these rows, and `step` never visits them.
    ``imports``
        Names of the fields that hold the import path of a class. A path in recorded settings, which others
        may have written, is imported only if the user trusts its module (``--trust MODULE``).
    ``min_together``
        Smallest number of settings to train by `together`; fewer settings train faster alone.
    """

    name: ClassVar[str]
    access: ClassVar[Access]
    losses: ClassVar[tuple[str, ...]] = ()
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}
    claims: ClassVar[Claims | None] = None
    citation: ClassVar[str | None] = None
    deviations: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[Mapping[str, str]] = {}
    exempt: ClassVar[Mapping[str, str]] = {}
    plans: ClassVar[bool] = False
    resumable: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    regularisation: ClassVar[Mapping[str, int]] = {}
    step_size: ClassVar[str | None] = None
    block: int = 0
    class_of_model: ClassVar[ModelClass | None] = None
    packages: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""
    threads: int = 1
    validation: float = 0.0
    imports: ClassVar[tuple[str, ...]] = ()
    min_together: ClassVar[int] = 2

    __post_init__ = check_fields


class LinearMethod(Method):
    """A base class of methods that score by a weight vector, by default `w` of the state.

    ``weights(state)``
        (d,) weight vector; must not change the state.
    ``fitted_intercept(state)``
        The intercept, if the method fits one; `score` leaves it out, since the AUC does not depend on it.
    ``objective(problem)``
        The `Objective` that the weights minimise in the limit, from the hyperparameters and the problem (its
        loss, n, p); None, or a `ParameterError` with the reason, if these hyperparameters have no objective.
        Its factors must be exact: suboptimality is measured against the minimum of this function.
    """

    def weights(self, state: Any) -> NDArray[np.float64]:
        """(d,) current weights."""
        w: NDArray[np.float64] = state.w.copy()
        return w

    def score(self, state: Any, X: Matrix) -> NDArray[np.float64]:
        """(n,) decision values w.x."""
        scores: NDArray[np.float64] = X @ self.weights(state)
        return scores


class BatchSolver(LinearMethod):
    """A base class of ``full`` methods that iterate until `solved` of the state is true.

    ``done(state)``
        Whether the method has converged.
    ``init_from(problem, rng, state)``
        The state before the first iteration, instead of `init`, when the settings of a grid run one after the
        other. `state` is the converged state of another setting on the same problem, which differs in numbers
        only; it must not be changed. It is None for the first setting, which may store what the settings
        share. The solution must equal the solution from `init` up to the tolerance of the method.
    ``minimises(objective, problem)``
        A class method that returns the instance minimising the objective on the problem, None if there is
        none. Its `init_from` also receives states of other instances that this class method made for the same
        rows and other losses.
    """

    def step(self, state: Any, batch: Batch) -> Any:
        """One iteration per row, until solved."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            state = self._iterate(state, batch)
        return state

    def done(self, state: Any) -> bool:
        """Whether the method has converged."""
        solved: bool = state.solved
        return solved

    def _iterate(self, state: Any, batch: Batch) -> Any:
        """The state after one iteration."""
        raise NotImplementedError


class MethodFacts(Method, Facts):
    """Facts and optional functions of a method."""

    weights: ClassVar[Any] = None
    fitted_intercept: ClassVar[Any] = None
    finalize: ClassVar[Any] = None
    batch_size: ClassVar[Any] = None
    ignored: ClassVar[Any] = None
    objective: ClassVar[Any] = None
    done: ClassVar[Any] = None
    init_from: ClassVar[Any] = None
    minimises: ClassVar[Any] = None
    together: ClassVar[Any] = None
    wait: ClassVar[Any] = None
    state_bytes: ClassVar[Any] = None
    model: ClassVar[Any] = None
    device: ClassVar[Any] = None


class FeatureFacts(Facts):
    """Facts of a feature map: ``class_of_model`` is that of a linear method on its features."""

    class_of_model: ClassVar[ModelClass] = ModelClass.linear


def class_of_model(algorithm: Any, features: Any = None) -> ModelClass:
    """The class of model of a method on the rows as they are, or as mapped by a feature map.

    The method and the map are instances or classes. A linear method has the class that the feature map
    declares.
    """
    facts = MethodFacts(algorithm)
    kind = ModelClass(facts.class_of_model or ("linear" if facts.weights is not None else "other"))
    return ModelClass(FeatureFacts(features).class_of_model) if kind is ModelClass.linear else kind


def for_rows(algorithm: Any, row_factor: float) -> Any:
    """The method with its regularisation stated for rows that were multiplied by a factor.

    A weight w of rescaled rows f (x - c) is a weight f w of the scaled columns x, so lam |w|^2 / 2 for the
    columns is lam f^2 |w|^2 / 2 for the rows. A value that leaves its range is a `ParameterError`.
    """
    powers = MethodFacts(algorithm).regularisation
    changed = {
        name: value * row_factor**power
        for name, power in powers.items()
        if row_factor != 1.0 and (value := getattr(algorithm, name)) is not None
    }
    return replace(algorithm, **changed) if changed else algorithm


class LossFacts(Facts):
    """Facts and optional functions of a loss."""

    convex: bool | None = None
    smoothness: float | None = None
    lipschitz: float | None = None
    consistent: bool | None = None
    source: str | None = None
    multiplicative: bool = False
    pieces: ClassVar[Any] = None
    prox: ClassVar[Any] = None


class DatasetFacts(Facts):
    """Facts and optional functions of a data set."""

    files: Sequence[Any] = ()
    features: int | None = None
    positive: float | str | Sequence[float | str] | None = None
    grouping: Grouping | None = None
    grouping_seed: int = 0
    scaled: bool = False
    large: bool = False
    title: str | None = None
    family: str | None = None
    collection: str | None = None
    licence: str | None = None
    load: ClassVar[Any] = None
