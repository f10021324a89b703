"""Columns that number the rows of a table.

A column that numbers the rows tells where a row stands in the file, and in a file that is sorted by class it
tells the class. Columns that pandas and R write as an index, and those that count the rows, are left out with
a note; one that ascends or descends from row to row in another way is refused, since it may be a feature.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

FEW_ROWS = 20  # of fewer rows it is no surprise that they are sorted by some column
_UNNAMED = re.compile(r"(Unnamed: [0-9]+(\.[0-9]+)*)?")  # as pandas and R write an index, or pandas names one
_INDEX = re.compile(r"__index_level_[0-9]+__")  # as pandas names one in Parquet


@dataclass
class RowOrder:
    """Whether the values of a column ascend, or descend, from row to row."""

    rows: int = 0
    ties: int = 0  # rows whose value is that of the row before
    direction: float = 0.0  # 1 ascending, -1 descending, 0 not known yet
    counts: bool = True  # every value is that of the row before plus one
    sorted: bool = True
    last: tuple[float, ...] = ()

    def add(self, values: NDArray[np.float64]) -> None:
        """Go on with the next rows."""
        if not self.sorted or not len(values):
            return
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.diff(values, prepend=np.array(self.last))
        self.last = (float(values[-1]),)
        self.rows += len(values)
        self.ties += int(np.count_nonzero(steps == 0))
        self.counts = self.counts and bool((steps == 1).all())
        if len(steps) and self.direction == 0:
            self.direction = float(np.sign(steps.max() if steps.max() > 0 else steps.min()))
        self.sorted = bool((steps * self.direction >= 0).all())  # not where one is missing

    @property
    def is_suspect(self) -> bool:
        """Whether the column is sorted and most rows have a value of their own."""
        return self.sorted and self.rows >= FEW_ROWS and 2 * self.ties < self.rows


def index_places(names: Sequence[str]) -> list[int]:
    """The places of the columns that were written as an index: without a name and before the others."""
    before = list(takewhile(lambda place: _UNNAMED.fullmatch(names[place]), range(len(names))))
    return before + [place for place, name in enumerate(names) if _INDEX.fullmatch(name)]
