"""Rows and labels of a part of a data set, from files by way of the cache or from the plugin's arrays."""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import File, Matrix
from aucbench.data import labels
from aucbench.data.files import build_cache, cache, locate
from aucbench.data.files.download import LARGE_BYTES, Allowance
from aucbench.data.files.openml import resolve
from aucbench.data.readers.read import Reading
from aucbench.errors import DataError, FetchError, ParameterError


def checked(name: str, samples: Any) -> tuple[Matrix, NDArray[np.float64]]:
    """Features as C-contiguous float64 rows (CSR stays CSR, columns ascending) and labels as float64.

    Parameters
    ----------
    name : str
        The data set's name, for messages.
    samples : Samples
        What ``load()`` returned; left as it is.

    Raises
    ------
    DataError
        Not numbers, shapes that do not fit, no rows, or values that are NaN or infinite (with their count).
    """
    try:
        features, given = samples
        X = _matrix(features)
        labels = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: load() must return Samples of numbers ({error}).") from None
    if X.ndim != 2 or labels.shape != X.shape[:1] or 0 in X.shape:
        raise DataError(
            f"{name}: load() must return (n, d) features and (n,) labels, got {X.shape} and {labels.shape}."
        )
    stored = X if isinstance(X, np.ndarray) else X.data
    for what, values in (("features", stored), ("labels", labels)):
        bad = values.size - int(np.count_nonzero(np.isfinite(values)))
        if bad:
            raise DataError(f"{name}: {bad} {what} are NaN or infinite, expected finite numbers.")
    return X, labels


def content(X: Matrix) -> list[Any]:
    """The buffers that a hash of X is taken over."""
    return [X] if isinstance(X, np.ndarray) else [X.indptr, X.indices, X.data]


def _matrix(X: Any) -> Matrix:
    if isinstance(X, np.ndarray) or not sparse.issparse(X):
        return np.ascontiguousarray(X, np.float64)
    given: Any = X  # SciPy's types do not follow issparse()
    csr = sparse.csr_matrix(given, dtype=np.float64, copy=True)  # the plugin's own is left alone
    csr.sum_duplicates()
    return csr


class Part(StrEnum):
    """Which rows of a data set: its training part, its own test part, or both."""

    train = "train"
    test = "test"
    all = "all"


class Loaded(NamedTuple):
    """A part of a data set, ready for use."""

    X: Matrix  # (n, d) float64: C-contiguous ndarray, or SciPy CSR with ascending columns
    y: NDArray[np.int8]  # (n,) labels in {-1, 1}
    sha256: str  # of rows, labels and part as they are used, in hex
    source: str  # where the data came from
    positive: tuple[labels.Label, ...]  # the labels that became 1
    negative: tuple[labels.Label, ...] = ()  # the labels of the training part that became -1


def load(dataset: Any, part: str = "train") -> Loaded:
    """The rows and labels of a data set, from the cache when they were parsed before.

    Arrays from files are private memory maps: opening takes milliseconds, writing to them changes no file.

    Parameters
    ----------
    dataset : Dataset
        An instance of a data-set plugin.
    part : {"train", "test", "all"}
        "all" is the training rows followed by the test rows, if there are any.

    Raises
    ------
    ParameterError
        An unknown part, or a parameter that the data set lacks.
    FetchError
        A file that no source has.
    DataError
        Files that are malformed or not what is published, features that are not finite, one class only, more
        than two classes without a declaration, or no such part.
    """
    if part not in list(Part):
        raise ParameterError(f"dataset.part must be one of {', '.join(Part)}, got {part!r}.")
    if callable(getattr(dataset, "load", None)):
        if part == Part.test:
            raise _no_test_part(dataset)
        return _from_arrays(dataset)
    files = resolve(dataset.name, _files(dataset))
    has_test = any(file.part == Part.test for file in files)
    if part == Part.test and not has_test:
        raise _no_test_part(dataset)
    return _from_files(dataset, files, Part(part) if has_test else Part.train)


