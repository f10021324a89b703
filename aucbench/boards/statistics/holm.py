"""Holm's correction for testing many hypotheses."""

import numpy as np

from aucbench.boards.statistics.cells import Floats
from aucbench.errors import ParameterError


def holm(p: Floats) -> Floats:
    """P-values corrected for their number.

    With p sorted ascendingly, the i-th of m becomes max over j <= i of min(1, (m - j + 1) p_(j)). Rejecting
    where this is below a level keeps the chance of any false rejection below that level, whatever the
    dependence between the tests.

    Parameters
    ----------
    p : ndarray (m,)
        In [0, 1]; NaN stands for a test that could not be done: it stays NaN and is not counted.

    References
    ----------
    S. Holm: A simple sequentially rejective multiple test procedure. Scand. J. Statistics 6 (1979) 65-70.
    """
    values = np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    if ((values[known] < 0.0) | (values[known] > 1.0)).any():
        raise ParameterError(f"holm: p-values lie between 0 and 1, got {values[known]}.")
    order = known[np.argsort(values[known], kind="stable")]
    corrected = np.full(values.shape, np.nan)
    scaled = values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return corrected
