"""Units of work: what a worker does between two messages. They are small, and pickle by name."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from aucbench.errors import AucbenchError
from aucbench.studies.entry import Cell, Entry, Search
from aucbench.studies.record import CellStatus, Failure, Seeds, Trial, TunedRecord, canonical, subset
from aucbench.studies.tuners import Point

PREPARED = ("dataset", "features", "scaling", "rescale", "protocol", "dtype", "max_train_rows")


@dataclass(frozen=True)
class Unit:
    """One piece of work of an entry.

    Parameters
    ----------
    key : str
        Of the cell or the search it belongs to.
    digests : tuple of str
        Of the data that the planner saw; a worker that sees others refuses.
    """

    key: str
    digests: tuple[str, ...] = field(repr=False)

    @property
    def entry(self) -> Entry:
        """The entry."""
        raise NotImplementedError

    @property
    def seeds(self) -> Seeds:
        """The seeds."""
        raise NotImplementedError

    @property
    def inner(self) -> int | None:
        """Number of the inner fold, None for the whole training part."""
        return None

    @property
    def trainings(self) -> int:
        """How many trainings it consists of."""
        return 1

    @cached_property
    def group(self) -> str:
        """Units of one group need the same prepared arrays."""
        shared = subset(self.entry.describe(), PREPARED)
        where = [self.seeds.split_seed, self.seeds.fold, self.inner]
        folds = None if self.inner is None else self.entry.tuning.choice.folds
        return hashlib.sha256(canonical([shared, self.digests, where, folds]).encode()).hexdigest()


@dataclass(frozen=True)
class CellUnit(Unit):
    """Train and measure one cell.

    Parameters
    ----------
    chosen : mapping
        Hyper-parameters that a tuning chose; empty without one.
    tuned : TunedRecord or None
        The outcome and cost of that tuning, for the record.
    """

    cell: Cell
    chosen: Point
    tuned: TunedRecord | None

    @property
    def entry(self) -> Entry:
        """The cell's entry."""
        return self.cell.entry

    @property
    def seeds(self) -> Seeds:
        """The cell's seeds."""
        return self.cell.seeds


@dataclass(frozen=True)
class SearchUnit(Unit):
    """A piece of the work of a search."""

    search: Search

    @property
    def entry(self) -> Entry:
        """The search's entry."""
        return self.search.entry

    @property
    def seeds(self) -> Seeds:
        """The search's seeds."""
        return self.search.seeds

    def failed(self, reason: CellStatus, message: str) -> list[Trial]:
        """Trials that say what happened to the settings of the unit."""
        raise NotImplementedError


@dataclass(frozen=True)
class TrialsUnit(SearchUnit):
    """Train some settings of a grid on one inner fold, together."""

    fold: int
    points: tuple[tuple[int, Point], ...]

    @property
    def inner(self) -> int | None:
        """The inner fold."""
        return self.fold

    @property
    def trainings(self) -> int:
        """One for each setting."""
        return len(self.points)

    def failed(self, reason: CellStatus, message: str) -> list[Trial]:
        """Trials that say what happened to all settings of the unit."""
        return [_failed(number, self.fold, point, reason, message) for number, point in self.points]


@dataclass(frozen=True)
class ProposalUnit(SearchUnit):
    """Let Optuna propose setting `number` from the trials before it, and train it on every inner fold."""

    folds: int
    number: int
    history: tuple[Trial, ...]

    @property
    def trainings(self) -> int:
        """One for each inner fold."""
        return self.folds

    def failed(self, reason: CellStatus, message: str) -> list[Trial]:
        """A trial that says what happened; what was proposed is not known."""
        return [_failed(self.number, 0, {}, reason, message)]


def _failed(number: int, fold: int, point: Point, reason: CellStatus, message: str) -> Trial:
    return Trial(number=number, fold=fold, parameters=point, auc=None, stop_reason=str(reason), error=message)


class Report(NamedTuple):
    """What came of a unit: a result, a failure, a refusal of bad input, or nothing as the worker was lost."""

    result: Any = None  # CellResult, or a list of trials
    failure: Failure | None = None
    refusal: AucbenchError | None = None
    lost: bool = False
