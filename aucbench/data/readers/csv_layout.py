"""The layout of a CSV file, detected in its first lines: delimiter, header, names and start of the rows.

The delimiter must split all sampled lines into equally many cells, quotes respected. If several delimiters
do, the one that yields more numbers is chosen, and the user must choose in a tie.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aucbench.contracts import File, Table
from aucbench.data.readers.cells import GAPS, is_number
from aucbench.data.readers.formats import open_bytes
from aucbench.errors import DataError
from aucbench.humanize import counted

BLANKS = "blanks"  # the delimiter of runs of blanks and tabs
SAMPLE_LINES, SAMPLE_BYTES = 100, 1 << 20  # limits of the sample, which has at least two lines
_DELIMITERS = {",": ",", ";": ";", "\t": "tab", "|": "|"}
_WORDS = re.compile(rb'"(?:[^"]|"")*"|\S+')

Opener = Callable[[Path], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Layout:
    """The notation of the rows of a CSV file."""

    names: list[str]  # names of the columns; numbers from 0 without a header
    delimiter: str  # one character
    skipped: int  # lines of `open` before the first row
    row_length: int  # approximate bytes of the first row
    open: Opener  # opens the stream of lines, with empty lines for comments
    quote: str = '"'


def find_layout(file: File, path: Path) -> Layout:
    """The layout of a CSV file; a `DataError` with advice if the first lines are ambiguous."""
    table = file.table
    opener: Opener = partial(open_lines, table=table)
    with opener(path) as stream:
        sample = _sample(stream).splitlines(keepends=True)
    lines = [decoded(path, line, number) for number, line in enumerate(sample, table.skip + 1)]
    if not any(line.strip() for line in lines):
        raise DataError(f"{path} is empty: expected at least one row of data.")
    if any(re.match("@(relation|attribute)", line, re.IGNORECASE) for line in lines):
        raise DataError(f"{path} is ARFF and not CSV; read it with dataset=arff.")
    if re.match(r"sep=.\s*$", lines[0], re.IGNORECASE):
        raise DataError(f"{path}: the first line names the delimiter; leave it out with dataset.skip=1.")
    delimiter = _declared(path, table) or _delimiter(path, lines, table.skip)
    if delimiter == BLANKS:
        opener, delimiter = partial(open_lines, table=table, blanks=True), "\t"
        lines = [_with_tabs(line.encode()).decode() for line in lines]
    records = list(_records(path, lines, delimiter))
    cells, end = records[0]
    below = [row for row, _ in records[1:]]
    _refuse_odd(path, lines, delimiter, cells, below)
    header = table.header
    if below and all(len(row) == len(cells) + 1 for row in below) and header is not False:
        cells, header = ["", *cells], True  # R writes row names without a header
    if header is None:
        header = _has_header(cells, below[0] if below else [], file)
        if not header:
            _refuse_numbered_header(path, cells, below)
    names = cells if header else [str(number) for number in range(len(cells))]
    refuse_twins(path, names, "; if the first line is data and no header, set dataset.header=false")
    # Empty lines are skipped; the first nonempty record is the header, if any.
    length = len(max((lines[0], *lines[end : end + 1]), key=len))
    return Layout(names, delimiter, end if header else 0, length, opener)


def _refuse_odd(
    path: Path, lines: list[str], delimiter: str, cells: list[str], below: list[list[str]]
) -> None:
    """Refuse layouts that the CSV reader would misread."""
    if any(re.match(' +"', cell) for row in csv.reader(lines, delimiter=delimiter) for cell in row):
        raise DataError(f"{path}: blanks stand before quotes; write cells with nothing before their quotes.")
    if len(cells) < 2 and not (below and len(below[0]) == 2):
        raise DataError(
            f"{path}: the first line has one column only, expected features and a label; name what stands "
            f"between columns with dataset.delimiter, or leave the line out with dataset.skip."
        )
    ends_empty = bool(below) and len(below[0]) > 2 and not any(row[-1] for row in below)
    if ends_empty and (cells[-1] == "" or all(len(row) == len(cells) + 1 for row in below)):
        raise DataError(f"{path}: a delimiter stands at the end of each line; leave it out.")


def refuse_twins(path: Path, names: list[str], way_out: str = "; rename them") -> None:
    """Refuse several columns of one name."""
    twins = sorted(name for name, count in Counter(names).items() if count > 1)
    if twins:
        raise DataError(f"{path}: several columns are named {twins[0]!r}, expected different names{way_out}.")


@contextmanager
def open_lines(path: Path, table: Table, blanks: bool = False) -> Iterator[Any]:
    """The lines of a file without skipped lines and comments.

    With `blanks`, a tab replaces each run of blanks outside quotes.
    """
    with open_bytes(path) as stream:
        for _ in range(table.skip):
            stream.readline()
        lines = stream
        if table.comment:
            lines = map(partial(_uncommented, table.comment.encode()), stream)
        lines = map(_with_tabs, lines) if blanks else lines
        yield stream if lines is stream else _Rewritten(lines)


def decoded(path: Path, line: bytes, number: int) -> str:
    """The text of a line, which must be UTF-8; `number` is its line number."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text (line {number}); save it as UTF-8.") from None


def _uncommented(sign: bytes, line: bytes) -> bytes:
    """The line, or an empty line for a comment or blanks; a line of empty cells between tabs stays."""
    return line if line.strip(b" \r\n") and not line.lstrip().startswith(sign) else b"\n"


def _with_tabs(line: bytes) -> bytes:
    return b"\t".join(_WORDS.findall(line)) + b"\n"


