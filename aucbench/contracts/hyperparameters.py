"""Hyperparameter fields: ranges in the annotated type, checked and coerced."""

import math
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache, wraps
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from aucbench.errors import ParameterError


@dataclass(frozen=True)
class Interval:
    """The range of a number: `low` to `high`, ends included unless `open_low` or `open_high`."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below and abs(value) <= sys.float_info.max

    def __str__(self) -> str:
        parts = []
        if self.low > -math.inf:
            parts.append(f"{'>' if self.open_low else '>='} {self.low:g}")
        if self.high < math.inf:
            parts.append(f"{'<' if self.open_high else '<='} {self.high:g}")
        return " and ".join(parts) or "finite"


Positive = Annotated[float, Interval(low=0.0, open_low=True)]
NonNegative = Annotated[float, Interval(low=0.0)]
OpenUnit = Annotated[float, Interval(low=0.0, high=1.0, open_low=True, open_high=True)]
Count = Annotated[int, Interval(low=1)]
Index = Annotated[int, Interval(low=0)]


class FieldType(NamedTuple):
    """The parts of a field's annotation: the bare type, whether None is allowed, and the range."""

    base: Any
    optional: bool
    interval: Interval


@cache
def field_types(cls: type) -> Mapping[str, FieldType]:
    """The types of the dataclass fields of `cls`, by name."""
    hints = get_type_hints(cls, include_extras=True)
    return types.MappingProxyType(
        {field.name: _take_apart(hints[field.name], field.default is None) for field in fields(cls)}
    )


def _take_apart(hint: Any, optional: bool) -> FieldType:
    interval = Interval()
    if get_origin(hint) in (Union, types.UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        optional |= len(members) < len(get_args(hint))
        hint = members[0] if len(members) == 1 else Any
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        interval = next((note for note in notes if isinstance(note, Interval)), interval)
    return FieldType(hint, optional, interval)


def check_fields(self: Any) -> None:
    """Check and coerce every field of a frozen dataclass, the default for plugins without `__post_init__`.

    A `__post_init__` that compares fields calls it first. Strings become members of a StrEnum field, whole
    numbers become floats in a float field; a value of another type or outside the annotated `Interval` is an
    error.

    Raises
    ------
    ParameterError
        Names the plugin, the field, the expected and the actual value.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import ClassVar
    >>> import aucbench
    >>> @dataclass(frozen=True)
    ... class Mine:
    ...     name: ClassVar[str] = "mine"
    ...     radius: aucbench.Positive = 1.0
    ...     __post_init__ = aucbench.check_fields
    >>> Mine(radius=-1)
    Traceback (most recent call last):
        ...
    aucbench.errors.ParameterError: mine: radius must be > 0, got -1.
    """
    for name in field_types(type(self)):  # type: ignore[arg-type]  # mypy: type[Any] is not Hashable
        object.__setattr__(self, name, coerced_field(self, name, getattr(self, name)))


def let_check_fields(cls: Any) -> None:
    """Add `check_fields` to a dataclass without `__post_init__`; a NameError if a type is not defined."""
    field_types(cls)
    make = cls.__init__
    if hasattr(make, "checks_fields") or hasattr(cls, "__post_init__"):
        return

    @wraps(make)
    def make_checked(self: Any, *values: Any, **named: Any) -> None:
        make(self, *values, **named)
        check_fields(self)

    make_checked.checks_fields = True  # type: ignore[attr-defined]  # marks the generated function
    cls.__init__ = make_checked


def coerced_field(instance: Any, name: str, value: Any) -> Any:
    """A value coerced to a field of a dataclass, whether or not the class checks its fields.

    A value of another type or out of range is a `ParameterError`.
    """
    cls = type(instance)
    base, optional, interval = field_types(cls)[name]  # type: ignore[arg-type]  # as above
    value = value.item() if isinstance(value, np.generic) else value
    if value is None and optional:
        return None
    if isinstance(base, type) and issubclass(base, StrEnum):
        if value in list(base):
            return base(value)
        expected = f"one of {', '.join(base)}"
    elif base in (int, float):
        expected = "a whole number" if base is int else "a number"
        if isinstance(value, int | base) and not isinstance(value, bool):
            if value in interval:
                return base(value)
            expected = str(interval)
    elif base in (bool, str) and not isinstance(value, base):
        expected = "true or false" if base is bool else "text"
    else:
        return value
    plugin, or_none = getattr(cls, "name", cls.__name__), " (or none)" if optional else ""
    raise ParameterError(f"{plugin}: {name} must be {expected}{or_none}, got {value!r:.40}.")
