"""Splitting rows into a training and a test part."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError, ParameterError

Rows = NDArray[np.int64]


def holdout(y: NDArray[Any], test_fraction: float, seed: int) -> tuple[Rows, Rows]:
    """A random split: round(test_fraction * n) rows, at least one, are held out.

    The permutation is that of ``numpy.random.default_rng([seed, 1])``; its first rows are the test part.

    Parameters
    ----------
    y : (n,) array
        Labels in {-1, 1}.
    test_fraction : float
        Between 0 and 1, both excluded.
    seed : int
        Not negative.

    Returns
    -------
    train_rows, test_rows : int64 arrays
        Row numbers, ascending.

    Raises
    ------
    ParameterError
        The fraction or the seed is out of range.
    DataError
        A part has one class only.
    """
    if not 0.0 < test_fraction < 1.0:
        raise ParameterError(f"protocol.test_fraction must be > 0 and < 1, got {test_fraction}.")
    if seed < 0:
        raise ParameterError(f"The seed of a split must be >= 0, got {seed}.")
    n = len(y)
    held_out = max(1, round(test_fraction * n))
    order = np.random.default_rng([seed, 1]).permutation(n).astype(np.int64, copy=False)
    train, test = np.sort(order[held_out:]), np.sort(order[:held_out])
    for part, rows in (("training", train), ("test", test)):
        positives = int(np.count_nonzero(y[rows] == 1))
        negatives = len(rows) - positives
        if positives == 0 or negatives == 0:
            raise DataError(
                f"The {part} part of the split has {positives} positive and {negatives} negative rows, "
                "expected both classes; choose another protocol.test_fraction or split_seed."
            )
    return train, test
