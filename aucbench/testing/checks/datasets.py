"""Checks of data sets."""

from collections.abc import Callable
from math import inf
from typing import Any, TypeVar

import numpy as np

from aucbench import data
from aucbench.contracts import DatasetFacts, File
from aucbench.contracts.validation import Family
from aucbench.errors import FetchError, ParameterError
from aucbench.testing.examine import Subject, TimeLimit
from aucbench.testing.findings import Broken, Exempted

T = TypeVar("T")


class DatasetSubject(Subject):
    """A data set, whose parts are loaded once for all checks, without a time limit."""

    family = Family.datasets

    def __init__(self, plugin: Any, limit: TimeLimit | None = None, **unused: Any):
        super().__init__(plugin, TimeLimit(inf))  # a download takes as long as it takes
        self._parts: dict[str, data.Loaded] = {}
        self._missing: Exempted | None = None  # a failed download is not repeated

    @property
    def parts(self) -> dict[str, data.Loaded]:
        """The parts by name, train and possibly test; exempt if files or parameters are missing."""
        if not self._parts:
            names = ("train", "test") if self.available(data.has_test_part) else ("train",)
            self._parts = {name: self.loaded(name) for name in names}
        return self._parts

    def loaded(self, part: str) -> data.Loaded:
        """Load a part again."""
        self.where = f"the {part} part"
        return self.available(lambda plugin: data.load(plugin, part))

    def available(self, action: Callable[[Any], T]) -> T:
        """What an action on the plugin gives; exempt if files or parameters are missing."""
        if self._missing is None:
            try:
                return action(self.plugin)
            except FetchError as error:
                self._missing = Exempted(f"not available here: {error}")
            except ParameterError as error:
                self._missing = Exempted(f"cannot be checked with default parameters: {error}")
        raise self._missing


def origin(dataset: DatasetSubject) -> None:
    """A data set declares `files`, one of them for training, or has a method `load`."""
    if DatasetFacts(dataset.plugin).load is not None:
        return
    files = dataset.available(lambda plugin: plugin.files)
    if not files or not all(isinstance(file, File) for file in files):
        raise Broken("It needs `files`, a tuple of aucbench.File, or a method `load`.")
    parts = {file.part for file in files}
    if "train" not in parts or parts - {"train", "test"}:
        raise Broken(
            f"A file's part is train or test, and some file's train; got {', '.join(sorted(parts))}."
        )


def rows(dataset: DatasetSubject) -> str:
    """Every part can be read, and has finite features and two classes."""
    shapes = {name: part.X.shape for name, part in dataset.parts.items()}
    return ", ".join(f"{name}: {n:,} x {d:,}" for name, (n, d) in shapes.items())


def same_twice(dataset: DatasetSubject) -> None:
    """Loading twice gives the same bytes."""
    for name, part in dataset.parts.items():
        other = dataset.loaded(name)
        if part.sha256 != other.sha256 or not np.array_equal(part.y, other.y):
            raise Broken(f"The {name} part has other rows or labels when it is loaded again.")


def facts(dataset: DatasetSubject) -> str | None:
    """The numbers of features and rows are as declared."""
    declared, widths = DatasetFacts(dataset.plugin), set()
    for name, part in dataset.parts.items():
        n, d = part.X.shape
        widths.add(d)
        if d != (declared.features or d):
            raise Broken(f"The {name} part has {d:,} features, `features` says {declared.features:,}.")
        counts = [file.rows for file in declared.files if file.part == name]
        if counts and None not in counts and n != sum(counts):
            raise Broken(f"The {name} part has {n:,} rows, declared are {sum(counts):,}.")
    if len(widths) > 1:
        raise Broken(f"Its parts have different numbers of features: {sorted(widths)}.")
    return None
