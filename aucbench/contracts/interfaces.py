"""Interfaces of the plugin families. Plugins are frozen dataclasses of their parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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
    """A stochastic method, a frozen dataclass of hyperparameters.

    Required are `name`, `access`, `init`, `step` and `score`. What else a method may declare, `Method` lists;
    the functions of linear methods stand at `LinearMethod`, those of ``full`` methods that know when they
    have converged at `BatchSolver`. Other optional functions:

    ``finalize(state)``
        The state that is scored; timed; must not change its argument.
    ``batch_size(n_samples)``
        Rows of a minibatch (access ``minibatch``).
    ``ignored()``
        Names of fields that have no effect with the other fields as they are, such as the radius of a ball
        where the penalty is a ridge; a tuning does not try values of these.
    ``together(algorithms, states)``
        A class method: `Lockstep`, the training of several settings over one order at once, at less cost than
        one by one, or None where these settings cannot be. They differ in numbers only, not in names and
        flags; the states are as `init` gave them, and are no longer used by others. Not asked of ``full``
        methods.

    A public class attribute that is no field, method or property and that no contract knows is refused when
    the class is registered or handed over, since it may be misspelt; a name that begins with an underscore is
    free.
    """

    name: ClassVar[str]

    def init(self, problem: Problem, rng: np.random.Generator) -> Any:
        """The state before the first iteration."""

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the iterations of `batch.rows`, in order; may reuse the state's arrays."""

    def score(self, state: Any, X: Matrix) -> NDArray[np.float64]:
        """(n,) decision values of the rows of X; must not train."""


class Lockstep(Protocol):
    """Several settings of one method in training over one order, numbered from 0."""

    def step(self, batch: Batch) -> None:
        """All settings consume the rows of a batch, in order."""

    def state(self, number: int) -> Any:
        """The state of a setting, as its own steps would have left it up to rounding.

        It is scored and not trained on, and it may share arrays with other states until the next step.
        """

    def drop(self, number: int) -> None:
        """Train a setting no more; its state is not asked for again, and the others do not change."""


@runtime_checkable
class Loss(Protocol):
    """A surrogate loss of the margin m = s+ - s-, a frozen dataclass with at most one scalar parameter theta.

    `value` and `derivative` are static methods, plain scalar functions that the framework compiles.
    Optional: a static ``prox(m, c, theta)``, the minimiser over z of c * value(z, theta) + (z - m)**2 / 2.

    Two optional declarations make sums over all pairs exact in O(n log n). A static ``pieces(theta)`` says
    that the loss is quadratic by pieces and continuous: a tuple of ``(upper, c0, c1, c2)`` in ascending
    order, the last `upper` being infinite, with value c0 + c1 m + c2 m**2 for margins up to `upper` from that
    of the piece before. ``multiplicative = True`` says that value(a + b) = value(a) value(b), so that the
    mean over pairs is a product of two means. The mean of any other loss is found pair by pair.

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


class Grouping(StrEnum):
    """How several classes become two.

    ``halves``: a random half of the classes, from `grouping_seed`, is positive; (K - 1) / 2 of an odd K.
    ``rarest``: the class with fewest training rows is positive (the smallest label of several such).
    ``largest``: the class with most training rows is positive (the smallest label of several such).
    ``one``: the class or classes named by `positive`.
    """

    halves = "halves"
    rarest = "rarest"
    largest = "largest"
    one = "one"


@dataclass(frozen=True)
class Table:
    """How a file of columns (CSV, Parquet, ARFF) is read; columns are given by name or by number from 0.

    Parameters
    ----------
    target : str or int
        The column of labels, -1 for the last one.
    drop : tuple of str and int
        Columns that are no features.
    header : bool or None
        Whether the first line of a CSV file has the names; None: if no cell in it is a number, one stands
        over a number and is none, or they are 0, 1, 2 and so on.
    delimiter : str or None
        Between the cells of a CSV file; None: the most frequent of , ; tab | and blank in the first line.
    missing : str
        ``refuse``, or ``median``: a missing number becomes the median of its column in the training part, a
        missing text belongs to no category.
    types : tuple of (column, type)
        What the cells of a column are, where that is not to be found out: ``number``, ``categories``, or a
        notation of numbers (``thousands``, ``decimal_comma``, ``percent``, ``date``).
    """

    target: str | int = -1
    drop: tuple[str | int, ...] = ()
    header: bool | None = None
    delimiter: str | None = None
    missing: str = "refuse"
    types: tuple[tuple[str | int, str], ...] = ()


@dataclass(frozen=True)
class File:
    """One file of a data set, with the published facts that are checked after parsing.

    Parameters
    ----------
    path : str
        Relative to the root of a mirror (laid out like the LIBSVM site) or absolute for a file of one's own.
    part : str
        ``train`` or ``test``.
    rows : int, optional
        Published number of rows.
    labels : mapping
        Published count of each label.
    sha256 : str, optional
        Of the public file, where it is known; of its rows alone where the kind is ``keel``.
    urls : tuple of str
        Full public addresses, tried in order (the LIBSVM site's when left empty); ``#NAME`` behind the
        address of a zip archive means the file of that name in it.
    kind : str
        ``libsvm``, ``csv``, ``parquet``, ``arff``, ``npz``, ``keel``: rows in CSV after KEEL's lines that
        begin with @, which may be missing, or ``openml``: a description of that site, by which the data are
        found.
    table : Table
        How columns are read.
    topic : float or "largest", optional
        Rows have any number of labels; those that have this one, or the one that most training rows have, are
        labelled 1, the others -1.
    zero_based : bool or None
        Whether the indices of a LIBSVM file count from 0; None: if an index in any file of the data set is 0.
    by_hand : str
        Of a file without a public address: what to download, and where.
    """

    path: str
    part: str = "train"
    rows: int | None = None
    labels: Mapping[float | str, int] = field(default_factory=dict)
    sha256: str | None = None
    urls: tuple[str, ...] = ()
    kind: str = "libsvm"
    table: Table = Table()
    topic: float | str | None = None
    zero_based: bool | None = False
    by_hand: str = ""


@runtime_checkable
class Dataset(Protocol):
    """A data set: a declaration of `files`, or a method ``load() -> Samples``.

    ``files`` is a tuple of `File` (a class variable or a property), ``features`` their published number of
    columns (None: the largest index). Optional:

    ``positive``
        The label or labels that become +1.
    ``grouping``, ``grouping_seed``
        How several classes become two (`Grouping`), unless `positive` says.
    ``scaled = True``
        The features must not be scaled again.
    ``large = True``
        More than 100 MB to download.
    ``title``
        The name under which results are shown, where one plugin reads many data sets.
    ``family``
        The origin that the data set has in common with others, which are therefore no independent evidence;
        each is a family of its own where it is not declared.
    ``collection``
        The title under which the reference lists it with others.
    ``licence``, ``citation``
        Of the data.
    """

    name: ClassVar[str]


Grid = Mapping[str, Sequence[Any]]
