"""Tables in CSV, Parquet and ARFF files, read batch by batch as arrays of pyarrow."""

import contextlib
import csv
import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow
from pyarrow import csv as arrow_csv
from pyarrow import parquet, types

from aucbench.contracts import File
from aucbench.data.readers.cells import GAPS
from aucbench.data.readers.csv_layout import Layout, find_layout, refuse_twins
from aucbench.data.readers.formats import open_bytes
from aucbench.errors import DataError

ARFF_ROWS, PARQUET_ROWS = 1 << 14, 1 << 16  # of a batch
CSV_BYTES, CELL_BYTES, MOST_CSV_BYTES = 1 << 22, 2000, 1 << 27
INDEX = "index"  # of pandas, which is not a column of its frame
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # names the folder of rows without a value
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\S+)\s+(.+)""", re.IGNORECASE)
_CELL = re.compile(r"""\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,'"]*?))\s*(?:,|$)""")


@dataclass(frozen=True)
class Columns:
    """An opened file of columns."""

    path: Path
    names: list[str]  # in order; numbers from 0 where the file has no names
    batches: Callable[[], Iterator[list[Any]]]  # each a list of one pyarrow array per column
    types: Mapping[str, str] = field(
        default_factory=dict
    )  # "number", "categories" or INDEX, if the file declares it
    note: str = ""  # on how the names were found, which was not asked for

    def behind(self, partitions: Sequence[tuple[str, str]]) -> "Columns":
        """The columns behind others that have one value in the whole file."""
        if not partitions:
            return self
        names = [*(name for name, _ in partitions), *self.names]
        values = [None if value == HIVE_NULL else unquote(value) for _, value in partitions]
        refuse_twins(self.path, names)

        def batches() -> Iterator[list[Any]]:
            for batch in self.batches():
                columns = ([value] * len(batch[0]) for value in values)
                yield [*(pyarrow.array(column, pyarrow.string()) for column in columns), *batch]

        return Columns(self.path, names, batches, self.types, self.note)

    def arranged(self, names: list[str], used: Collection[int] | None = None) -> "Columns":
        """The same columns in the order of the training part, None in the place of one that it lacks.

        The columns at the places `used` are needed, by default all; columns without names must be as many.
        """
        needed = [names[place] for place in (range(len(names)) if used is None else sorted(used))]
        lacking = [name for name in needed if name not in self.names]
        without_names = names == [str(place) for place in range(len(names))]
        if lacking or (without_names and len(self.names) != len(names)):
            shown = ", ".join(name or "the column without a name" for name in lacking[:3])
            more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
            raise DataError(
                f"{self.path} has {len(self.names)} columns, expected the {len(needed)} that are used of the "
                f"training part{f' (it lacks {shown}{more})' if lacking else ''}."
            )
        places = [self.names.index(name) if name in self.names else None for name in names]

        def batches() -> Iterator[list[Any]]:
            for batch in self.batches():
                yield [None if place is None else batch[place] for place in places]

        return Columns(self.path, names, batches, self.types, self.note)


def open_columns(file: File, path: Path) -> Columns:
    """Open a file of kind csv, parquet, arff or keel."""
    openers = {"csv": _open_csv, "parquet": _open_parquet, "arff": _open_arff, "keel": _open_keel}
    return openers[file.kind](file, path).behind(file.partitions)


def _open_csv(file: File, path: Path) -> Columns:
    layout = find_layout(file, path)
    return Columns(path, layout.names, _csv_batches(path, layout), note=layout.note)


def _open_keel(file: File, path: Path) -> Columns:
    """Open rows in CSV, before which KEEL's files have lines that begin with @."""
    table = replace(file.table, header=False, delimiter=",", comment="@")
    return _open_csv(replace(file, table=table), path)


def _csv_batches(path: Path, layout: Layout) -> Callable[[], Iterator[list[Any]]]:
    """The cells of a CSV file as texts."""

    def batches() -> Iterator[list[Any]]:
        # Everything is read as text: what type a column has shows only at its end.
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(layout.names, pyarrow.string()),
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        )
        # A block holds many rows, however many columns there are: each column costs some time in each block.
        size = max(CSV_BYTES, min(CELL_BYTES * len(layout.names), MOST_CSV_BYTES), 4 * layout.row_length)
        read = arrow_csv.ReadOptions(column_names=layout.names, skip_rows=layout.skipped, block_size=size)
        parse = arrow_csv.ParseOptions(delimiter=layout.delimiter)
        with arrow_errors(path, layout), layout.open(path) as stream:
            for batch in arrow_csv.open_csv(stream, read, parse, convert):
                yield list(batch.columns)

    return batches


@contextlib.contextmanager
def arrow_errors(path: Path, layout: Layout | None = None) -> Iterator[None]:
    """Turn what pyarrow raises about a file into one sentence that names the file."""
    try:
        yield
    except MemoryError:  # pyarrow's are of both kinds
        raise
    except (pyarrow.ArrowException, OSError) as error:  # damaged Parquet may be an OSError without a number
        message = str(error).split("\n")[0]
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", message)
        if ragged:
            expected, got = ragged.groups()
            where = _line_of(path, int(expected), layout)
            raise DataError(f"{path}{where}: {got} cells, expected {expected}.") from None
        if "UTF8" in message or "UTF-8" in message:
            raise DataError(f"{path} is not UTF-8 text.") from None
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else message.rstrip(".") or type(error).__name__
        raise DataError(f"{path} cannot be read: {reason}.") from None


