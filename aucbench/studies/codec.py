"""Records as JSON: writing, reading without control characters of terminals, and comparison."""

import json
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, structs

from aucbench.humanize import harmless_json

R = TypeVar("R")


def to_dict(record: Struct) -> dict[str, Any]:
    """A record as JSON data: mappings, lists, text and numbers."""
    content: dict[str, Any] = json.loads(encode(record))
    return content


def encode(record: Any) -> bytes:
    """A record as JSON; infinite numbers, which strict JSON lacks, are kept as Python writes them.

    NumPy numbers become numbers; other values of types that JSON lacks become text.
    """
    return json.dumps(
        msgspec.to_builtins(record, enc_hook=lambda value: getattr(value, "item", value.__str__)())
    ).encode()


def decode(text: bytes, kind: type[R]) -> R:
    """The record of type `kind` that `encode` wrote, without characters that a terminal would obey.

    Raises `msgspec.DecodeError`, which names the missing or mistyped field, if the text is no such record.
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
        return {name: field for name, field in structs.asdict(value).items() if field is not UNSET}
    return str(value)


def subset(record: Struct, names: Iterable[str]) -> dict[str, Any]:
    """Some fields of a record by name."""
    return {name: getattr(record, name) for name in names}


def grouped(group: str, chosen: Any) -> dict[str, Any]:
    """The name chosen from a group, and its parameters, by the names of overrides."""
    if chosen is None:
        return {group: "none"}
    return {group: chosen.name} | {f"{group}.{key}": value for key, value in chosen.parameters.items()}
