"""Checks of import paths in recorded settings: an import runs code that a stranger may have chosen."""

from collections.abc import Collection, Mapping
from typing import Any

from aucbench.contracts import MethodFacts
from aucbench.errors import AucbenchError
from aucbench.studies.plugin_metadata import defaults_of


class UntrustedError(AucbenchError):
    """Recorded settings name a module that the user does not trust."""


def check_trusted(cls: Any, values: Mapping[str, Any], trust: Collection[str]) -> None:
    """Refuse values of a plugin's fields with an import path outside of the trusted modules.

    A value may be a list of values; a trusted module includes its submodules. Raises an UntrustedError
    with the option that trusts the path.
    """
    for field in MethodFacts(cls).imports:
        paths = values.get(field) or ()
        for path in paths if isinstance(paths, list | tuple) else (paths,):
            trusted = (path == module or str(path).startswith(f"{module}.") for module in trust)
            if path != defaults_of(cls)[field] and not any(trusted):
                raise UntrustedError(
                    f"the recorded settings of {cls.name} import {path}, which runs code that their author "
                    f"chose: to trust it, add --trust {str(path).partition('.')[0]}"
                )


def check_choice(algorithm: Any, choice: Mapping[str, Any], space: Mapping[str, Any]) -> None:
    """Refuse a stored choice of a tuning with an import path that the tuning does not try."""
    for field in MethodFacts(algorithm).imports:
        tried = (getattr(algorithm, field), *space.get(field, ()))
        if field in choice and choice[field] not in tried:
            raise UntrustedError(
                f"{algorithm.name}: the store has {field}={choice[field]} as the choice of a tuning that did "
                f"not try it, and it is not imported"
            )
