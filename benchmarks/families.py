"""Data sets that share rows must be declared one family.

`python -m benchmarks families` compares all data sets that are on this machine and have the same number of
columns. Two share rows if 30 % of the different rows of the smaller one are rows of the larger one, as they
are read, with five significant digits, the labels ignored. It prints pairs of different families that share
at least 10 % of their rows, and misses where they share 30 %.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench import data
from aucbench.data.equal_rows import equal_rows
from aucbench.data.loader import Part
from benchmarks.measuring import Measure
from benchmarks.real_sets import MADE, Choice, RealSet, at_hand, catalog_with

DIGITS, SHARED, SHOWN = 5, 0.3, 0.1
BLOCK = 10_000  # rows that are hashed at a time


def families(choice: Choice) -> Iterator[Measure]:
    """Pairs of data sets of different families that share rows, the largest share last."""
    sets = at_hand(choice)
    catalog, alike = catalog_with(MADE), dict[int, list[tuple[RealSet, NDArray[np.int64]]]]()
    for real in sets:
        X = data.load(catalog.dataset(real.name)(), Part.train).X
        alike.setdefault(real.features, []).append((real, row_hashes(X)))
    within, largest = 0, 0.0
    for first, second in (pair for same in alike.values() for pair in combinations(same, 2)):
        share = shared(first[1], second[1])
        if first[0].family == second[0].family:
            within += share >= SHARED
            continue
        largest = max(largest, share)
        if share >= SHOWN:
            yield Measure(_named(first[0], second[0]), share, SHARED, at_most=True)
    note = f"{len(sets)} data sets, {len({real.family for real in sets})} families; {within} pairs within one"
    yield Measure("largest share of rows between families", largest, SHARED, at_most=True, note=note)


def _named(*pair: RealSet) -> str:
    return " and ".join(f"{real.name} ({real.family})" for real in pair)


def shared(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """The share of the different rows of the smaller data set that the larger set has."""
    return len(np.intersect1d(first, second, assume_unique=True)) / min(len(first), len(second))


def row_hashes(X: Any) -> NDArray[np.int64]:
    """Hashes of the different rows, ascending; rows are equal if all values have the same first digits."""
    return np.unique(np.concatenate([_hashes(X[i : i + BLOCK]) for i in range(0, X.shape[0], BLOCK)]))


def _hashes(X: Any) -> NDArray[np.int64]:
    """Hashes of rows whose values are rounded to their first digits."""
    rows = sparse.csr_matrix(X, dtype=np.float64)
    rows.eliminate_zeros()
    size = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(rows.data))))
    rows.data = np.rint(rows.data * size) / size
    return equal_rows(rows)


MEASURES = {"families": families}
