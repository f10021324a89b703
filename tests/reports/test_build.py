"""Every number of a leaderboard follows from cells.parquet by other code: NumPy and SciPy alone.

The tests are those that docs/why.md describes, and are computed from its text.
"""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aucbench.cli.main import main
from aucbench.reports import build
from aucbench.reports.cells import from_store
from aucbench.reports.render.leaders import is_best
from aucbench.studies.store import Store

FOLDS = 3


@pytest.fixture(scope="module")
def board(folder):
    return pd.read_parquet(folder / "boards" / "small" / "leaderboard.parquet")


@pytest.fixture(scope="module")
def overall(folder):
    return pd.read_csv(folder / "boards" / "small" / "overall.csv").set_index("method")


@pytest.fixture(scope="module")
def aucs(folder):
    """Number of a board to methods and their AUCs, in the order of the runs."""
    cells = pd.read_parquet(folder / "boards" / "small" / "cells.parquet")
    assert json.loads(cells["described"][0])["protocol"]["parameters"]["folds"] == FOLDS
    assert set(cells["status"]) == {"finished"}
    cells = cells.sort_values(["seed", "fold"])
    return {
        number: {method: own["auc"].to_numpy() for method, own in part.groupby("method")}
        for number, part in cells.groupby("board")
    }


def rows(board):
    return [(row, int(row["board"]), row["method"]) for row in board.to_dict("records")]


def corrected_p(one, other, ratio):
    """The test of docs/why.md: Student's t with Nadeau and Bengio's variance."""
    d = np.round(one - other, 15)
    if np.ptp(d) == 0:
        return 1.0 if d[0] == 0 else 0.0
    t = d.mean() / np.sqrt((1 / len(d) + ratio) * d.var(ddof=1))
    return 2 * stats.t.sf(abs(t), len(d) - 1)


def after_holm(p):
    """P-values by pair after Holm's correction."""
    adjusted, largest = {}, 0.0
    for place, pair in enumerate(sorted(p, key=p.get)):
        largest = max(largest, min(1.0, (len(p) - place) * p[pair]))
        adjusted[pair] = largest
    return adjusted


@pytest.fixture(scope="module")
def p_values(aucs, ratios):
    """Number of a board to the p-value of every pair of methods, as docs/why.md says."""
    return {
        number: after_holm(
            {
                frozenset(pair): corrected_p(own[pair[0]], own[pair[1]], ratios[number])
                for pair in itertools.combinations(own, 2)
            }
        )
        for number, own in aucs.items()
    }


@pytest.fixture(scope="module")
def ratios(folder):
    """Number of a board to its test rows over its training rows."""
    cells = pd.read_parquet(folder / "boards" / "small" / "cells.parquet")
    sums = cells.groupby("board")[["test_rows", "train_rows"]].sum()
    return dict(sums["test_rows"] / sums["train_rows"])


def test_there_are_as_many_rows_as_methods_on_data_sets(board, aucs):
    assert len(board) == 12
    assert sorted(aucs) == [1, 2, 3]
    assert all(len(values) == 2 * FOLDS for own in aucs.values() for values in own.values())


def test_means_deviations_and_corrected_intervals(board, aucs):
    for row, number, method in rows(board):
        values = aucs[number][method]
        n, std = len(values), np.std(values, ddof=1)
        half = stats.t.ppf(0.975, n - 1) * std * np.sqrt(1 / n + 1 / (FOLDS - 1))
        assert row["auc_mean"] == pytest.approx(np.mean(values), abs=1e-14)
        assert row["auc_std"] == pytest.approx(std, abs=1e-14)
        assert row["auc_low"] == pytest.approx(max(np.mean(values) - half, 0.0), abs=1e-12)
        assert row["auc_high"] == pytest.approx(min(np.mean(values) + half, 1.0), abs=1e-12)
        assert (row["runs"], row["failed"], row["diverged"], row["missing"]) == (n, 0, 0, 0)


def test_ranks_on_each_data_set(board, aucs):
    for number, own in aucs.items():
        ranks = stats.rankdata([-np.round(values.mean(), 12) for values in own.values()])
        found = board[board["board"] == number].set_index("method")["rank"]
        assert [found[method] for method in own] == list(ranks)
        assert list(found) == sorted(found)


def test_the_ratio_of_folds_is_one_to_the_others(ratios):
    assert list(ratios.values()) == pytest.approx([1 / (FOLDS - 1)] * 3)


