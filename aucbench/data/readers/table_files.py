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
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"  # names the folder of rows without a value
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
        """The same columns in the order of the training part, None in the place of one that it lacks.

        The columns at the places `used` are needed, by default all; columns without names must be as many.
        """
        needed = names if used is None else [names[place] for place in sorted(used)]
        lacking = [name or "the column without a name" for name in needed if name not in self.names]
        without_names = names == [str(place) for place in range(len(names))]
        if lacking or (without_names and len(self.names) != len(names)):
            what = (
                f" (it lacks {', '.join(lacking[:3])}{' and others' * (len(lacking) > 3)})" if lacking else ""
            )
            raise DataError(
                f"{self.path} has {len(self.names)} columns, expected the {len(needed)} that are used of the "
                f"training part{what}."
            )
        places = [self.names.index(name) if name in self.names else None for name in names]

        def batches() -> Iterator[list[Any]]:
            for batch in self.batches():
                yield [None if place is None else batch[place] for place in places]

        return Columns(self.path, names, batches, self.types)


def open_columns(file: File, path: Path) -> Columns:
    """Open a file of kind csv, parquet, arff or keel."""
    openers = {"csv": _open_csv, "parquet": _open_parquet, "arff": _open_arff, "keel": _open_keel}
    found = openers[file.kind](file, path)
    if not file.partitions:
        return found
    names = [*(name for name, _ in file.partitions), *found.names]
    refuse_twins(path, names)

    def batches() -> Iterator[list[Any]]:
        for batch in found.batches():
            values = (None if value == HIVE_NULL else unquote(value) for _, value in file.partitions)
            yield [*(pyarrow.array([value] * len(batch[0]), pyarrow.string()) for value in values), *batch]

    return Columns(path, names, batches, found.types)


def _open_csv(file: File, path: Path) -> Columns:
    layout = find_layout(file, path)
    return Columns(path, layout.names, _csv_batches(path, layout))


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
        read = arrow_csv.ReadOptions(
            use_threads=False,  # threads save no time on texts, and their errors lack the row
            column_names=layout.names,
            skip_rows=layout.skipped,
            block_size=size,
        )
        escape = "\\" if layout.quote == "'" else False  # ARFF escapes its quotes
        parse = arrow_csv.ParseOptions(
            delimiter=layout.delimiter, quote_char=layout.quote, escape_char=escape
        )
        with arrow_errors(path, layout.skipped), layout.open(path) as stream:
            for batch in arrow_csv.open_csv(stream, read, parse, convert):
                yield list(batch.columns)

    return batches


@contextlib.contextmanager
def arrow_errors(path: Path, skipped: int = 0) -> Iterator[None]:
    """Turn what pyarrow raises about a file into one sentence that names the file.

    Of a CSV file, `skipped` lines precede the rows.
    """
    try:
        yield
    except MemoryError:  # pyarrow's are of both kinds
        raise
    except (pyarrow.ArrowException, OSError) as error:  # damaged Parquet may be an OSError without a number
        message = str(error).split("\n")[0]
        if ragged := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            row, expected, got = map(int, ragged.groups())
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
        before = 0
        for batch in rows():
            columns = [pc.replace_substring_regex(column, _QUOTED, r"\2") for column in batch]
            for name, column in zip(names, columns, strict=True):
                _refuse_undeclared(path, name, column, stated[name], before)
            before += len(batch[0])
            yield columns

    declared = {name: kind if isinstance(kind, str) else "categories" for name, kind in stated.items()}
    return Columns(path, names, batches, declared)


def _refuse_undeclared(path: Path, name: str, column: Any, kind: str | frozenset[str], before: int) -> None:
    """Refuse a text that is none of the declared ones; `before` rows precede the cells."""
    if not isinstance(kind, frozenset):
        return
    others = pc.invert(pc.is_in(pc.utf8_trim_whitespace(column), pyarrow.array([*kind, *GAPS])))
    if (row := pc.index(others, True).as_py()) >= 0:
        raise DataError(
            f"{path}: column {name!r} has {column[row].as_py()!r} in row {before + row + 1}, which is not "
            "among the values that the file declares; correct the cell or the declaration."
        )


def _read_header(path: Path, stream: Any) -> tuple[list[str], dict[str, str | frozenset[str]], int]:
    """Read up to the line ``@data``: names of attributes, their types or values, and the number of lines."""
    names: list[str] = []
    declared: dict[str, str | frozenset[str]] = {}
    for number, raw in enumerate(stream, 1):
        line = decoded(path, raw, number).strip()
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if word == "@data" and names:
            return names, declared, number
        if word == "@attribute":
            found = _ATTRIBUTE.match(line)
            if not found:
                raise DataError(f"{path}, line {number}: expected @attribute NAME TYPE, got {line[:60]!r}.")
            name, kind = found[1], found[2].split()[0]
            names.append(re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" else name)
            values = re.fullmatch(r"\{(.*)\}[^}]*", found[2].strip())
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
