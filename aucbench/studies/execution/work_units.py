"""Units of work, planned and sent to workers. They are small, and pickle by name."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from aucbench.errors import AucbenchError
from aucbench.studies.entry_and_keys import Entry, Search
from aucbench.studies.record import CellStatus, Failure, Seeds, Trial, TunedRecord
from aucbench.studies.result import CellResult
from aucbench.studies.tuners import Point


@dataclass(frozen=True, eq=False)
class Unit:
    """A cell of an entry and its state in the store, or settings of a search that train together.

    A cell that failed at a limit counts as missing once the limit is raised. A finished cell that lacks a
    measure, or an exclusive timing, is missing as well: it is trained again unless it is `scored`.
    """

    key: str  # key of the cell or the search
    digests: tuple[str, ...] = field(repr=False)  # a worker with other data refuses the unit
    entry: Entry = field(repr=False)
    seeds: Seeds  # seeds of the cell or the search
    entry_key: str = ""  # key of the entry for which the unit is run
    status: CellStatus = CellStatus.missing  # or finished, or failed
    failed_before: bool = False  # the last run failed
    # For a finished cell that counts as missing: whether stored weights or scores give the lacking measures.
    scored: bool | None = None
    search: Search | None = None  # search that must finish first, if any
    tuned: TunedRecord | None = None  # choice of the search
    stored: CellResult | None = field(default=None, repr=False)  # an earlier run, whose measures are kept
    inner: int | None = None  # number of the inner fold of a search; None for the whole training part
    points: tuple[tuple[int, Point], ...] = ()  # numbers and settings of a search; empty for a cell
    losses: int = 0  # processes that ended while they ran the unit

    def must_run(self, only_failed: bool) -> bool:
        """Whether the cell must be run."""
        return self.failed_before if only_failed else self.status is CellStatus.missing

    @property
    def trainings(self) -> int:
        """Number of trainings in the unit."""
        return max(1, len(self.points))

    def failed_trial(self, number: int, point: Point, reason: str, error: str) -> Trial:
        """The trial of a setting that gave no AUC."""
        fold = self.inner or 0
        return Trial(number=number, fold=fold, parameters=point, auc=None, stop_reason=reason, error=error)

    @cached_property
    def group(self) -> tuple[Any, ...]:
        """Units of one group need the same prepared arrays."""
        folds = None if self.inner is None else self.entry.tuning.choice.folds
        split = self.seeds.split_seed, self.seeds.fold, self.inner, folds
        return self.entry.preparation, self.digests, *split


# The report of a unit: an AucbenchError refuses bad input; None if its process has ended.
Report = CellResult | list[Trial] | Failure | AucbenchError | None
