"""Whether two methods can be told apart, by the test of the boards."""

import numpy as np

from aucbench.trying.contest import Standing

LEVEL = 0.002  # of AUC, which is too little to matter here
NEAR = 0.01  # of AUC; methods further apart are not called tied, however few the runs
CONFIDENCE = 0.95
# Test rows to training rows of the splits: the runs' training rows overlap.
RATIO = 0.25
TIED = (
    f"less than {LEVEL:g} apart, or less than {NEAR:g} and not told apart at {CONFIDENCE:.0%} by the boards' "
    f"paired t-test over the runs, corrected for overlapping training rows"
)


def compared(one: Standing, other: Standing) -> int:
    """1, 0 or -1: better, tied or worse, over the first seeds, as far as both have them.

    A single run cannot be tested; there the difference decides.
    """
    from aucbench.boards.statistics.student import t_statistics

    count = min(len(one.aucs), len(other.aucs))
    difference = one.aucs[:count] - other.aucs[:count]
    result = t_statistics(difference[:, None], CONFIDENCE, RATIO)
    mean, p = float(result.mean[0]), float(result.p[0])
    if abs(mean) <= LEVEL or (abs(mean) <= NEAR and p >= 1.0 - CONFIDENCE):  # p is NaN of a single run
        return 0
    return int(np.sign(mean))
