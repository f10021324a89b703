"""Tables in CSV, Parquet and ARFF files, read batch by batch as arrays of pyarrow."""

import contextlib
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from aucbench.contracts import File
from aucbench.data.readers.blocks import open_bytes, skip_keel_header
from aucbench.errors import DataError

ARFF_ROWS, PARQUET_ROWS = 1 << 14, 1 << 16  # of a batch
CSV_BYTES, CELL_BYTES, MOST_CSV_BYTES = 1 << 22, 2000, 1 << 27
FIRST_LINES, LONG_LINES = 10, 1 << 20  # lines and bytes sampled to detect a header
NUMBERED = "is named by the first line, whose numbers are taken for names; dataset.header=false reads a row"
_DELIMITERS = ",;\t| "
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\S+)\s+(.+)""", re.IGNORECASE)
_CELL = re.compile(r"""\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,'"]*?))\s*(?:,|$)""")


@dataclass(frozen=True)
class Columns:
    """An opened file of columns."""

    path: Path
    names: list[str]  # in order; numbers from 0 where the file has no names
    batches: Callable[[], Iterator[list[Any]]]  # each a list of one pyarrow array per column
    nominal: frozenset[str] = frozenset()  # names of columns of categories, whatever they look like
    note: str = ""  # on how the names were found, which was not asked for

    def arranged(self, names: list[str]) -> "Columns":
        """The same columns in the order of the training part."""
        if sorted(self.names) != sorted(names):
            other = sorted(set(names) ^ set(self.names))[:3]
            raise DataError(
                f"{self.path} has {len(self.names)} columns, expected the {len(names)} of the training part "
                f"(different: {', '.join(other) or 'none'})."
            )
        numbers = [self.names.index(name) for name in names]

        def batches() -> Iterator[list[Any]]:
            for batch in self.batches():
                yield [batch[number] for number in numbers]

        return Columns(self.path, names, batches, self.nominal, self.note)


def open_columns(file: File, path: Path) -> Columns:
    """Open a file of kind csv, parquet, arff or keel."""
    openers = {"csv": _open_csv, "parquet": _open_parquet, "arff": _open_arff, "keel": _open_keel}
    return openers[file.kind](file, path)


def _open_csv(file: File, path: Path) -> Columns:
    with open_bytes(path) as stream:
        begin = _first_lines(stream)
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is not UTF-8 text but UTF-16; save it as UTF-8.")
    text = begin.decode("utf-8-sig", "replace")
    first, *others = [*[line for line in text.splitlines() if line.strip()], ""]
    if not first:
        raise DataError(f"{path} is empty: expected at least one row of data.")
    if any(re.match("@(relation|attribute)", line, re.IGNORECASE) for line in (first, *others)):
        raise DataError(f"{path} is ARFF and not CSV; read it with dataset=arff.")
    delimiter = file.table.delimiter or max(_DELIMITERS, key=first.count)
    delimiter = "\t" if delimiter == "\\t" else delimiter  # as it is written on a command line
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise DataError(
            f"{path}: the delimiter must be one ASCII character, no quote or end of line, got {delimiter!r}."
        )
    cells = _cells(path, first, delimiter)
    if len(cells) < 2:
        raise DataError(
            f"{path}: the first line has one column only, expected features and a label; name what stands "
            f"between columns with dataset.delimiter."
        )
    header, note = file.table.header, ""
    if header is None:
        below = [_cells(path, line, delimiter) for line in others if line]
        header = _has_header(cells, below[0] if below else [], file)
        if not header and _is_numbered_header(path, cells, below):
            header, note = True, NUMBERED
    names = cells if header else [str(number) for number in range(len(cells))]
    _refuse_twins(path, names, "; if the first line is data and no header, set dataset.header=false")
    # Empty lines are passed over; the first other one is the header, if any.
    skipped = text.splitlines().index(first) + 1 if header else 0
    return Columns(path, names, _csv_batches(path, names, skipped, delimiter, len(first)), note=note)


def _open_keel(file: File, path: Path) -> Columns:
    """Open rows in CSV, before which KEEL's files have lines that begin with @."""
    with open_bytes(path) as stream:
        skipped = skip_keel_header(stream)
        first = stream.readline()
    names = [str(number) for number in range(first.count(b",") + 1)]
    return Columns(path, names, _csv_batches(path, names, skipped, ",", len(first)))


def _csv_batches(
    path: Path, names: list[str], skipped: int, delimiter: str, row_length: int
) -> Callable[[], Iterator[list[Any]]]:
    """The cells of a CSV file as texts, behind that many lines."""

    def batches() -> Iterator[list[Any]]:
        # Everything is read as text: what type a column has shows only at its end.
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.string()),
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        )
        # A block holds many rows, however many columns there are: each column costs some time in each block.
        size = max(CSV_BYTES, min(CELL_BYTES * len(names), MOST_CSV_BYTES), 4 * row_length)
        read = arrow_csv.ReadOptions(
            column_names=names, skip_rows=skipped, block_size=size, use_threads=False
        )
        parse = arrow_csv.ParseOptions(delimiter=delimiter)
        with arrow_errors(path, delimiter), open_bytes(path) as stream:
            for batch in arrow_csv.open_csv(stream, read, parse, convert):
                yield list(batch.columns)

    return batches


