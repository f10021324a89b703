"""Reading LIBSVM text, plain or compressed, in blocks of constant memory.

A line is ``label index:value index:value ... # comment``; indices count from 1, or from 0, and ascend. Values
equal Python's ``float()`` to the last bit. A query number (``qid:7``) behind the label is passed over. Where
a topic is asked for, rows have any number of labels, with commas between.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from aucbench.data.readers import _libsvm_kernel as kernel
from aucbench.data.readers.blocks import Block, ZeroBasedError
from aucbench.data.readers.formats import open_bytes
from aucbench.errors import DataError

BLOCK_BYTES = 1 << 21


def read_blocks(
    path: Path, block_bytes: int = BLOCK_BYTES, topic: float | None = None, zero_based: bool | None = False
) -> Iterator[Block]:
    """The rows of a plain or compressed file, block by block; malformed lines are refused by their number.

    Memory is about ten times `block_bytes`, whatever the size of the file, unless one line is longer. With a
    topic, rows that have this label among theirs receive 1, the others -1. Where it is not known whether
    indices count from 0 (None), they are taken to count from 1, and an index 0 is a `ZeroBasedError`.
    """
    lines = 0
    room = _Room.of(block_bytes + 1)
    label = math.nan if topic is None else topic
    with open_bytes(path) as stream:
        for text in _whole_lines(stream, block_bytes):
            if lines == 0 and bytes(text[:3]) == b"\xef\xbb\xbf":  # a byte-order mark
                text[:3] = 32
            if len(text) > room.size:
                room = _Room.of(len(text))
            yield _parse(path, text, lines, room, label, zero_based)
            lines += int(np.count_nonzero(text == 10))


def most_frequent_label(paths: list[Path]) -> float:
    """The label that most rows have, of rows with any number of them; the smallest of several such."""
    counts: Counter[float] = Counter()
    for path in paths:
        with open_bytes(path) as stream:
            for number, line in enumerate(stream, 1):
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                word = line.split(maxsplit=1)[0] if line.strip() else b""
                if word and b":" not in word and not word.startswith(b"#"):
                    try:
                        counts.update(float(label) for label in word.split(b","))
                    except ValueError:
                        raise DataError(
                            f"{path}, line {number}: the labels {word!r} are no numbers."
                        ) from None
    if not counts:
        raise DataError(f"{', '.join(map(str, paths))}: no row has a label.")
    return max(sorted(counts), key=lambda label: counts[label])


def _whole_lines(stream: Any, block_bytes: int) -> Iterator[NDArray[np.uint8]]:
    """Blocks of text that end with a newline; a longer line makes its block longer."""
    kept = bytearray()
    while got := stream.read(block_bytes):
        kept += got
        cut = kept.rfind(b"\n", len(kept) - len(got)) + 1
        if cut:
            text, kept = kept, kept[cut:]
            yield np.frombuffer(text, np.uint8, cut)
    if kept:
        yield np.frombuffer(kept + b"\n", np.uint8)


class _Room(NamedTuple):
    """Room for what a block of text can hold at most; pages that are never written cost nothing."""

    labels: NDArray[np.float64]
    lengths: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    unsure: NDArray[np.int64]
    size: int  # bytes of text that there is room for

    @classmethod
    def of(cls, size: int) -> "_Room":
        rows, features, unsure = size // 2 + 1, size // 4 + 1, size // 5 + 1  # "1\n", " 1:1", "1e23\n"
        return cls(
            np.empty(rows),
            np.empty(rows, np.int64),
            np.empty(features, np.int32),
            np.empty(features),
            np.empty((unsure, 3), np.int64),
            size,
        )


def _parse(
    path: Path, text: NDArray[np.uint8], lines: int, room: _Room, topic: float, zero_based: bool | None
) -> Block:
    first = 0 if zero_based else 1
    rows, nnz, n_unsure, status, position, previous = kernel.parse_lines(text, *room[:-1], topic, first)
    for slot, start, end in room.unsure[:n_unsure].tolist():
        value = float(bytes(text[start:end]))
        if math.isinf(value) and slot < 0:
            _refuse(path, text, lines, start, kernel.BAD_LABEL, 0)
        if math.isinf(value):
            index = re.search(rb"[0-9]*:$", bytes(text[max(0, start - 12) : start]))
            _refuse(path, text, lines, start - len(index[0]) if index else start, kernel.BAD_FEATURE, 0)
        if slot < 0:
            room.labels[~slot] = value
        else:
            room.values[slot] = value
    zero = re.match(rb"0+:", bytes(text[position : position + 400])) if status == kernel.BAD_FEATURE else None
    if zero and zero_based is None:
        raise ZeroBasedError(f"{path}: an index is 0.")
    if status != kernel.FINE:
        _refuse(path, text, lines, position, status, previous)
    return Block(room.labels[:rows], room.lengths[:rows], room.indices[:nnz], room.values[:nnz])


def _refuse(
    path: Path, text: NDArray[np.uint8], lines: int, position: int, status: int, previous: int
) -> NoReturn:
    line = lines + int(np.count_nonzero(text[:position] == 10)) + 1
    token = re.split(rb"[\s#]", bytes(text[position : position + 400]), maxsplit=1)[0].decode("latin-1")
    shown = repr(token if len(token) <= 40 else token[:40] + "...")
    if status == kernel.BAD_LABEL:
        what = _label_fault(token, shown)
    elif status == kernel.BAD_ORDER:
        what = f"index {token.split(':')[0]} follows index {previous}, expected ascending indices"
    else:
        what = _feature_fault(token, shown)
    raise DataError(f"{path}, line {line}: {what}.")


def _label_fault(token: str, shown: str) -> str:
    if "," in token:
        return f"several labels {shown}, expected one"
    if ":" in token:
        return f"the label is missing, the line begins with {shown}"
    return f"the label {shown} is {_number_fault(token)}"


def _feature_fault(token: str, shown: str) -> str:
    index, colon, value = token.partition(":")
    if not colon:
        return f"no colon in {shown}, expected index:value"
    if not re.fullmatch(r"-?[0-9]+", index):
        return f"the index in {shown} is not a whole number"
    if not 1 <= int(index) <= kernel.MAX_INDEX:
        return f"index {index[:20]} in {shown}, expected 1 to {kernel.MAX_INDEX}"
    return f"the value in {shown} is {_number_fault(value)}"


def _number_fault(token: str) -> str:
    try:
        finite = math.isfinite(float(token))
    except ValueError:
        return "not a number"
    return "written in an unusual way, expected a plain decimal number" if finite else "not finite"