def has_test_part(dataset: Any) -> bool:
    """Whether the data set has a test part of its own."""
    return not callable(getattr(dataset, "load", None)) and any(
        file.part == Part.test for file in _files(dataset)
    )


def fetch(dataset: Any, large: bool = False, part: str = "all") -> list[Path]:
    """Make sure that the files of a data set are on this machine, downloading them if need be.

    Parameters
    ----------
    dataset : Dataset
        An instance of a data-set plugin.
    large : bool
        Whether to download more than 100 MB.
    part : {"train", "test", "all"}
        Of which part.

    Returns
    -------
    list of Path
        The files, in a mirror folder or in the cache; empty for a data set without files.

    Raises
    ------
    FetchError
        A file that no source has, or more than 100 MB to download without `large`.
    """
    if callable(getattr(dataset, "load", None)):
        return []
    files = resolve(dataset.name, _files(dataset))
    allowance = Allowance(None if large else LARGE_BYTES)
    size = missing_bytes(dataset)
    if size and not large and size > LARGE_BYTES:
        raise FetchError(
            f"{dataset.name}: {size / 1e6:,.0f} MB to download; if you want that, run "
            f"aucbench fetch {dataset.name} --yes."
        )
    return [locate.find(dataset.name, file, allowance).path for file in _of_part(files, Part(part))]


def missing_bytes(dataset: Any) -> int:
    """How much `fetch` would download, as far as the servers tell; 0 for a data set without files."""
    if callable(getattr(dataset, "load", None)):
        return 0
    return sum(locate.missing_bytes(file) or 0 for file in resolve(dataset.name, _files(dataset)))


def _no_test_part(dataset: Any) -> DataError:
    return DataError(f"{dataset.name} has no test part; use dataset.part=train or all, and a hold-out split.")


def _files(dataset: Any) -> tuple[File, ...]:
    files = tuple(getattr(dataset, "files", ()))
    if not any(file.part == Part.train for file in files):
        raise DataError(f"{dataset.name} declares neither a training file nor a method load().")
    return files


def _from_files(dataset: Any, files: tuple[File, ...], part: Part) -> Loaded:
    cached = _cached(dataset, files, part)
    # The training part decides which class is positive, so that all parts agree.
    reference = cached.meta if part != Part.test else cache.read_meta(_folder(dataset, files, Part.train))
    counts: dict[labels.Label, int] = {}
    for entry in (reference or _cached(dataset, files, Part.train).meta)["files"]:
        if entry["part"] == Part.train:
            for label, count in entry["labels"]:
                counts[label] = counts.get(label, 0) + count
    positive = _positive(dataset, counts)
    names = cached.meta["labels"]
    table = labels.signs(dataset.name, part, names, counts, positive)
    if len(set(table)) < 2:
        raise DataError(
            f"{dataset.name}: the {part} part has only {'positive' if 1 in table else 'negative'} rows."
        )
    y = np.array(table, np.int8)[cached.codes]
    became = tuple(labels.ordered(positive))
    content = f"{cached.meta['sha256']} {cached.X.shape} {part} {list(became)}"
    source = "; ".join(dict.fromkeys(entry["source"] for entry in cached.meta["files"]))
    others = tuple(labels.ordered(set(counts) - positive))
    return Loaded(cached.X, y, hashlib.sha256(content.encode()).hexdigest(), source, became, others)


def _cached(dataset: Any, files: tuple[File, ...], part: Part) -> cache.Part:
    features = getattr(dataset, "features", None)
    for file in files:
        if Path(file.path).is_absolute():
            locate.find(dataset.name, file)  # refuses what does not exist, before its state is asked for
    wanted = _folder(dataset, files, part)
    found = cache.open_part(wanted)
    if found is not None:
        return found
    # Where the number of columns is not published, or columns are learned from the training part, all parts
    # are made together.
    together = part != Part.all and _depend(files, features) and any(file.part != part for file in files)
    with cache.writing(dataset.name) as aside:
        found = cache.open_part(wanted)  # made by another process, while we waited
        if found is None:
            _build(dataset, files, (Part.train, Part.test) if together else (part,), aside)
            found = cache.open_part(wanted)
    if found is None:
        raise DataError(f"{dataset.name}: the data cache {wanted} cannot be read back.")
    return found


