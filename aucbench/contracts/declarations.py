"""What plugins may declare beyond what they must, with defaults; and base classes that save typing it out."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.batch import Access, Batch, Matrix
from aucbench.contracts.hyperparameters import check_fields
from aucbench.contracts.interfaces import Claims, Grouping


class Facts:
    """A plugin, an instance or a class, seen through its contract: what it does not declare has the default.

    ``MethodFacts(algorithm).losses`` are the losses of a method, () where it declares none. An optional
    function that it does not have is None.
    """

    name: ClassVar[str]
    citation: ClassVar[str | None] = None
    exempt: ClassVar[Mapping[str, str]] = {}  # a check of `aucbench.testing` to the reason

    def __init__(self, plugin: Any):
        self._plugin = plugin

    def __getattribute__(self, name: str) -> Any:
        default = object.__getattribute__(self, name)
        return default if name.startswith("_") else getattr(self._plugin, name, default)


class Method:
    """A base class of methods with the types of what they declare, so that they need no ``ClassVar``.

    The parameters are checked when an instance is made. Methods that inherit nothing may declare the same.

    ``losses``
        Names of the losses it accepts, the first being the default; ``"*"`` accepts any.
    ``grid``
        The values that a tuning tries, field name to values, wide enough for any data.
    ``claims``, ``citation``, ``deviations``
        `Claims` of its paper; a BibTeX key; sentences on where it differs from its paper.
    ``requires``, ``exempt``
        Mappings to reasons: from a requirement (``"dense"``), and from a check of `aucbench.testing`.
    ``plans``
        The method must know the number of iterations beforehand.
    ``resumable``
        Training of a ``stream`` method may go on with other rows: whatever `batch.X` and `problem.X` were
        before, `step` looks at the rows of its own batch only, and the state holds values and no row numbers.
        What `init` measured (`problem.max_norm`, say) stays that of the first rows.
        `aucbench.sklearn.AUCClassifier.partial_fit` is there with True only.
    ``weighted``
        Rows may have weights, `batch.weights` and `problem.weights`: a row of weight k counts as k rows. A
        ``full`` method solves the problem in which it is repeated k times; a ``stream`` method multiplies its
        step by the weight over the mean of all. Other methods are refused weights by name.
    ``step_size``
        Name of the field that scales its steps, ``"eta"`` say; a run that diverges advises to lower it.
    ``block``
        For a method with access to pairs that steps once for a block of them: the pairs of a block, a field
        or an attribute. Its kernels are compiled by two blocks, since some train when the second is complete.
    ``min_together``
        The fewest settings for which `together` is asked: fewer train faster alone.
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
    step_size: ClassVar[str | None] = None
    block: int = 0
    min_together: ClassVar[int] = 2

    __post_init__ = check_fields


class LinearMethod(Method):
    """A base class of methods that score by a vector of weights: `w` of the state, if they define no others.

    ``weights(state)``
        (d,) weight vector; must not change the state.
    ``fitted_intercept(state)``
        The intercept of a method that fits one; `score` leaves it out, for the AUC does not see it.
    ``objective(problem)``
        The `Objective` whose minimum the weights approach, from the hyperparameters and the problem (its
        loss, n, p); None, or a `ParameterError` with the reason, where there is none for these
        hyperparameters. Its factors must be exact: the suboptimality of the method is measured against the
        minimum of this function.
    """

    def weights(self, state: Any) -> NDArray[np.float64]:
        """(d,) the current weights."""
        w: NDArray[np.float64] = state.w.copy()
        return w

    def score(self, state: Any, X: Matrix) -> NDArray[np.float64]:
        """(n,) decision values w.x."""
        scores: NDArray[np.float64] = X @ self.weights(state)
        return scores


class BatchSolver(LinearMethod):
    """A base class of ``full`` methods that iterate to a solution, until `solved` of the state is true.

    ``done(state)``
        Whether the method has converged.
    ``init_from(problem, rng, state)``
        The state before the first iteration, in the place of `init`, where settings of a grid follow each
        other. `state` is that in which another setting, which differs in numbers only, has converged on the
        same problem, and must not be changed; it is None for the first setting, which may keep for the others
        what they have in common. The solution must be that of a run from `init` up to the tolerance of the
        method.
    ``minimises(objective, problem)``
        A class method: the instance whose solution on the problem is the minimiser of the objective, None
        where it has none. `init_from` of that instance is also given states of other instances that this
        class method made for the same rows, and other losses; and, where the loss must be visited pair by
        pair, for some of the rows.
    """

    def step(self, state: Any, batch: Batch) -> Any:
        """One iteration a row, until solved."""
        for _ in range(len(batch.rows)):
            if state.solved:
                break
            state = self._iterate(state, batch)
        return state

    def done(self, state: Any) -> bool:
        """Whether the solution is found."""
        solved: bool = state.solved
        return solved

    def _iterate(self, state: Any, batch: Batch) -> Any:
        """The state after one iteration."""
        raise NotImplementedError


class MethodFacts(Facts, Method):
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


class LossFacts(Facts):
    """Facts and optional functions of a loss."""

    convex: ClassVar[bool | None] = None
    smoothness: ClassVar[float | None] = None
    lipschitz: ClassVar[float | None] = None
    consistent: ClassVar[bool | None] = None
    source: ClassVar[str | None] = None
    multiplicative: ClassVar[bool] = False
    pieces: ClassVar[Any] = None
    prox: ClassVar[Any] = None


class DatasetFacts(Facts):
    """Facts of a data set, and how its rows are obtained."""

    files: ClassVar[Sequence[Any]] = ()
    features: ClassVar[int | None] = None
    positive: ClassVar[float | str | Sequence[float | str] | None] = None
    grouping: ClassVar[Grouping | None] = None
    grouping_seed: ClassVar[int] = 0
    scaled: ClassVar[bool] = False
    large: ClassVar[bool] = False
    title: ClassVar[str | None] = None
    family: ClassVar[str | None] = None
    collection: ClassVar[str | None] = None
    licence: ClassVar[str | None] = None
    load: ClassVar[Any] = None
