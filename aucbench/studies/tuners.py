"""The tuners of a run (none, grid, random, optuna), and the settings that they try."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, ClassVar

from aucbench.contracts import Count, Interval, MethodFacts, check_fields
from aucbench.contracts.hyperparameters import coerced_field
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, Measure, named
from aucbench.studies.default_settings import Budget
from aucbench.studies.record import TuningRecord

Point = dict[str, Any]  # field to value

Folds = Annotated[int, Interval(low=2)]
AUC_MEASURE = AUC()
NOT_DECIDING = ("grid", "report")  # fields without an effect on results, except through the space
BUDGETS = ("budget.epochs", "budget.iterations")  # budgets that can be tuned
FORMER = {"each_order": False, "extend": False}  # fields of earlier versions, part of the keys
LATER = {"metric": AUC.name, "draw_seed": None, "given_first": False}  # not recorded by earlier versions


def resolve(algorithm: Any, grids: Any) -> dict[str, tuple[Any, ...]]:
    """The grid of one method: the grid in `grids` under its name, else the method's default.

    ParameterError if a grid is no mapping, or has a field that the method lacks or an invalid value.
    """
    name = algorithm.name
    if grids is not None and not isinstance(grids, Mapping):
        raise ParameterError(f"tuning.grid: expected {{METHOD: {{FIELD: [VALUES]}}}}, got {grids!r}.")
    grid = (grids or {}).get(name, MethodFacts(algorithm).grid)
    names = [*(field.name for field in fields(algorithm)), *BUDGETS]
    if not isinstance(grid, Mapping) or not grid.keys() <= {*names}:
        raise ParameterError(
            f"tuning.grid.{name}: expected {{FIELD: [VALUES]}} with fields {', '.join(names)}, got {grid!r}."
        )
    space = {}
    for field, values in grid.items():
        items = values if isinstance(values, Sequence) and not isinstance(values, str) else [values]
        # Values that the field coerces to the same number are tried once.
        space[str(field)] = tuple(dict.fromkeys(coerced(algorithm, field, frozen(value)) for value in items))
        if not items:
            raise ParameterError(f"tuning.grid.{name}.{field} is empty: give at least one value.")
    if space.keys() >= set(BUDGETS):
        raise ParameterError(f"tuning.grid.{name}: a training has epochs or iterations, so tune only one.")
    return space


def coerced(algorithm: Any, field: str, value: Any) -> Any:
    """A value of a tuned field, coerced by its plugin or the budget; ParameterError if it is invalid."""
    owner = Budget() if field in BUDGETS else algorithm
    name = field.rpartition(".")[2]
    return getattr(replace(owner, **{name: coerced_field(owner, name, value)}), name)


def with_setting(algorithm: Any, point: Point) -> Any:
    """The method with the fields of a setting."""
    return replace(algorithm, **{field: value for field, value in point.items() if field not in BUDGETS})


def with_budget(budget: Budget, point: Point) -> Budget:
    """The budget, or the epochs or iterations of a setting in its place, if the setting has any."""
    new = {field.rpartition(".")[2]: value for field, value in point.items() if field in BUDGETS}
    return replace(budget, **{"epochs": None, "iterations": None, "seconds": None, **new}) if new else budget


def frozen(value: Any) -> Any:
    """The value with lists, as in configurations and JSON, replaced by tuples."""
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def grid_points(space: Mapping[str, Sequence[Any]], algorithm: Any) -> list[Point]:
    """Every combination, the last field varying fastest; if only ignored fields differ, one is kept."""
    combinations = itertools.product(*space.values())
    return _different(effective(algorithm, dict(zip(space, values, strict=True))) for values in combinations)


def effective(algorithm: Any, point: Point) -> Point:
    """A setting without its ignored fields, which keep the values of the method."""
    if MethodFacts(algorithm).ignored is None:
        return point
    try:
        ignored = set(with_setting(algorithm, point).ignored())
    except Exception:  # incompatible values: the trial of the setting reports the error
        return point
    return {field: value for field, value in point.items() if field not in ignored}


def edges(space: Mapping[str, Sequence[Any]], chosen: Mapping[str, Any]) -> dict[str, str]:
    """The fields whose chosen value is the smallest ("lower") or largest ("upper") number that was tried.

    A field with fewer than two different numbers has no edge; text, booleans and None lie on no edge.
    """
    sides = {}
    for field, values in space.items():
        numbers, value = {number for number in values if _is_number(number)}, chosen.get(field)
        if len(numbers) > 1 and _is_number(value) and value in (min(numbers), max(numbers)):
            sides[field] = "lower" if value == min(numbers) else "upper"
    return sides


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def numeric_range(values: Sequence[Any]) -> tuple[Any, Any, bool] | None:
    """The smallest and largest of positive numbers, and whether all are whole; None for other values.

    Random searches draw a field log-uniformly from this range, or else one of its values.
    """
    if not all(_is_number(value) and value > 0 for value in values) or min(values) == max(values):
        return None
    return min(values), max(values), all(isinstance(value, int) for value in values)


def random_points(
    space: Mapping[str, Sequence[Any]], count: int, seed: int, algorithm: Any, given_first: bool = False
) -> list[Point]:
    """Settings drawn independently of each other; the first draws do not depend on how many follow.

    With `given_first` the first setting is not drawn, but has the values of the algorithm and the budget as
    given. Draws that do not differ in a field with an effect are one setting.
    """
    rng = generator(seed, RandomStream.settings)
    draws = [{field: _draw(values, rng.random()) for field, values in space.items()} for _ in range(count)]
    if given_first:
        first = {field: getattr(algorithm, field) for field in space if field not in BUDGETS}
        draws = [first, *draws[:-1]]
    return _different(effective(algorithm, draw) for draw in draws)


def _different(points: Iterable[Point]) -> list[Point]:
    """Settings in order, each once."""
    return list({tuple(point.items()): point for point in reversed(list(points))}.values())[::-1]


def _draw(values: Sequence[Any], u: float) -> Any:
    if (bounds := numeric_range(values)) is None:
        return values[int(u * len(values))]
    low, high, is_whole = bounds
    value = low * (high / low) ** u
    return round(value) if is_whole else value


@dataclass(frozen=True)
class Grid:
    """Try every combination of the values of a grid, by default the grid of the method's paper.

    Each combination is trained on the training part of every inner fold, or on the protocol's training part
    if the protocol has a validation part. The highest mean validation AUC, or other `metric`, wins; the first
    in case of a tie.

    Parameters
    ----------
    folds : int
        Number of inner folds, if the protocol has no validation part.
    report : bool
        Whether every trial is kept in the store and beside the result, instead of only the choice and its
        cost.
    grid : mapping, optional
        Values to try for the fields of each method: ``{solam: {zeta: [1, 10], radius: [1]}}``. Methods that
        are not named use their own grids. ``budget.epochs`` or ``budget.iterations``, such as the number of
        boosting rounds, is tuned like a field.
    metric : str
        Measure by which settings are ranked, such as ``ap``. Its parameters are set in the run.
    """

    name: ClassVar[str] = "grid"
    folds: Folds = 5
    report: bool = True
    grid: Any = None
    metric: str = AUC.name

    def __post_init__(self) -> None:
        check_fields(self)
        named(self.metric, "tuning.metric")


@dataclass(frozen=True)
class Random(Grid):
    """Try settings drawn at random from the ranges of a grid.

    If all values of a field are positive, a number between the smallest and the largest is drawn
    log-uniformly (and rounded if they are whole numbers); any other field takes one of its values. The draws
    depend only on the split seed or on `draw_seed`: with it, the settings are the same for all splits and can
    be compared over splits and data sets. Draws that differ only in fields without an effect are tried once.

    Parameters
    ----------
    trials : int
        Number of settings.
    draw_seed : int, optional
        Seed of the draws, instead of the split seed.
    given_first : bool
        Whether the first setting is the method as given, by default with its own defaults, instead of a draw.
    folds, report, grid, metric
        As for `Grid`.
    """

    name: ClassVar[str] = "random"
    trials: Count = 30
    draw_seed: Annotated[int, Interval(low=0)] | None = None
    given_first: bool = False


@dataclass(frozen=True)
class Optuna(Grid):
    """Let Optuna's tree-structured Parzen estimator propose one setting after another.

    The ranges are the same as for `Random`. The seed of a trial depends only on the split seed and the number
    of the trial, so an interrupted search continues as if it had not been interrupted.

    Parameters
    ----------
    trials : int
        Number of settings.
    folds, report, grid, metric
        As for `Grid`.
    """

    name: ClassVar[str] = "optuna"
    trials: Count = 30


@dataclass(frozen=True)
class NoTuning(Random):
    """Use the hyperparameters as given.

    The fields of the other tunings are accepted but have no effect, so the tuning settings of an experiment
    stay valid under ``tuning=none``.
    """

    name: ClassVar[str] = "none"


TUNINGS: tuple[type, ...] = (NoTuning, Grid, Random, Optuna)


@dataclass(frozen=True)
class Tuning:
    """A tuning, and the values of the fields of one method from which it chooses."""

    choice: Any  # NoTuning, Grid, Random or Optuna
    space: dict[str, tuple[Any, ...]]  # values by field; empty for a method without a grid
    measure: Measure = AUC_MEASURE  # measure that ranks settings

    @property
    def chooses(self) -> bool:
        """Whether there is anything to choose."""
        return bool(self.space)

    def describe(self) -> TuningRecord:
        """Everything that affects the outcome."""
        if isinstance(self.choice, NoTuning):
            return TuningRecord(name=self.choice.name)
        parameters = FORMER | {
            key: value
            for key, value in asdict(self.choice).items()
            if key not in NOT_DECIDING and not (key in LATER and value == LATER[key])
        }
        parameters |= {f"{self.measure.name}.{key}": value for key, value in self.measure.parameters.items()}
        return TuningRecord(
            name=self.choice.name,
            parameters=parameters,
            space={key: list(values) for key, values in self.space.items()},
        )
