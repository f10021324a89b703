"""Gains and results follow from the cells of a report by other code: NumPy and SciPy alone."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from msgspec import structs
from scipy import stats

from aucbench.evaluation import difference_interval
from aucbench.evaluation.delong import BLOCKS
from aucbench.reports.build import build
from aucbench.reports.columns import VERDICTS
from aucbench.reports.gains import compared, gains_of, groups_of_data
from aucbench.reports.report import ALL
from tests.helpers.board_cells import altered, finished, unfinished
from tests.helpers.small_report import failed_cells, small_cells

SEEDS = ["seed", "split_seed", "order_seed", "fold"]
RATIO = 0.25  # test rows over training rows of the cells
LOST = [
    partial(finished, None),
    *(partial(unfinished, status) for status in ("failed", "timeout", "missing")),
]
FAMILIES = {f"data{k}": f"family{max(0, k - 4)}" for k in range(20)}


def with_families(cells):
    """The cells with five data sets in one family, and one data set in every other family."""
    copies = []
    for cell in cells:
        dataset = cell.described.dataset
        dataset = structs.replace(dataset, family=FAMILIES[dataset.name])
        copies.append(replace(cell, described=structs.replace(cell.described, dataset=dataset)))
    return copies


def built(cells, **options):
    return build(cells, "t", True, reference=options.pop("reference", "alpha"), **options)


def interval(d):
    """Mean and Student's interval with Nadeau and Bengio's variance."""
    half = stats.t.ppf(0.975, len(d) - 1) * np.std(d, ddof=1) * np.sqrt(1 / len(d) + RATIO)
    return np.mean(d), np.mean(d) - half, np.mean(d) + half


def by_hand(cells, method, reference, data_set, measure="auc"):
    """(runs, gain, low, high) of a method on a data set from the cells; None if there is no gain."""
    rows = cells[cells["data_set"] == data_set]
    tested, baseline = (rows[rows["method"] == name].set_index(SEEDS) for name in (method, reference))
    if not len(tested) or not len(baseline) or not {*tested["status"], *baseline["status"]} <= {"finished"}:
        return None
    shared = tested.index.intersection(baseline.index)
    return len(shared), *interval((tested.loc[shared, measure] - baseline.loc[shared, measure]).to_numpy())


def check(report):
    """Assert that gains, results and verdicts of a report follow from its cells."""
    cells, name = report.cells, report.measure.name
    gains = report.gains.set_index(["data_set", "method"])
    results = report.results.set_index(["data_set", "method"])
    verdicts = report.verdicts[report.verdicts["group"] == ALL].set_index("method")
    family = cells.groupby("data_set")["family"].first()
    (reference,) = report.references.values()
    ends = report.curves.groupby(["data_set", "method"])["mean"].last()
    assert ends.to_dict() == pytest.approx(results["mean"].dropna().to_dict())
    count = 0
    for method in cells["method"].unique():
        per_family, means = {}, {}
        for data_set in cells["data_set"].unique():
            key = data_set, method
            rows = cells[(cells["data_set"] == data_set) & (cells["method"] == method)]
            if not len(rows):
                assert key not in results.index
                continue
            values = rows.loc[rows["status"] == "finished", name]
            row = results.loc[key]
            assert bool(row["gaps"]) == (len(values) < len(rows))
            for cost in ("train_seconds", "ns_per_iteration", "state_bytes"):
                assert row[cost] == pytest.approx(rows.loc[values.index, cost].mean(), nan_ok=True)
            if len(values) > 1:
                mean, low, high = interval(values.to_numpy())
                assert [row["mean"], row["std"]] == pytest.approx([mean, values.std(ddof=1)], abs=1e-12)
                assert [row["low"], row["high"]] == pytest.approx([max(low, 0), min(high, 1)], abs=1e-12)
            if not row["gaps"]:
                means.setdefault(family[data_set], []).append(values.mean())
            expected = None if method == reference else by_hand(cells, method, reference, data_set, name)
            assert (key in gains.index) == (expected is not None)
            if expected:
                count += 1
                actual = gains.loc[key, ["runs", "gain", "low", "high"]].tolist()
                assert actual == pytest.approx(expected, abs=1e-12)
                per_family.setdefault(family[data_set], []).append(expected[1])
        row = verdicts.loc[method]
        assert row["gaps"] == sum(bool(gaps) for (_, name), gaps in results["gaps"].items() if name == method)
        if means:
            assert row["mean"] == pytest.approx(np.mean([np.mean(group) for group in means.values()]))
        if per_family:
            values = [np.mean(group) for group in per_family.values()]
            assert row["gain"] == pytest.approx(np.mean(values), abs=1e-14)
            assert (row["families"], row["data_sets"]) == (len(values), sum(map(len, per_family.values())))
        else:
            assert np.isnan(row["gain"])
    return count


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_gains_means_and_intervals_follow_from_the_cells_whatever_is_lost(seed):
    rng = np.random.default_rng(seed)
    cells = []
    for cell in small_cells(data_sets=20, runs=3, seed=seed):
        names = {"algorithm": cell.described.algorithm.name, "dataset": cell.described.dataset.name}
        draw = rng.random()
        if draw < 0.08:
            cells.append(LOST[rng.integers(len(LOST))](seed=cell.run.seed, **names))
        elif draw > 0.1 or not cell.run.seed:  # else the run was not planned
            cells.append(cell)
    report = built(with_families(cells + failed_cells("lost", 20)))
    assert check(report) > 10
    assert report.over_all("defaults")["method"].iloc[-1] == "lost"


def test_over_another_reference_gains_turn_round():
    report = built(small_cells(data_sets=12, runs=3))
    gains = gains_of(report.cells, report.data_sets, {"defaults": ["beta", "alpha"]}, report.rope)
    table = gains.set_index(["reference", "method", "data_set"])["gain"].sort_index()
    assert np.allclose(table["alpha", "beta"], -table["beta", "alpha"])
    assert np.allclose(table["alpha", "gamma"], table["beta", "gamma"] + table["alpha", "beta"])
    verdicts = compared(gains, report.results, report.data_sets, report.rope)
    overall = verdicts[verdicts["group"] == ALL].set_index(["reference", "method"])
    reported = report.verdicts[report.verdicts["group"] == ALL].set_index("method")
    assert overall.loc["alpha", "gain"].to_dict() == pytest.approx(reported["gain"].to_dict(), nan_ok=True)
    times = report.cells.pivot_table(index="data_set", columns="method", values="train_seconds")
    for pair in (("alpha", "beta"), ("beta", "alpha"), ("beta", "gamma")):
        expected = stats.gmean(times[pair[1]] / times[pair[0]])
        assert overall.loc[pair, "time_ratio"] == pytest.approx(expected)


def test_a_mean_over_fewer_data_sets_says_on_how_many_and_stands_below_the_others():
    cells = small_cells(("alpha", "beta"), 12, far=("alpha", "beta")) + small_cells(("gamma",), 3, seed=1)
    overall = build(cells, "t", True).verdicts.query("group == 'all'").set_index("method")
    assert overall["mean_note"].to_dict() == {"alpha": "", "beta": "", "gamma": "3 of 12"}
    assert (overall["mean"].idxmax(), overall.index[-1]) == ("gamma", "gamma")
    assert VERDICTS["mean"].shown(overall.loc["gamma"]) == f"{overall.loc['gamma', 'mean']:.4f} (3 of 12)"


def test_groups_of_data_sets_split_all_of_them_and_their_gains_follow_from_their_members():
    cells = [
        altered(cell, data={"train_rows": 300 * 2 ** int(cell.described.dataset.name[4:])})
        for cell in small_cells(data_sets=12)
    ]
    report = built(cells)
    groups = groups_of_data(report.data_sets)
    data_sets = groups[ALL]
    for kind in ("rare", "rows"):
        parts = [members for name, members in groups.items() if kind in name]
        if parts:
            assert set().union(*parts) == data_sets
            assert sum(map(len, parts)) == len(data_sets)
    assert len(groups) > 3
    verdicts = report.verdicts.set_index(["group", "method"])
    for name, members in groups.items():
        gains = report.gains[report.gains["data_set"].isin(members)].groupby("method")["gain"].mean()
        for method, gain in gains.items():
            assert verdicts.loc[(name, method), "gain"] == pytest.approx(gain)


def test_where_runs_are_no_evidence_the_interval_is_over_test_rows():
    """Runs on one test part, and runs with the same gain: DeLong's variance and that over the runs."""
    rng, report = np.random.default_rng(0), built(small_cells(data_sets=1, runs=3))
    devs = {name: rng.normal(scale=0.01, size=BLOCKS) for name in ("alpha", "beta", "gamma")}
    methods = report.cells["method"]
    cells = report.cells.assign(placements=methods.map(devs), test_rows=300, test_positives=60)
    same = cells.assign(auc=methods.map({"alpha": 0.8, "beta": 0.82, "gamma": 0.8}))
    for frame, ratio in ((cells, 0.25), (cells, np.nan), (cells, 1.5), (same, 0.25)):
        facts = report.data_sets.assign(test_train_ratio=ratio)
        gains = gains_of(frame, facts, {"defaults": "alpha"}, 0.005).set_index("method")
        table = frame.pivot(index="seed", columns="method", values="auc")
        for method in ("beta", "gamma"):
            d = (table[method] - table["alpha"]).to_numpy()
            ci = difference_interval(d.mean(keepdims=True), devs[method][None], devs["alpha"][None], 60, 240)
            half = stats.t.ppf(0.975, ci.degrees) * np.sqrt(ci.error**2 + d.var(ddof=1) / len(d))
            expected = half[0] if ratio != 0.25 or frame is same else interval(d)[2] - d.mean()
            row = gains.loc[method]
            assert row["high"] - row["gain"] == pytest.approx(expected, rel=1e-3)
            assert row["gain"] - row["low"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("positives", "verdict"), [(42, "undecided"), (700, "equivalent")])
@pytest.mark.parametrize("runs", [1, 3])
def test_equal_rankings_of_few_test_rows_are_no_evidence_of_equivalence(positives, verdict, runs):
    report = built(small_cells(("alpha", "beta"), 1, runs))
    cells = report.cells.assign(auc=1.0, test_rows=2 * positives + 30, test_positives=positives)
    cells["placements"] = [[0.0] * BLOCKS] * len(cells)
    (row,) = gains_of(cells, report.data_sets, report.references, 0.005).to_dict("records")
    assert [row["gain"], row["low"]] == pytest.approx([0.0, -row["high"]])
    assert (1.0 - row["high"]) ** positives == pytest.approx(0.05)
    assert row["verdict"] == verdict
    cells = cells.drop(columns="placements")
    (row,) = gains_of(cells, report.data_sets, report.references, 0.005).to_dict("records")
    assert (row["gain"], row["verdict"]) == (0.0, "")
