"""Interfaces of the plugin families. Plugins are frozen dataclasses of their parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts.batch import Batch, Matrix
from aucbench.contracts.problem import Problem


class ModelClass(StrEnum):
    """The kind of function by which a method scores rows; leaderboards compare methods within a class.

    ``linear``: a weight vector. ``kernel``: a linear function of features of a kernel. ``trees``: decision
    trees and their sums. ``network``: a neural network. ``other``: everything else.
    """

    linear = "linear"
    kernel = "kernel"
    trees = "trees"
    network = "network"
    other = "other"


@dataclass(frozen=True)
class Claims:
    """The claims of a method's paper: the `rate` of convergence, and the `cost` of an iteration."""

    rate: str  # convergence rate in t, e.g. "1/sqrt(t)"
    cost: str  # cost per iteration in d, nnz, buffer or degree, e.g. "d"


@runtime_checkable
class Algorithm(Protocol):
    """A stochastic method, a frozen dataclass of hyperparameters.

    `name`, `access`, `init`, `step` and `score` are required. `Method` lists the optional declarations,
    `LinearMethod` the functions of linear methods, `BatchSolver` the functions of ``full`` methods that
    detect convergence. Other optional functions:

    ``finalize(state)``
        The state to score. The call is timed and must not change its argument.
    ``batch_size(n_samples)``
        Number of rows of a minibatch (access ``minibatch`` or ``balanced``; even for ``balanced``).
    ``wait(state)``
        Wait for unfinished work on the state, such as JAX's. It is called, and timed, after `init`, each
        `step` and `finalize`. The `step` of a `Lockstep` waits itself.
    ``state_bytes(state)``
        Number of bytes that the state holds outside of arrays, for example in a booster.
    ``model(state)``
        The model as bytes, stored with the result.
    ``device()``
        The device on which the method trains, such as ``"gpu"``; by default that of JAX if `packages` names
        jax, else ``"cpu"``. It is called when a study is planned. Results on another device count as another
        setting.
    ``ignored()``
        Names of the fields that have no effect, given the other fields, such as the radius of a ball when the
        penalty is a ridge. A tuning does not vary them.
    ``together(algorithms, states)``
        A class method that returns a `Lockstep` to train several settings over one order at once, faster than
        one by one, or None if these settings cannot train together. The settings differ only in numbers, not
        in names and flags; the states come from `init` and are not used elsewhere. It is not called for
        ``full`` methods.

    Registering or passing in a class is an error if it has a public attribute that is no field, method or
    property and not part of the contract, since the name may be misspelt. Names that begin with an underscore
    are free.
    """

    name: ClassVar[str]

    def init(self, problem: Problem, rng: np.random.Generator) -> Any:
        """The state before the first iteration."""

    def step(self, state: Any, batch: Batch) -> Any:
        """The state after the iterations of `batch.rows`, in order; may reuse the state's arrays."""

    def score(self, state: Any, X: Matrix) -> NDArray[np.float64]:
        """(n,) decision values of the rows of X; must not train."""


class Lockstep(Protocol):
    """Several settings of one method, numbered from 0, that train over one order."""

    def step(self, batch: Batch) -> None:
        """Train all settings on the rows of a batch, in order."""

    def state(self, number: int) -> Any:
        """The state of a setting, equal up to rounding to its state when trained alone.

        The state is scored, not trained further, and may share arrays with other states until the next step.
        """

    def drop(self, number: int) -> None:
        """Stop training a setting; its state is not used again, and the other settings do not change."""


