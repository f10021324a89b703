"""Reading LIBSVM text, plain or compressed, in blocks of constant memory, by scikit-learn's parser.

A line is ``label index:value index:value ... # comment``; indices count from 1, or from 0, and ascend. Values
equal Python's ``float()`` to the last bit. A query number (``qid:7``) behind the label is passed over. Where
a topic is asked for, rows have any number of labels, with commas between.
"""

import io
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.data.readers.blocks import Block, Coded, ZeroBasedError
from aucbench.data.readers.formats import open_bytes
from aucbench.errors import DataError

BLOCK_BYTES = 1 << 21
MAX_INDEX = 2**31 - 1
_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_PLAIN = re.compile(rb"[-+.0-9eE:, \t\r\v\f\n]*")  # what has other characters is looked at token by token


def read_blocks(
    path: Path, block_bytes: int = BLOCK_BYTES, topic: float | None = None, zero_based: bool | None = False
) -> Iterator[Block]:
    """The rows of a plain or compressed file, block by block; malformed lines are refused by their number.

    With a topic, rows that have this label among theirs receive 1, the others -1. Where it is not known
    whether indices count from 0 (None), they are taken to count from 1, and an index 0 is a `ZeroBasedError`.
    """
    first = 0 if zero_based else 1
    for X, found in _parsed(path, block_bytes, topic is not None, zero_based):
        labels = found if topic is None else np.array([1.0 if topic in each else -1.0 for each in found])
        distinct, codes = np.unique(labels, return_inverse=True)
        shape = X.shape[0], int(X.indices.max(initial=first - 1)) + 1 - first
        indices = X.indices.astype(np.int32) - np.int32(first)
        yield Block(Coded(distinct.tolist(), codes), sparse.csr_matrix((X.data, indices, X.indptr), shape))


def most_frequent_label(paths: list[Path]) -> float:
    """The label that most rows have, of rows with any number of them; the smallest of several such."""
    counts: Counter[float] = Counter()
    for path in paths:
        for _, labels in _parsed(path, BLOCK_BYTES, has_topics=True, zero_based=False):
            counts.update(label for each in labels for label in each)
    if not counts:
        raise DataError(f"{', '.join(map(str, paths))}: no row has a label.")
    return max(sorted(counts), key=lambda label: counts[label])


def _parsed(
    path: Path, block_bytes: int, has_topics: bool, zero_based: bool | None
) -> Iterator[tuple[Any, Any]]:
    """Rows with indices as in the file, and their labels, in blocks of text that end with a line."""
    number, rest, got = 1, b"", b" "
    with open_bytes(path) as stream:
        while got:
            got = stream.read(block_bytes)
            head, end, rest = (rest + got).rpartition(b"\n") if got else (rest, b"", b"")
            text = re.sub(rb"#[^\n]*", b"", head + end)
            yield _block(path, text, number, has_topics, zero_based)
            number += text.count(b"\n")


def _block(
    path: Path, text: bytes, number: int, has_topics: bool, zero_based: bool | None
) -> tuple[Any, Any]:
    """The rows and labels of some lines without comments, the first of which has this number."""
    from sklearn.datasets import load_svmlight_file

    if not text.strip():
        return sparse.csr_matrix((0, 1)), []
    try:
        if not _PLAIN.fullmatch(text.replace(b"qid", b"")):
            raise ValueError("an unusual character")
        X, labels = load_svmlight_file(io.BytesIO(text), multilabel=has_topics, zero_based=True)
    except (ValueError, OverflowError):
        raise _mistake(path, text, number, has_topics, zero_based) from None
    lowest = int(X.indices.min(initial=1))
    if lowest == 0 and zero_based is None:
        raise ZeroBasedError(f"{path}: an index is 0.")
    all_labels = np.array([label for each in labels for label in each]) if has_topics else labels
    if (lowest == 0 and not zero_based) or not np.isfinite(X.data).all() or not np.isfinite(all_labels).all():
        raise _mistake(path, text, number, has_topics, zero_based)
    return X, labels


def _mistake(path: Path, text: bytes, number: int, has_topics: bool, zero_based: bool | None) -> DataError:
    """What is wrong with the first malformed token of some lines."""
    first = 0 if zero_based in (True, None) else 1
    for line, words in enumerate(map(bytes.split, text.split(b"\n")), number):
        label = words.pop(0) if words and not (has_topics and b":" in words[0]) else b""
        previous, what = first - 1, "expected a label that is a finite number"
        labels = label.split(b",") if has_topics and label else [label] if label else []
        wrong = None if all(map(_is_finite, labels)) else label
        for word in words[words[:1] != [] and words[0].startswith(b"qid:") :] if wrong is None else ():
            index, _, value = word.partition(b":")
            if not re.fullmatch(rb"[0-9]{1,20}", index) or not _is_finite(value):
                wrong, what = word, "expected a whole number, a colon and a finite number"
            elif not previous < int(index) <= MAX_INDEX:
                wrong, what = word, f"expected ascending indices from {first} to {MAX_INDEX}"
            if wrong is not None:
                break
            previous = int(index)
        if wrong is not None:
            return DataError(f"{path}, line {line}: got {wrong.decode('latin-1')[:40]!r}, {what}.")
    return DataError(f"{path}, line {number}: the lines from there on are no LIBSVM rows.")


def _is_finite(text: bytes) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))
