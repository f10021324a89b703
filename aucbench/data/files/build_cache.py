"""From data files to the arrays of the cache: one streaming pass over the text, then the final layout.

Rows are first written as compressed sparse rows, since the number of columns and of non-zeros is known only
at the end; dense data is then expanded block by block. Memory is that of one block throughout.
"""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from aucbench.contracts import File
from aucbench.data.files import cache, locate
from aucbench.data.files.npy import NpyWriter, open_npy
from aucbench.data.labels import MAX_LABELS, Label, check_facts, check_features, ordered, shown
from aucbench.data.memory import check_width
from aucbench.data.readers.blocks import DENSE_COLUMNS, Block, ZeroBasedError
from aucbench.errors import DataError

DENSE_SHARE = 1 / 3
EXPAND_VALUES = 1 << 19  # values of a block while expanding, 4 MB
CSR = {"indptr": np.int64, "indices": np.int32, "data": np.float64}


def cached_part(name: str, files: Sequence[File], features: int | None, part: str) -> cache.CachedPart:
    """A part of a data set, built if it is not cached; `features` is the published number of columns."""
    for file in files:
        if Path(file.path).is_absolute():
            locate.find(name, file)  # refuses a missing file before its size is read
    folder = cache.part_folder(name, files, features, part)
    if (cached := cache.open_part(folder)) is not None:
        return cached
    with cache.locked_folder(name) as aside:
        if cache.open_part(folder) is None:  # else built by another process in the meantime
            # Parts that depend on each other are built together.
            is_joint = (
                part != "all" and cache.depend(files, features) and any(file.part != part for file in files)
            )
            _build(name, files, features, ("train", "test") if is_joint else (part,), aside)
        if (cached := cache.open_part(folder)) is None:
            raise DataError(f"{name}: the data cache {folder} cannot be read back.")
        return cached


def _build(name: str, files: Sequence[File], features: int | None, parts: Sequence[str], aside: Path) -> None:
    """Parse and publish parts; downloads that cannot be used are removed."""
    located = {part: [locate.find(name, file) for file in cache.files_of(files, part)] for part in parts}
    all_files = [entry for entries in located.values() for entry in entries]
    reader = _Reader([(entry.file, entry.path) for entry in all_files if entry.file.part == "train"], aside)
    columns: dict[str, int] = {}
    try:
        try:
            staged = [_stage(name, part, located[part], aside / part, reader, columns) for part in located]
        except ZeroBasedError:  # one zero-based file decides for all files
            reader.zero_based = True
            for part in located:
                shutil.rmtree(aside / part, ignore_errors=True)
            staged = [_stage(name, part, located[part], aside / part, reader, columns) for part in located]
        width = check_features(name, features, columns)
        if features is None:  # a wrong index would stay in the cache otherwise
            check_width(width, f"{max(columns, key=lambda path: columns[path])}: ")
    except DataError as error:
        blamed = [entry for entry in all_files if str(entry.path) in str(error)] or all_files
        for entry in blamed:
            locate.discard(entry.path)
        if not (sources := {entry.source for entry in blamed} - {str(entry.path) for entry in blamed}):
            raise
        origins = " and ".join(sorted(sources))
        raise DataError(f"{str(error).removesuffix('.')} (downloaded from {origins}).") from None
    for record in staged:
        folder, record = aside / record.part, replace(record, features=width)
        record = replace(record, dense=_lay_out(folder, record))
        if reader.table:
            import pyarrow

            pyarrow.default_memory_pool().release_unused()
            (folder / cache.COLUMNS).write_bytes(msgspec.json.encode(reader.table.columns))
        cache.publish(folder, cache.part_folder(name, files, features, record.part), record)


class _Reader:
    """Reads files of all kinds; properties of the data are learned from the training files, when needed."""

    def __init__(self, train: list[tuple[File, Path]], aside: Path):
        self._train, self._aside = train, aside
        self._width: int | None = None  # number of columns, of arrays only
        self._medians: NDArray[np.float64] | None = None  # of arrays whose missing values are filled in
        self._most_frequent: float | None = None  # most frequent topic
        self.table: Any = None  # a TableReader
        self.zero_based: bool | None = None  # LIBSVM files that do not declare it

    def __call__(self, file: File, path: Path) -> Iterable[Block]:
        """The rows of a file, block by block."""
        # Imported here: scikit-learn and pyarrow are not needed if the part is cached.
        if file.kind == "libsvm":
            from aucbench.data.readers import libsvm

            topic: Any = file.topic
            if isinstance(topic, str):
                if self._most_frequent is None:
                    paths = [path for train_file, path in self._train if train_file.topic is not None]
                    self._most_frequent = libsvm.most_frequent_label(paths)
                topic = self._most_frequent
            zero_based = self.zero_based if file.zero_based is None else file.zero_based
            yield from libsvm.read_blocks(path, topic=topic, zero_based=zero_based)
        elif file.kind in cache.TABLE_KINDS:
            from aucbench.data.readers import tables

            self.table = self.table or tables.TableReader(self._train, self._aside)
            yield from self.table.blocks(file, path)
        elif file.kind == "npz":
            from aucbench.data.readers.npz import find_medians, read_npz

            if file.table.missing == "median" and self._medians is None:
                self._medians = find_medians(self._train)
            for block in read_npz(file, path, self._width, self._medians):
                self._width = block.X.shape[1]
                yield block
        else:
            raise DataError(f"{path}: unknown kind of file {file.kind!r}.")


