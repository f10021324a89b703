"""Verdicts over families: recomputed with scipy alone, invariant, and right in degenerate cases."""

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aucbench.reports.statistics.verdicts import Verdict, compare_families, verdict_of
from benchmarks import reference

ROPE = 0.005
NUMBERS = ["gain", "low", "high", "median", "worse", "same", "better"]


def gains_like(rng, families=24, methods=4, missing=0.1):
    """Skewed gains on one to four data sets per family, some gains missing."""
    rows = [
        (f"m{m}", f"d{f}_{s}", f"f{f}", 0.003 * m - 0.004 * rng.lognormal(0, 1) + 0.004 * rng.normal())
        for f in range(families)
        for s in range(rng.integers(1, 5))
        for m in range(methods)
    ]
    frame = pd.DataFrame(rows, columns=["method", "data_set", "family", "gain"])
    return frame[rng.random(len(frame)) >= missing]


def over(values, method="m"):
    """A family for each value."""
    names = [f"f{i}" for i in range(len(values))]
    return pd.DataFrame({"method": method, "data_set": names, "family": names, "gain": values})


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_those_of_scipy_and_of_another_implementation(seed):
    twin_gains = over([0.002] * (seed + 1) + [0.0] * (23 - seed), "twin")  # nonzero on a few families
    gains = pd.concat([gains_like(np.random.default_rng(seed)), twin_gains])
    wide = gains.groupby(["family", "method"])["gain"].mean().unstack("method")
    half = dict(zip(wide, reference.half_widths(wide.to_numpy()), strict=True))
    for method, row in compare_families(gains, ROPE).iterrows():
        rows = gains[gains["method"] == method]
        means = [np.mean(rows.loc[rows["family"] == name, "gain"]) for name in rows["family"].unique()]
        walsh = [(a + b) / 2 for a, b in combinations_with_replacement(means, 2)]
        assert row["families"] == len(means)
        assert row["data_sets"] == len(rows)
        np.testing.assert_allclose([row["gain"], row["median"]], [np.mean(means), np.median(walsh)])
        shares = [np.mean([m < -ROPE for m in means]), np.mean([m > ROPE for m in means])]
        np.testing.assert_allclose([row["worse"], row["better"]], shares)
        assert row["worse"] + row["same"] + row["better"] == pytest.approx(1)
        ends = [row["gain"] - half[method], row["gain"] + half[method]]
        np.testing.assert_allclose([row["low"], row["high"]], ends, rtol=1e-9)
        assert row["verdict"] == reference.verdict(row["gain"], half[method])


def test_order_and_labels_do_not_matter():
    rng = np.random.default_rng(1)
    gains = gains_like(rng)
    expected = compare_families(gains, ROPE)
    shuffled = compare_families(gains.sample(frac=1, random_state=1), ROPE).loc[expected.index]
    pd.testing.assert_frame_equal(shuffled, expected)
    names = dict(zip(gains["family"].unique(), rng.permutation(24), strict=True))
    relabelled = gains.assign(
        family=gains["family"].map(lambda name: f"g{names[name]}"),
        data_set="x" + gains["data_set"],
        method=gains["method"].map({"m0": "z", "m1": "y", "m2": "x", "m3": "w"}),
    )
    renamed = compare_families(relabelled, ROPE)
    np.testing.assert_allclose(renamed[NUMBERS], expected[NUMBERS])
    assert list(renamed["verdict"]) == list(expected["verdict"])


def test_verdicts_follow_their_order():
    rng = np.random.default_rng(4)
    ends = np.sort(rng.choice(np.arange(-12, 13) / 1000, (3000, 2)), axis=1)

    def expected(low, high):
        for verdict, holds in (
            ("better", low > ROPE),
            ("worse", high < -ROPE),
            ("equivalent", low >= -ROPE and high <= ROPE),
            ("slightly better", low > 0),
            ("slightly worse", high < 0),
            ("not worse", low > -ROPE),
        ):
            if holds:
                return verdict
        return "undecided"

    verdicts = verdict_of(ends.mean(axis=1), ends[:, 0], ends[:, 1], ROPE)
    assert list(verdicts) == [expected(*interval) for interval in ends]
    assert set(verdicts) == set(Verdict) - {Verdict.none}
    assert verdict_of(*ends[0].mean(keepdims=True), *ends[0], ROPE) == expected(*ends[0])


def test_verdicts_need_ten_families_and_a_rope():
    values = 0.1 + np.random.default_rng(6).normal(0, 0.001, 10)
    assert compare_families(over(values), ROPE)["verdict"].item() == "better"
    for gains, rope in ((over(values[:9]), ROPE), (over(values), None)):
        row = compare_families(gains, rope).iloc[0]
        assert row["verdict"] == ""
        assert row["low"] < row["gain"] < row["high"]
    assert compare_families(over(values), None)[["worse", "same", "better"]].isna().all(axis=None)
    assert np.isnan(compare_families(over(values[:1]), ROPE)["low"].item())


def test_equal_gains_have_no_spread():
    for value, verdict in ((0.0, "equivalent"), (0.02, "better"), (-0.02, "worse")):
        row = compare_families(over([value] * 12), ROPE).iloc[0]
        assert row["low"] == pytest.approx(value) == row["high"]
        assert row["verdict"] == verdict


def test_a_method_that_differs_on_a_few_families_leaves_the_others_their_intervals():
    gains = gains_like(np.random.default_rng(8), families=50)
    separate = compare_families(gains, ROPE)
    together = compare_families(pd.concat([gains, over([0.002] * 2 + [0.0] * 48, "twin")]), ROPE)
    width = (together["high"] - together["low"]) / (separate["high"] - separate["low"])
    assert (width[separate.index] < 1.25).all()


def test_more_families_are_just_enough_at_the_same_mean_and_spread():
    count = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        row = compare_families(over(rng.normal(rng.choice([0.0, 0.012, -0.012]), 0.02, 20)), ROPE).iloc[0]
        if not np.isnan(row["more_families"]):
            count += 1
            decided = []
            for n in (19 + row["more_families"], 20 + row["more_families"]):
                low, high = (
                    row["gain"] + (row[end] - row["gain"]) * np.sqrt(20 / n) for end in ("low", "high")
                )
                decided.append(low > ROPE or high < -ROPE or (low > -ROPE and high < ROPE))
            assert row["verdict"] == "undecided"
            assert row["more_families"] <= 180  # ten times as many as there are
            assert decided == [False, True]
    assert count > 3


def test_families_whose_omission_changes_the_verdict_are_those_found_one_by_one():
    changes = 0
    for seed in range(30):
        values = np.random.default_rng(seed).normal(0.004, 0.012, 15)
        row = compare_families(over(values), ROPE).iloc[0]
        k = (row["high"] - row["gain"]) / stats.sem(values)
        flips = {}
        for i in range(15):
            subset = np.delete(values, i)
            half = k * stats.sem(subset)
            verdict = verdict_of(subset.mean(), subset.mean() - half, subset.mean() + half, ROPE)
            if verdict != row["verdict"]:
                flips[i] = verdict
        changes += bool(flips)
        if not flips:
            assert row["without"] == ""
            continue
        extreme = max(flips, key=lambda i: abs(values[i] - values.mean()))
        suffix = {1: "", 2: " or 1 other"}.get(len(flips), f" or {len(flips) - 1} others")
        assert row["without"] == f"{flips[extreme]} without f{extreme}{suffix}"
    assert 3 < changes < 27