class _Rewritten(io.RawIOBase):
    """Rewritten lines as a stream of bytes."""

    def __init__(self, lines: Iterator[bytes]):
        super().__init__()
        self._lines, self._rest = lines, bytearray()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self._rest) < len(buffer) and (line := next(self._lines, b"")):
            self._rest += line
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        del self._rest[:count]
        return count


def _sample(stream: Any) -> bytes:
    """The first lines: up to `SAMPLE_LINES` nonempty lines, fewer if the lines are long."""
    lines: list[bytes] = []
    filled = size = 0
    while filled < (SAMPLE_LINES if size < SAMPLE_BYTES else 2) and (line := stream.readline()):
        lines.append(line)
        filled += bool(line.strip())
        size += len(line)
    return b"".join(lines)


def _records(path: Path, lines: Sequence[str], delimiter: str) -> Iterator[tuple[list[str], int]]:
    """The cells of each nonempty record, and the number of lines up to its end."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter not in " \t")
    try:
        for cells in reader:
            if any(cells):
                yield [cell.strip() for cell in cells], reader.line_num
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: {error}.") from None


def _declared(path: Path, table: Table) -> str:
    """The delimiter set by the user, "" if none."""
    delimiter = "\t" if table.delimiter == "\\t" else table.delimiter or ""  # "\\t" comes from a command line
    if delimiter not in ("", BLANKS) and (
        len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'
    ):
        raise DataError(
            f"{path}: the delimiter must be blanks, or one ASCII character, no quote or end of line, got "
            f"{delimiter!r}."
        )
    return delimiter


def _delimiter(path: Path, lines: list[str], skipped: int) -> str:
    """The delimiter that splits all lines into equally many cells; blanks and runs of blanks come last."""
    marks = [mark for mark in ",;\t|" if _is_consistent(path, lines, mark)]
    if marks:
        return _best(path, lines, marks)
    if _is_consistent(path, lines, " ") and all(all(cells) for cells, _ in _records(path, lines, " ")):
        return " "
    if _is_consistent(path, [_with_tabs(line.encode()).decode() for line in lines], "\t"):
        return BLANKS
    mark = max(",;\t| ", key=lambda mark: sum(mark in line for line in lines))
    records = list(_records(path, lines, mark))
    expected = Counter(len(cells) for cells, _ in records).most_common(1)[0][0]
    for cells, end in records:
        if len(cells) != expected:
            line, sign, way = skipped + end, lines[end - 1].lstrip()[:1], ""
            if sign in tuple("#%/!*"):
                way = f"; lines that begin with {sign!r} are left out with \"dataset.comment='{sign}'\""
            elif end == records[0][1]:  # later, rows would be left out, too
                way = f"; if this is no row, leave it out with dataset.skip={line}"
            raise DataError(f"{path}, line {line}: {counted(len(cells), 'cell')}, expected {expected}{way}.")
    return mark


def _is_consistent(path: Path, lines: list[str], mark: str) -> bool:
    """Whether all lines have equally many cells, two or more; the first may have one less."""
    try:
        counts = [len(cells) for cells, _ in _records(path, lines, mark)]
    except DataError:
        return False
    counts = counts[:-1] if len(counts) > 2 else counts  # the sample may end within quotes
    widths = set(counts[1:]) or {counts[0]}
    return len(widths) == 1 and min(widths) > 1 and counts[0] in (width := widths.pop(), width - 1)


def _best(path: Path, lines: list[str], marks: list[str]) -> str:
    """The delimiter with the largest share of cells that are numbers; the user decides a tie."""
    shares = {}
    for mark in marks:
        cells = [cell for row, _ in list(_records(path, lines, mark))[1:] for cell in row]
        shares[mark] = sum(is_number(cell.replace(",", ".")) for cell in cells) / max(1, len(cells))
    best, *rivals = sorted(marks, key=lambda mark: -shares[mark])
    if not rivals or shares[best] > shares[rivals[0]]:
        return best
    choice = " or ".join(f"\"dataset.delimiter='{mark}'\"" for mark in (best, rivals[0])).replace("\t", "\\t")
    raise DataError(
        f"{path}: cells may end at {_DELIMITERS[best]} or {_DELIMITERS[rivals[0]]}, by which all lines have "
        f"as many; set {choice}."
    )


def _has_header(cells: list[str], below: list[str], file: File) -> bool:
    named = [column for column in (file.table.target, *file.table.drop) if isinstance(column, str)]
    names = [not (is_number(cell) or cell in GAPS) for cell in cells]
    over_number = any(
        name and (is_number(cell) or cell in GAPS) for name, cell in zip(names, below, strict=False)
    )
    header = names[cells[0] == "" :]  # pandas writes no name for an index
    return any(name in cells for name in named) or all(header) or over_number


def _refuse_numbered_header(path: Path, cells: list[str], below: list[list[str]]) -> None:
    """Refuse a first line of different whole numbers that may be names, as pandas numbers columns.

    The numbers may be names if they are 0, 1, 2 and so on, or if most columns below have decimals.
    """
    header = cells[cells[0] == "" :]
    if len(header) < 3 or len(set(header)) < len(header) or not all(map(str.isdecimal, header)):
        return
    columns = [*zip(*below, strict=False)][cells[0] == "" :]
    are_whole = [all(re.fullmatch(r"[+-]?[0-9]*", cell) for cell in column) for column in columns]
    in_sequence = header == [str(number) for number in range(len(header))]
    if in_sequence or (are_whole and 2 * sum(are_whole) < len(header)):
        raise DataError(
            f"{path}: the first line ({', '.join(cells[:6])}) may be names of columns or a row; say which "
            "with dataset.header=true or dataset.header=false."
        )
