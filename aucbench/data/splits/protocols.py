"""The protocols: holdout, train-validation-test, k-fold, and the split that a data set comes with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Count, Interval, OpenUnit, check_fields
from aucbench.contracts.random_streams import RandomStream
from aucbench.data.equal_rows import equal_rows
from aucbench.data.loader import Loaded, Part
from aucbench.data.splits._parts import (
    check_classes,
    drawing,
    forward_fold,
    forward_parts,
    one_fold,
    random_parts,
    units_of_classes,
)
from aucbench.data.splits.grouped import joined
from aucbench.errors import DataError, ParameterError

LATER = {"later": True}  # older results lack the field: its default is left out of keys
LATER_ROWS = "choose other fractions, or fewer folds, of protocol.time"
FEW_ROWS = "use protocol=kfold, by which every row tests once, or protocol.stratified=true"
Rows = NDArray[np.int64]
Load = Callable[[Part], Loaded]  # loads a part of the data set


class Duplicates(StrEnum):
    """The treatment of rows that are equal in all features, as read, whatever their labels."""

    anywhere = "anywhere"  # they are split like other rows
    together = "together"  # they stay on one side of every split, inner folds included


class Side(NamedTuple):
    """One side of a split: rows of a loaded part."""

    X: Any  # (n, d) all rows of the part; ndarray or CSR, never copied
    y: NDArray[np.int8]  # (k,) labels of the rows of this side
    rows: NDArray[np.int64] | None  # (k,) their numbers, ascending; None for all n
    groups: NDArray[Any] | None = None  # (k,) rows of one group stay together in splits of the side
    times: NDArray[np.float64] | None = None  # (k,) earlier rows train in splits of the side


class Split(NamedTuple):
    """The sides of a split."""

    train: Side
    test: Side
    validation: Side | None = None  # validation part for tuning, if the protocol has one


@dataclass(frozen=True, kw_only=True)
class SplitProtocol:
    """Base class of the protocols, with their configuration as fields: one split of the rows of a part.

    Parameters
    ----------
    duplicates : {"anywhere", "together"}
        Whether rows with equal features, as read, are split like other rows (``anywhere``) or stay on one
        side of the split and of the inner folds of a tuning (``together``). Inner folds are then stratified
        as well as the groups allow.
    groups : str or int, optional
        Name or number of a table column: rows with the same value in it stay on one side, as equal rows do.
    time : str or int, optional
        Name or number of a column of numbers or dates: the latest rows are for testing and the earlier rows
        for training, also in inner folds. Rows of the same time stay together; classes are not stratified,
        and seeds have no effect.
    """

    name: ClassVar[str]  # name that chooses the protocol
    duplicates: Duplicates = field(default=Duplicates.anywhere, metadata=LATER)
    groups: str | int | None = field(default=None, metadata=LATER)
    time: str | int | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.time is not None and (self.groups is not None or self.duplicates is Duplicates.together):
            raise ParameterError(
                f"{self.name}: a split by time cannot keep rows together; leave out protocol.time, or "
                "protocol.groups and protocol.duplicates=together."
            )

    @property
    def columns(self) -> tuple[str | int, ...]:
        """The columns, besides the features, on which the splits depend."""
        return tuple(column for column in (self.groups, self.time) if column is not None)

    @property
    def splits(self) -> int:
        """Number of different splits for one split seed: folds times repeats, or 1."""
        return 1

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the parts that are split; raises ParameterError if the protocol cannot split `part`."""
        return (load(part).sha256,)

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """One of the `splits` splits of a part of the data set for a split seed; folds are numbered from 0.

        Raises DataError if a side has one class only, and ParameterError if the fold does not exist.
        """
        self._check_fold(fold)
        loaded = load(part)
        groups, times = self._groups(loaded), self._times(loaded)
        if times is None:
            sides = self._rows(loaded.y, groups, seed, fold)
        else:
            sides = self._forward(times, fold)
            check_classes(
                loaded.y, dict(zip(("training", "test", "validation"), sides, strict=False)), LATER_ROWS
            )
        return Split(*(_side(loaded, rows, groups, times) for rows in sides))

    def _check_fold(self, fold: int) -> None:
        if not 0 <= fold < self.splits:
            numbers = f"0 to {self.splits - 1}" if self.splits > 1 else "0"
            raise ParameterError(f"protocol={self.name}: fold must be {numbers}, got {fold}.")

    def _groups(self, loaded: Loaded) -> NDArray[Any] | None:
        """The groups of rows that stay together, (n,); None without groups."""
        equal = equal_rows(loaded.X) if self.duplicates is Duplicates.together else None
        if self.groups is None:
            return equal
        groups = loaded.kept[self.groups]
        return groups if equal is None else joined(groups, equal)

    def _times(self, loaded: Loaded) -> NDArray[np.float64] | None:
        """The times of the rows, (n,); None unless `time` is set."""
        if self.time is None:
            return None
        if loaded.kinds[self.time] == "text":
            raise DataError(f"protocol.time: column {self.time!r} has texts, expected numbers or dates.")
        return loaded.kept[self.time]

    def _forward(self, times: NDArray[np.float64], fold: int) -> tuple[Rows, ...]:
        """The row numbers of each side of a split by time, in the order of `Split`."""
        raise NotImplementedError

    def _rows(self, y: NDArray[np.int8], groups: Rows | None, seed: int, fold: int) -> tuple[Rows, ...]:
        """The row numbers of each side, in the order of `Split`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Holdout(SplitProtocol):
    """Test on a random `test_fraction` of the rows, and train on the others.

    The rows are permuted by ``numpy.random.default_rng([seed, 1])``. The first rows, or the first rows of
    either class if the split is stratified, are the test part.

    Source: Khalid, Chitsaz, Ray, proximal stochastic AUC maximisation, which divides data sets without a test
    part 80:20. The paper does not state that the division is stratified.

    Parameters
    ----------
    test_fraction : float
        Share of test rows, > 0 and < 1.
    stratified : bool
        Whether both parts have the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "holdout"
    test_fraction: OpenUnit = 0.2
    stratified: bool = True

    def _forward(self, times: NDArray[np.float64], fold: int) -> tuple[Rows, ...]:
        return tuple(forward_parts(times, self.test_fraction))

    def _rows(self, y: NDArray[np.int8], groups: Rows | None, seed: int, fold: int) -> tuple[Rows, ...]:
        rng = drawing(seed, RandomStream.holdout)
        advice = f"{FEW_ROWS}, or choose another protocol.test_fraction"
        return random_parts(y, groups, {"test": self.test_fraction}, rng, self.stratified, advice)


