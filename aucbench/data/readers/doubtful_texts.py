"""Columns of texts that look like numbers with errors among them, like identifiers, or like dates.

Each is refused with the words, their counts and the overrides that read the column as its user means it.
`column` is a `Feature` whose texts are counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
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
    """Refuse a column of numbers with some texts among them."""
    strays = Counter({text: count for text, count in column.counts.items() if not is_number(text)})
    texts, cells = strays.total(), column.counts.total() + column.numbers
    commas = bool(strays) and all(_WITH_COMMA.fullmatch(text) for text in strays)
    few = texts < cells and (texts == 1 < cells - 10 or texts < STRAY_SHARE * cells)
    if not strays or column.many_texts:
        return
    if not (commas or few):
        _refuse_numbers_with_texts(column, opened[0].path, strays)
        return
    path, row, text = first_of(column, strays, opened)
    if commas:
        what = f"has numbers with commas ({text!r} in row {row}), expected a decimal point and nothing "
        raise column.error(path, f"{what}between thousands.")
    what = f"has numbers but for {texts} of {cells} values, the first being {text!r} in row {row};"
    raise column.error(path, f"{what} {ways_out(column, strays)}, or {column.leave_out}.")


def _refuse_numbers_with_texts(column: Any, path: Path, strays: Counter[str]) -> None:
    """Refuse a column of many different numbers, with signs, units or texts among them."""
    plain, found = column.counts - strays, {}
    for name in NOTATIONS:
        mask = are_written_as(name, pyarrow.array([*strays], pyarrow.string())).to_pylist()
        alike = Counter({text: strays[text] for text in compress(strays, mask)})
        fits = bool(alike) and is_written_as(name, pyarrow.array([*plain], pyarrow.string()))
        found[name] = (alike.total(), fits), alike
    notation = max(found, key=lambda name: found[name][0])
    (_, fits), alike = found[notation]
    others = strays - alike
    numbers = plain.total() + column.numbers
    if len(plain) + len(alike) <= MANY_NUMBERS and not column.numbers:
        return
    few = len(strays) <= SHOWN_TEXTS and len(plain) > MANY_NUMBERS  # as 'none' in half of the rows
    if not few and numbers + alike.total() <= others.total():
        return
    strays, numbers = (others, numbers + alike.total()) if fits and others else (strays, numbers)
    shown = ", ".join(f"{text!r} ({count})" for text, count in strays.most_common(SHOWN_TEXTS))
    more = f" and {len(strays) - SHOWN_TEXTS} other texts" if len(strays) > SHOWN_TEXTS else ""
    beside = f"among {numbers} numbers" if numbers else "where numbers are expected"
    what = f"has {shown}{more} {beside}; write plain numbers"
    out = ways_out(column, strays)
    if fits and not others:
        noun = "money" if any(text[0] in MONEY for text in alike) else "them"
        commas = any("," in text for text in alike)
        alike_as = [name for name in found if found[name][0] == found[notation][0]]
        ways = [
            name for name in alike_as if not NOTATIONS[name].is_detected and ("comma" not in name or commas)
        ]
        types = " or ".join(f"'dataset.types={{{column.key}: {name}}}'" for name in ways or [notation])
        out = f"read {noun} with {types}, or {_as_categories(column)}"
    raise column.error(path, f"{what}, {out}.")


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


def first_of(column: Any, strays: dict[str, int], opened: Sequence[Columns]) -> tuple[Path, int, str]:
    """The file, the row from 1 and the text of the first cell with one of some texts."""
    for columns in opened:
        cells = (text for batch in columns.batches() for text in plain_texts(batch[column.place]).to_pylist())
        for row, text in enumerate(cells, 1):
            if text in strays:
                return columns.path, row, text
    raise RuntimeError(f"Column {column.name!r} changed while it was read.")
