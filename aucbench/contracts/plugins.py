"""What a plugin of each family provides. Plugins are frozen dataclasses of their parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.batch import Batch, Matrix
from aucbench.contracts.problem import Problem


class Claims(NamedTuple):
    """What a method's paper claims for it."""

    rate: str  # convergence rate in t, e.g. "1/sqrt(t)"
    cost: str  # cost per iteration in d, nnz, buffer or degree, e.g. "d"


@runtime_checkable
class Algorithm(Protocol):
    """A stochastic method, a frozen dataclass of hyper-parameters.

    Required are `name`, `access`, `init`, `step` and `score`. Optional attributes:

    ``weights(state)``
        (d,) weight vector of a linear method; must not change the state.
    ``finalize(state)``
        The state that is scored; timed; must not change its argument.
    ``batch_size(n_samples)``
        Rows of a minibatch (access ``minibatch``).
    ``plans = True``
        The method must know the number of iterations beforehand.
    ``done(state)``
        Whether a ``full`` method has converged.
    ``losses``
        Names of the losses it accepts, the first being the default; ``"*"`` accepts any.
    ``grid``
        The tuning grid of its paper, field name to values.
    ``claims``, ``citation``, ``deviations``, ``requires``
        `Claims`; a BibTeX key; sentences; a mapping from a requirement (``"dense"``) to its reason.
    """

    name: ClassVar[str]

    def init(self, problem: Problem, rng: np.random.Generator) -> Any:
        """The state before the first iteration."""

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the iterations of `batch.rows`, in order; may reuse the state's arrays."""

    def score(self, state: Any, X: Matrix) -> NDArray[np.float64]:
        """(n,) decision values of the rows of X; must not train."""


@runtime_checkable
class Loss(Protocol):
    """A surrogate loss of the margin m = s+ - s-, a frozen dataclass with at most one scalar parameter theta.

    `value` and `derivative` are static methods, plain scalar functions that the framework compiles.
    Optional: a static ``prox(m, c, theta)``, the minimiser over z of c * value(z, theta) + (z - m)**2 / 2.
    Facts with their source: ``convex``, ``smoothness``, ``lipschitz``, ``consistent``, ``source``.
    """

    name: ClassVar[str]

    @staticmethod
    def value(m: float, theta: float) -> float:
        """The loss at the margin m."""

    @staticmethod
    def derivative(m: float, theta: float) -> float:
        """A (sub)derivative of the loss at the margin m."""


@runtime_checkable
class FeatureMap(Protocol):
    """A feature map, a frozen dataclass of its parameters."""

    name: ClassVar[str]

    def fit(self, X: Matrix, rng: np.random.Generator) -> Any:
        """Learn from the training rows; returns an object whose ``transform(X)`` maps rows."""


class Samples(NamedTuple):
    """Rows and labels, as `load()` of a data set without files returns them."""

    X: Any  # (n, d) ndarray or scipy CSR
    y: Any  # (n,) labels, at most two distinct values unless the data set says which are positive


@dataclass(frozen=True)
class File:
    """One file of a data set, with the published facts that are checked after parsing.

    `path` is relative to the root of a mirror (laid out like the LIBSVM site) or absolute for a file of
    one's own; `urls` are full public addresses, tried in order (the LIBSVM site's when left empty).
    """

    path: str
    part: str = "train"  # train or test
    rows: int | None = None
    labels: Mapping[float, int] = field(default_factory=dict)  # published count of each label
    sha256: str | None = None  # of the public file, where it is known
    urls: tuple[str, ...] = ()


@runtime_checkable
class Dataset(Protocol):
    """A data set: a declaration of `files`, or a method ``load() -> Samples``.

    ``files`` is a tuple of `File` (a class variable or a property), ``features`` their published number of
    columns (None: the largest index). Optional: ``positive``, the label or labels that become +1;
    ``scaled = True`` for features that must not be scaled again; ``title``, the name under which results
    are shown, where one plugin reads many data sets; ``licence``, ``citation``.
    """

    name: ClassVar[str]


Grid = Mapping[str, Sequence[Any]]
