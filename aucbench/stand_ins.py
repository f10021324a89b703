"""Classes that stand for third-party classes, whose modules are imported in separate processes.

A stand-in has the fields, the facts and the names of functions of its class. A pickled stand-in
becomes the class itself in the process that reads it. Its functions run in the process of their distribution.
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
from aucbench.contracts.hyperparameters import check_fields, field_types, let_check_fields
from aucbench.contracts.source_location import package_of, source_file
from aucbench.errors import ParameterError, PluginError
from aucbench.pool import Pool, ProcessEnded

IMPORT_SECONDS = 60.0  # timeout of an import


class Description(NamedTuple):
    """The facts of a class that planning needs; pickled parts are read without importing its package."""

    distribution: str
    module: str
    qualname: str
    doc: str | None
    file: str | None
    code: str  # digest
    fields: Mapping[str, bytes]  # pickled type, and a tuple that is empty or holds the default
    facts: Mapping[str, bytes]  # pickled
    functions: Mapping[str, str]  # kind by name: "function", "classmethod", "staticmethod" or "property"
    checks: bool  # the class defines `__post_init__`


class _Choice(StrEnum):
    """Base of the stand-ins for third-party enumerations, whose members are pickled as text."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return str, (str(self),)


class _StandInType(type):
    """The type of all stand-ins, which determines how their classes are pickled."""

    _described: Description


class StandIn(metaclass=_StandInType):
    """Base of all stand-ins."""

    _described: Description

    def __post_init__(self) -> None:
        """Check the fields after a `__post_init__` of the class, if any, has checked and completed them."""
        if self._described.checks:
            for name, content in _remote_call(self, _pickled_values, self).items():
                object.__setattr__(self, name, pickle.loads(content))
        check_fields(self)

    def __reduce__(self) -> Any:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return _rebuilt, (self._described.module, self._described.qualname, values)


class _Pickler(pickle.Pickler):
    """Pickles objects that can be read without a package; strings of other types become plain strings."""

    def __init__(self, file: Any, package: str):
        super().__init__(file)
        self._package = package

    def reducer_override(self, obj: Any) -> Any:
        package = package_of(obj if hasattr(obj, "__module__") else type(obj))
        if isinstance(obj, str) and package != "aucbench":
            return str, (str(obj),)
        if package == self._package:
            raise pickle.PicklingError
        return NotImplemented


def _pickled(cls: type, name: str, value: Any) -> bytes:
    """The pickled value of an attribute, readable without importing the package of the class."""
    file = io.BytesIO()
    try:
        _Pickler(file, package_of(cls)).dump(value)
    except Exception as error:  # some objects cannot be pickled
        raise ParameterError(
            f"`{name}` of {cls.__name__} is an object of a class of {package_of(cls)}, which is not imported "
            f"where studies are planned: use numbers, texts and classes of aucbench"
        ) from error
    return file.getvalue()


def _pickled_values(instance: Any) -> dict[str, bytes]:
    """The fields of an instance that are readable without importing its package."""
    values = {}
    for field in dataclasses.fields(instance):
        with suppress(ParameterError):
            values[field.name] = _pickled(type(instance), field.name, getattr(instance, field.name))
    return values


def described(cls: Any, distribution: str, contract: Iterable[str]) -> Description:
    """The description of a class, made where the class is imported; enumeration members become text.

    It has the fields, and the facts and functions of the contract. Raises ParameterError if one of them, or a
    default, is an object of the package itself.
    """
    kinds, fields = field_types(cls), [field for field in dataclasses.fields(cls) if field.init]
    facts, functions = {}, {}
    for name in sorted(set(contract) - {field.name for field in fields}):
        value = inspect.getattr_static(cls, name, None)
        if isinstance(value, classmethod | staticmethod):
            functions[name] = type(value).__name__
        elif callable(value):
            functions[name] = "function"
        elif hasattr(value, "__get__"):
            functions[name] = "property"
        elif hasattr(cls, name):
            facts[name] = _pickled(cls, name, getattr(cls, name))
    return Description(
        distribution,
        cls.__module__,
        cls.__qualname__,
        cls.__doc__,
        source_file(cls),
        code_digest(cls),
        {field.name: _pickled(cls, field.name, _parts(field, kinds[field.name])) for field in fields},
        facts,
        functions,
        getattr(cls, "__post_init__", check_fields) is not check_fields,
    )


