"""Parameters that a method passes to another library, and the distribution of that library."""

import importlib.util
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from typing import Any

from aucbench import ParameterError

PLAIN = (bool, int, float, str, type(None))


class Parameters(dict[str, Any]):
    """Parameters by name; hashable, so that a tuning can distinguish settings."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items(), key=lambda item: item[0])))

    @classmethod
    def coerce(cls, method: Any, field: str) -> None:
        """Check a field of a frozen method, a mapping or None, and make it hashable."""
        params = getattr(method, field)
        if params is not None and not isinstance(params, Mapping):
            raise ParameterError(f"{method.name}: {field} must be a mapping of parameters, got {params!r}.")
        plain = {
            str(key): _plain(f"{method.name}: {field}.{key}", value) for key, value in (params or {}).items()
        }
        object.__setattr__(method, field, cls(plain) if plain else None)


def _plain(name: str, value: Any) -> Any:
    """A value of numbers, texts, lists and mappings, made hashable; a ParameterError for any other value."""
    if isinstance(value, Mapping):
        return Parameters({str(key): _plain(name, item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(_plain(name, item) for item in value)
    if not isinstance(value, PLAIN):
        raise ParameterError(
            f"{name} must be a number, text, true, false, null, or a list or mapping of these, got {value!r}."
        )
    return value


def is_installed(module: str) -> bool:
    """Whether the package of a module can be imported."""
    package = module.partition(".")[0]
    return package.isidentifier() and importlib.util.find_spec(package) is not None


@cache
def distributions(module: str) -> tuple[str, ...]:
    """The distribution of the package of a module, such as xgboost-cpu; empty for a local module."""
    package = module.partition(".")[0]
    for name in (package, f"{package}-cpu", *metadata.packages_distributions().get(package, ())):
        with suppress(metadata.PackageNotFoundError):
            return (metadata.distribution(name).name,)
    return ()
