"""The certified minimum of a method's objective, as the store keeps it."""

from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aucbench.studies.record import Seeds


class OptimumRecord(Struct, frozen=True, kw_only=True):
    """A minimum and what is certain about it."""

    key: str
    objective: str  # in words
    value: float  # at the weights
    gap: float  # the value is at most this much above the minimum
    relative_gap: float
    size: float  # what a relative suboptimality is relative to
    solver: str  # name of the method that found it
    seconds: float  # of processor time, on one core
    train_rows: int
    train_auc: float
    test_auc: float
    seeds: Seeds  # of the split


@dataclass(frozen=True, eq=False)
class OptimumResult:
    """A minimum: its record, and its weights."""

    record: OptimumRecord
    weights: NDArray[np.float64]  # (d,)
