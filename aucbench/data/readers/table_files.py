"""Tables in CSV, Parquet and ARFF files, read batch by batch as arrays of pyarrow."""

import contextlib
import csv
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet, types

from aucbench.contracts import File
from aucbench.data.readers.cells import GAPS
from aucbench.data.readers.csv_layout import Layout, decoded, find_layout, open_lines, refuse_twins
from aucbench.errors import DataError

PARQUET_ROWS = 1 << 16  # rows of a batch
CSV_BYTES, CELL_BYTES, MOST_CSV_BYTES = 1 << 22, 2000, 1 << 27
INDEX = "index"  # pandas' index, which is not a column of its frame
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # folder name for rows without a value
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\S+)\s+(.+)""", re.IGNORECASE)
_QUOTED = r"""^\s*(['"])(.*)['"]\s*$"""  # quotes that the CSV reader leaves


@dataclass(frozen=True)
class Columns:
    """An opened file of columns."""

    path: Path
    names: list[str]  # names in order; numbers from 0 without a header
    batches: Callable[[], Iterator[list[Any]]]  # each a list of one pyarrow array per column
    types: Mapping[str, str] = field(
        default_factory=dict
    )  # "number", "categories" or INDEX, if the file declares it

    def arranged(self, names: list[str], used: Collection[int] | None = None) -> "Columns":
        """The columns in the order of the training part, with None for a column that the file lacks.

        Columns at the positions `used` are required, by default all; unnamed columns must agree in number.
        """
        needed = names if used is None else [names[position] for position in sorted(used)]
        absent = [name or "the column without a name" for name in needed if name not in self.names]
        without_names = names == [str(number) for number in range(len(names))]
        if absent or (without_names and len(self.names) != len(names)):
            detail = (
                f" (it lacks {', '.join(absent[:3])}{' and others' * (len(absent) > 3)})" if absent else ""
            )
            raise DataError(
                f"{self.path} has {len(self.names)} columns, expected the {len(needed)} that are used of the "
                f"training part{detail}."
            )
        positions = [self.names.index(name) if name in self.names else None for name in names]

        def batches() -> Iterator[list[Any]]:
            for batch in self.batches():
                yield [None if position is None else batch[position] for position in positions]

        return Columns(self.path, names, batches, self.types)


def open_columns(file: File, path: Path) -> Columns:
    """Open a file of kind csv, parquet, arff or keel."""
    openers = {"csv": _open_csv, "parquet": _open_parquet, "arff": _open_arff, "keel": _open_keel}
    columns = openers[file.kind](file, path)
    if not file.partitions:
        return columns
    names = [*(name for name, _ in file.partitions), *columns.names]
    refuse_twins(path, names)

    def batches() -> Iterator[list[Any]]:
        for batch in columns.batches():
            values = (None if value == HIVE_NULL else unquote(value) for _, value in file.partitions)
            yield [*(pyarrow.array([value] * len(batch[0]), pyarrow.string()) for value in values), *batch]

    return Columns(path, names, batches, columns.types)


def _open_csv(file: File, path: Path) -> Columns:
    layout = find_layout(file, path)
    return Columns(path, layout.names, _csv_batches(path, layout))


def _open_keel(file: File, path: Path) -> Columns:
    """Open a KEEL file: rows in CSV after header lines that begin with @."""
    table = replace(file.table, header=False, delimiter=",", comment="@")
    return _open_csv(replace(file, table=table), path)


def _csv_batches(path: Path, layout: Layout) -> Callable[[], Iterator[list[Any]]]:
    """The cells of a CSV file as texts."""

    def batches() -> Iterator[list[Any]]:
        # All cells are read as text, since the type of a column is known only at its end.
        convert_options = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(layout.names, pyarrow.string()),
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        )
        # A block holds many rows for any number of columns, since each column has a cost per block.
        size = max(CSV_BYTES, min(CELL_BYTES * len(layout.names), MOST_CSV_BYTES), 4 * layout.row_length)
        read_options = arrow_csv.ReadOptions(
            use_threads=False,  # threads save no time on texts, and their errors lack the row
            column_names=layout.names,
            skip_rows=layout.skipped,
            block_size=size,
        )
        escape = "\\" if layout.quote == "'" else False  # ARFF escapes its quotes
        parse_options = arrow_csv.ParseOptions(
            delimiter=layout.delimiter, quote_char=layout.quote, escape_char=escape
        )
        with arrow_errors(path, layout.skipped), layout.open(path) as stream:
            for batch in arrow_csv.open_csv(stream, read_options, parse_options, convert_options):
                yield list(batch.columns)

    return batches


@contextlib.contextmanager
def arrow_errors(path: Path, skipped: int = 0) -> Iterator[None]:
    """Convert an error of pyarrow to a `DataError` that names the file.

    In a CSV file, `skipped` lines precede the rows.
    """
    try:
        yield
    except MemoryError:  # a memory error of pyarrow is also an ArrowException
        raise
    except (pyarrow.ArrowException, OSError) as error:  # damaged Parquet may be an OSError without a number
        message = str(error).split("\n")[0]
        if match := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            row, expected, got = map(int, match.groups())
            raise DataError(f"{path}, row {row - skipped}: {got} cells, expected {expected}.") from None
        if "UTF8" in message or "UTF-8" in message:
            raise DataError(f"{path} is not UTF-8 text.") from None
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else message.rstrip(".") or type(error).__name__
        raise DataError(f"{path} cannot be read: {reason}.") from None


def _open_parquet(file: File, path: Path) -> Columns:
    with arrow_errors(path):
        schema = parquet.read_schema(path)
    names = list(schema.names)
    refuse_twins(path, names)
    # Parquet does not store that numbers are categories; the metadata of pandas does.
    noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    nominal = {item.get("name") for item in noted.get("columns", []) if item["pandas_type"] == "categorical"}
    indices = {name for name in noted.get("index_columns", []) if isinstance(name, str)}
    nominal |= {column.name for column in schema if types.is_dictionary(column.type)}

    def batches() -> Iterator[list[Any]]:
        with arrow_errors(path), parquet.ParquetFile(path) as opened:
            for batch in opened.iter_batches(PARQUET_ROWS):
                yield list(batch.columns)

    declared = dict.fromkeys(nominal, "categories") | dict.fromkeys(indices, INDEX)
    return Columns(path, names, batches, {name: declared[name] for name in names if name in declared})


def _open_arff(file: File, path: Path) -> Columns:
    """Open rows in CSV, quoted by apostrophes, behind a header that declares their columns."""
    opener = partial(open_lines, table=replace(file.table, skip=0, comment="%"))
    with opener(path) as stream:
        names, stated, lines = _read_header(path, stream)
        first = next((line for line in stream if line.strip()), b"")
    if first.startswith(b"{"):
        raise DataError(f"{path}: sparse ARFF rows are not read.")
    refuse_twins(path, names)
    rows = _csv_batches(path, Layout(names, ",", lines, len(first), opener, "'"))

    def batches() -> Iterator[list[Any]]:
        offset = 0
        for batch in rows():
            columns = [pc.replace_substring_regex(column, _QUOTED, r"\2") for column in batch]
            for name, column in zip(names, columns, strict=True):
                _refuse_undeclared(path, name, column, stated[name], offset)
            offset += len(batch[0])
            yield columns

    declared = {name: kind if isinstance(kind, str) else "categories" for name, kind in stated.items()}
    return Columns(path, names, batches, declared)


def _refuse_undeclared(path: Path, name: str, column: Any, kind: str | frozenset[str], offset: int) -> None:
    """Refuse a text that is not declared; `offset` rows precede the cells."""
    if not isinstance(kind, frozenset):
        return
    is_undeclared = pc.invert(pc.is_in(pc.utf8_trim_whitespace(column), pyarrow.array([*kind, *GAPS])))
    if (row := pc.index(is_undeclared, True).as_py()) >= 0:
        raise DataError(
            f"{path}: column {name!r} has {column[row].as_py()!r} in row {offset + row + 1}, which is not "
            "among the values that the file declares; correct the cell or the declaration."
        )


def _read_header(path: Path, stream: Any) -> tuple[list[str], dict[str, str | frozenset[str]], int]:
    """Read up to the line ``@data``: names of attributes, their types or values, and the number of lines."""
    names: list[str] = []
    declared: dict[str, str | frozenset[str]] = {}
    for number, raw in enumerate(stream, 1):
        line = decoded(path, raw, number).strip()
        keyword = line.split(maxsplit=1)[0].lower() if line else ""
        if keyword == "@data" and names:
            return names, declared, number
        if keyword == "@attribute":
            attribute = _ATTRIBUTE.match(line)
            if not attribute:
                raise DataError(f"{path}, line {number}: expected @attribute NAME TYPE, got {line[:60]!r}.")
            name, kind = attribute[1], attribute[2].split()[0]
            names.append(re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name)
            values = re.fullmatch(r"\{(.*)\}[^}]*", attribute[2].strip())
            if values or kind.lower() == "string":
                declared[names[-1]] = _values(values[1]) if values else "categories"
            elif kind.lower() in ("numeric", "real", "integer"):
                declared[names[-1]] = "number"
            else:
                raise DataError(f"{path}, line {number}: attributes of type {kind} are not read.")
    raise DataError(f"{path}: expected ARFF, with @attribute lines and @data before the rows.")


def _values(text: str) -> frozenset[str]:
    """The values that a declaration lists, with commas between."""
    (cells,) = csv.reader([text], quotechar="'", escapechar="\\", skipinitialspace=True)
    return frozenset(re.sub(_QUOTED, r"\2", cell).strip() for cell in cells)