@dataclass(frozen=True)
class TrainValidTest(SplitProtocol):
    """Validate and test on random shares of the rows, and train on the others; by default 4:1:1.

    Source: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate,
    ICML 2018, for data sets without a test part. The paper does not state that the division is
    stratified.

    Parameters
    ----------
    validation_fraction, test_fraction : float
        Shares of validation rows and of test rows, each > 0, together < 1.
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

    def _forward(self, times: NDArray[np.float64], fold: int) -> tuple[Rows, ...]:
        training, validation, test = forward_parts(times, self.validation_fraction, self.test_fraction)
        return training, test, validation

    def _rows(self, y: NDArray[np.int8], groups: Rows | None, seed: int, fold: int) -> tuple[Rows, ...]:
        rng = drawing(seed, RandomStream.train_valid_test)
        fractions = {"test": self.test_fraction, "validation": self.validation_fraction}
        advice = f"{FEW_ROWS}, or choose other fractions"
        return random_parts(y, groups, fractions, rng, self.stratified, advice)


@dataclass(frozen=True)
class KFold(SplitProtocol):
    """Divide the rows into `folds` folds, `repeats` times; test on one fold and train on the others.

    Split number i tests on fold i mod `folds` of repeat i // `folds`. Each repeat has a separate permutation,
    and more repeats do not change the first repeats.

    Source: five folds, five times, in Gao, Jin, Zhu, Zhou, One-pass AUC optimization, ICML 2013, and in
    Natole, Ying, Lyu, Stochastic AUC optimization algorithms with linear convergence, Front. Appl. Math.
    Stat. 2019; ten times in Yang, Shen, Ying, Yuan, Stochastic AUC optimization with general loss, 2020. None
    of the papers states whether its folds are stratified.

    Parameters
    ----------
    folds : int
        Number of folds, >= 2.
    repeats : int
        Number of repeats, >= 1.
    stratified : bool
        Whether every fold has the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "kfold"
    folds: Annotated[int, Interval(low=2)] = 5
    repeats: Count = 1
    stratified: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time is not None and self.repeats > 1:
            raise ParameterError(
                f"{self.name}: folds by time are the same in each repeat; leave out protocol.repeats."
            )

    @property
    def splits(self) -> int:
        """Folds of all repeats."""
        return self.folds * self.repeats

    def _forward(self, times: NDArray[np.float64], fold: int) -> tuple[Rows, ...]:
        return forward_fold(times, self.folds, fold)

    def _rows(self, y: NDArray[np.int8], groups: Rows | None, seed: int, fold: int) -> tuple[Rows, ...]:
        positives, negatives, units = units_of_classes(y, groups)
        if self.stratified and self.folds > min(positives, negatives):
            raise DataError(
                f"protocol.folds must not exceed the {units} of the rarer class, got {self.folds} folds for "
                f"{positives} positive and {negatives} negative {units}; choose fewer folds."
            )
        repeat, number = divmod(fold, self.folds)
        rng = drawing(seed, RandomStream.kfold, repeat)
        train, test = one_fold(y, groups, rng, self.folds, number, self.stratified)
        advice = "choose fewer folds, protocol.stratified=true or another split_seed"
        check_classes(y, {"training": train, "test": test}, advice)
        return train, test


