"""Loading of a data set part: rows and labels from cached files or from the arrays of the plugin."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import DatasetFacts, File, Matrix
from aucbench.data import labels
from aucbench.data.files import cache, locate
from aucbench.data.files.build_cache import cached_part
from aucbench.data.files.download import LARGE_BYTES
from aucbench.data.files.openml import resolve
from aucbench.errors import DataError, FetchError, ParameterError


class Part(StrEnum):
    """The parts of a data set: training rows, published test rows, or both."""

    train = "train"
    test = "test"
    all = "all"


class Loaded(NamedTuple):
    """A part of a data set, ready for use."""

    X: Matrix  # (n, d) float64: C-contiguous ndarray, or SciPy CSR with ascending columns
    y: NDArray[np.int8]  # (n,) labels in {-1, 1}
    sha256: str  # hex digest of rows, labels and part
    source: str  # origin of the data
    positive: tuple[labels.Label, ...]  # labels mapped to 1
    negative: tuple[labels.Label, ...] = ()  # labels of the training part mapped to -1
    kept: Mapping[str | int, NDArray[np.float64]] = {}  # values (n,) of the kept columns
    kinds: Mapping[str | int, str] = {}  # types of the kept columns: number, text, or a notation of numbers


def load(dataset: Any, part: str = "train", kept: Sequence[str | int] = ()) -> Loaded:
    """Load the rows and labels of a part of a data set, from the cache if they were parsed before.

    The columns `kept` of a table are not features; their values are returned beside the rows.

    The part "all" is the training rows followed by the test rows, if any. Arrays from files are private
    memory maps: opening takes milliseconds, and writing to an array changes no file.

    Raises FetchError if no source has a file. Raises DataError if a file is malformed or differs from its
    published facts, if a feature is not finite, if there are not two classes, and if the part does not exist.
    """
    if part not in list(Part):
        raise ParameterError(f"dataset.part must be one of {', '.join(Part)}, got {part!r}.")
    files = resolved_files(dataset, kept)
    has_test = any(file.part == Part.test for file in files)
    if part == Part.test and not has_test:
        raise DataError(
            f"{dataset.name} has no test part; use dataset.part=train or all, and a hold-out split."
        )
    return (
        _from_files(dataset, files, Part(part) if has_test else Part.train)
        if files
        else _self_loaded(dataset)
    )


def has_test_part(dataset: Any) -> bool:
    """Whether the data set has a published test part."""
    return any(file.part == Part.test for file in declared_files(dataset))


def fetch(dataset: Any, large: bool = False, part: str = "all") -> list[Path]:
    """The paths of the files of a part, in a mirror folder or in the cache; missing files are downloaded.

    Raises FetchError if no source has a file, or if the download exceeds 100 MB without `large`.
    """
    files = resolved_files(dataset)
    size = 0 if large else sum(locate.missing_bytes(file) or 0 for file in files)
    if size > LARGE_BYTES:
        raise FetchError(
            f"{dataset.name}: {size / 1e6:,.0f} MB to download; if you want that, run "
            f"aucbench fetch {dataset.name} --yes."
        )
    limit = None if large else LARGE_BYTES
    return [locate.find(dataset.name, file, limit).path for file in cache.files_of(files, part)]


def missing_bytes(dataset: Any) -> int | None:
    """The bytes that `fetch` would download; 0 without files, None if the size of a file is unknown."""
    sizes = [locate.missing_bytes(file) for file in resolved_files(dataset)]
    return None if None in sizes else sum(filter(None, sizes))


def resolved_files(dataset: Any, kept: Sequence[str | int] = ()) -> tuple[File, ...]:
    """The declared files, with the files of OpenML resolved and the columns `kept` set in the tables."""
    files = resolve(dataset.name, declared_files(dataset))
    if kept and not (files and all(file.kind in cache.TABLE_KINDS for file in files)):
        raise ParameterError(
            f"{dataset.name} has no columns by which a split can be made: protocol.groups and protocol.time "
            "name columns of a CSV, Parquet or ARFF file."
        )
    if not kept:
        return files
    return tuple(replace(file, table=replace(file.table, kept=tuple(kept))) for file in files)


def declared_files(dataset: Any) -> tuple[File, ...]:
    """The declared files; empty for a data set with a `load` method."""
    if DatasetFacts(dataset).load is not None:
        return ()
    files = tuple(DatasetFacts(dataset).files)
    if not any(file.part == Part.train for file in files):
        raise DataError(f"{dataset.name} declares neither a training file nor a method load().")
    if strange := {file.part for file in files} - {Part.train, Part.test}:
        raise DataError(f"{dataset.name}: a file's part is train or test, got {min(strange)!r}.")
    return files


def _from_files(dataset: Any, files: tuple[File, ...], part: Part) -> Loaded:
    name, features = dataset.name, DatasetFacts(dataset).features
    X, codes, record, kept_values = cached_part(name, files, features, part)
    # The training part determines the positive class, so that all parts agree.
    training = record
    if part == Part.test:
        train_record = cache.read_record(cache.part_folder(name, files, features, Part.train))
        training = train_record or cached_part(name, files, features, Part.train).record
    counts: Counter[labels.Label] = Counter()
    for file in training.files:
        if file.part == Part.train:
            counts.update(dict(file.labels))
    columns = cache.read_columns(cache.part_folder(name, files, features, part))
    target = next((column.name for column in columns if column.kind == "label"), None)
    positive, negative = _classes(dataset, counts, target)
    signs = labels.signs(name, part, record.labels, counts, positive)
    if len(set(signs)) < 2:
        raise DataError(f"{name}: the {part} part has only {'positive' if 1 in signs else 'negative'} rows.")
    content = f"{record.sha256} {X.shape} {part} {list(positive)}"
    source = "; ".join(dict.fromkeys(file.source for file in record.files))
    digest = hashlib.sha256(content.encode()).hexdigest()
    names = [column.name for column in columns]
    keys = () if kept_values is None else files[0].table.kept
    positions = {key: names.index(key) if isinstance(key, str) else key % len(names) for key in keys}
    order = list(dict.fromkeys(positions.values()))  # distinct positions, in the order of the kept values
    values = {key: kept_values[:, order.index(position)] for key, position in positions.items()}
    kinds = {key: columns[position].kind.partition(": ")[2] for key, position in positions.items()}
    y = np.array(signs, np.int8)[codes]
    return Loaded(X, y, digest, source, positive, negative, values, kinds)


def _self_loaded(dataset: Any) -> Loaded:
    """Load the arrays of a data set with a `load` method."""
    X, raw = _checked(dataset.name, dataset.load())
    distinct, times = np.unique(raw, return_counts=True)
    counts = dict(zip(distinct.tolist(), times.tolist(), strict=True))
    positive, negative = _classes(dataset, counts)
    y = np.where(np.isin(raw, positive), 1, -1).astype(np.int8)
    digest = hashlib.sha256(f"{X.shape}".encode())
    content: list[Any] = [X] if isinstance(X, np.ndarray) else [X.indptr, X.indices, X.data]
    for array in (*content, y):
        digest.update(array)
    source = f"{type(dataset).__module__}.{type(dataset).__qualname__}"
    return Loaded(X, y, digest.hexdigest(), source, positive, negative)


def _classes(
    dataset: Any, counts: dict[labels.Label, int], column: str | None = None
) -> tuple[tuple[labels.Label, ...], ...]:
    """The positive and the negative labels, each in ascending order."""
    facts = DatasetFacts(dataset)
    positive = labels.positive_labels(
        dataset.name, counts, facts.positive, facts.grouping, facts.grouping_seed, column
    )
    return tuple(labels.ordered(positive)), tuple(labels.ordered(set(counts) - positive))


def _checked(name: str, samples: Any) -> tuple[Matrix, NDArray[np.float64]]:
    """Features as C-contiguous float64 rows (CSR stays CSR, columns ascending) and labels as float64."""
    try:
        features, labels_of_rows = samples
        if isinstance(features, np.ndarray) or not sparse.issparse(features):
            X: Any = np.ascontiguousarray(features, np.float64)
        else:
            X = sparse.csr_matrix(features, dtype=np.float64, copy=True)  # sum_duplicates works in place
            X.sum_duplicates()
        raw = np.asarray(labels_of_rows, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: load() must return Samples of numbers ({error}).") from None
    if X.ndim != 2 or raw.shape != X.shape[:1] or 0 in X.shape:
        raise DataError(
            f"{name}: load() must return (n, d) features and (n,) labels, got {X.shape} and {raw.shape}."
        )
    for field, values in (("features", X.data if sparse.issparse(X) else X), ("labels", raw)):
        bad = values.size - int(np.count_nonzero(np.isfinite(values)))
        if bad:
            raise DataError(f"{name}: {bad} {field} are NaN or infinite, expected finite numbers.")
    return X, raw
