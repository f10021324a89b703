"""Checks of a class before its registration as a plugin, and of the results of its functions."""

import inspect
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from aucbench.contracts.declarations import DatasetFacts, FeatureFacts, LossFacts, MethodFacts
from aucbench.contracts.hyperparameters import let_check_fields
from aucbench.contracts.source_location import package_of

NEAR = 0.75  # similarity from which a name counts as a misspelling
NO_STATE = "returned None: end it with `return state`."


class Family(StrEnum):
    """The four kinds of plugin."""

    algorithms = "algorithms"
    datasets = "datasets"
    losses = "losses"
    features = "features"

    @property
    def singular(self) -> str:
        """The noun for one plugin of the kind."""
        return {"algorithms": "algorithm", "datasets": "data set", "losses": "loss"}.get(self, "feature map")


REQUIRED = {
    Family.algorithms: ("access", "init", "step", "score"),
    Family.datasets: (),
    Family.losses: ("value", "derivative"),
    Family.features: ("fit",),
}
FACTS = {
    Family.algorithms: MethodFacts,
    Family.datasets: DatasetFacts,
    Family.losses: LossFacts,
    Family.features: FeatureFacts,
}


class Failure(NamedTuple):
    """A plugin that failed to load."""

    what: str  # the plugin or module, with its distribution
    reason: str  # a sentence
    names: frozenset[str] = frozenset()  # names by which a user may select the plugin
    place: str = ""  # file, line and text of the cause, empty if unknown

    def __str__(self) -> str:
        return f"{self.what} failed and is left out: {self.reason}"


def reason_against(family: Family, cls: Any) -> str | None:
    """The reason why a class is not a plugin of a family, else None; instances then check their fields."""
    if not isinstance(cls, type):
        return f"the hook must return classes, got {cls!r:.40}"
    if not is_dataclass(cls):
        return f"{cls.__name__} is not a dataclass: write @dataclass(frozen=True) above it"
    if not isinstance(getattr(cls, "name", None), str):
        return f'{cls.__name__} has no class variable `name` that is text: write name: ClassVar[str] = "..."'
    field_names = {field.name for field in fields(cls)}
    bases = [base for base in cls.__mro__ if package_of(base) != "aucbench"]
    public = {name for base in bases for name in vars(base) if not name.startswith("_")}
    for name in sorted(field_names | public):
        if (reason := _misfit(family, cls, name, name in field_names)) is not None:
            return f"`{name}` of {cls.__name__} {reason}"
    missing = [name for name in REQUIRED[family] if not hasattr(cls, name)]
    if missing:
        return f"{cls.__name__} lacks {', '.join(missing)}"
    if family is Family.datasets and not (hasattr(cls, "load") or hasattr(cls, "files")):
        return f"{cls.__name__} has neither `files` nor `load`"
    try:
        let_check_fields(cls)
    except (NameError, TypeError) as error:
        return f"the types of the fields of {cls.__name__} cannot be read: {error}"
    return None


def _misfit(family: Family, cls: Any, name: str, is_field: bool) -> str | None:
    """The reason why a public attribute of a class breaks the contract, None if it does not."""
    contract, value = contract_of(family), inspect.getattr_static(cls, name, None)
    if is_field and name not in contract:
        return None
    # A helper function may be overridden by a value.
    values = [value] if name in contract else [vars(base).get(name) for base in cls.__mro__]
    is_function = any(callable(item) or hasattr(item, "__get__") for item in values)
    if name not in contract:
        unused = [key for key, (hint, _) in contract.items() if value is None or (hint is Any) is is_function]
        matches = get_close_matches(name, [key for key in unused if not hasattr(cls, key)], n=1, cutoff=NEAR)
        if is_function and not matches:  # a helper function of the plugin
            return None
        guess = f"did you mean `{matches[0]}`? Otherwise " if matches else ""
        advice = "" if is_function else "annotate it if it is a field, or "
        return f"is no part of the contract: {guess}{advice}begin its name with an underscore"
    hint, may_be_field = contract[name]
    if is_field and not may_be_field:
        return "is a field, and a function or declaration of the contract: rename the field"
    if hint is Any:
        return None if is_function or value is None else f"must be a method, got {value!r:.60}"
    if not hasattr(cls, name) or (is_function and not callable(value)):  # a field or a property
        return None
    try:
        msgspec.convert(_builtin(value), hint)
    except msgspec.ValidationError:
        return f"must be {_words(hint)}, got {value!r:.60}"
    return None


def _builtin(value: Any) -> Any:
    """The value with float, dictionaries and lists in the place of `np.float64` and other containers.

    A set has no order, and becomes a value that no contract allows.
    """
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {
            key: item.tolist() if isinstance(item, np.ndarray) else _builtin(item)
            for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_builtin(item) for item in value]
    return ... if isinstance(value, Set) else value


def _words(hint: Any) -> str:
    """The type as in an annotation, or the members of an enumeration."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return f"one of {', '.join(hint)}"
    return re.sub(r"(\w+\.)+", "", inspect.formatannotation(hint))


@cache
def contract_of(family: Family) -> Mapping[str, tuple[Any, bool]]:
    """The types of the attributes that the framework reads from plugins, and whether they may be fields.

    The type of a function is `Any`.
    """
    hints: dict[str, Any] = dict.fromkeys(REQUIRED[family], ClassVar[Any]) | get_type_hints(FACTS[family])
    return {
        name: (get_args(hint)[0], name == "name") if get_origin(hint) is ClassVar else (hint, True)
        for name, hint in hints.items()
    }


def wrong_scores(found: Any, n: int) -> str:
    """The reason why the scores of n rows have the wrong form; empty if the form is right."""
    if np.shape(found) == (n,):
        return ""
    form = "None" if found is None else f"{type(found).__name__} of shape {np.shape(found)}"
    return f"returned {form}; expected an ndarray of shape ({n},), one score per row."
