"""Checks of a plugin's declarations: the class itself, of any family, and the attributes of methods."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from aucbench.contracts import Access
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import nearest
from aucbench.suggestions import suggest
from aucbench.testing.findings import Broken

OPTIONAL = (
    "weights", "finalize", "batch_size", "plans", "done", "losses", "grid", "ignored", "step_size", "claims",
    "citation", "deviations", "requires", "exempt", "resumable", "weighted",
    "together", "min_together", "init_from", "objective", "minimises",
)  # fmt: skip
KNOWN = (*OPTIONAL, "name", "access", "init", "step", "score")
SIZES = (2, 3, 10, 100, 1_000, 100_000)  # numbers of training rows for which a minibatch is asked


def declared(subject: Any) -> None:
    """The plugin is a frozen dataclass with a name, and its default parameters make one."""
    cls = type(subject.plugin)
    place = place_of(cls)
    if not is_dataclass(cls):
        raise Broken(f"{cls.__name__} is not a dataclass: write @dataclass(frozen=True) above it.", place)
    if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise Broken(f"{cls.__name__} is not frozen: write @dataclass(frozen=True).", place)
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise Broken(
            f"The class variable `name` must be a word usable as an identifier, got {name!r}.", place
        )
    if any(field.name == "name" for field in fields(cls)):
        raise Broken("`name` is a field; annotate it as ClassVar[str].", place)
    cls()


def spelling(subject: Any) -> None:
    """No attribute has almost the name of an optional one, which would be ignored."""
    plugin = subject.plugin
    own = [name for name in dir(plugin) if not name.startswith("_") and name not in KNOWN]
    for name in own:
        meant = nearest(name, OPTIONAL)
        if meant is not None and not hasattr(plugin, meant) and name not in _field_names(plugin):
            raise Broken(
                f"It has `{name}`, which nothing looks at; the contract knows `{meant}`. Rename it, or "
                f"begin it with an underscore.",
                place_of(getattr(type(plugin), name)) or place_of(type(plugin)),
            )


def _field_names(plugin: Any) -> list[str]:
    return [field.name for field in fields(plugin)]


def grid(subject: Any) -> str | None:
    """Names in the tuning grid, `ignored` and `step_size` are fields; the values of the grid are accepted."""
    plugin = subject.plugin
    known = _field_names(plugin)
    named = [("step_size", plugin.step_size)] if hasattr(plugin, "step_size") else []
    named += [("ignored", name) for name in plugin.ignored()] if hasattr(plugin, "ignored") else []
    for attribute, name in named:
        if name not in known:
            raise Broken(f"`{attribute}` names {name!r}, which is no field. {suggest(str(name), known)}")
    values = getattr(plugin, "grid", None)
    if not values:
        return "declares no grid"
    for name, candidates in values.items():
        if name not in known:
            raise Broken(f"`grid` names {name!r}, which is no field. {suggest(name, known)}")
        if not len(candidates):
            raise Broken(f"`grid` has no value for {name!r}.")
        for value in candidates:
            try:
                replace(plugin, **{name: value})
            except ValueError as error:
                raise Broken(f"The value {value!r} of {name!r} in `grid` is refused: {error}") from None
    return None


def access(subject: Any) -> None:
    """`access` is one of stream, pairs, minibatch and full."""
    value = getattr(subject.plugin, "access", None)
    if value not in list(Access):
        raise Broken(f"`access` must be one of {', '.join(Access)}, got {value!r}.")


def batch_size(subject: Any) -> str | None:
    """A minibatch has between 1 and n rows, whatever n is."""
    if Access(subject.plugin.access) is not Access.minibatch:
        return "takes no minibatches"
    if not hasattr(subject.plugin, "batch_size"):
        raise Broken("A minibatch method needs a method batch_size(n_samples).")
    if not callable(subject.plugin.batch_size):
        raise Broken(
            f"`batch_size` is {subject.plugin.batch_size!r}; it must be a method batch_size(n_samples). A "
            f"field with the number of rows needs another name."
        )
    for n in SIZES:
        size = subject.plugin.batch_size(n)
        if not isinstance(size, int | np.integer) or not 1 <= size <= n:
            raise Broken(f"batch_size({n}) must be a whole number from 1 to {n}, got {size!r}.")
    return None
