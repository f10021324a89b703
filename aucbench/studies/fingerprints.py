"""Whether the rows that several methods work on are still what they were."""

import zlib
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.data.preprocess import Prepared

WHOLE = 1 << 19  # values of an array that are looked at one and all
SAMPLE = 1 << 16  # of a larger one: a method that changes rows changes more than a few values


def fingerprint(prepared: Prepared) -> tuple[int, ...]:
    """Checksums of the arrays, of evenly spaced values of large ones."""
    matrices = (prepared.X, prepared.X_test)
    arrays = [array for X in matrices for array in _arrays(X)]
    return tuple(_checksum(array) for array in (*arrays, prepared.y, prepared.y_test))


def _arrays(X: Any) -> tuple[NDArray[Any], ...]:
    return (X.data, X.indices, X.indptr) if sparse.issparse(X) else (np.asarray(X),)


def _checksum(array: NDArray[Any]) -> int:
    values = array.ravel(order="K")
    if len(values) > WHOLE:
        step = len(values) // SAMPLE
        while gcd(step, array.shape[-1]) > 1:  # else it would meet some of the columns only
            step += 1
        values = values[::step]
    return zlib.crc32(np.ascontiguousarray(values).data)
