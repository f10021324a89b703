"""From data files to the arrays of the cache: one streaming pass over the text, then the final layout.

The parsed rows are first written as compressed sparse rows, since the number of columns and of non-zeros is
known only at the end; dense data is then expanded block by block. Memory is that of one block throughout.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import File
from aucbench.data.files.npy import NpyWriter, open_npy
from aucbench.data.labels import Label, check_facts, ordered, shown
from aucbench.errors import DataError

DENSE_COLUMNS = 1024
DENSE_SHARE = 1 / 3
MAX_LABELS = 1 << 16
EXPAND_VALUES = 1 << 19  # values of a block while expanding, 4 MB

Reader = Callable[[File, Path], Iterable[Any]]


class Found(NamedTuple):
    """A declared file and where its content is."""

    file: File
    path: Path
    source: str


@dataclass(frozen=True)
class Staged:
    """One part, parsed into a folder that nobody else sees yet."""

    folder: Path
    rows: int
    nonzeros: int
    columns: dict[str, int]  # from each file to its largest index
    names: list[Label]  # label of each code
    files: list[dict[str, Any]]  # of each file: path, part, source, rows, labels as (label, count)
    digest: str  # sha256 of the values, their places and the labels


def stage(found: Iterable[Found], folder: Path, read: Reader) -> Staged:
    """Parse files into `folder` as compressed sparse rows, checking the published facts of each.

    Raises
    ------
    DataError
        A malformed or empty file, or one that differs from its published facts.
    OSError
        The folder cannot be written.
    """
    labels = _Labels()
    files: list[dict[str, Any]] = []
    columns: dict[str, int] = {}
    with ExitStack() as stack:
        kinds = {"indptr": np.int64, "indices": np.int32, "data": np.float64, "codes": np.uint16}
        writers = [
            stack.enter_context(NpyWriter(folder / f"{name}.npy", kind, hashed=True))
            for name, kind in kinds.items()
        ]
        indptr, indices, data, codes = writers
        indptr.write(np.zeros(1, np.int64))
        for file, path, source in found:
            counts: Counter[Label] = Counter()
            before, widest = codes.size, 0
            for block in read(file, path):
                indptr.write(np.cumsum(block.lengths) + data.size)
                indices.write(block.indices)
                data.write(block.values)
                codes.write(labels.encode(block.labels, counts, path))
                widest = max(widest, int(block.indices.max(initial=-1)) + 1, getattr(block, "width", 0))
            rows = codes.size - before
            names = check_facts(file, path, rows, counts)
            labels.rename(names, path)
            columns[str(path)] = widest
            named = {names[label]: count for label, count in counts.items()}
            pairs = [(label, named[label]) for label in ordered(named)]
            files.append(
                {"path": file.path, "part": file.part, "source": source, "rows": rows, "labels": pairs}
            )
    content = [labels.names, *(writer.digest for writer in writers)]
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return Staged(folder, codes.size, data.size, columns, labels.names, files, digest)


class _Labels:
    """Numbers the distinct labels in the order in which they occur."""

    def __init__(self) -> None:
        self._codes: dict[Label, int] = {}
        self._names: dict[Label, Label] = {}

    def encode(self, labels: Any, counts: Counter[Label], path: Path) -> NDArray[np.uint16]:
        """The codes of a block's labels: an array of numbers, or distinct ones and which of them."""
        if isinstance(labels, np.ndarray):
            values, inverse = np.unique(labels, return_inverse=True)
            distinct = values.tolist()
        else:
            distinct, inverse = labels
        for label, count in zip(
            distinct, np.bincount(inverse, minlength=len(distinct)).tolist(), strict=True
        ):
            if count:
                counts[label] += count
                self._codes.setdefault(label, len(self._codes))
        if len(self._codes) > MAX_LABELS:
            raise DataError(f"{path}: more than {MAX_LABELS} distinct labels, expected classes.")
        table = np.array([self._codes.get(label, 0) for label in distinct], np.uint16)
        return table[inverse]

    def rename(self, names: dict[Label, Label], path: Path) -> None:
        for label, name in names.items():
            if self._names.setdefault(label, name) != name:
                raise DataError(
                    f"{path}: label {shown(label)} means another class than in the files before it."
                )

    @property
    def names(self) -> list[Label]:
        return [self._names[label] for label in self._codes]


def lay_out(staged: Staged, features: int) -> bool:
    """Bring a staged part into its final layout: dense X.npy, or the CSR parts with the smallest indptr.

    Dense when there are at most 1,024 columns or at least a third of the values is non-zero.

    Parameters
    ----------
    staged : Staged
        What `stage` returned; its folder is changed.
    features : int
        Number of columns.

    Returns
    -------
    bool
        Whether the layout is dense.
    """
    folder = staged.folder
    dense = features <= DENSE_COLUMNS or staged.nonzeros >= DENSE_SHARE * staged.rows * features
    if dense:
        _expand(folder, staged.rows, features)
        for name in ("indptr", "indices", "data"):
            (folder / f"{name}.npy").unlink()
    elif staged.nonzeros < 2**31:  # SciPy wants both index arrays of one type
        indptr = open_npy(folder / "indptr.npy")
        with NpyWriter(folder / "indptr32.npy", np.int32) as writer:
            for start in range(0, len(indptr), EXPAND_VALUES):
                writer.write(indptr[start : start + EXPAND_VALUES])
        (folder / "indptr32.npy").replace(folder / "indptr.npy")
    return dense


def _expand(folder: Path, rows: int, features: int) -> None:
    indptr, indices, data = (open_npy(folder / f"{name}.npy") for name in ("indptr", "indices", "data"))
    at_once = max(1, EXPAND_VALUES // max(1, features))
    with NpyWriter(folder / "X.npy", np.float64, features) as writer:
        for start in range(0, rows, at_once):
            ends = indptr[start : start + at_once + 1]
            block = np.zeros((len(ends) - 1, features))
            part = slice(ends[0], ends[-1])
            block[np.repeat(np.arange(len(block)), np.diff(ends)), indices[part]] = data[part]
            writer.write(block)
