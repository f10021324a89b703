"""Checks of a plugin's declarations: the class itself, of any family, and the attributes of methods."""

from dataclasses import fields
from typing import Any

import numpy as np

from aucbench.contracts import Access, MethodFacts, check_fields
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import reason_against
from aucbench.studies.tuners import resolve
from aucbench.suggestions import suggest
from aucbench.testing.findings import Broken

SIZES = (2, 3, 10, 100, 1_000, 100_000)  # numbers of training rows passed to `batch_size`


def declared(subject: Any) -> None:
    """The plugin is a frozen dataclass with a name, and its default parameters are valid."""
    cls = type(subject.plugin)
    place = place_of(cls)
    if reason := reason_against(subject.family, cls):
        raise Broken(f"{reason}.", place)
    if not cls.__dataclass_params__.frozen:
        raise Broken(f"{cls.__name__} is not frozen: write @dataclass(frozen=True).", place)
    name: str = cls.name
    if not name.isidentifier():
        raise Broken(f"`name` must be a word usable as an identifier, got {name!r}.", place)
    if any(field.name == "name" for field in fields(cls)):
        raise Broken("`name` is a field; annotate it as ClassVar[str].", place)
    cls()
    check_fields(subject.plugin)


def grid(subject: Any) -> str | None:
    """Names in the tuning grid, `ignored` and `step_size` are fields; the values of the grid are valid."""
    plugin, facts = subject.plugin, MethodFacts(subject.plugin)
    names = [field.name for field in fields(plugin)]
    named = [("step_size", facts.step_size)] if facts.step_size else []
    for attribute, name in [*named, *(("ignored", field) for field in (facts.ignored or tuple)())]:
        if name not in names:
            raise Broken(f"`{attribute}` names {name!r}, which is not a field. {suggest(str(name), names)}")
    try:
        return None if resolve(plugin, None) else "declares no grid"
    except ValueError as error:
        raise Broken(f"A tuning cannot try `grid`: {error}") from None


def batch_size(subject: Any) -> str | None:
    """For every n, a minibatch has 1 to n rows, and a balanced batch has an even number of rows."""
    access = Access(subject.plugin.access)
    is_balanced = access is Access.balanced
    if access is not Access.minibatch and not is_balanced:
        return "takes no minibatches"
    if MethodFacts(subject.plugin).batch_size is None:
        raise Broken(f"A method of access {access} needs a method batch_size(n_samples).")
    for n in SIZES:
        size = subject.plugin.batch_size(n)
        is_number = isinstance(size, int | np.integer)
        if not is_number or not (size >= 2 and size % 2 == 0 if is_balanced else 1 <= size <= n):
            bounds = "an even number from 2 on" if is_balanced else f"a whole number from 1 to {n}"
            raise Broken(f"batch_size({n}) must be {bounds}, got {size!r}.")
    return None
