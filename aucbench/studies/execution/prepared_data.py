"""Loaded data and prepared splits, cached in a process between units."""

import contextlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench import data
from aucbench.contracts import DatasetFacts, MethodFacts
from aucbench.contracts.hooks import PROJECT
from aucbench.contracts.source_location import line_in, package_of
from aucbench.data.equal_rows import blocks_of, repeats
from aucbench.data.loader import Loaded, Part
from aucbench.data.preprocess import Prepared, prepare
from aucbench.data.splits.inner import inner_count, inner_split, limited
from aucbench.data.splits.protocols import Split
from aucbench.errors import AucbenchError, DataError, PluginError
from aucbench.humanize import sentence_of
from aucbench.pool import Pool
from aucbench.studies.archives.tried_settings import Facts
from aucbench.studies.default_settings import Regularisation
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.record import Seeds

WHOLE = 1 << 19  # arrays with more values are sampled for the checksum
SAMPLE = 1 << 16  # values in a sample: a method that changes rows changes more than a few values
KEEP_BYTES = 1 << 30  # size of the cached splits; the latest is cached whatever its size


class PreparedData:
    """Loads each data set once and prepares each split once, as long as units come in groups.

    If `isolates` is set, loading code of other distributions runs in a separate process.
    """

    def __init__(self) -> None:
        self.isolates = False
        self._loaded: dict[tuple[str, Part], Loaded] = {}
        self._digests: dict[tuple[str, Part, str], tuple[str, ...]] = {}
        self._sizes: dict[tuple[Any, ...], tuple[int, int, int]] = {}
        self._prepared: dict[Any, Prepared] = {}  # prepared data by group, the latest last
        self._fingerprints: dict[Any, tuple[int, ...]] = {}  # fingerprints of the prepared arrays

    def load(self, entry: Entry) -> Callable[[Part], Loaded]:
        """A function that loads a part of the entry's data set; files are memory-mapped."""
        columns, source = entry.protocol.columns, entry.dataset
        described = f"{source.description} {columns}"

        def part(part: Part) -> Loaded:
            if (described, part) not in self._loaded:
                if self._loaded and next(iter(self._loaded))[0] != described:
                    self._loaded.clear()  # one data set at a time: some data sets fill the memory
                is_foreign = source.distribution != PROJECT and DatasetFacts(source.instance).load is not None
                self._loaded[described, part] = _load(source, part, columns, self.isolates and is_foreign)
            return self._loaded[described, part]

        return part

    def digests(self, entry: Entry) -> tuple[str, ...]:
        """Digests of the entry's data."""
        key = (str(entry.dataset.description), entry.part, str(entry.protocol))
        if key not in self._digests:
            self._digests[key] = entry.protocol.digests(self.load(entry), entry.part)
        return self._digests[key]

    def split(self, entry: Entry, seeds: Seeds) -> Split:
        """The rows of one split, cut to `max_train_rows`."""
        split = entry.protocol.split(self.load(entry), entry.part, seeds.split_seed, seeds.fold)
        return limited(split, entry.settings.max_train_rows, seeds.split_seed)

    def sizes(self, entry: Entry, seeds: Seeds) -> tuple[int, int, int]:
        """Training rows, test rows and inner folds of a split, cached as many entries share them."""
        folds, limit = entry.tuning.choice.folds, entry.settings.max_train_rows
        drawn = str(entry.dataset.description), entry.part, str(entry.protocol), seeds.split_seed, seeds.fold
        key = (*drawn, folds, limit)
        if key not in self._sizes:
            split = self.split(entry, seeds)
            self._sizes[key] = len(split.train.y), len(split.test.y), inner_count(split, folds)
        return self._sizes[key]

    def prepared(self, unit: Unit, stage: Callable[[str], None] = lambda text: None) -> Prepared:
        """The arrays of a unit; `DataError` if the data differs from the planned data."""
        prepared = self._prepared.pop(unit.group, None)
        if prepared is None:
            entry, seeds = unit.entry, unit.seeds
            stage(f"loading {entry.dataset.name}")
            if self.digests(entry) != unit.digests:
                raise DataError(
                    f"{entry.dataset.title}: a worker sees other data than the process that planned it; "
                    f"give both the same files, cache (AUCBENCH_CACHE) or mirror (AUCBENCH_MIRROR)."
                )
            stage("preparing the split")
            split = self.split(entry, seeds)
            if unit.inner is not None:
                split = inner_split(split, entry.tuning.choice.folds, seeds.split_seed, unit.inner)
            self._make_room(2 * sum(size_of(side.X, side.rows) for side in (split.train, split.test)))
            prepared = prepare_split(entry, split, seeds.split_seed)
            if unit.inner is None:
                counted = repeats(split.train, split.test)
                prepared = replace(prepared, repeats=counted, blocks=blocks_of(split.test))
            self._fingerprints[unit.group] = fingerprint(prepared)
        self._prepared[unit.group] = prepared
        return prepared

    def rows_of(self, entry: Entry, seeds: Seeds) -> Prepared:
        """The arrays of a cell."""
        return self.prepared(Unit("", self.digests(entry), entry, seeds))

    def check_untouched(self, unit: Unit) -> None:
        """Drop the arrays of a unit and raise `PluginError` if the method has changed its rows.

        The result is then invalid, and other methods would get the changed rows.
        """
        if fingerprint(self._prepared[unit.group]) != self._fingerprints[unit.group]:
            del self._prepared[unit.group]
            name, owner = unit.entry.algorithm.name, unit.entry.algorithm.distribution
            raise PluginError(
                f"{name} of distribution {owner} changes the rows it is given, which belong to all methods: "
                f"work on a copy (aucbench check {name} shows where)."
            )

    def _make_room(self, size: int) -> None:
        """Drop the oldest arrays to make room for `size` bytes."""
        while self._prepared and size > KEEP_BYTES - sum(
            size_of(prepared.X) + size_of(prepared.X_test) for prepared in self._prepared.values()
        ):
            del self._prepared[next(iter(self._prepared))]


