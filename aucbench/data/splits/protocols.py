"""The protocols: holdout, train-validation-test, k-fold, and the split that a data set comes with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Count, Interval, OpenUnit, check_fields
from aucbench.contracts.random_streams import RandomStream
from aucbench.data.loader import Loaded, Part
from aucbench.data.splits._random import check_classes, class_counts, one_fold, permutation, random_parts
from aucbench.errors import DataError, ParameterError

FEW_ROWS = "use protocol=kfold, by which every row tests once, or protocol.stratified=true"
Load = Callable[[Part], Loaded]  # gives a part of the data set at hand


class Side(NamedTuple):
    """One side of a split: rows of a loaded part."""

    X: Any  # (n, d) all rows of the part; ndarray or CSR, never copied
    y: NDArray[np.int8]  # (k,) labels of the rows of this side
    rows: NDArray[np.int64] | None  # (k,) their numbers, ascending; None for all n


class Split(NamedTuple):
    """The sides of a split."""

    train: Side
    test: Side
    validation: Side | None = None  # for tuning, where the protocol sets rows aside for it


@runtime_checkable
class SplitProtocol(Protocol):
    """A protocol: a frozen dataclass whose fields are those of its configuration."""

    name: ClassVar[str]  # by which it is chosen

    @property
    def splits(self) -> int:
        """Number of different splits of one split seed: folds times repeats, or 1."""
        ...

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of what the splits are made of; a ParameterError when it cannot split this part."""
        ...

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """One of the `splits` splits of a part of the data set, by the split seed; folds count from 0.

        A side of one class only is a DataError, a fold that there is not a ParameterError.
        """
        ...


class _Common:
    """What is alike in protocols, unless they say otherwise: one split, of the rows of one part."""

    name: ClassVar[str]
    __post_init__ = check_fields

    @property
    def splits(self) -> int:
        """One."""
        return 1

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digest of the part."""
        return (load(part).sha256,)

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """Split the rows of `part` by the split seed."""
        _check_fold(self, fold)
        loaded = load(part)
        return Split(*(_side(loaded, rows) for rows in self._rows(loaded.y, seed, fold)))

    def _rows(self, y: NDArray[np.int8], seed: int, fold: int) -> tuple[NDArray[np.int64], ...]:
        """The row numbers of each side, in the order of `Split`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Holdout(_Common):
    """A random `test_fraction` of the rows tests, the others train.

    The permutation is that of ``numpy.random.default_rng([seed, 1])``; its first rows are the test part, and
    the first ones of either class if the split is stratified.

    Source: Khalid, Chitsaz, Ray, proximal stochastic AUC maximisation, which divides 80:20 where a data set
    has no test part of its own. It does not say that the division is stratified.

    Parameters
    ----------
    test_fraction : float
        Share of the rows, > 0 and < 1.
    stratified : bool
        Whether both parts have the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "holdout"
    test_fraction: OpenUnit = 0.2
    stratified: bool = True

    def _rows(self, y: NDArray[np.int8], seed: int, fold: int) -> tuple[NDArray[np.int64], ...]:
        order = permutation(len(y), seed, RandomStream.holdout)
        advice = f"{FEW_ROWS}, or choose another protocol.test_fraction"
        return random_parts(y, {"test": self.test_fraction}, order, self.stratified, advice)


@dataclass(frozen=True)
class TrainValidTest(_Common):
    """Random shares of the rows validate and test, the others train; by default 4:1:1.

    Source: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate,
    ICML 2018, for data sets without a test part of their own. It does not say that the division is
    stratified.

    Parameters
    ----------
    validation_fraction, test_fraction : float
        Shares of the rows, each > 0, together < 1.
    stratified : bool
        Whether the three parts have the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "train_valid_test"
    validation_fraction: OpenUnit = 1 / 6
    test_fraction: OpenUnit = 1 / 6
    stratified: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.validation_fraction + self.test_fraction >= 1.0:
            raise ParameterError(
                f"{self.name}: validation_fraction + test_fraction must be < 1, so that rows are left to "
                f"train on, got {self.validation_fraction} + {self.test_fraction}."
            )

    def _rows(self, y: NDArray[np.int8], seed: int, fold: int) -> tuple[NDArray[np.int64], ...]:
        order = permutation(len(y), seed, RandomStream.train_valid_test)
        fractions = {"test": self.test_fraction, "validation": self.validation_fraction}
        return random_parts(y, fractions, order, self.stratified, f"{FEW_ROWS}, or choose other fractions")


