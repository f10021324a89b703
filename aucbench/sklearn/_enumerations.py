"""Members of enumerations in place of the texts that stored models have for them.

skops writes a member of a `StrEnum` as its text. Methods compare members by identity, so that a model which
was read back would silently train by other rules.
"""

from dataclasses import is_dataclass
from enum import Enum
from typing import Any, get_args, get_type_hints


def restore_members(found: Any, known: set[int] | None = None) -> Any:
    """The object with members where its classes declare them; only tuples are made anew."""
    known = set() if known is None else known
    if isinstance(found, tuple) and hasattr(found, "_fields"):
        hints = _hints(type(found))
        values = [
            _member(hints.get(name), restore_members(getattr(found, name), known)) for name in found._fields
        ]
        return found if all(map(_is, values, found)) else type(found)(*values)
    is_own = is_dataclass(found) or type(found).__module__.partition(".")[0] == "aucbench"
    if isinstance(found, type | Enum) or id(found) in known or not (is_own and hasattr(found, "__dict__")):
        return found
    known.add(id(found))
    hints = _hints(type(found))
    for name, value in vars(found).items():
        restored = _member(hints.get(name), restore_members(value, known))
        if restored is not value:
            object.__setattr__(found, name, restored)
    return found


def _member(hint: Any, value: Any) -> Any:
    if type(value) is str:
        for kind in (hint, *get_args(hint)):
            if isinstance(kind, type) and issubclass(kind, Enum):
                return kind(value)
    return value


def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls)
    except (NameError, TypeError):  # names that only a type checker imports
        return {}


def _is(one: Any, other: Any) -> bool:
    return one is other
