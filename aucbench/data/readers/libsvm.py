"""Reading LIBSVM text, plain or compressed, in blocks of constant memory.

A line is ``label index:value index:value ... # comment``; indices count from 1, or from 0, and ascend. Values
equal Python's ``float()`` to the last bit. A query number (``qid:7``) behind the label is passed over. Where
a topic is asked for, rows have any number of labels, with commas between.

pyarrow reads the features of a block, one ``index:value`` a line. A block in which it finds a mistake is read
again line by line, which is slow and finds the token.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import csv
from scipy import sparse

from aucbench.data.readers.blocks import Block, Coded, ZeroBasedError
from aucbench.data.readers.formats import open_bytes
from aucbench.errors import DataError

BLOCK_BYTES = 1 << 21
MAX_INDEX = 2**31 - 1
_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_ONE_A_LINE = bytes.maketrans(b" \t\r\v\f", b"\n" * 5)
_PARSE = csv.ParseOptions(delimiter=":", quote_char=False)
_CONVERT = csv.ConvertOptions(
    column_types={"index": pyarrow.int32(), "value": pyarrow.float64()}, null_values=[]
)


class _Row(NamedTuple):
    """The texts of a row."""

    line: int  # from 1
    label: bytes  # empty where a row of several labels has none
    features: bytes


def read_blocks(
    path: Path, block_bytes: int = BLOCK_BYTES, topic: float | None = None, zero_based: bool | None = False
) -> Iterator[Block]:
    """The rows of a plain or compressed file, block by block; malformed lines are refused by their number.

    With a topic, rows that have this label among theirs receive 1, the others -1. Where it is not known
    whether indices count from 0 (None), they are taken to count from 1, and an index 0 is a `ZeroBasedError`.
    """
    for rows in _rows(path, block_bytes, has_topics=topic is not None):
        labels, indices, values = _read(path, rows, topic, zero_based) or _read_slowly(
            path, rows, topic, zero_based
        )
        distinct, codes = np.unique(labels, return_inverse=True)
        indptr = np.cumsum([0, *(row.features.count(b":") for row in rows)])
        shape = len(rows), int(indices.max(initial=-1)) + 1
        yield Block(Coded(distinct.tolist(), codes), sparse.csr_matrix((values, indices, indptr), shape))


def most_frequent_label(paths: list[Path]) -> float:
    """The label that most rows have, of rows with any number of them; the smallest of several such."""
    counts: Counter[float] = Counter()
    for path in paths:
        for rows in _rows(path, BLOCK_BYTES, has_topics=True):
            for row in rows:
                counts.update(_labels(path, row))
    if not counts:
        raise DataError(f"{', '.join(map(str, paths))}: no row has a label.")
    return max(sorted(counts), key=lambda label: counts[label])


def _rows(path: Path, block_bytes: int, has_topics: bool) -> Iterator[list[_Row]]:
    """The rows of a file in blocks of text that end with a line."""
    number, rest = 0, b""
    with open_bytes(path) as stream:
        while got := stream.read(block_bytes):
            if number == 0 and not rest:
                got = got.removeprefix(b"\xef\xbb\xbf")
            *lines, rest = (rest + got).split(b"\n")
            yield [*_split(lines, number + 1, has_topics)]
            number += len(lines)
        yield [*_split([rest], number + 1, has_topics)]


def _split(lines: Sequence[bytes], first: int, has_topics: bool) -> Iterator[_Row]:
    """The rows of some lines, the first of which has this number."""
    for number, line in enumerate(lines, first):
        text = line.partition(b"#")[0]
        label, *features = text.split(maxsplit=1) or [b""]
        if has_topics and b":" in label:
            label, features = b"", [text]
        if features and features[0].startswith(b"qid:"):
            features = features[0].split(maxsplit=1)[1:]
        if label or features:
            yield _Row(number, label, features[0] if features else b"")


def _read(
    path: Path, rows: Sequence[_Row], topic: float | None, zero_based: bool | None
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]] | None:
    """(rows,) labels, indices from 0 and values of all features; None where a text is doubtful."""
    text = b"\n".join(row.features for row in rows).translate(_ONE_A_LINE)
    lengths = np.array([row.features.count(b":") for row in rows], np.int64)
    if b"x" in text or b"X" in text:  # pyarrow reads indices such as 0x1F
        return None
    known = {row.label: row for row in rows}
    read = csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=["index", "value"])
    try:
        of_text = {label: _label(path, row, topic) for label, row in known.items()}
        table = csv.read_csv(pyarrow.BufferReader(text), read, _PARSE, _CONVERT)
    except (DataError, pyarrow.ArrowInvalid):
        return None
    indices, values = (column.to_numpy() for column in table.columns)
    begins = np.zeros(len(indices), np.bool_)
    begins[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    ascends = begins[1:] | (np.diff(indices) > 0)
    first = 0 if zero_based else 1
    if np.any(indices < first) or not ascends.all() or not np.isfinite(values).all():
        return None
    return np.array([of_text[row.label] for row in rows]), indices - np.int32(first), values


def _read_slowly(
    path: Path, rows: Sequence[_Row], topic: float | None, zero_based: bool | None
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
    """What `_read` reads, by Python alone; raises a `DataError` about the first malformed text."""
    labels, indices, values = [], [], []
    first = 0 if zero_based else 1
    for row in rows:
        labels.append(_label(path, row, topic))
        previous = -1
        for token in row.features.split():
            index, _, value = token.partition(b":")
            if not re.fullmatch(rb"[0-9]{1,20}", index) or not _is_finite(value):
                raise _error(path, row, token, "expected a whole number, a colon and a finite number")
            place = int(index)
            if place == 0 and zero_based is None:
                raise ZeroBasedError(f"{path}: an index is 0.")
            if not max(first, previous + 1) <= place <= MAX_INDEX:
                what = f"expected ascending indices from {first} to {MAX_INDEX}"
                raise _error(path, row, token, what)
            previous = place
            indices.append(place - first)
            values.append(float(value))
    return np.array(labels), np.array(indices, np.int32), np.array(values, np.float64)


def _label(path: Path, row: _Row, topic: float | None) -> float:
    """The one label of a row; with a topic, whether this is among the labels, as 1 or -1."""
    labels = _labels(path, row)
    if topic is not None:
        return 1.0 if topic in labels else -1.0
    if len(labels) != 1:
        raise _error(path, row, row.label, "expected one label")
    return labels[0]


def _labels(path: Path, row: _Row) -> list[float]:
    """The labels of a row, with commas between."""
    texts = row.label.split(b",") if row.label else []
    if not all(map(_is_finite, texts)):
        raise _error(path, row, row.label, "expected a label that is a finite number")
    return [float(text) for text in texts]


def _is_finite(text: bytes) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def _error(path: Path, row: _Row, token: bytes, what: str) -> DataError:
    return DataError(f"{path}, line {row.line}: got {token.decode('latin-1')[:40]!r}, {what}.")