def _folder(dataset: Any, files: tuple[File, ...], part: Part) -> Path:
    # Where a part depends on the others, they are in its key.
    features = getattr(dataset, "features", None)
    relevant = files if _depend(files, features) else _of_part(files, part)
    return cache.part_folder(dataset.name, part, relevant, features)


def _depend(files: tuple[File, ...], features: int | None) -> bool:
    learned = any(file.kind != "libsvm" or isinstance(file.topic, str) for file in files)
    return features is None or learned


def _of_part(files: Iterable[File], part: Part) -> list[File]:
    order = [Part.train, Part.test] if part == Part.all else [part]
    return [file for wanted in order for file in files if file.part == wanted]


def _build(dataset: Any, files: tuple[File, ...], parts: tuple[Part, ...], aside: Path) -> None:
    """Parse and publish parts; a download that cannot be used is replaced by that of the next source."""
    allowance, rejected = Allowance(), set[str]()
    refusal: DataError | None = None
    while True:
        try:
            found = {
                part: [locate.find(dataset.name, file, allowance, rejected) for file in _of_part(files, part)]
                for part in parts
            }
        except FetchError:
            if refusal is None:
                raise
            raise refusal from None
        try:
            (aside / str(len(rejected))).mkdir()
            _parse(dataset, files, parts, found, aside / str(len(rejected)))
            return
        except DataError as error:
            places = {place.path for each in found.values() for place in each}
            named = {path for path in places if str(path) in str(error)} or places
            sources = {path: source for path in named if (source := locate.source_of(path))}
            for path in sources:
                locate.discard(path)
            if not sources or rejected & set(sources.values()):
                raise
            rejected |= set(sources.values())
            came = " and ".join(sorted(sources.values()))
            refusal = refusal or DataError(f"{str(error).removesuffix('.')} (downloaded from {came}).")


def _parse(
    dataset: Any,
    files: tuple[File, ...],
    parts: tuple[Part, ...],
    found: dict[Part, list[build_cache.Found]],
    aside: Path,
) -> None:
    training = [place for place in next(iter(found.values())) if place.file.part == Part.train]
    read = Reading((place.file, place.path) for place in training)
    staged = {}
    for part in parts:
        (aside / part).mkdir()
        staged[part] = build_cache.stage(found[part], aside / part, read)
    columns = {path: widest for each in staged.values() for path, widest in each.columns.items()}
    features = labels.check_features(dataset.name, getattr(dataset, "features", None), columns)
    for part, each in staged.items():
        dense = build_cache.lay_out(each, features)
        meta = {
            "dataset": dataset.name,
            "part": part,
            "rows": each.rows,
            "features": features,
            "nonzeros": each.nonzeros,
            "dense": dense,
            "labels": each.names,
            "files": each.files,
            "sha256": each.digest,
        }
        cache.publish(each.folder, _folder(dataset, files, part), meta)


def _positive(dataset: Any, counts: dict[labels.Label, int]) -> frozenset[labels.Label]:
    return labels.positive_labels(
        dataset.name,
        counts,
        getattr(dataset, "positive", None),
        getattr(dataset, "grouping", None),
        getattr(dataset, "grouping_seed", 0),
    )


def _from_arrays(dataset: Any) -> Loaded:
    X, raw = checked(dataset.name, dataset.load())
    distinct, times = np.unique(raw, return_counts=True)
    counts = dict(zip(distinct.tolist(), times.tolist(), strict=True))
    positive = _positive(dataset, counts)
    y = np.where(np.isin(raw, list(positive)), 1, -1).astype(np.int8)
    digest = hashlib.sha256(f"{X.shape}".encode())
    for array in (*content(X), y):
        digest.update(array)
    source = f"{type(dataset).__module__}.{type(dataset).__qualname__}"
    became, others = (tuple(labels.ordered(each)) for each in (positive, set(counts) - positive))
    return Loaded(X, y, digest.hexdigest(), source, became, others)