def test_wins_ties_and_losses(board, aucs, p_values, overall):
    totals = {}
    for row, number, method in rows(board):
        counts = {"wins": 0, "ties": 0, "losses": 0}
        for other, values in aucs[number].items():
            if other != method:
                better = "wins" if aucs[number][method].mean() > values.mean() else "losses"
                counts[better if p_values[number][frozenset((method, other))] < 0.05 else "ties"] += 1
        assert {name: row[name] for name in counts} == counts
        own = totals.setdefault(method, dict.fromkeys(counts, 0))
        totals[method] = {name: own[name] + count for name, count in counts.items()}
    assert sum(counts["wins"] for counts in totals.values()) > 0
    for method, counts in totals.items():
        assert {name: overall.loc[method, name] for name in counts} == counts


def test_methods_share_a_letter_exactly_when_the_documented_test_sees_no_difference(board, aucs, p_values):
    plain = 0
    for number, own in aucs.items():
        letters = board[board["board"] == number].set_index("method")["groups"]
        assert all(letters)
        for one, other in itertools.combinations(own, 2):
            p = p_values[number][frozenset((one, other))]
            assert bool(set(letters[one]) & set(letters[other])) == (p >= 0.05)
            plain += (p >= 0.05) != (stats.ttest_rel(own[one], own[other]).pvalue >= 0.05)
    assert plain > 0  # the uncorrected test says something else here


def test_p_values_of_pairs(folder, p_values):
    report = build.build(from_store(Store(folder), "small"), "small", one_study=True)
    for made in report.boards:
        for (one, other), p in made.pairwise.items():
            assert p == pytest.approx(p_values[made.number][frozenset((one, other))], rel=1e-9)
        for row in made.rows:
            same = {rival.method for rival in made.rows if set(rival.groups) & set(made.rows[0].groups)}
            assert is_best(row, made) == (row.method in same)


@pytest.fixture(scope="module")
def gains(folder, tmp_path_factory):
    """Tables of gains over psam, from the command line."""
    out = tmp_path_factory.mktemp("gains")
    words = [
        "--store",
        str(folder),
        "--study",
        "small",
        "--out",
        str(out),
        "--no-pictures",
        "--baseline",
        "psam",
    ]
    assert main(["leaderboard", *words]) == 0
    return pd.read_parquet(out / "leaderboard.parquet"), pd.read_csv(out / "overall.csv").set_index("method")


def test_gains_are_paired_differences_with_corrected_intervals(gains, aucs, ratios):
    for row, number, method in rows(gains[0]):
        d = aucs[number][method] - aucs[number]["psam"]
        half = stats.t.ppf(0.975, len(d) - 1) * np.sqrt((1 / len(d) + ratios[number]) * d.var(ddof=1))
        found = [row["gain_mean"], row["gain_low"], row["gain_high"]]
        assert found == pytest.approx([d.mean(), d.mean() - half, d.mean() + half], abs=1e-12)
        assert row["baseline"] == "psam"


def test_mean_gains_have_intervals_over_the_data_sets(gains, aucs):
    for method, row in gains[1].iterrows():
        d = np.array([own[method].mean() - own["psam"].mean() for own in aucs.values()])
        half = stats.t.ppf(0.975, len(d) - 1) * np.std(d, ddof=1) / np.sqrt(len(d))
        found = [row["gain_mean"], row["gain_low"], row["gain_high"]]
        assert found == pytest.approx([d.mean(), d.mean() - half, d.mean() + half], abs=1e-12)
        assert row["gain_boards"] == 3


def test_a_baseline_that_was_not_run_is_named_in_the_tables(board, overall):
    for table in (board, overall):
        assert set(table["baseline"]) == {"log_reg was not run"}
        assert table["gain_mean"].isna().all()


def test_mean_ranks_over_the_data_sets(aucs, overall):
    methods = sorted(overall.index)
    ranks = [
        stats.rankdata([-np.round(own[method].mean(), 12) for method in methods]) for own in aucs.values()
    ]
    expected = dict(zip(methods, np.mean(ranks, axis=0), strict=True))
    assert dict(overall["rank"]) == pytest.approx(expected)
    assert dict(overall["rank_with_gaps"]) == pytest.approx(expected)
    assert list(overall["rank"]) == sorted(overall["rank"])
    assert (overall["rank_low"] <= overall["rank"]).all()
    assert (overall["rank"] <= overall["rank_high"]).all()


def test_costs_are_means_over_the_runs(board, folder):
    cells = pd.read_parquet(folder / "boards" / "small" / "cells.parquet")
    for row, number, method in rows(board):
        own = cells[(cells["board"] == number) & (cells["method"] == method)]
        for name in ("train_seconds", "ns_per_iteration", "state_bytes"):
            assert row[name] == pytest.approx(own[name].mean())


def test_the_csv_says_what_the_parquet_file_says(board, folder):
    read = pd.read_csv(folder / "boards" / "small" / "leaderboard.csv", keep_default_na=True)
    assert list(read.columns) == list(board.columns)
    assert np.allclose(read["auc_mean"], board["auc_mean"])
    assert list(read["groups"]) == list(board["groups"])
