"""Regression of gains on properties of data: HC3 by leaving families out."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aucbench.reports.statistics.meta_regression import meta_regression


def sample(rng, families=25):
    """Gains of one method, and the facts of one to three data sets per family."""
    rows = []
    for f in range(families):
        for s in range(rng.integers(1, 4)):
            share, n, d = rng.uniform(0.02, 0.5), 10 ** rng.uniform(2, 4), 10 ** rng.uniform(0.5, 2)
            logs = np.log10([(1 - share) / share, n, d])
            share = share if rng.random() < 0.5 else 1 - share
            gain = 0.1 + logs @ np.array([0.02, -0.01, 0.005]) + 0.01 * logs[0] * rng.normal()
            rows.append(("m", f"d{f}_{s}", f"f{f}", gain, share, n, d, *logs))
    columns = ["method", "data_set", "family", "gain", "positive_share", "rows", "features", *"xyz"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("seed", range(3))
def test_slopes_and_intervals_are_those_of_leaving_each_family_out(seed):
    table = sample(np.random.default_rng(seed))
    means = table.groupby("family")[["gain", *"xyz"]].mean()
    X, y = np.column_stack([np.ones(len(means)), means[[*"xyz"]]]), means["gain"].to_numpy()

    def fit(mask):
        return np.linalg.lstsq(X[mask], y[mask], rcond=None)[0]

    estimate = fit(np.full(len(y), True))
    moves = np.array([fit(np.arange(len(y)) != i) - estimate for i in range(len(y))])
    half = stats.t.ppf(0.975, len(y) - 4) * np.sqrt((moves**2).sum(axis=0))
    gains = table.sample(frac=1, random_state=seed).assign(reference="r")
    copies = [gains.assign(gain=-gains["gain"], **{name: "other"}) for name in ("method", "reference")]
    slopes = meta_regression(pd.concat([gains, *copies]), table)
    slopes = slopes.set_index(["reference", "method"]).loc[("r", "m")]
    np.testing.assert_allclose(slopes["slope"], estimate[1:])
    np.testing.assert_allclose(slopes["high"] - slopes["slope"], half[1:])
    np.testing.assert_allclose(slopes["slope"] - slopes["low"], half[1:])


def test_there_are_no_slopes_where_they_cannot_be_known():
    rng = np.random.default_rng(4)
    small, same = sample(rng, families=9), sample(rng).assign(rows=1000)
    gone = sample(rng).assign(gain=np.nan)
    for table in (small, same, gone):
        slopes = meta_regression(table, table)
        assert len(slopes) == 3
        assert slopes[["slope", "low", "high"]].isna().all(axis=None)