@dataclass(frozen=True)
class KFold(_Common):
    """The rows are dealt out to `folds` folds, `repeats` times; one fold tests, the others train.

    Split number i tests on fold i mod `folds` of repeat i // `folds`. Each repeat has a permutation of its
    own, and more repeats leave the first ones as they are.

    Source: five folds, five times, in Gao, Jin, Zhu, Zhou, One-pass AUC optimization, ICML 2013, and in
    Natole, Ying, Lyu, Stochastic AUC optimization algorithms with linear convergence, Front. Appl. Math.
    Stat. 2019; ten times in Yang, Shen, Ying, Yuan, Stochastic AUC optimization with general loss, 2020. None
    of them says whether its folds are stratified.

    Parameters
    ----------
    folds : int
        >= 2.
    repeats : int
        >= 1.
    stratified : bool
        Whether every fold has the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "kfold"
    folds: Annotated[int, Interval(low=2)] = 5
    repeats: Count = 1
    stratified: bool = True

    @property
    def splits(self) -> int:
        """Folds of all repeats."""
        return self.folds * self.repeats

    def _rows(self, y: NDArray[np.int8], seed: int, fold: int) -> tuple[NDArray[np.int64], ...]:
        positives, negatives = class_counts(y)
        if self.stratified and self.folds > min(positives, negatives):
            raise DataError(
                f"protocol.folds must not exceed the rows of the rarer class, got {self.folds} folds for "
                f"{positives} positive and {negatives} negative rows; choose fewer folds."
            )
        repeat, number = divmod(fold, self.folds)
        order = permutation(len(y), seed, RandomStream.kfold, repeat)
        train, test = one_fold(y, order, self.folds, number, self.stratified)
        advice = "choose fewer folds, protocol.stratified=true or another split_seed"
        check_classes(y, {"training": train, "test": test}, advice)
        return train, test


@dataclass(frozen=True)
class Given(_Common):
    """The data set's own training and test parts.

    Source of the halves: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with
    O(1/n)-convergence rate, ICML 2018, on a9a and w8a.

    Parameters
    ----------
    halved : bool
        Whether a random half of the test part validates instead of testing. The two halves have the classes
        in the same proportion, within one row.
    """

    name: ClassVar[str] = "given"
    halved: bool = False

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the two parts."""
        _check_part(part)
        return tuple(load(each).sha256 for each in (Part.train, Part.test))

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """The two parts; the seed decides on nothing but the halves."""
        _check_part(part)
        _check_fold(self, fold)
        train, test = load(Part.train), load(Part.test)
        training = Side(train.X, train.y, None)
        if not self.halved:
            return Split(training, Side(test.X, test.y, None))
        positives, negatives = class_counts(test.y)
        if min(positives, negatives) < 2:
            raise DataError(
                "protocol.halved=true needs two test rows of each class, got "
                f"{positives} positive and {negatives} negative; use protocol.halved=false."
            )
        order = permutation(len(test.y), seed, RandomStream.test_halves)
        validation_rows, test_rows = one_fold(test.y, order, folds=2, number=0)
        return Split(training, _side(test, test_rows), _side(test, validation_rows))


PROTOCOLS: tuple[type, ...] = (Holdout, Given, TrainValidTest, KFold)


def recorded(name: str, parameters: Mapping[str, Any]) -> SplitProtocol:
    """The protocol that a record names; one that says nothing of `stratified` is older than the field."""
    cls: Any = next(cls for cls in PROTOCOLS if cls.name == name)  # type: ignore[attr-defined]
    absent = {} if cls is Given else {"stratified": False}
    return cls(**absent | dict(parameters))


def _side(loaded: Loaded, rows: NDArray[np.int64]) -> Side:
    return Side(loaded.X, loaded.y[rows], rows)


def _check_fold(protocol: SplitProtocol, fold: int) -> None:
    if not 0 <= fold < protocol.splits:
        numbers = f"0 to {protocol.splits - 1}" if protocol.splits > 1 else "0"
        raise ParameterError(f"protocol={protocol.name}: fold must be {numbers}, got {fold}.")


def _check_part(part: Part) -> None:
    if part is not Part.train:
        raise ParameterError(
            f"protocol=given trains on the training part and tests on the test part of a data set: "
            f"leave out dataset.part, got {part}."
        )