@dataclass(frozen=True)
class Given(SplitProtocol):
    """The data set's own training and test parts.

    Source of the halves: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with
    O(1/n)-convergence rate, ICML 2018, on a9a and w8a.

    Parameters
    ----------
    halved : bool
        Whether a random half of the test part validates instead of testing. The two halves have the classes
        in the same proportion, within one row.
    duplicates : {"anywhere", "together"}
        Whether rows with equal features, as read, may be in different halves and different inner folds of a
        tuning. No row moves from one of the given parts to the other.
    groups, time : str or int, optional
        Columns of a table that determine the halves and the inner folds of a tuning, as in a hold-out.
    """

    name: ClassVar[str] = "given"
    halved: bool = False

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the two parts."""
        self._check_part(part)
        return tuple(load(side).sha256 for side in (Part.train, Part.test))

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """The two parts; the seed affects only the halves."""
        self._check_part(part)
        self._check_fold(fold)
        train, test = load(Part.train), load(Part.test)
        training = Side(train.X, train.y, None, self._groups(train), self._times(train))
        if not self.halved:
            return Split(training, Side(test.X, test.y, None))
        groups = self._groups(test)
        positives, negatives, units = units_of_classes(test.y, groups)
        if min(positives, negatives) < 2:
            raise DataError(
                f"protocol.halved=true needs two test {units} of each class, got "
                f"{positives} positive and {negatives} negative; use protocol.halved=false."
            )
        rng = drawing(seed, RandomStream.test_halves)
        validation_rows, test_rows = one_fold(test.y, groups, rng, folds=2, number=0)
        return Split(training, _side(test, test_rows), _side(test, validation_rows))

    def _check_part(self, part: Part) -> None:
        if part is not Part.train:
            raise ParameterError(
                f"protocol=given trains on the training part and tests on the test part of a data set: "
                f"leave out dataset.part, got {part}."
            )


PROTOCOLS: tuple[type[SplitProtocol], ...] = (Holdout, Given, TrainValidTest, KFold)


def recorded(name: str, parameters: Mapping[str, Any]) -> SplitProtocol:
    """The protocol of a record; a record without `stratified` is older than the field."""
    cls: Any = next(cls for cls in PROTOCOLS if cls.name == name)
    absent = {} if cls is Given else {"stratified": False}
    return cls(**absent | dict(parameters))


def _side(
    loaded: Loaded, rows: Rows, groups: NDArray[Any] | None = None, times: NDArray[Any] | None = None
) -> Side:
    chosen = (None if array is None else array[rows] for array in (groups, times))
    return Side(loaded.X, loaded.y[rows], rows, *chosen)
