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
CHECKED = ("aucbench.contracts", "aucbench.registry", __name__)  # modules that determine descriptions


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
    options: Mapping[str, Any]  # of `dataclasses.field`


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


def described(cls: Any, distribution: str, facts: Iterable[str]) -> Description:
    """The description of a class, made where it is imported; members of enumerations are described as text.

    Raises ParameterError if one of `facts`, or a default, is an object of the package itself.
    """
    kinds, fields = field_types(cls), dataclasses.fields(cls)
    names = {name for name in dir(cls) if not name.startswith("_")} - {each.name for each in fields}
    values = {name: inspect.getattr_static(cls, name) for name in sorted(names)}
    functions = {name: kind for name, value in values.items() if (kind := _kind(value)) is not None}
    known = {name: _plain(getattr(cls, name)) for name in values if name not in functions}
    foreign = {name for name, value in known.items() if not _is_ours(cls, value)}
    for name in sorted(foreign & set(facts)):
        _refuse(cls, name)
    return Description(
        distribution,
        cls.__module__,
        cls.__qualname__,
        cls.__doc__,
        source_file(cls),
        code_digest(cls),
        tuple(_field(cls, each, kinds[each.name]) for each in fields),
        {name: value for name, value in known.items() if name not in foreign},
        functions,
        getattr(cls, "__post_init__", check_fields) is not check_fields,
    )


def _kind(value: Any) -> str | None:
    if isinstance(value, classmethod | staticmethod):
        return type(value).__name__
    if callable(value):
        return "function"
    return "property" if hasattr(value, "__get__") else None


def _plain(value: Any) -> Any:
    """The value with text in the place of members of enumerations, in the usual containers too."""
    if isinstance(value, str):
        return str(value) if type(value).__module__.partition(".")[0] != "aucbench" else value
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return {_plain(key): _plain(each) for key, each in value.items()} if type(value) is dict else value


def _field(cls: Any, field: Any, kind: Any) -> Field:
    options = {name: getattr(field, name) for name in ("init", "kw_only")}
    options["metadata"] = {key: value for key, value in field.metadata.items() if _is_ours(cls, value)}
    base = kind.base
    if isinstance(base, type) and issubclass(base, StrEnum) and package_of(base) != "aucbench":
        base = {each.name: each.value for each in base}
    elif base not in (bool, int, float, str) and not _is_ours(cls, base):
        base = Any
    if field.default_factory is not dataclasses.MISSING:
        default = _plain(field.default_factory())
        options["default_factory"] = partial(pickle.loads, pickle.dumps(default))
    else:
        default = options["default"] = _plain(field.default)
    if default is dataclasses.MISSING:
        del options["default"]
    elif not _is_ours(cls, default):
        _refuse(cls, field.name)
    return Field(field.name, base, kind.optional, kind.interval, options)


def _refuse(cls: type, name: str) -> None:
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
    for each in described.fields:
        members = each.base if isinstance(each.base, Mapping) else None
        base: Any = each.base if members is None else _Choice(each.name, members)  # type: ignore[call-arg]
        hint: Any = Annotated[base, each.interval]
        namespace["__annotations__"][each.name] = hint | None if each.optional else hint
        namespace[each.name] = dataclasses.field(**each.options)
    if described.checks:
        namespace["__post_init__"] = _post_init
    cls: Any = _StandIn(described.qualname.rpartition(".")[2], (), namespace)
    dataclasses.dataclass(frozen=True)(cls)
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
    return {each.name: getattr(instance, each.name) for each in dataclasses.fields(instance) if each.init}


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
    try:
        files, content = pickle.loads(remembered.read_bytes())
        if files == _states(files):
            return pickle.loads(content)
    except Exception:  # it is not there, damaged, or of another version
        pass
    files, content = (
        _pool()
        .submit(_with_files, function, distribution, *entry, key=distribution, seconds=IMPORT_SECONDS)
        .result()
    )
    if files:
        remember(remembered, pickle.dumps((files, content)))
    return pickle.loads(content)


def _with_files(function: Callable[..., Any], *arguments: str) -> tuple[dict[str, Any], bytes]:
    """What the function returns, and the files of modules that this process imports; it may print nothing."""
    before = _imported_before()
    os.dup2(2, 1)  # what a module prints is no output of the command
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    found, failures = function(*arguments)
    files = {
        next((str(each) for each in (Path(file), *Path(file).parents) if each.is_file()), file)  # or its zip
        for name, module in list(sys.modules.items())
        if (name not in before or name.startswith(CHECKED)) and (file := getattr(module, "__file__", None))
    }
    return {} if failures else _states(files), pickle.dumps((found, failures))


@cache
def _imported_before() -> set[str]:
    """Names of the modules that this process had imported when it was first asked."""
    return set(sys.modules)


def _states(files: Iterable[str]) -> dict[str, Any]:
    return {file: (state.st_mtime_ns, state.st_size) for file in files if (state := Path(file).stat())}
