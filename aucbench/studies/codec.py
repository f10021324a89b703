"""Records as JSON: written, read without what a terminal would obey, and compared."""

import json
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, structs

from aucbench.humanize import harmless_json

R = TypeVar("R")


def to_dict(record: Struct) -> dict[str, Any]:
    """A record as JSON gives it back: mappings, lists, text and numbers."""
    found: dict[str, Any] = json.loads(encode(record))
    return found


def encode(record: Any) -> bytes:
    """A record as JSON; infinite numbers, which strict JSON lacks, are kept as Python writes them.

    Parameters of types that JSON lacks are numbers if they are those of NumPy, and text otherwise.
    """
    return json.dumps(
        msgspec.to_builtins(record, enc_hook=lambda value: getattr(value, "item", value.__str__)())
    ).encode()


def decode(text: bytes, kind: type[R]) -> R:
    """The record of some kind that `encode` wrote, without characters that a terminal would obey.

    Raises `msgspec.DecodeError`, which says which field is missing or of another type, if it is none.
    """
    text = harmless_json(text)
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        try:
            content = json.loads(text)  # accepts NaN and Infinity
        except (ValueError, RecursionError):
            raise msgspec.DecodeError(str(error)) from None
        return msgspec.convert(content, kind)


def canonical(content: Any) -> str:
    """JSON that is the same for equal content: tuples are lists, fields are sorted."""
    return json.dumps(content, sort_keys=True, default=_jsonable)


def _jsonable(value: Any) -> Any:
    if isinstance(value, Struct):
        return {name: each for name, each in structs.asdict(value).items() if each is not UNSET}
    return str(value)


def subset(record: Struct, names: Iterable[str]) -> dict[str, Any]:
    """Some fields of a record by name."""
    return {name: getattr(record, name) for name in names}


def grouped(group: str, chosen: Any) -> dict[str, Any]:
    """The name that is chosen from a group, and its parameters, by the names of overrides."""
    if chosen is None:
        return {group: "none"}
    return {group: chosen.name} | {f"{group}.{key}": value for key, value in chosen.parameters.items()}
