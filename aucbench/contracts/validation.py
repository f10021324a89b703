"""Checks of a class before its registration as a plugin, and of the results of its functions."""

import difflib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from aucbench.contracts.declarations import DatasetFacts, Facts, FeatureFacts, LossFacts, MethodFacts
from aucbench.contracts.hyperparameters import let_check_fields
from aucbench.contracts.source_location import place_in, place_of
from aucbench.humanize import sentence_of

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


@dataclass(frozen=True)
class Failure:
    """A plugin that failed to load."""

    what: str  # the plugin or module, with its distribution
    reason: str  # a sentence
    names: frozenset[str] = frozenset()  # names by which a user may select the plugin
    place: str = ""  # file, line and text of the cause, empty if unknown

    def __str__(self) -> str:
        return f"{self.what} failed and is left out: {self.reason}"

    def is_called(self, name: str) -> bool:
        """Whether `name` is one of its names, ignoring case, dashes and underscores."""

        def plain(text: str) -> str:
            return text.replace("_", "").replace("-", "").lower()

        return plain(name) in map(plain, self.names)


def failure_of(what: str, error: BaseException, module: str, names: Iterable[str]) -> Failure:
    """The failure for an exception of a plugin module or of one of its hooks."""
    text = sentence_of(error)
    if isinstance(error, SystemExit):
        text = "SystemExit: it ends the program, where it must raise an error"
    elif isinstance(error, ValueError) and "mutable default" in text:
        text += "; what all share, such as a grid, is no field: annotate it as ClassVar"
    place = place_in(error, module.partition(".")[0])
    return Failure(what, text, frozenset(names), place)


def refused(family: Family, cls: Any, distribution: str) -> Failure | None:
    """The failure of a class that a hook returned, None if the class may be registered."""
    reason = reason_against(family, cls)
    if reason is None:
        return None
    kind = cls if isinstance(cls, type) else type(cls)
    names = {kind.__name__, str(getattr(cls, "name", ""))} - {""}
    what = f"{family.singular} {kind.__name__} of distribution {distribution}"
    return Failure(what, reason, frozenset(names), place_of(kind))


def reason_against(family: Family, cls: Any) -> str | None:
    """Why a class is no plugin of a family; if it is one, None, and its instances check their fields."""
    if not isinstance(cls, type):
        return f"the hook must return classes, got {cls!r:.40}"
    if not is_dataclass(cls):
        return f"{cls.__name__} is not a dataclass: write @dataclass(frozen=True) above it"
    name = getattr(cls, "name", None)
    if not isinstance(name, str):
        return f'{cls.__name__} has no class variable `name` that is text: write name: ClassVar[str] = "..."'
    own = [each for each in dir(cls) if not each.startswith("_")]
    missing = [each for each in REQUIRED[family] if not hasattr(cls, each)]
    if missing:
        near = [f"`{match}` for `{each}`" for each in missing if (match := nearest(each, own)) is not None]
        mistaken = f"; is {' and '.join(near)} a slip?" if near else ""
        return f"{cls.__name__} lacks {', '.join(missing)}{mistaken}"
    if family is Family.datasets and not (hasattr(cls, "load") or hasattr(cls, "files")):
        return f"{cls.__name__} has neither `files` nor `load`"
    if (reason := _misfit(family, cls)) is not None:
        return reason
    try:
        let_check_fields(cls)
    except (NameError, TypeError) as error:
        return f"the types of the fields of {cls.__name__} cannot be read: {error}"
    return None


def _misfit(family: Family, cls: Any) -> str | None:
    """Why a public attribute of a class breaks the contract, None if all match it."""
    contract, own = _contract(FACTS[family]), {field.name for field in fields(cls)}
    for name in sorted(own & _not_fields(family)):
        what = "the optional function" if Any in contract[name] else "the declaration"
        return f"`{name}` of {cls.__name__} is a field, and {what} `{name}` of the contract: rename the field"
    for name in (each for each in dir(cls) if not each.startswith("_")):
        value, types = inspect.getattr_static(cls, name), contract.get(name)
        if types is not None:
            if not _fits(value, types):
                what = "a method" if Any in types else " or ".join(map(_noun, types))
                return f"`{name}` of {cls.__name__} must be {what}, got {value!r:.60}"
        elif name not in own:
            found = [vars(base).get(name) for base in cls.__mro__]
            is_function = any(callable(each) or hasattr(each, "__get__") for each in found)
            unused = [each for each in contract if getattr(cls, each, None) is None]
            near = nearest(name, (each for each in unused if (Any in contract[each]) is is_function))
            meant = f"did you mean `{near}`? Otherwise " if near else ""
            if not is_function:
                what, advice = "no part of the contract", "annotate it if it is a field, or "
            elif near:
                what, advice = "called by nothing", ""
            else:  # a helper function of the plugin
                continue
            return f"`{name}` of {cls.__name__} is {what}: {meant}{advice}begin its name with an underscore"
    return None


def contract_of(family: Family) -> frozenset[str]:
    """The attribute names that the framework reads from plugins of a family."""
    return frozenset({"name", *REQUIRED[family], *_contract(FACTS[family])})


@cache
def _contract(facts: type[Facts]) -> Mapping[str, tuple[Any, ...]]:
    """The types allowed for each name of a contract; `Any` stands for an optional function."""
    found = {}
    for name, hint in get_type_hints(facts).items():
        hint = get_args(hint)[0] if get_origin(hint) is ClassVar else hint
        options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        found[name] = tuple(get_origin(each) or each for each in options)
    return found


@cache
def _not_fields(family: Family) -> frozenset[str]:
    """Names that no field may have: those of functions and, for methods, of declarations of the class."""
    hints, contract = get_type_hints(FACTS[family]).items(), _contract(FACTS[family])
    of_class = {name for name, hint in hints if get_origin(hint) is ClassVar} - {"name"}
    return frozenset(name for name in of_class if family is Family.algorithms or Any in contract[name])


def _noun(kind: Any) -> str:
    return f"one of {', '.join(kind)}" if issubclass(kind, StrEnum) else kind.__name__


def _fits(value: Any, types: tuple[Any, ...]) -> bool:
    """Whether a static class attribute has one of the types."""
    if Any in types:
        return value is None or callable(value) or hasattr(value, "__get__")
    if hasattr(value, "__get__") and not callable(value):  # a property
        return True
    if issubclass(types[0], StrEnum):
        return value in list(types[0]) or (value is None and NoneType in types)
    if tuple in types:  # a string would pass as a sequence of characters
        return isinstance(value, Sequence) and not isinstance(value, str)
    return isinstance(value, types) or (float in types and isinstance(value, int))


def announced(family: Family, result: Any) -> tuple[Any, ...]:
    """The result of a hook as a tuple; a `TypeError` if it is no collection."""
    if not isinstance(result, Iterable):
        raise TypeError(f"it must return a tuple of classes, such as (Mine,), got {result!r:.60}")
    return tuple(result)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The most similar known name, None if no name is similar."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=NEAR)), None)


def wrong_scores(found: Any, n: int) -> str:
    """Why the scores of n rows have the wrong form; empty if the form is right."""
    if np.shape(found) == (n,):
        return ""
    what = "None" if found is None else f"{type(found).__name__} of shape {np.shape(found)}"
    return f"returned {what}; expected an ndarray of shape ({n},), one score per row."
