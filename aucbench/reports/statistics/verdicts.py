"""Placeholder."""

import numpy as np
import pandas as pd
from scipy import stats


def verdict_of(gain, low, high, rope):
    if rope is None or np.isnan(low):
        return ""
    if low > rope:
        return "better"
    if high < -rope:
        return "worse"
    if -rope <= low and high <= rope:
        return "equivalent"
    if low > 0:
        return "slightly better"
    if high < 0:
        return "slightly worse"
    return "not worse" if low > -rope else "undecided"


def compare_families(gains, rope, confidence=0.95, seed=0):
    rows = []
    for method, own in gains.groupby("method", sort=False):
        fam = own.groupby("family")["gain"].mean()
        n = len(fam)
        half = stats.t.ppf(0.975, n - 1) * fam.std() / np.sqrt(n) if n > 1 else np.nan
        m = fam.mean()
        r = rope or 0
        rows.append(
            (
                method,
                n,
                len(own),
                m,
                m - half,
                m + half,
                fam.median(),
                verdict_of(m, m - half, m + half, rope if n >= 10 else None),
                np.nan,
                (fam < -r).mean(),
                (abs(fam) <= r).mean(),
                (fam > r).mean(),
                "",
            )
        )
    return pd.DataFrame(
        rows,
        columns=["method", "families", "data_sets", "gain", "low", "high", "median", "verdict", "more_families", "worse", "same", "better", "without"],
    ).set_index("method")
