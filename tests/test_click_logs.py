"""Made click logs of the benchmarks."""

import numpy as np
import pytest

from benchmarks.click_logs import click_logs

LEVELS = (2_000, 300, 24, 7)


@pytest.mark.parametrize("hashed", [None, 1 << 10])
@pytest.mark.parametrize("numeric", [0, 2])
def test_click_logs_are_rare_clicks_on_one_hot_levels_and_follow_from_the_seed(hashed, numeric):
    X, y = click_logs(20_000, LEVELS, 0, hashed=hashed, numeric=numeric)
    again, labels = click_logs(20_000, LEVELS, 0, hashed=hashed, numeric=numeric)
    assert (again != X).nnz == 0
    assert (y == labels).all()
    assert set(y) == {-1, 1}
    assert abs(np.mean(y == 1) - 0.04) < 0.01
    levels = X[:, numeric:]
    assert (levels.sum(axis=1) == len(LEVELS) + 1).all()  # one of each column, and the crossing
    assert hashed is None or levels.shape[1] == hashed
    seen = np.sort(np.asarray(levels.sum(axis=0)).ravel())[::-1]
    assert seen[0] > 30 * np.median(seen[seen > 0])  # few levels are frequent, most are rare
    assert (X[:, :numeric].toarray() > 0).all()
