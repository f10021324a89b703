"""Tables in CSV, Parquet and ARFF files, read batch by batch as arrays of pyarrow.

Sparse rows ({index value, ...}) are refused; a value that is missing stands as ``?``.
"""

import contextlib
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from aucbench.contracts import File
from aucbench.data.readers.libsvm import readable
from aucbench.errors import DataError

ROWS = 1 << 14  # rows of a batch
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\S+)\s+(.+)""", re.IGNORECASE)
_CELL = re.compile(r"""\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,'"]*?))\s*(?:,|$)""")
_NUMBERS = ("numeric", "real", "integer")

BATCH_BYTES = 1 << 22
CELL_BYTES, MOST_BATCH_BYTES = 2000, 1 << 27
BATCH_ROWS = 1 << 16
_DELIMITERS = ",;\t| "


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


@dataclass(frozen=True)
class Columns:
    """An opened file of columns.

    Parameters
    ----------
    path : Path
        The file.
    names : list of str
        Of the columns, in order; their numbers from 0 where the file has no names.
    batches : callable
        Gives an iterator over batches, each a list of one pyarrow array a column: texts, numbers or booleans.
    nominal : frozenset of str
        Columns that hold categories, whatever they look like.
    """

    path: Path
    names: list[str]
    batches: Callable[[], Iterator[list[Any]]]
    nominal: frozenset[str] = field(default=frozenset())


def open_columns(file: File, path: Path) -> Columns:
    """Open a file of kind csv, parquet or arff.

    Raises
    ------
    DataError
        The file cannot be read, has no rows, or is not what its kind says.
    """
    return {"csv": _open_csv, "parquet": _open_parquet, "arff": _open_arff}[file.kind](file, path)


def _open_csv(file: File, path: Path) -> Columns:
    from pyarrow import csv

    with readable(path) as stream:
        begin = _first_lines(stream)
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is not UTF-8 text but UTF-16; save it as UTF-8.")
    text = begin.decode("utf-8-sig", "replace")
    first, second, *_ = [*[line for line in text.splitlines() if line.strip()][:2], "", ""]
    if not first:
        raise DataError(f"{path} is empty: expected at least one row of data.")
    delimiter = file.table.delimiter or max(_DELIMITERS, key=first.count)
    delimiter = "\t" if delimiter == "\\t" else delimiter  # as it is written on a command line
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise DataError(
            f"{path}: the delimiter must be one ASCII character, no quote or end of line, got {delimiter!r}."
        )
    options = csv.ParseOptions(delimiter=delimiter)
    cells = _cells(path, first, options)
    if len(cells) < 2:
        raise DataError(
            f"{path}: the first line has one column only, expected features and a label; name what stands "
            f"between columns with dataset.delimiter."
        )
    header = file.table.header
    if header is None:
        header = _has_header(cells, _cells(path, second, options) if second else [], file)
    names = cells if header else [str(number) for number in range(len(cells))]
    _refuse_twins(path, names, "; if the first line is data and no header, set dataset.header=false")

    def batches() -> Iterator[list[Any]]:
        # Empty lines are passed over; the first other one is the header, if any.
        skipped = text.splitlines().index(first) + 1 if header else 0
        import pyarrow

        # Everything is read as text: what type a column has shows only at its end.
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.string()),
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        )
        # A block holds many rows, however many columns there are: each column costs some time in each block.
        size = max(BATCH_BYTES, min(CELL_BYTES * len(names), MOST_BATCH_BYTES), 4 * len(first))
        read = csv.ReadOptions(column_names=names, skip_rows=skipped, block_size=size, use_threads=False)
        with arrow_errors(path, delimiter), readable(path) as stream:
            for batch in csv.open_csv(stream, read, options, convert):
                yield list(batch.columns)

    return Columns(path, names, batches)


def _first_lines(stream: Any) -> bytes:
    """The first two lines that are not empty, and those before and between them."""
    lines: list[bytes] = []
    filled = 0
    while filled < 2 and (line := stream.readline()):
        lines.append(line)
        filled += bool(line.strip())
    return b"".join(lines)


def _cells(path: Path, line: str, options: Any) -> list[str]:
    import csv

    try:
        cells = next(csv.reader([line], delimiter=options.delimiter))
    except csv.Error as error:
        raise DataError(f"{path}, line 1: {error}.") from None
    return [cell.strip() for cell in cells]


def _has_header(cells: list[str], below: list[str], file: File) -> bool:
    named = [column for column in (file.table.target, *file.table.drop) if isinstance(column, str)]
    names = [not _is_number(cell) for cell in cells]
    over_number = any(name and _is_number(cell) for name, cell in zip(names, below, strict=False))
    return any(name in cells for name in named) or all(names) or over_number


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("", "?")  # a missing number, and no name in any case
    return True


def _refuse_twins(path: Path, names: list[str], way_out: str = "; rename them") -> None:
    twins = sorted(name for name, count in Counter(names).items() if count > 1)
    if twins:
        raise DataError(f"{path}: several columns are named {twins[0]!r}, expected different names{way_out}.")


@contextlib.contextmanager
def arrow_errors(path: Path, delimiter: str = ",") -> Iterator[None]:
    """Turn what pyarrow raises about a file into one sentence that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:  # damaged Parquet may be an OSError without a number
        message = str(error).split("\n")[0]
        ragged = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", message)
        if ragged:
            row, expected, got = ragged.groups()
            where = _line_of(path, row, delimiter)
            raise DataError(f"{path}{where}: {got} cells, expected {expected}.") from None
        if "UTF8" in message or "UTF-8" in message:
            raise DataError(f"{path} is not UTF-8 text.") from None
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else message.rstrip(".") or type(error).__name__
        raise DataError(f"{path} cannot be read: {reason}.") from None


def _line_of(path: Path, row: str | None, delimiter: str) -> str:
    """Where a row begins that pyarrow counts without empty lines; quoted cells may hold ends of lines."""
    import csv

    if row is None:
        return ""
    filled = before = 0
    with readable(path) as stream, contextlib.suppress(csv.Error):
        rows = csv.reader(io.TextIOWrapper(stream, "utf-8", "replace", newline=""), delimiter=delimiter)
        for cells in rows:
            filled += bool(cells)
            if filled == int(row):
                return f", line {before + 1}"
            before = rows.line_num
    return f", row {row}"


def _open_parquet(file: File, path: Path) -> Columns:
    from pyarrow import parquet

    with arrow_errors(path):
        names = list(parquet.read_schema(path).names)
    _refuse_twins(path, names)

    def batches() -> Iterator[list[Any]]:
        with arrow_errors(path), parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches(BATCH_ROWS):
                yield list(batch.columns)

    return Columns(path, names, batches)


def _open_arff(file: File, path: Path) -> Columns:
    with readable(path) as stream:
        header = read_header(path, stream)
    _refuse_twins(path, header.names)

    def batches() -> Iterator[list[Any]]:
        import pyarrow

        with readable(path) as stream:
            read_header(path, stream)
            for rows in read_rows(path, stream, header):
                yield [pyarrow.array(column, pyarrow.string()) for column in zip(*rows, strict=True)]

    return Columns(path, header.names, batches, header.nominal)
