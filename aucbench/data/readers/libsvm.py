"""Reading LIBSVM text, plain or compressed, in blocks of constant memory.

A line is ``label index:value index:value ... # comment``; indices count from 1, or from 0, and ascend. Values
equal Python's ``float()`` to the last bit. A query number (``qid:7``) after the label is ignored. With a
topic, rows have any number of labels, separated by commas. pyarrow reads the features of a block, one
``index:value`` a line.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import csv
from scipy import sparse

from aucbench.data.readers.blocks import Block, Coded, ZeroBasedError
from aucbench.data.readers.formats import open_bytes
from aucbench.errors import DataError

BLOCK_BYTES = 1 << 21
MAX_INDEX = 2**31 - 1
_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_PLAIN = re.compile(rb"[-+.0-9eE:\n]*")  # pyarrow would read indices such as 0x1F, and -0
_ONE_A_LINE = bytes.maketrans(b" \t\r\v\f", b"\n" * 5)
_PARSE = csv.ParseOptions(delimiter=":", quote_char=False)
_CONVERT = csv.ConvertOptions(
    column_types={"index": pyarrow.int32(), "value": pyarrow.float64()}, null_values=[]
)


def read_blocks(
    path: Path, block_bytes: int = BLOCK_BYTES, topic: float | None = None, zero_based: bool | None = False
) -> Iterator[Block]:
    """The rows of a plain or compressed file, block by block; the error for a malformed line has its number.

    With a topic, rows with this label receive 1, all other rows -1. If `zero_based` is None (unknown),
    indices are assumed to count from 1, and an index 0 is a `ZeroBasedError`.
    """
    first = 0 if zero_based else 1
    for X, row_labels in _parsed(path, block_bytes, topic is not None, zero_based):
        labels = np.array([row[0] if topic is None else 1.0 if topic in row else -1.0 for row in row_labels])
        distinct, codes = np.unique(labels, return_inverse=True)
        shape = X.shape[0], int(X.indices.max(initial=first - 1)) + 1 - first
        indices = X.indices.astype(np.int32) - np.int32(first)
        yield Block(Coded(distinct.tolist(), codes), sparse.csr_matrix((X.data, indices, X.indptr), shape))


def most_frequent_label(paths: list[Path]) -> float:
    """The most frequent label of rows with any number of labels; the smallest label in a tie."""
    counts: Counter[float] = Counter()
    for path in paths:
        for _, labels in _parsed(path, BLOCK_BYTES, has_topics=True, zero_based=False):
            counts.update(label for row in labels for label in row)
    if not counts:
        raise DataError(f"{', '.join(map(str, paths))}: no row has a label.")
    return max(sorted(counts), key=lambda label: counts[label])


def _parsed(
    path: Path, block_bytes: int, has_topics: bool, zero_based: bool | None
) -> Iterator[tuple[Any, Any]]:
    """Rows with indices as in the file, and their labels, in blocks of text that end with a line."""
    number, tail, chunk = 1, b"", b" "
    with open_bytes(path) as stream:
        while chunk:
            chunk = stream.read(block_bytes)
            head, end, tail = (tail + chunk).rpartition(b"\n") if chunk else (tail, b"", b"")
            text = re.sub(rb"#[^\n]*", b"", head + end)
            yield _block(path, text, number, has_topics, zero_based)
            number += text.count(b"\n")


def _block(
    path: Path, text: bytes, number: int, has_topics: bool, zero_based: bool | None
) -> tuple[Any, Any]:
    """The rows and labels of some lines without comments; `number` is that of the first line."""
    rows = [row for row in (_split(line, has_topics) for line in text.split(b"\n")) if any(row)]
    tokens = b"\n".join(features for _, features in rows).translate(_ONE_A_LINE)
    tokens = re.sub(rb":\+(?=[.0-9])", b":", tokens) if b"+" in tokens else tokens
    options = csv.ReadOptions(use_threads=False, block_size=len(tokens) + 1, column_names=["index", "value"])
    try:
        if not _PLAIN.fullmatch(tokens) or tokens.startswith(b"-") or b"\n-" in tokens:
            raise ValueError("an unusual character")
        labels = {label: _labels(label, has_topics) for label, _ in rows}
        indices, values = np.empty(0, np.int32), np.empty(0)
        if tokens.strip():
            table = csv.read_csv(pyarrow.BufferReader(tokens), options, _PARSE, _CONVERT)
            indices, values = (column.to_numpy() for column in table.columns)
        ends = np.cumsum([0, *(features.count(b":") for _, features in rows)])
        lowest = int(indices.min(initial=1))
        begins = np.zeros(len(indices) + 1, np.bool_)
        begins[ends] = True
        ascends = begins[1:-1] | (np.diff(indices) > 0)
        if lowest < (zero_based is False) or not ascends.all() or not np.isfinite(values).all():
            raise ValueError("indices that do not ascend, or infinite values")
    except ValueError:  # includes pyarrow's errors
        raise _mistake(path, text, number, has_topics, zero_based) from None
    if lowest == 0 and zero_based is None:
        raise ZeroBasedError(f"{path}: an index is 0.")
    X = sparse.csr_matrix((values, indices, ends), (len(rows), int(indices.max(initial=0)) + 1))
    return X, [labels[label] for label, _ in rows]


def _split(line: bytes, has_topics: bool) -> tuple[bytes, bytes]:
    """The labels of a line and its features; with `has_topics`, the labels may be empty."""
    label, *features = line.split(maxsplit=1) or [b""]
    if has_topics and b":" in label:
        label, features = b"", [line]
    if features and features[0].startswith(b"qid:"):
        features = features[0].split(maxsplit=1)[1:]
    return label, features[0] if features else b""


def _labels(label: bytes, has_topics: bool) -> list[float]:
    texts = label.split(b",") if has_topics and label else [label] if label or not has_topics else []
    if not all(map(_is_finite, texts)):
        raise ValueError("a label that is no finite number")
    return [float(text) for text in texts]


def _mistake(path: Path, text: bytes, number: int, has_topics: bool, zero_based: bool | None) -> DataError:
    """The error for the first malformed token of some lines."""
    first = 0 if zero_based in (True, None) else 1
    for line, row in enumerate(text.split(b"\n"), number):
        label, features = _split(row, has_topics)
        previous, wrong, expected = first - 1, None, "expected a label that is a finite number"
        try:
            _labels(label, has_topics or not features)
        except ValueError:
            wrong = label
        for token in features.split() if wrong is None else ():
            index, _, value = token.partition(b":")
            if not re.fullmatch(rb"[0-9]{1,20}", index) or not _is_finite(value):
                wrong, expected = token, "expected a whole number, a colon and a finite number"
            elif not previous < int(index) <= MAX_INDEX:
                wrong, expected = token, f"expected ascending indices from {first} to {MAX_INDEX}"
            if wrong is not None:
                break
            previous = int(index)
        if wrong is not None:
            return DataError(f"{path}, line {line}: got {wrong.decode('latin-1')[:40]!r}, {expected}.")
    return DataError(f"{path}, line {number}: the lines from there on are no LIBSVM rows.")


def _is_finite(text: bytes) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))
