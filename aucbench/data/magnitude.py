"""Values so large that their squares overflow are refused: a method would hide it or blame itself."""

from typing import Any

import numpy as np
from scipy import sparse

from aucbench.errors import DataError

BLOCK_VALUES = 1 << 22  # looked at at a time


def check_magnitude(X: Any) -> None:
    """Refuse rows whose squared norm is not a number of the machine.

    Parameters
    ----------
    X : (n, d) ndarray or scipy CSR
        Rows as they are trained on.

    Raises
    ------
    DataError
        Names the largest value, and the scaling that helps.
    """
    values = X.data if sparse.issparse(X) else X
    step = max(1, BLOCK_VALUES // max(1, values[:1].size))
    largest = max(
        (
            float(np.abs(values[start : start + step]).max(initial=0.0))
            for start in range(0, len(values), step)
        ),
        default=0.0,
    )
    if largest > np.sqrt(np.finfo(values.dtype).max / max(1, X.shape[1])):
        raise DataError(
            f"The features reach {largest:.3g}, and squares of rows that large overflow: use scaling=maxabs."
        )