def _first_lines(stream: Any) -> bytes:
    """The first lines that are not empty, two of long ones, and those before and between them."""
    lines: list[bytes] = []
    filled = size = 0
    while filled < (FIRST_LINES if size < LONG_LINES else 2) and (line := stream.readline()):
        lines.append(line)
        filled += bool(line.strip())
        size += len(line)
    return b"".join(lines)


def _cells(path: Path, line: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise DataError(f"{path}, line 1: {error}.") from None
    return [cell.strip() for cell in cells]


def _has_header(cells: list[str], below: list[str], file: File) -> bool:
    named = [column for column in (file.table.target, *file.table.drop) if isinstance(column, str)]
    names = [not _is_number(cell) for cell in cells]
    over_number = any(name and _is_number(cell) for name, cell in zip(names, below, strict=False))
    header = names[cells[0] == "" :]  # pandas writes no name for an index
    return any(name in cells for name in named) or all(header) or over_number


def _is_numbered_header(path: Path, cells: list[str], below: list[list[str]]) -> bool:
    """Whether the first line has whole numbers for names, as pandas names columns; refused where it may not.

    Where numbers with decimals stand below most cells, whole numbers that all differ look like names; 0, 1, 2
    and so on do anywhere, if they are many.
    """
    header = cells[cells[0] == "" :]
    rows = [row[cells[0] == "" :] for row in below]
    if len(header) < 3 or len(set(header)) < len(header) or not all(cell.isdecimal() for cell in header):
        return False
    whole = [
        all(re.fullmatch(r"[+-]?[0-9]*", cell) for cell in column) for column in zip(*rows, strict=False)
    ]
    over_decimals = bool(rows) and 2 * sum(whole) < len(header)
    counted = header == [str(number) for number in range(len(header))]
    if counted and (over_decimals or len(header) >= 6 or len(header) < len(cells)):
        return True
    if counted or over_decimals:
        shown = ", ".join(cells[:6]) + (", ..." if len(cells) > 6 else "")
        raise DataError(
            f"{path}: the first line ({shown}) may be names of columns or a row; say which with "
            "dataset.header=true or dataset.header=false."
        )
    return False


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
    if row is None:
        return ""
    filled = before = 0
    with open_bytes(path) as stream, contextlib.suppress(csv.Error):
        rows = csv.reader(io.TextIOWrapper(stream, "utf-8", "replace", newline=""), delimiter=delimiter)
        for cells in rows:
            filled += bool(cells)
            if filled == int(row):
                return f", line {before + 1}"
            before = rows.line_num
    return f", row {row}"


def _open_parquet(file: File, path: Path) -> Columns:
    with arrow_errors(path):
        names = list(parquet.read_schema(path).names)
    _refuse_twins(path, names)

    def batches() -> Iterator[list[Any]]:
        with arrow_errors(path), parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches(PARQUET_ROWS):
                yield list(batch.columns)

    return Columns(path, names, batches)


def _open_arff(file: File, path: Path) -> Columns:
    with open_bytes(path) as stream:
        names, nominal, _ = _read_header(path, stream)
    _refuse_twins(path, names)

    def batches() -> Iterator[list[Any]]:
        with open_bytes(path) as stream:
            *_, lines = _read_header(path, stream)
            for rows in _read_rows(path, stream, lines, len(names)):
                yield [pyarrow.array(column, pyarrow.string()) for column in zip(*rows, strict=True)]

    return Columns(path, names, batches, nominal)


def _read_header(path: Path, stream: Any) -> tuple[list[str], frozenset[str], int]:
    """Read up to the line ``@data``: names of attributes, those of categories or text, and lines read."""
    names: list[str] = []
    nominal: set[str] = set()
    for number, raw in enumerate(stream, 1):
        line = raw.decode("utf-8", "replace").strip()
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if word == "@data" and names:
            return names, frozenset(nominal), number
        if word == "@attribute":
            found = _ATTRIBUTE.match(line)
            if not found:
                raise DataError(f"{path}, line {number}: expected @attribute NAME TYPE, got {line[:60]!r}.")
            name, kind = found[1], found[2].split()[0]
            names.append(_unescaped(name[1:-1]) if name[0] in "'\"" else name)
            if kind.startswith("{") or kind.lower() == "string":
                nominal.add(names[-1])
            elif kind.lower() not in ("numeric", "real", "integer"):
                raise DataError(f"{path}, line {number}: attributes of type {kind} are not read.")
    raise DataError(f"{path}: expected ARFF, with @attribute lines and @data before the rows.")


def _read_rows(path: Path, stream: Any, lines: int, columns: int) -> Iterator[list[list[str]]]:
    """The rows behind the header, in batches; each row has a text for every attribute."""
    rows: list[list[str]] = []
    for number, raw in enumerate(stream, lines + 1):
        line = raw.decode("utf-8", "replace").strip()
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
