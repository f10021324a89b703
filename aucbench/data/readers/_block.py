"""Blocks of rows, which every reader gives."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.data.labels import Label

MOST_VALUES = 1 << 21  # of a block of dense rows, 16 MB


class Coded(NamedTuple):
    """The labels of a block: distinct ones, and which of them each row has."""

    distinct: list[Label]
    codes: NDArray[np.int64]


class Block(NamedTuple):
    """Some consecutive rows of a file; a reader may overwrite the arrays by the next block."""

    labels: Any  # (rows,) float64 array, or Coded
    lengths: NDArray[np.int64]  # (rows,) features in each row
    indices: NDArray[np.int32]  # (nnz,) column numbers from 0, ascending in each row
    values: NDArray[np.float64]  # (nnz,) finite
    width: int = 0  # number of columns, where the file tells