def _stage(
    name: str,
    part: str,
    located: Sequence[locate.FoundFile],
    folder: Path,
    reader: _Reader,
    columns: dict[str, int],
) -> cache.PartRecord:
    """Parse files into a new folder, checking the published facts of each.

    Rows are written as compressed sparse rows, unless the reader yields dense rows; the digest is the same.
    `columns` receives the largest index of each file; the number of features is not known yet.
    """
    folder.mkdir()
    codes: dict[Label, int] = {}  # labels in order of occurrence
    names: dict[Label, Label] = {}  # published names
    files: list[cache.FileRecord] = []
    with ExitStack() as stack:
        writers: dict[str, NpyWriter] = {}

        def write(array: str, values: NDArray[Any], kind: Any, target: Path, hashed: bool = True) -> None:
            if array not in writers:
                width = values.shape[1] if values.ndim == 2 else None
                writers[array] = stack.enter_context(NpyWriter(target, kind, width, hashed))
            writers[array].write(values)

        nonzeros = row_count = 0
        for file, path, source in located:
            counts: Counter[Label] = Counter()
            start, widest = row_count, 0
            for block in reader(file, path):
                is_dense = isinstance(block.X, np.ndarray)
                indptr, indices, data = _sparse_parts(block.X)
                arrays = {
                    "indptr": indptr[1 if writers else 0 :] + nonzeros,
                    "indices": indices,
                    "data": data,
                }
                for array, values in arrays.items():
                    # For dense rows, only the digest of the sparse form is needed.
                    target = Path(os.devnull) if is_dense else folder / f"{array}.npy"
                    write(array, values, CSR[array], target)
                distinct = _count(counts, codes, block, path)
                write("codes", distinct[block.labels.codes], np.uint16, folder / "codes.npy")
                if is_dense:
                    write("X", block.X, np.float64, folder / "X.npy", hashed=False)
                if block.kept is not None:
                    write("kept", block.kept, np.float64, folder / cache.KEPT)
                row_count, nonzeros = row_count + block.X.shape[0], nonzeros + len(data)
                widest = max(widest, block.X.shape[1])
            renamed = check_facts(file, path, row_count - start, counts)
            if clash := [label for label in renamed if names.get(label, renamed[label]) != renamed[label]]:
                raise DataError(f"{path}: label {shown(clash[0])} means another class than in other files.")
            names |= renamed
            columns[str(path)] = widest
            totals = {renamed[label]: count for label, count in counts.items()}
            pairs = [(label, totals[label]) for label in ordered(totals)]
            files.append(cache.FileRecord(file.path, file.part, source, row_count - start, pairs))
    labels = [names[label] for label in codes]
    digests = [writers[array].digest for array in (*CSR, "codes", "kept") if array in writers]
    digest = hashlib.sha256(json.dumps([labels, *digests]).encode()).hexdigest()
    return cache.PartRecord(name, part, row_count, 0, nonzeros, False, labels, files, digest)


def _count(counts: Counter[Label], codes: dict[Label, int], block: Block, path: Path) -> NDArray[np.uint16]:
    """Count the labels of a block; returns the codes of its distinct labels."""
    distinct, indices = block.labels
    for label, count in zip(distinct, np.bincount(indices, minlength=len(distinct)).tolist(), strict=True):
        if count:
            counts[label] += count
            codes.setdefault(label, len(codes))
    if len(codes) > MAX_LABELS:
        raise DataError(
            f"{path}: more than {MAX_LABELS} distinct labels, expected classes; the column of labels is "
            "named by dataset.target=COLUMN."
        )
    return np.array([codes.get(label, 0) for label in distinct], np.uint16)


def _sparse_parts(X: Any) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64]]:
    """The arrays indptr, indices and data of CSR rows, or of the nonzero values of dense rows."""
    if not isinstance(X, np.ndarray):
        return X.indptr.astype(np.int64), X.indices, X.data
    filled = X != 0.0
    indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    columns = np.broadcast_to(np.arange(X.shape[1], dtype=np.int32), X.shape)
    return (indptr, columns.ravel(), X.ravel()) if filled.all() else (indptr, columns[filled], X[filled])


def _lay_out(folder: Path, record: cache.PartRecord) -> bool:
    """Bring a staged part into its final layout: dense X.npy, or the parts of CSR.

    Returns whether it is dense: with at most 1,024 columns, or at least a third of the values non-zero.
    """
    rows, features = record.rows, record.features
    if (folder / "X.npy").exists():
        return True
    if features > DENSE_COLUMNS and record.nonzeros < DENSE_SHARE * rows * features:
        return False
    indptr, indices, data = (open_npy(folder / f"{name}.npy") for name in CSR)
    at_once = max(1, EXPAND_VALUES // max(1, features))
    with NpyWriter(folder / "X.npy", np.float64, features) as writer:
        for start in range(0, rows, at_once):
            ends = indptr[start : start + at_once + 1]
            block = np.zeros((len(ends) - 1, features))
            part = slice(ends[0], ends[-1])
            block[np.repeat(np.arange(len(block)), np.diff(ends)), indices[part]] = data[part]
            writer.write(block)
    for name in CSR:
        (folder / f"{name}.npy").unlink()
    return True