def _parts(field: Any, kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type of a field, `Any` if values are not checked, and a tuple with the default, if any."""
    base, is_choice = kind.base, _derives(kind.base, StrEnum)
    if is_choice and package_of(base) != "aucbench":
        base = {member.name: member.value for member in base}
    elif not is_choice and base not in (bool, int, float, str):
        base = Any
    default = () if field.default is dataclasses.MISSING else (field.default,)
    if field.default_factory is not dataclasses.MISSING:
        default = (field.default_factory(),)
    return kind._replace(base=base), default


def _derives(base: Any, parent: type) -> bool:
    """Whether an object is a class that derives from `parent`."""
    return isinstance(base, type) and issubclass(base, parent)


def stand_in(described: Description) -> Any:
    """The class that stands for a described class."""
    fields = []
    for name, content in described.fields.items():
        (base, is_optional, interval), default = pickle.loads(content)
        hint: Any = Annotated[_Choice(name, base) if isinstance(base, dict) else base, interval]  # type: ignore[call-arg]
        options: dict[str, Any] = {}
        for value in default:
            is_mutable = type(value).__hash__ is None
            options = {"default_factory": partial(deepcopy, value)} if is_mutable else {"default": value}
        fields.append((name, hint | None if is_optional else hint, dataclasses.field(**options)))
    namespace = {name: pickle.loads(content) for name, content in described.facts.items()}
    namespace |= {name: _remote_function(name, kind) for name, kind in described.functions.items()}
    namespace |= {"__doc__": described.doc, "__qualname__": described.qualname, "_described": described}
    make_class = partial(dataclasses.make_dataclass, bases=(StandIn,), frozen=True, kw_only=True)
    cls = make_class(described.qualname.rpartition(".")[2], fields, namespace=namespace)
    cls.__module__ = described.module
    return cls


def imported(plugin: Any) -> Any:
    """The class, or instance, that a stand-in stands for, imported in this process; others unchanged."""
    is_stand_in = isinstance(plugin, StandIn | _StandInType)
    return pickle.loads(pickle.dumps(plugin)) if is_stand_in else plugin


def _imported(module: str, qualname: str) -> Any:
    cls: Any = reduce(getattr, qualname.split("."), import_module(module))
    let_check_fields(cls)
    return cls


def _rebuilt(module: str, qualname: str, values: Mapping[str, Any]) -> Any:
    cls = _imported(module, qualname)
    kinds = field_types(cls)
    return cls(**{name: _member(kinds[name].base, value) for name, value in values.items()})


def _member(base: Any, value: Any) -> Any:
    """The member of an enumeration with a text as its value; other values unchanged."""
    return base(value) if _derives(base, StrEnum) and value in list(base) else value


copyreg.pickle(_StandInType, lambda cls: (_imported, (cls._described.module, cls._described.qualname)))


def _remote_function(name: str, kind: str) -> Any:
    """A function of a stand-in."""

    def call(owner: Any, *arguments: Any, **named: Any) -> Any:
        return _remote_call(owner, methodcaller(name, *arguments, **named), owner)

    if kind == "property":
        return property(lambda owner: _remote_call(owner, attrgetter(name), owner))
    return call if kind == "function" else classmethod(call)


def _remote_call(owner: Any, function: Callable[..., Any], *arguments: Any) -> Any:
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
    """End the processes of all distributions; the next call starts them again."""
    _pool().shutdown()
    _pool.cache_clear()


def from_its_process(function: Callable[..., Any], distribution: str, *entry: str) -> Any:
    """The descriptions and failures that `function(distribution, *entry)` returns in a separate process.

    Without failures, they are stored in the cache folder until a file of the imported modules changes.
    A process that ends or hangs is a `ProcessEnded`.
    """
    name = hashlib.sha256(repr((distribution, entry, sys.version, sys.path)).encode()).hexdigest()
    remembered = cache_folder() / "plugins" / name
    with suppress(Exception):  # the file may be missing, damaged or of another version
        states, outcome = pickle.loads(remembered.read_bytes())
        if states == _states(states):
            return outcome
    call = partial(_with_states, function, distribution, *entry)
    states, outcome = _pool().submit(call, key=distribution, seconds=IMPORT_SECONDS).result()
    if states:
        remember(remembered, pickle.dumps((states, outcome)))
    return outcome


def _with_states(function: Callable[..., Any], *arguments: str) -> tuple[dict[str, Any], Any]:
    """The states of the files of all modules, and what the function returns; nothing is printed."""
    os.dup2(2, 1)  # keeps a module's prints out of the command's output
    descriptions, failures = function(*arguments)
    files = [file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))]
    # The state of a missing file, or of a file in a zip archive, is that of the folder or archive.
    present = (next(filter(os.path.exists, (file, *Path(file).parents))) for file in files)
    return {} if failures else _states(map(str, present)), (descriptions, failures)


def _states(files: Iterable[str]) -> dict[str, Any]:
    """The time and size of each file; at each start, there are more than a thousand modules."""
    states = {file: os.stat(file) for file in files}
    return {file: (state.st_mtime_ns, state.st_size) for file, state in states.items()}