@runtime_checkable
class Loss(Protocol):
    """A surrogate loss of the margin m = s+ - s-, a frozen dataclass with at most one scalar parameter theta.

    `value` and `derivative` are static methods, plain scalar functions that the framework compiles.
    Optional: a static ``prox(m, c, theta)``, the minimiser over z of c * value(z, theta) + (z - m)**2 / 2.

    Two optional declarations make sums over all pairs exact in O(n log n). A static ``pieces(theta)``
    declares a continuous, piecewise quadratic loss: a tuple of ``(upper, c0, c1, c2)`` in ascending order.
    Its value is c0 + c1 m + c2 m**2 for margins from the previous `upper` to this one; the last `upper` is
    infinite. ``multiplicative = True`` declares value(a + b) = value(a) value(b), so the mean over pairs is a
    product of two means. The mean of any other loss is computed with polynomials between intervals of scores,
    to a relative error of 1e-10.

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
    """A feature map, a frozen dataclass of its parameters.

    Optional: ``class_of_model``, the `ModelClass` of a linear method on its features, by default `linear`.
    """

    name: ClassVar[str]

    def fit(self, X: Matrix, rng: np.random.Generator) -> Any:
        """Learn from the training rows; returns an object whose ``transform(X)`` maps rows."""


class Samples(NamedTuple):
    """Rows and labels, as `load()` of a data set without files returns them."""

    X: Any  # (n, d) ndarray or scipy CSR
    y: Any  # (n,) labels, at most two distinct unless the data set declares the positive ones


class Grouping(StrEnum):
    """How several classes are reduced to two.

    ``halves``: a random half of the classes, drawn with `grouping_seed`, is positive; (K - 1) / 2 for an odd
    number K. ``rarest``: the class with the fewest training rows is positive (the smallest label if several
    tie). ``largest``: the class with the most training rows is positive (the smallest label if several tie).
    ``one``: the class or classes named by `positive`.
    """

    halves = "halves"
    rarest = "rarest"
    largest = "largest"
    one = "one"


@dataclass(frozen=True)
class Table:
    """Settings for reading a file of columns (CSV, Parquet, ARFF), named or numbered from 0.

    Parameters
    ----------
    target : str or int
        Column of the labels; -1 is the last column.
    drop : tuple of str and int
        Columns that are not features.
    header : bool or None
        Whether the first line of a CSV file holds the names. None detects a header: no cell of the line is a
        number, or some cell that is not a number stands above a number. A line 0, 1, 2 and so on is refused.
    delimiter : str or None
        Delimiter of a CSV file, or ``blanks`` for runs of blanks. If None, the delimiter is the one among , ;
        tab | blank and runs of blanks that splits the first lines into equally many cells.
    missing : str
        ``refuse`` missing values, or ``median``: a missing number becomes the median of its column in the
        training part, a missing text belongs to no category.
    types : tuple of (column, type)
        Types of columns that are not detected automatically: ``number``, ``categories``, ``hashed`` (texts
        that share columns), or a notation (``thousands``, ``decimal_comma``, ``percent`` or ``date``).
    missing_words : tuple of str
        Texts that stand for missing values in any feature, besides the usual ones.
    add_indicator : bool
        Whether an indicator column of zeros and ones follows each column with missing values in the training
        part, unless its texts are hashed.
    comment : str or None
        Prefix of the lines skipped in a CSV file.
    skip : int
        Number of lines skipped at the start of a CSV file.
    kept : tuple of str and int
        Columns that are not features but are kept beside the rows for splits.
    """

    target: str | int = -1
    drop: tuple[str | int, ...] = ()
    header: bool | None = None
    delimiter: str | None = None
    missing: str = "refuse"
    types: tuple[tuple[str | int, str], ...] = ()
    missing_words: tuple[str, ...] = ()
    add_indicator: bool = False
    comment: str | None = None
    skip: int = 0
    kept: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class File:
    """One file of a data set, with published facts to check after parsing.

    Parameters
    ----------
    path : str
        Path relative to the root of a mirror (laid out like the LIBSVM site), or absolute for a local file.
    part : str
        Part of the data set, ``train`` or ``test``.
    rows : int, optional
        Published number of rows.
    labels : mapping
        Published count of each label.
    sha256 : str, optional
        Hash of the public file, if known; for the kind ``keel``, hash of its rows alone.
    urls : tuple of str
        Full public addresses, tried in order (by default the LIBSVM site's); ``#NAME`` after the address of a
        zip archive selects a file in it.
    kind : str
        Format: ``libsvm``, ``csv``, ``parquet``, ``arff``, ``npz``, ``keel`` (CSV after optional header lines
        that begin with @) or ``openml`` (a description at OpenML that locates the data).
    table : Table
        Settings for reading the columns.
    topic : float or "largest", optional
        The positive label if rows have any number of labels: rows with this label, or with the most frequent
        label of the training rows, become 1, the others -1.
    zero_based : bool or None
        Whether the indices of a LIBSVM file count from 0. If None, they do if an index in any file of the
        data set is 0.
    partitions : tuple of (name, value)
        Columns with one value in the whole file, placed before the columns of the file.
    by_hand : str
        What to download, and where, for a file without a public address.
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
    partitions: tuple[tuple[str, str], ...] = ()


@runtime_checkable
class Dataset(Protocol):
    """A data set: a declaration of `files`, or a method ``load() -> Samples``.

    ``files`` is a tuple of `File` (a class variable or a property), ``features`` the published number of
    columns; None means the largest index. Optional:

    ``positive``
        The label or labels that become +1.
    ``grouping``, ``grouping_seed``
        The `Grouping` of several classes into two, and its seed, unless `positive` is declared.
    ``scaled = True``
        The features must not be scaled again.
    ``large = True``
        The download exceeds 100 MB.
    ``title``
        The name shown with results, if one plugin reads many data sets.
    ``family``
        The origin shared with other data sets, which are therefore not independent evidence; by default each
        data set is a separate family.
    ``collection``
        The title of its section in the reference.
    ``licence``, ``citation``
        Licence and citation of the data.
    """

    name: ClassVar[str]
