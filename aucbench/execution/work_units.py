"""Units of work: what a worker does between two messages. They are small, and pickle by name."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from aucbench.errors import AucbenchError
from aucbench.evaluation.measures import Measure
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.optimum_record import OptimumResult
from aucbench.studies.record import CellStatus, Failure, Seeds, Trial, TunedRecord, canonical, subset
from aucbench.studies.result import CellResult
from aucbench.studies.tuners import Point

PREPARED = ("dataset", "features", "scaling", "rescale", "protocol", "dtype", "max_train_rows")


@dataclass(frozen=True)
class Unit:
    """One piece of work of an entry: a cell, or a part of a search."""

    key: str  # of the cell or the search
    digests: tuple[str, ...] = field(repr=False)  # of the data; a worker that sees others refuses
    entry: Entry = field(repr=False)
    seeds: Seeds  # of the cell or the search

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
    """Train and measure one cell, with the hyperparameters that its tuning chose, if it has one.

    A cell that is `stored` and lacks measures gets them from its weights where it is to be `scored`.
    """

    tuned: TunedRecord | None = None
    had: tuple[Measure, ...] = ()  # measures that the cell had when it was run before, and is to keep
    stored: CellResult | None = field(default=None, repr=False)
    scored: bool = False
    store_path: str | None = None  # of the store, where a minimum that is needed may be known


@dataclass(frozen=True)
class TrialsUnit(Unit):
    """Train some settings of a search, given as (number, setting), on one inner fold, together."""

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
class ProposalUnit(Unit):
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
    """The outcome of a unit: a result, a failure, or a refusal of bad input; none if its worker is lost."""

    result: Any = None  # CellResult, or a list of trials
    failure: Failure | None = None
    refusal: AucbenchError | None = None
    lost: bool = False
    optimum: OptimumResult | None = None  # that was found on the way, and is to be kept
