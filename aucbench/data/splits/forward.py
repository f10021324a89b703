"""Splits by time: training rows come before the rows that test them.

Rows of one time are never divided: the parts have their fractions of the rows as nearly as times allow.
"""

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import DataError

Rows = NDArray[np.int64]


def forward_parts(times: NDArray[np.float64], fractions: dict[str, float]) -> dict[str, Rows]:
    """The training rows, which come first, and later parts, the last of which comes last; rows ascend.

    Parameters
    ----------
    times : (n,) float64 array
    fractions : dict of str to float
        Shares of the rows of the parts behind the training part, in the order of time.
    """
    shares = [1.0 - sum(fractions.values()), *fractions.values()]
    blocks = _blocks(times, np.cumsum(shares)[:-1])
    return dict(zip(("training", *fractions), blocks, strict=True))


def forward_fold(times: NDArray[np.float64], folds: int, number: int) -> tuple[Rows, Rows]:
    """All rows before a fold, and its rows; fold 0 is the second of folds + 1 blocks in time."""
    blocks = _blocks(times, np.arange(1, folds + 1) / (folds + 1))
    return np.sort(np.concatenate(blocks[: number + 1])), blocks[number + 1]


def _blocks(times: NDArray[np.float64], cuts: NDArray[np.float64]) -> list[Rows]:
    """Rows cut at shares of their number, in the order of time, between rows of different times."""
    order = np.argsort(times, kind="stable")
    ordered = times[order]
    starts = np.flatnonzero(np.diff(ordered)) + 1  # where another time begins
    if len(starts) < len(cuts):
        raise DataError(
            f"protocol.time has {len(starts) + 1} different times, expected {len(cuts) + 1} or more to "
            "divide the rows between; use another column, or fewer folds."
        )
    chosen: list[int] = []
    for k, wanted in enumerate(cuts * len(times)):
        left = starts[len(chosen) and np.searchsorted(starts, chosen[-1], "right") :]
        left = left[: len(left) - (len(cuts) - 1 - k)]  # leave one for each later cut
        chosen.append(int(left[np.argmin(np.abs(left - wanted))]))
    return [np.sort(block) for block in np.split(order, chosen)]
