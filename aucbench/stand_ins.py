"""Classes that stand for those of third parties, whose modules are imported in processes of their own.

A stand-in has the fields, the facts and the names of functions of its class. Pickled, it becomes the class
itself in the process that reads it; called here, its functions run in the process of their distribution.
"""

import copyreg
import dataclasses
import hashlib
import inspect
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from enum import StrEnum
from functools import cache, partial, reduce
from importlib import import_module
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from aucbench.contracts.cache_folder import cache_folder, remember
from aucbench.contracts.code_digest import code_digest
from aucbench.contracts.hyperparameters import Interval, check_fields, field_types, let_check_fields
from aucbench.contracts.source_location import package_of, source_file
from aucbench.errors import ParameterError, PluginError
from aucbench.pool import Pool, ProcessEnded

IMPORT_SECONDS = 60.0  # timeout of an import


class _Choice(StrEnum):
    """Base of the enumerations that stand for those of third parties; their members are pickled as text."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (str(self),)


class Field(NamedTuple):
    """A field of a described class."""

    name: str
    base: Any  # its type, or the members of an enumeration
    optional: bool
    interval: Interval
    default: tuple[Any, ...]  # of one value, empty if it has none


class Description(NamedTuple):
    """All that planning needs to know of a class."""

    distribution: str
    module: str
    qualname: str
    doc: str | None
    file: str | None
    code: str  # digest
    fields: tuple[Field, ...]
    facts: Mapping[str, Any]
    functions: Mapping[str, str]  # to "function", "classmethod", "staticmethod" or "property"
    checks: bool  # whether it has a `__post_init__` of its own


class _StandIn(type):
    """The type of all stand-ins."""

    _described: Description


def described(cls: Any, distribution: str, contract: Iterable[str]) -> Description:
    """The description of a class, made where it is imported; members of enumerations are described as text.

    It has the fields, and the facts and functions of the contract. Raises ParameterError if one of them, or a
    default, is an object of the package itself.
    """
    kinds, fields = field_types(cls), [each for each in dataclasses.fields(cls) if each.init]
    facts: dict[str, Any] = {}
    functions = {}
    for name in sorted(set(contract) - {each.name for each in fields}):
        value = inspect.getattr_static(cls, name, None)
        if isinstance(value, classmethod | staticmethod):
            functions[name] = type(value).__name__
        elif callable(value):
            functions[name] = "function"
        elif hasattr(value, "__get__"):
            functions[name] = "property"
        elif hasattr(cls, name):
            facts[name] = _ours(cls, name, _plain(getattr(cls, name)))
    return Description(
        distribution,
        cls.__module__,
        cls.__qualname__,
        cls.__doc__,
        source_file(cls),
        code_digest(cls),
        tuple(_field(cls, each, kinds[each.name]) for each in fields),
        facts,
        functions,
        getattr(cls, "__post_init__", check_fields) is not check_fields,
    )


def _plain(value: Any) -> Any:
    """The value with text in the place of members of enumerations, in the usual containers too."""
    if isinstance(value, str):
        return str(value) if type(value).__module__.partition(".")[0] != "aucbench" else value
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return {_plain(key): _plain(each) for key, each in value.items()} if type(value) is dict else value


def _field(cls: Any, field: Any, kind: Any) -> Field:
    base, default = kind.base, () if field.default is dataclasses.MISSING else (field.default,)
    if isinstance(base, type) and issubclass(base, StrEnum) and package_of(base) != "aucbench":
        base = {each.name: each.value for each in base}
    elif base not in (bool, int, float, str) and not _is_ours(cls, base):
        base = Any
    if field.default_factory is not dataclasses.MISSING:
        default = (field.default_factory(),)
    default = _ours(cls, field.name, _plain(default))
    return Field(field.name, base, kind.optional, kind.interval, default)


def _ours(cls: type, name: str, value: Any) -> Any:
    """The value of an attribute, if it can be read without importing the package of the class."""
    if _is_ours(cls, value):
        return value
    raise ParameterError(
        f"`{name}` of {cls.__name__} is an object of a class of {package_of(cls)}, which is not imported "
        f"where studies are planned: use numbers, texts and classes of aucbench"
    )


def _is_ours(cls: type, value: Any) -> bool:
    """Whether an object can be read without importing the package of a class."""

    class Reader(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if module.partition(".")[0] == package_of(cls):
                raise pickle.UnpicklingError
            return super().find_class(module, name)

    try:
        Reader(io.BytesIO(pickle.dumps(value))).load()
    except Exception:  # of an object that is not made to be pickled, too
        return False
    return True


def stand_in(described: Description) -> Any:
    """The class that stands for a described one."""
    namespace: dict[str, Any] = {
        **described.facts,
        **{name: _elsewhere(name, kind) for name, kind in described.functions.items()},
        "__module__": described.module,
        "__qualname__": described.qualname,
        "__doc__": described.doc,
        "__annotations__": {},
        "__reduce__": lambda self: (_made, (described.module, described.qualname, _values(self))),
        "_described": described,
    }
    for name, base, optional, interval, default in described.fields:
        if isinstance(base, Mapping):
            base = _Choice(name, base)  # type: ignore[call-arg]
        hint: Any = Annotated[base, interval]
        namespace["__annotations__"][name] = hint | None if optional else hint
        for value in default:
            is_mutable = type(value).__hash__ is None
            options = {"default_factory": partial(deepcopy, value)} if is_mutable else {"default": value}
            namespace[name] = dataclasses.field(**options)
    if described.checks:
        namespace["__post_init__"] = _post_init
    cls: Any = _StandIn(described.qualname.rpartition(".")[2], (), namespace)
    dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    let_check_fields(cls)
    return cls


def _post_init(self: Any) -> None:
    """Let the class itself check and complete the fields."""
    for name, value in _asked(self, _plain_values, self).items():
        object.__setattr__(self, name, value)
    check_fields(self)


def _plain_values(instance: Any) -> dict[str, Any]:
    values = {each.name: _plain(getattr(instance, each.name)) for each in dataclasses.fields(instance)}
    return {name: value for name, value in values.items() if _is_ours(type(instance), value)}


def imported(plugin: Any) -> Any:
    """The class, or instance, that a stand-in stands for, imported in this process; any other as it is."""
    is_stand_in = isinstance(plugin, _StandIn) or isinstance(type(plugin), _StandIn)
    return pickle.loads(pickle.dumps(plugin)) if is_stand_in else plugin


def _imported(module: str, qualname: str) -> Any:
    cls: Any = reduce(getattr, qualname.split("."), import_module(module))
    let_check_fields(cls)
    return cls


def _made(module: str, qualname: str, values: Mapping[str, Any]) -> Any:
    cls = _imported(module, qualname)
    kinds = field_types(cls)
    return cls(**{name: _member(kinds[name].base, value) for name, value in values.items()})


def _member(base: Any, value: Any) -> Any:
    """The member of an enumeration that a text names; any other value as it is."""
    is_named = isinstance(value, str) and isinstance(base, type) and issubclass(base, StrEnum)
    return base(value) if is_named and value in list(base) else value


def _values(instance: Any) -> dict[str, Any]:
    return {each.name: getattr(instance, each.name) for each in dataclasses.fields(instance)}


copyreg.pickle(_StandIn, lambda cls: (_imported, (cls._described.module, cls._described.qualname)))


def _elsewhere(name: str, kind: str) -> Any:
    """A function of a stand-in."""

    def call(owner: Any, *arguments: Any, **named: Any) -> Any:
        return _asked(owner, methodcaller(name, *arguments, **named), owner)

    if kind == "property":
        return property(lambda owner: _asked(owner, attrgetter(name), owner))
    return call if kind == "function" else classmethod(call)


def _asked(owner: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in the process of the owner's distribution."""
    distribution = owner._described.distribution
    try:
        return _pool().submit(function, *arguments, key=distribution).result()
    except ProcessEnded as ended:
        raise PluginError(f"Distribution {distribution} ended its process, status {ended.status}.") from None


