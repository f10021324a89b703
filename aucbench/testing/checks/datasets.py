"""Checks of data sets."""

from math import inf
from typing import Any

import numpy as np
from scipy import sparse

from aucbench import data
from aucbench.contracts import DatasetFacts, File
from aucbench.contracts.validation import Family
from aucbench.errors import FetchError, ParameterError
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken, Exempted
from aucbench.testing.time_limit import TimeLimit

BLOCK_ROWS = 65_536


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
            names = ("train", "test") if self._available(data.has_test_part) else ("train",)
            self._parts = {name: self.loaded(name) for name in names}
        return self._parts

    def loaded(self, part: str) -> data.Loaded:
        """Load a part again."""
        self.where = f"the {part} part"
        return self._available(lambda plugin: data.load(plugin, part))

    def _available(self, action: Any) -> Any:
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
    try:
        files = DatasetFacts(dataset.plugin).files
    except ParameterError as error:
        raise Exempted(f"cannot be checked with default parameters: {error}") from None
    if not files or not all(isinstance(file, File) for file in files):
        raise Broken("It needs `files`, a tuple of aucbench.File, or a method `load`.")
    wrong = [file.part for file in files if file.part not in ("train", "test")]
    if wrong:
        raise Broken(f"A file's part is train or test, got {wrong[0]!r}.")
    if not any(file.part == "train" for file in files):
        raise Broken("None of its files is for training (part='train').")


def rows(dataset: DatasetSubject) -> str:
    """Every part has one finite row of float64 for each label."""
    for name, part in dataset.parts.items():
        X = part.X
        if X.ndim != 2 or X.shape[0] != len(part.y) or X.dtype != np.float64:
            raise Broken(f"The {name} part has X of {X.shape}, {X.dtype}, and y of {part.y.shape}.")
        values = X.data if sparse.issparse(X) else X
        for start in range(0, values.shape[0], BLOCK_ROWS):
            if not np.isfinite(values[start : start + BLOCK_ROWS]).all():
                raise Broken(f"The {name} part has features that are not finite.")
    shapes = {name: part.X.shape for name, part in dataset.parts.items()}
    return ", ".join(f"{name}: {n:,} x {d:,}" for name, (n, d) in shapes.items())


def labels(dataset: DatasetSubject) -> None:
    """Every part has labels -1 and +1, both of them."""
    for name, part in dataset.parts.items():
        found = np.unique(part.y).tolist()
        if found != [-1, 1] or part.y.dtype != np.int8:
            raise Broken(f"The {name} part has the labels {found} of {part.y.dtype}, expected int8 -1 and 1.")


def same_twice(dataset: DatasetSubject) -> None:
    """Loading twice gives the same bytes."""
    for name, part in dataset.parts.items():
        other = dataset.loaded(name)
        if part.sha256 != other.sha256:
            raise Broken(f"The {name} part has another hash when it is loaded again.")
        if not np.array_equal(part.y, other.y):
            raise Broken(f"The {name} part has other labels when it is loaded again.")


def facts(dataset: DatasetSubject) -> str | None:
    """The numbers of features and rows are as declared."""
    features = DatasetFacts(dataset.plugin).features
    is_told = features is not None
    for name, part in dataset.parts.items():
        n, d = part.X.shape
        if features is not None and d != features:
            raise Broken(f"The {name} part has {d:,} features, `features` says {features:,}.")
        rows = [file.rows for file in DatasetFacts(dataset.plugin).files if file.part == name]
        if rows and None not in rows:
            is_told = True
            if n != sum(rows):
                raise Broken(f"The {name} part has {n:,} rows, declared are {sum(rows):,}.")
    widths = {part.X.shape[1] for part in dataset.parts.values()}
    if len(widths) > 1:
        raise Broken(f"Its parts have different numbers of features: {sorted(widths)}.")
    return None if is_told else "declares neither features nor rows"
