"""Every number of a leaderboard follows from cells.parquet by other code: NumPy and SciPy alone."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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


def p_value(one, other):
    difference = np.round(one - other, 15)
    if np.ptp(difference) == 0:
        return 1.0 if difference[0] == 0 else 0.0
    return stats.ttest_rel(one, other).pvalue


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


def test_wins_ties_and_losses(board, aucs, overall):
    totals = {}
    for row, number, method in rows(board):
        counts = {"wins": 0, "ties": 0, "losses": 0}
        for other, values in aucs[number].items():
            if other != method:
                mine = aucs[number][method]
                better = "wins" if mine.mean() > values.mean() else "losses"
                counts[better if p_value(mine, values) < 0.05 else "ties"] += 1
        assert {name: row[name] for name in counts} == counts
        own = totals.setdefault(method, dict.fromkeys(counts, 0))
        totals[method] = {name: own[name] + count for name, count in counts.items()}
    for method, counts in totals.items():
        assert {name: overall.loc[method, name] for name in counts} == counts


def test_methods_share_a_letter_exactly_when_their_paired_test_sees_no_difference(board, aucs):
    for number, own in aucs.items():
        letters = board[board["board"] == number].set_index("method")["groups"]
        assert all(letters)
        for one, other in itertools.combinations(own, 2):
            shared = set(letters[one]) & set(letters[other])
            assert bool(shared) == (p_value(own[one], own[other]) >= 0.05)


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
