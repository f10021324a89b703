"""The tunings a run can name: none, grid, random, optuna."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from aucbench.contracts import Count, Interval, check_fields
from aucbench.errors import ParameterError
from aucbench.studies.record import TuningRecord

Folds = Annotated[int, Interval(low=2)]
NOT_DECIDING = ("grid", "report")  # fields that change no result, or change it through the space alone


class Pruner(StrEnum):
    """When a trial of optuna ends early.

    ``median``: when its validation AUC at a checkpoint is below the median of the earlier trials there;
    ``none``: never.
    """

    median = "median"
    none = "none"


@dataclass(frozen=True)
class Grid:
    """Try every combination of the values of a grid, by default the one that the method's paper used.

    Each combination trains on the training part of every inner fold (or on the protocol's training part, if
    it has a validation part) and is judged by the mean of its validation AUC; of equals the first wins.

    Parameters
    ----------
    folds : int
        Inner folds, where the protocol has no validation part of its own.
    each_order : bool
        Tune for every order of a split; otherwise once for each split, on the first order.
    report : bool
        Keep every trial in the store and beside the result; otherwise the choice and its cost only.
    grid : mapping, optional
        Name of a method to its fields and their values: ``{solam: {zeta: [1, 10], radius: [1]}}``. Methods
        that are not named use their own grids.
    extend : bool
        Go on beyond the edges of the grid as long as the best setting lies on one: the field gets the next
        value by the grid's own spacing (ratio or difference), at most 12 more than the grid has, and every
        combination with it is tried.
    """

    name: ClassVar[str] = "grid"
    together: ClassVar[bool] = True
    folds: Folds = 5
    each_order: bool = False
    report: bool = True
    grid: Any = None
    extend: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Random(Grid):
    """Try settings drawn at random from the ranges of a grid.

    Numbers that are all positive are drawn log-uniformly between the smallest and the largest of the field's
    values (whole numbers rounded); any other field takes one of its values. The draw depends on the split
    seed alone. Draws that differ in no field with an effect are tried once.

    Parameters
    ----------
    trials : int
        Number of settings.
    folds, each_order, report, grid
        As for `Grid`.
    extend : bool
        False: only a grid has a spacing by which to go on.
    """

    name: ClassVar[str] = "random"
    trials: Count = 30

    def __post_init__(self) -> None:
        check_fields(self)
        if self.extend and self.name != "none":
            raise ParameterError(
                f"tuning={self.name}: extend must be false, since only a grid has a spacing to go on "
                "by; use tuning=grid, or a wider tuning.grid."
            )


@dataclass(frozen=True)
class Optuna(Random):
    """Let Optuna's tree-structured Parzen estimator propose one setting after another.

    The ranges are those of `Random`. A trial's seed depends on the split seed and its number alone, so that a
    search that was interrupted goes on as if it had not been.

    Parameters
    ----------
    pruner : Pruner
        ``median`` or ``none``.
    trials, folds, each_order, report, grid, extend
        As for `Random`.
    """

    name: ClassVar[str] = "optuna"
    together: ClassVar[bool] = False
    pruner: Pruner = Pruner.median


@dataclass(frozen=True)
class NoTuning(Optuna):
    """Use the hyper-parameters as given.

    Its fields are those of the other tunings and have no effect: what an experiment sets for its tuning stays
    valid when the command line says ``tuning=none``.
    """

    name: ClassVar[str] = "none"
    together: ClassVar[bool] = False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TUNINGS: tuple[type, ...] = (NoTuning, Grid, Random, Optuna)


@dataclass(frozen=True)
class Tuning:
    """A tuning and the values of one method's fields among which it chooses.

    Parameters
    ----------
    choice : NoTuning, Grid, Random or Optuna
        What the run named.
    space : mapping
        Field to its values; empty for a method without a grid, for which there is nothing to choose.
    """

    choice: Any
    space: dict[str, tuple[Any, ...]]

    @property
    def chooses(self) -> bool:
        """Whether there is anything to choose."""
        return bool(self.space)

    @property
    def remark(self) -> str:
        """Says of a wish of the tuning that it has no effect; mostly empty."""
        if not self.choice.extend or any(len(set(filter(_is_number, v))) > 1 for v in self.space.values()):
            return ""
        why = "no field of the grid has two numbers to go on from" if self.chooses else "nothing is tuned"
        return f"tuning.extend=true has no effect: {why}."

    def describe(self) -> TuningRecord:
        """What decides the outcome."""
        if isinstance(self.choice, NoTuning):
            return TuningRecord(name=self.choice.name)
        return TuningRecord(
            name=self.choice.name,
            parameters={key: value for key, value in asdict(self.choice).items() if key not in NOT_DECIDING},
            space={key: list(values) for key, values in self.space.items()},
        )