@cache
def prepared_data() -> PreparedData:
    """Data sets and splits that this process has loaded and prepared."""
    return PreparedData()


def _load(dataset: BoundPlugin, part: Part, columns: tuple[str | int, ...], isolated: bool = False) -> Loaded:
    with blaming(dataset):
        if not isolated:
            return data.load(dataset.instance, part, columns)
        with Pool() as pool:
            loaded: Loaded = pool.submit(_load, dataset, part, columns).result()
            return loaded


def prepare_split(entry: Entry, split: Split, split_seed: int) -> Prepared:
    """The arrays of a split, mapped and scaled for an entry."""
    settings = entry.settings
    features = entry.features.instance
    return prepare(split, entry.scaling, features, settings.dtype, split_seed, settings.rescale)


def row_factor(entry: Entry, prepared: Prepared) -> float:
    """The factor that converts regularisation to the rescaled rows; 1 if it refers to the rescaled rows."""
    if prepared.rescaling is None or entry.settings.regularisation is Regularisation.rows:
        return 1.0
    return prepared.rescaling.factor


def facts_of(entry: Entry) -> Facts:
    """Facts of the training rows of the entry's first split, after preparation."""
    seeds = entry.cells()[0]
    split = prepared_data().split(entry, seeds)
    prepared = prepare_split(entry, split, seeds.split_seed)
    rows, features = prepared.X.shape
    density = prepared.X.nnz / (rows * features) if sparse.issparse(prepared.X) else 1.0
    return Facts(float(rows), float(features), float(density), float(np.mean(prepared.y == 1)))


def fingerprint(prepared: Prepared) -> tuple[int, ...]:
    """Checksums of the arrays; of large arrays, only evenly spaced values count."""
    arrays = []
    X: Any
    for X in (prepared.X, prepared.X_test, prepared.y, prepared.y_test):
        arrays += [X.data, X.indices, X.indptr] if sparse.issparse(X) else [np.asarray(X)]
    return tuple(map(_checksum, arrays))


def _checksum(array: NDArray[Any]) -> int:
    values = array.ravel(order="K")
    if len(values) > WHOLE:
        step = len(values) // SAMPLE
        while gcd(step, array.shape[-1]) > 1:  # otherwise some columns would never be sampled
            step += 1
        values = values[::step]
    return zlib.crc32(np.ascontiguousarray(values).data)


def size_of(X: Any, rows: Any = None) -> int:
    """Bytes of some rows of a matrix, by default of all rows."""
    total = int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)
    return total if rows is None else total * len(rows) // max(1, X.shape[0])


@contextlib.contextmanager
def blaming(plugin: BoundPlugin) -> Iterator[None]:
    """Turn an error in a plugin's code, or in an imported class, into a `PluginError` that names the code."""
    try:
        yield
    except (AucbenchError, MemoryError):
        raise
    except Exception as error:
        culprit = f"{plugin.name} of distribution {plugin.distribution} {plugin.version}"
        location = line_in(error, package_of(plugin.cls))
        for field in MethodFacts(plugin.cls).imports:
            path = str(getattr(plugin.instance, field))
            if imported := line_in(error, path.partition(".")[0]):
                culprit, location = f"{path}, which {plugin.name} imports,", imported
        raise PluginError(f"{culprit} failed: {sentence_of(error).rstrip('.')}{location}.") from error