@cache
def _pool() -> Pool:
    return Pool()


def end_processes() -> None:
    """End the processes of all distributions; what is asked next starts them again."""
    _pool().shutdown()
    _pool.cache_clear()


def from_its_process(function: Callable[..., Any], distribution: str, *entry: str) -> Any:
    """The descriptions and failures that `function(distribution, *entry)` finds in a process of its own.

    Without failures they are remembered in the cache folder until a file of the imported modules changes.
    A process that ends or hangs is a `ProcessEnded`.
    """
    name = hashlib.sha256(repr((distribution, entry, sys.version, sys.path)).encode()).hexdigest()
    remembered = cache_folder() / "plugins" / name
    with suppress(Exception):  # it is not there, damaged, or of another version
        states, content = pickle.loads(remembered.read_bytes())
        if states == _states(states):
            return pickle.loads(content)
    call = partial(_with_states, function, distribution, *entry)
    states, content = _pool().submit(call, key=distribution, seconds=IMPORT_SECONDS).result()
    if states:
        remember(remembered, pickle.dumps((states, content)))
    return pickle.loads(content)


def _with_states(function: Callable[..., Any], *arguments: str) -> tuple[dict[str, Any], bytes]:
    """What the function returns, and the states of the files of all modules; it may print nothing."""
    os.dup2(2, 1)  # what a module prints is no output of the command
    found, failures = function(*arguments)
    files = [file for each in list(sys.modules.values()) if (file := getattr(each, "__file__", None))]
    return {} if failures else _states(files), pickle.dumps((found, failures))


def _states(files: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for file in files:  # of more than a thousand modules, at each start
        try:
            state = os.stat(file)
        except OSError:  # it is gone, or in a zip archive
            state = next(each for each in Path(file).parents if each.exists()).stat()
        found[file] = state.st_mtime_ns, state.st_size
    return found
