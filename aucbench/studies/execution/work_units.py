"""Units of work, sent to workers. They are small, and pickle by name."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

from aucbench.errors import AucbenchError
from aucbench.studies.codec import canonical, subset
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import Failure, Seeds, Trial, TunedRecord
from aucbench.studies.result import CellResult
from aucbench.studies.tuners import Point

PREPARED = ("dataset", "features", "scaling", "rescale", "protocol", "dtype", "max_train_rows")


@dataclass(frozen=True, eq=False)
class Unit:
    """One piece of work of an entry: a cell, or settings of a search that train together on one inner fold.

    A unit of a search without settings is the search as a whole.
    """

    key: str  # of the cell or the search
    digests: tuple[str, ...] = field(repr=False)  # of the data; a worker with other data refuses the unit
    entry: Entry = field(repr=False)
    seeds: Seeds  # of the cell or the search
    inner: int | None = None  # number of the inner fold; None for the whole training part
    points: tuple[tuple[int, Point], ...] = ()  # numbers and settings of a part of a search
    losses: int = 0  # workers that were lost with it

    @property
    def trainings(self) -> int:
        """Number of trainings in the unit."""
        return max(1, len(self.points))

    @cached_property
    def group(self) -> str:
        """Units of one group need the same prepared arrays."""
        shared = subset(self.entry.describe(), PREPARED)
        where = [self.seeds.split_seed, self.seeds.fold, self.inner]
        folds = None if self.inner is None else self.entry.tuning.choice.folds
        return hashlib.sha256(canonical([shared, self.digests, where, folds]).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class CellUnit(Unit):
    """Train and measure one cell, with the hyperparameters that its tuning chose, if it has one.

    A cell that is `stored` is trained again, unless it is to be `scored`: its weights or scores then give the
    measures that it lacks.
    """

    tuned: TunedRecord | None = None
    stored: CellResult | None = field(default=None, repr=False)  # an earlier run, whose measures are kept
    scored: bool = False


# What comes of a unit: an AucbenchError refuses bad input; None if the worker is lost.
Report = CellResult | list[Trial] | Failure | AucbenchError | None


def failed_trial(unit: Unit, number: int, point: Point, reason: str, error: str) -> Trial:
    """The trial of a setting that gave no AUC."""
    fold = unit.inner or 0
    return Trial(number=number, fold=fold, parameters=point, auc=None, stop_reason=reason, error=error)
