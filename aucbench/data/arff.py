"""Reading ARFF, the text format of Weka and OpenML: a header of typed attributes, then rows of values.

Sparse rows ({index value, ...}) are refused; a value that is missing stands as ``?``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from aucbench.errors import DataError

ROWS = 1 << 14  # rows of a batch
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\S+)\s+(.+)""", re.IGNORECASE)
_CELL = re.compile(r"""\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,'"]*?))\s*(?:,|$)""")
_NUMBERS = ("numeric", "real", "integer")


class Header(NamedTuple):
    """What stands before the rows."""

    names: list[str]
    nominal: frozenset[str]  # attributes of categories or text
    lines: int


def read_header(path: Path, stream: Any) -> Header:
    """Read up to and with the line ``@data``.

    Raises
    ------
    DataError
        A malformed attribute, an attribute that is a date or relational, or no ``@data``.
    """
    names: list[str] = []
    nominal: set[str] = set()
    for number, raw in enumerate(stream, 1):
        line = raw.decode("utf-8", "replace").strip()
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if word == "@data":
            if not names:
                break
            return Header(names, frozenset(nominal), number)
        if word == "@attribute":
            found = _ATTRIBUTE.match(line)
            if not found:
                raise DataError(f"{path}, line {number}: expected @attribute NAME TYPE, got {line[:60]!r}.")
            name, kind = _plain(found[1]), found[2].strip()
            names.append(name)
            if kind.startswith("{") or kind.split()[0].lower() == "string":
                nominal.add(name)
            elif kind.split()[0].lower() not in _NUMBERS:
                raise DataError(f"{path}, line {number}: attributes of type {kind.split()[0]} are not read.")
    raise DataError(f"{path}: expected ARFF, with @attribute lines and @data before the rows.")


def read_rows(path: Path, stream: Any, header: Header) -> Iterator[list[list[str]]]:
    """The rows behind the header, in batches; each row has a text for every attribute.

    Raises
    ------
    DataError
        A row of another length, or a sparse one; names the line.
    """
    rows: list[list[str]] = []
    for number, raw in enumerate(stream, header.lines + 1):
        line = raw.decode("utf-8", "replace").strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise DataError(f"{path}, line {number}: sparse ARFF rows are not read.")
        plain = "'" not in line and '"' not in line
        cells = [cell.strip() for cell in line.split(",")] if plain else _quoted(line)
        if len(cells) != len(header.names):
            raise DataError(f"{path}, line {number}: {len(cells)} cells, expected {len(header.names)}.")
        rows.append(cells)
        if len(rows) == ROWS:
            yield rows
            rows = []
    if rows:
        yield rows


def _quoted(line: str) -> list[str]:
    cells, position = [], 0
    while position <= len(line):
        found = _CELL.match(line, position)
        if not found:
            return []
        single, double, bare = found.groups()
        cells.append(bare if bare is not None else _unescaped(double if single is None else single))
        if found.end() == len(line) and not found[0].endswith(","):
            break
        position = found.end()
    return cells


def _plain(name: str) -> str:
    return _unescaped(name[1:-1]) if name[0] in "'\"" else name


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
