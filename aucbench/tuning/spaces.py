"""The settings a tuning tries: resolved grids, their points, random draws from their ranges."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from aucbench.contracts.hyperparameters import coerced_field
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.errors import ParameterError

Point = dict[str, Any]  # field to value


class Range(NamedTuple):
    """What random searches draw a field from: log-uniform between two numbers, or one of some values."""

    low: float
    high: float
    whole: bool
    values: tuple[Any, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether the field is drawn between `low` and `high`."""
        return self.high > self.low


def resolve(algorithm: Any, given: Any) -> dict[str, tuple[Any, ...]]:
    """The grid of one method: the one that was given under its name, else its own.

    Raises
    ------
    ParameterError
        The given grid is no mapping, names a field the method lacks, or a value the field refuses.
    """
    name = algorithm.name
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(f"tuning.grid: expected {{METHOD: {{FIELD: [VALUES]}}}}, got {given!r}.")
    grid = (given or {}).get(name, getattr(algorithm, "grid", {}))
    if not isinstance(grid, Mapping):
        raise ParameterError(f"tuning.grid.{name}: expected {{FIELD: [VALUES]}}, got {grid!r}.")
    known = [field.name for field in fields(algorithm)]
    space = {}
    for field, values in grid.items():
        if field not in known:
            raise ParameterError(
                f"tuning.grid.{name}: {name} has no field '{field}'. Known: {', '.join(known)}."
            )
        many = values if isinstance(values, Sequence) and not isinstance(values, str) else [values]
        if not many:
            raise ParameterError(f"tuning.grid.{name}.{field} is empty: give at least one value.")
        # A number between which and its twin the method does not tell would be tried twice.
        coerced = [
            getattr(replace(algorithm, **{field: coerced_field(algorithm, field, frozen(value))}), field)
            for value in many
        ]
        space[str(field)] = tuple(dict.fromkeys(coerced))
    return space


def frozen(value: Any) -> Any:
    """Lists, as configurations and JSON have them, as the tuples that fields have."""
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def grid_points(space: Mapping[str, Sequence[Any]], algorithm: Any) -> list[Point]:
    """Every combination, the last field varying fastest; those that differ in ignored fields only are one."""
    combinations = itertools.product(*space.values())
    return _different(effective(algorithm, dict(zip(space, each, strict=True))) for each in combinations)


def effective(algorithm: Any, point: Point) -> Point:
    """A setting without the fields that the method ignores in it, which keep the values of the method."""
    if not hasattr(algorithm, "ignored"):
        return point
    try:
        ignored = set(replace(algorithm, **point).ignored())
    except Exception:  # values that do not go together: the trial of the setting says so
        return point
    return {field: value for field, value in point.items() if field not in ignored}


def ranges(space: Mapping[str, Sequence[Any]]) -> dict[str, Range]:
    """What random searches draw from."""
    return {field: _range(tuple(values)) for field, values in space.items()}


def random_points(space: Mapping[str, Sequence[Any]], count: int, seed: int, algorithm: Any) -> list[Point]:
    """Settings drawn independently of each other; the first draws do not depend on how many follow.

    Draws that do not differ in a field with an effect are one setting.
    """
    rng = generator(seed, RandomStream.settings)
    drawn = ranges(space)
    draws = [{field: _draw(range_, rng.random()) for field, range_ in drawn.items()} for _ in range(count)]
    return _different(effective(algorithm, draw) for draw in draws)


def _different(points: Iterable[Point]) -> list[Point]:
    """Settings in order, each once."""
    return list({tuple(point.items()): point for point in reversed(list(points))}.values())[::-1]


def _range(values: tuple[Any, ...]) -> Range:
    numeric = all(isinstance(v, int | float) and not isinstance(v, bool) and v > 0 for v in values)
    if not numeric:
        return Range(0.0, 0.0, False, values)
    return Range(min(values), max(values), all(isinstance(v, int) for v in values), values)


def _draw(range_: Range, u: float) -> Any:
    if not range_.is_numeric:
        return range_.values[int(u * len(range_.values))]
    value = range_.low * (range_.high / range_.low) ** u
    return round(value) if range_.whole else value
