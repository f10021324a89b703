"""Checks of data sets."""

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from aucbench import data
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.errors import FetchError, ParameterError
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken, Skipped, Status


class DatasetSubject(Subject):
    """A data set, whose parts are loaded once for all checks, without a time limit."""

    family = Family.datasets

    def __init__(self, plugin: Any, *unused: Any):
        super().__init__(plugin, inf)  # downloads have no time limit

    @cached_property
    def _loaded(self) -> dict[str, data.Loaded] | Skipped:
        """The parts by name, or the reason why they are missing: a failed download is not repeated."""
        try:
            names = ("train", "test") if data.has_test_part(self.plugin) else ("train",)
            return {name: self.loaded(name) for name in names}
        except FetchError as error:
            return Skipped(Status.exempt, f"not available here: {error}")
        except ParameterError as error:
            return Skipped(Status.exempt, f"cannot be checked with default parameters: {error}")

    @property
    def parts(self) -> dict[str, data.Loaded]:
        """The parts by name, train and possibly test; exempt if files or parameters are missing."""
        if isinstance(self._loaded, Skipped):
            raise self._loaded
        return self._loaded

    def loaded(self, part: str) -> data.Loaded:
        """Load a part again."""
        self.where = f"the {part} part"
        return data.load(self.plugin, part)


def rows(dataset: DatasetSubject) -> str:
    """Every part can be read, and has the declared number of rows, finite features and two classes."""
    shapes = {name: part.X.shape for name, part in dataset.parts.items()}
    return ", ".join(f"{name}: {n:,} x {d:,}" for name, (n, d) in shapes.items())


def same_twice(dataset: DatasetSubject) -> None:
    """Loading a part twice gives the same bytes."""
    for name, part in dataset.parts.items():
        reloaded = dataset.loaded(name)
        if part.sha256 != reloaded.sha256 or not np.array_equal(part.y, reloaded.y):
            raise Broken(f"The {name} part has other rows or labels when it is loaded again.")


def facts(dataset: DatasetSubject) -> None:
    """All parts have the declared number of features or, if none is declared, the same number."""
    widths = {name: part.X.shape[1] for name, part in dataset.parts.items()}
    expected = DatasetFacts(dataset.plugin).features or widths["train"]
    for name, width in widths.items():
        if width != expected:
            raise Broken(f"The {name} part has {width:,} features, expected are {expected:,}.")
