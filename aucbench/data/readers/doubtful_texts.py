"""Columns of texts that look like numbers with errors among them, like identifiers, or like dates.

Each is refused with the words, their counts and the overrides that read the column as its user means it.
`column` is a `Feature` whose texts are counted.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import pyarrow

from aucbench.data.readers.cells import is_number, plain_texts
from aucbench.data.readers.notations import DAY_AND_MONTH, NOTATIONS, are_written_as, is_written_as
from aucbench.data.readers.row_numbers import FEW_ROWS
from aucbench.data.readers.table_files import Columns

STRAY_SHARE = 0.01  # texts among numbers up to this share are errors, however few different numbers there are
MANY_NUMBERS = 10  # more different numbers than this are no categories
SHOWN_TEXTS = 5
MONEY = "$\u20ac\u00a3\u00a5("  # first signs of amounts of money
MAX_CATEGORIES = 1 << 16
MOST_LEVELS = 50  # of texts most of which occur once, as those of identifiers do
_WITH_SIGNS = re.compile(r"[0-9]+([^A-Za-z0-9]+[0-9]+)+")  # 120/80, 40-49 or 1_000
_WITH_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)+")


def refuse_errors(column: Any, opened: Sequence[Columns]) -> None:
    """Refuse a column of numbers with some texts, signs or units among them."""
    strays = Counter({text: count for text, count in column.counts.items() if not is_number(text)})
    if not strays or column.many_texts:
        return
    plain = column.counts - strays
    numbers, texts = plain.total() + column.numbers, strays.total()
    few = numbers > 0 and (texts == 1 < numbers - 9 or texts < STRAY_SHARE * (texts + numbers))
    path, where = opened[0].path, ""
    if few or all(_WITH_COMMA.fullmatch(text) for text in strays):
        path, row, _ = first_of(column, strays, opened)
        out, where = ways_out(column, strays), f", first in row {row}"
    else:
        found = {name: _alike(name, plain, strays) for name in NOTATIONS}
        most = max(found.values(), key=lambda each: each[0])
        (count, fits), alike = most
        others = strays - alike
        if len(plain) + len(alike) <= MANY_NUMBERS and not column.numbers:
            return
        are_words = len(strays) <= SHOWN_TEXTS and len(plain) > MANY_NUMBERS  # as 'none' in half of the rows
        if not are_words and numbers + count <= others.total():
            return
        strays, numbers = (others, numbers + count) if fits and others else (strays, numbers)
        out = ways_out(column, strays)
        if fits and not others:
            names = [name for name, each in found.items() if each[0] == most[0]]
            out = _read_as(column, names, alike)
    shown = ", ".join(f"{text!r} ({count})" for text, count in strays.most_common(SHOWN_TEXTS))
    more = f" and {len(strays) - SHOWN_TEXTS} other texts" if len(strays) > SHOWN_TEXTS else ""
    beside = f"among {numbers} numbers" if numbers else "where numbers are expected"
    raise column.error(path, f"has {shown}{more} {beside}{where}; write plain numbers, {out}.")


def _alike(name: str, plain: Counter[str], strays: Counter[str]) -> tuple[tuple[int, bool], Counter[str]]:
    """The texts in a notation: their number, whether the plain numbers agree with it, and the texts."""
    mask = are_written_as(name, pyarrow.array([*strays], pyarrow.string())).to_pylist()
    alike = Counter({text: strays[text] for text in compress(strays, mask)})
    fits = bool(alike) and is_written_as(name, pyarrow.array([*plain], pyarrow.string()))
    return (alike.total(), fits), alike


def _read_as(column: Any, names: Sequence[str], texts: Iterable[str]) -> str:
    """The overrides that read texts in one of these notations, or as categories."""
    noun = "money" if any(text[0] in MONEY for text in texts) else "them"
    commas = any("," in text for text in texts)
    asked = [name for name in names if not NOTATIONS[name].is_detected and ("comma" not in name or commas)]
    types = " or ".join(f"'dataset.types={{{column.key}: {name}}}'" for name in asked or names[:1])
    return f"read {noun} with {types}, or {_as_categories(column)}"


def refuse_identifiers(column: Any, path: Path) -> None:
    """Refuse a column of names, of identifiers or of dates that may be read in several ways."""
    texts, levels, cells = column.counts, len(column.counts), column.counts.total()
    if column.identifying:  # there were more than can be counted
        what = f"has more than {MAX_CATEGORIES:,} different texts, as names and identifiers do;"
    elif levels > FEW_ROWS and all(re.fullmatch(DAY_AND_MONTH, text) for text in texts):
        what = f"has dates that may be read in several ways, such as {min(texts)!r}; write 2024-12-31,"
    elif levels > MOST_LEVELS and all(_WITH_SIGNS.fullmatch(text) for text in texts):
        what = f"has {levels:,} different texts of numbers with signs between, such as {min(texts)!r}; write"
        what += " each number into a column of its own,"
    elif levels > MOST_LEVELS and 2 * levels > cells:
        what = f"has {levels:,} different texts in {cells:,} rows, as names and identifiers do;"
    else:
        return
    raise column.error(path, f"{what} {column.leave_out}, or {_as_categories(column)}.")


def ways_out(column: Any, words: Iterable[str]) -> str:
    """The overrides that make words missing, or all values of the column categories."""
    listed = ",".join(
        text if re.fullmatch(r"[\w.+-]+", text) else repr(text) for text in [*words][:SHOWN_TEXTS]
    )
    categories = _as_categories(column)
    return f'read such texts as missing with "dataset.missing_words=[{listed}]", or {categories}'


def _as_categories(column: Any) -> str:
    return f"make a column of zeros and ones for each text with 'dataset.types={{{column.key}: categories}}'"


def first_of(column: Any, texts: Collection[str], opened: Sequence[Columns]) -> tuple[Path, int, str]:
    """The file, the row from 1 and the text of the first cell with one of some texts."""
    for columns in opened:
        cells = (text for batch in columns.batches() for text in plain_texts(batch[column.place]).to_pylist())
        for row, text in enumerate(cells, 1):
            if text in texts:
                return columns.path, row, text
    raise RuntimeError(f"Column {column.name!r} changed while it was read.")