def _line_of(path: Path, expected: int, layout: Layout | None) -> str:
    """Where the first row begins that has another number of cells; quoted cells may hold ends of lines."""
    if layout is None:
        return ""
    before = 0
    with layout.open(path) as stream, contextlib.suppress(csv.Error):
        for _ in range(layout.skipped):
            before += bool(stream.readline())
        text = io.TextIOWrapper(stream, "utf-8", "replace", newline="")
        rows = csv.reader(text, delimiter=layout.delimiter)
        for cells in rows:
            if cells and len(cells) != expected:
                return f", line {before + 1}"
            before = layout.skipped + rows.line_num
    return ""


def _open_parquet(file: File, path: Path) -> Columns:
    with arrow_errors(path):
        schema = parquet.read_schema(path)
    names = list(schema.names)
    refuse_twins(path, names)
    # Parquet loses categories that are numbers, and pandas notes them.
    noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    nominal = {each.get("name") for each in noted.get("columns", []) if each["pandas_type"] == "categorical"}
    indices = {each for each in noted.get("index_columns", []) if isinstance(each, str)}
    nominal |= {each.name for each in schema if types.is_dictionary(each.type)}

    def batches() -> Iterator[list[Any]]:
        with arrow_errors(path), parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches(PARQUET_ROWS):
                yield list(batch.columns)

    declared = dict.fromkeys(nominal, "categories") | dict.fromkeys(indices, INDEX)
    return Columns(path, names, batches, {name: declared[name] for name in names if name in declared})


def _open_arff(file: File, path: Path) -> Columns:
    with open_bytes(path) as stream:
        names, stated, _ = _read_header(path, stream)
    refuse_twins(path, names)

    def batches() -> Iterator[list[Any]]:
        before = 0
        with open_bytes(path) as stream:
            *_, lines = _read_header(path, stream)
            for rows in _read_rows(path, stream, lines, len(names)):
                for name, column in zip(names, zip(*rows, strict=True), strict=True):
                    _refuse_undeclared(path, name, column, stated[name], before)
                before += len(rows)
                yield [pyarrow.array(column, pyarrow.string()) for column in zip(*rows, strict=True)]

    declared = {name: kind if isinstance(kind, str) else "categories" for name, kind in stated.items()}
    return Columns(path, names, batches, declared)


def _refuse_undeclared(
    path: Path, name: str, column: Sequence[str], kind: str | frozenset[str], before: int
) -> None:
    """Refuse a text that is none of the declared ones; `before` rows precede the cells."""
    if isinstance(kind, frozenset) and (others := set(column) - kind - set(GAPS)):
        row, text = next((row, text) for row, text in enumerate(column, 1) if text in others)
        raise DataError(
            f"{path}: column {name!r} has {text!r} in row {before + row}, which is not among the values that "
            "the file declares; correct the cell or the declaration."
        )


def _read_header(path: Path, stream: Any) -> tuple[list[str], dict[str, str | frozenset[str]], int]:
    """Read up to the line ``@data``: names of attributes, their types or values, and the number of lines."""
    names: list[str] = []
    declared: dict[str, str | frozenset[str]] = {}
    for number, raw in enumerate(stream, 1):
        line = _decoded(path, raw, number)
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if word == "@data" and names:
            return names, declared, number
        if word == "@attribute":
            found = _ATTRIBUTE.match(line)
            if not found:
                raise DataError(f"{path}, line {number}: expected @attribute NAME TYPE, got {line[:60]!r}.")
            name, kind = found[1], found[2].split()[0]
            names.append(_unescaped(name[1:-1]) if name[0] in "'\"" else name)
            values = re.fullmatch(r"\{(.*)\}[^}]*", found[2].strip())
            if values or kind.lower() == "string":
                declared[names[-1]] = frozenset(_quoted(values[1].strip())) if values else "categories"
            elif kind.lower() in ("numeric", "real", "integer"):
                declared[names[-1]] = "number"
            else:
                raise DataError(f"{path}, line {number}: attributes of type {kind} are not read.")
    raise DataError(f"{path}: expected ARFF, with @attribute lines and @data before the rows.")


def _read_rows(path: Path, stream: Any, lines: int, columns: int) -> Iterator[list[list[str]]]:
    """The rows behind the header, in batches; each row has a text for every attribute."""
    rows: list[list[str]] = []
    for number, raw in enumerate(stream, lines + 1):
        line = _decoded(path, raw, number)
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise DataError(f"{path}, line {number}: sparse ARFF rows are not read.")
        plain = "'" not in line and '"' not in line
        cells = [cell.strip() for cell in line.split(",")] if plain else _quoted(line)
        if len(cells) != columns:
            raise DataError(f"{path}, line {number}: {len(cells)} cells, expected {columns}.")
        rows.append(cells)
        if len(rows) == ARFF_ROWS:
            yield rows
            rows = []
    if rows:
        yield rows


def _decoded(path: Path, raw: bytes, number: int) -> str:
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text (line {number}); save it as UTF-8.") from None


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


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
