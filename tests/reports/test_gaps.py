"""Failures, gaps and degenerate studies are shown as what they are, never ranked, never imputed."""

import json
import math

import pandas as pd
import pytest

from aucbench.reports import build
from aucbench.reports.render import display, latex, markdown, terminal
from aucbench.reports.render.export import write
from tests.helpers.board_cells import finished, several, unfinished

ODD = {
    "nothing": [],
    "one cell": [finished(0.9)],
    "one run of two": several(runs=1),
    "all tie": [finished(0.9, seed=s, algorithm=a) for a in ("alpha", "beta") for s in range(3)],
    "all perfect": [finished(1.0, seed=s, algorithm=a) for a in ("alpha", "beta") for s in range(3)],
    "all diverged": [finished(None, seed=s, algorithm=a) for a in ("alpha", "beta") for s in range(3)],
    "all missing": [unfinished(seed=s, algorithm=a) for a in ("alpha", "beta") for s in range(3)],
    "all failed": [
        unfinished("out-of-memory", seed=s, algorithm=a) for a in ("alpha", "beta") for s in (0, 1)
    ],
    "not a number": [*several(), finished(float("nan"), algorithm="gamma")],
    "no data set in common": [
        *(finished(0.9, seed=s, dataset="one") for s in range(3)),
        *(finished(0.8, seed=s, dataset="two", algorithm="beta") for s in range(3)),
    ],
    "one diverged on one of two": [
        *several(datasets=("one", "two")),
        *(finished(0.7 if s else None, seed=s, dataset="one", algorithm="gamma") for s in range(3)),
    ],
    "perfect but one": [
        *several(datasets=("one", "two")),
        *(finished(1.0, seed=s, dataset="one", algorithm="gamma") for s in range(3)),
    ],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ODD)
def test_odd_studies_are_shown_and_written_in_every_form(name, tmp_path, capsys):
    report = build.build(ODD[name], name, one_study=True)
    terminal.show(report)
    files = write(report, ODD[name], tmp_path)
    assert all(file.stat().st_size for file in files)
    assert display.cells(report) in capsys.readouterr().out
    table = pd.read_parquet(tmp_path / "leaderboard.parquet")
    assert len(table) == sum(len(board.rows) for board in report.boards)
    assert list(pd.read_csv(tmp_path / "leaderboard.csv").columns) == list(table.columns)
    assert len(pd.read_parquet(tmp_path / "cells.parquet")) == len(ODD[name])


@pytest.mark.parametrize("name", ["all diverged", "all missing", "all failed"])
def test_where_nothing_finished_nobody_is_ranked_bold_or_in_a_group(name):
    report = build.build(ODD[name], name, one_study=True)
    word = {"all diverged": "diverged", "all missing": "missing", "all failed": "failed"}[name]
    (board,) = report.boards
    for row in board.rows:
        assert math.isnan(row.rank)
        assert math.isnan(row.auc.value)
        assert (row.groups, row.curve, row.wins, row.ties, row.losses) == ("", None, 0, 0, 0)
        assert getattr(row, word) in (2, 3)
    assert "**" not in markdown.markdown(report)
    assert "mathbf" not in latex.latex(report)
    assert latex.latex(report).count(f"& {word} in ") == 2
    assert markdown.markdown(report).count(f"| {word} in ") == 2
    own = {"all diverged": report.diverged, "all missing": report.missing, "all failed": report.failed}[name]
    assert own == len(ODD[name])
    assert report.done + report.diverged + report.failed + report.missing == own
    assert "no target: no method has all its runs" in markdown.markdown(report)


def test_ties_share_rank_and_group_and_nobody_wins():
    ((first, second),) = (board.rows for board in build.build(ODD["all tie"], "t").boards)
    assert (first.rank, second.rank) == (1.5, 1.5)
    assert first.groups == second.groups == "a"
    assert (first.wins, first.ties, first.losses) == (0, 1, 0)
    assert markdown.markdown(build.build(ODD["all tie"], "t")).count("**") == 4


def test_a_single_run_has_no_deviation_interval_or_test():
    for board in build.build(ODD["one run of two"], "t").boards:
        for row in board.rows:
            assert math.isnan(row.std)
            assert math.isnan(row.auc.low)
            assert (row.wins, row.ties, row.losses, row.groups) == (0, 0, 0, "")


def test_runs_that_were_planned_for_other_methods_only_are_not_counted_as_missing():
    few = [finished(None if seed == 0 else 0.7, seed=seed, algorithm="few") for seed in range(2)]
    report = build.build([*several(), *few, unfinished(seed=0, algorithm="late")], "t")
    (board,) = report.boards
    rows = {row.method: row for row in board.rows}
    assert [(rows[name].missing, rows[name].unplanned) for name in ("alpha", "few", "late")] == [
        (0, 0),
        (0, 1),
        (1, 2),
    ]
    assert report.missing == sum(row.missing for row in board.rows)
    assert report.diverged == sum(row.diverged for row in board.rows)
    assert display.trouble(rows["few"]) == "diverged in 1 of 3 runs, not planned in 1"
    assert all(math.isnan(rows[name].rank) for name in ("few", "late"))


GAPS = [
    *several(("alpha", "beta", "gamma"), ("one", "two")),
    finished(0.99, algorithm="diverging", dataset="one"),
    finished(None, algorithm="diverging", dataset="one", seed=1),
    finished(0.99, algorithm="diverging", dataset="one", seed=2),
    unfinished("failed", algorithm="failing", dataset="one"),
    unfinished("timeout", algorithm="failing", dataset="one", seed=1),
    unfinished(algorithm="failing", dataset="one", seed=2),
    *(finished(0.97, algorithm="failing", dataset="two", seed=seed) for seed in range(3)),
    finished(0.98, algorithm="short", dataset="one"),
]


@pytest.fixture(scope="module")
def report():
    return build.build(GAPS, "gaps", one_study=True)


def test_methods_with_gaps_have_counts_instead_of_a_rank(report):
    one = {row.method: row for row in report.boards[0].rows}
    counts = {
        name: (row.runs, row.diverged, row.failed, row.missing, row.unplanned) for name, row in one.items()
    }
    assert counts["diverging"] == (2, 1, 0, 0, 0)
    assert counts["failing"] == (0, 0, 2, 1, 0)
    assert counts["short"] == (1, 0, 0, 0, 2)
    assert [row.rank for row in report.boards[0].rows][:3] == [1.0, 2.0, 3.0]
    for name in ("diverging", "failing", "short"):
        assert math.isnan(one[name].rank)
        assert one[name].groups == ""
        assert (one[name].wins, one[name].ties, one[name].losses) == (0, 0, 0)
    assert one["diverging"].aucs[0] == 0.99
    assert math.isnan(one["diverging"].aucs[1])


def test_methods_with_gaps_stand_below_those_without_however_good_their_other_runs_are(report):
    names = [row.method for row in report.boards[0].rows]
    assert names[:3] == ["alpha", "beta", "gamma"]
    assert report.boards[0].rows[3].auc.value > report.boards[0].rows[0].auc.value


def test_mean_ranks_leave_methods_with_gaps_out_and_ranks_with_gaps_do_not(report):
    (overall,) = report.overall
    assert sorted(overall.ranks) == ["alpha", "beta", "gamma"]
    assert {name: rank.value for name, rank in overall.ranks.items()} == {"alpha": 1, "beta": 2, "gamma": 3}
    assert overall.ranks_with_gaps["failing"].value == 1.0
    assert "diverging" not in overall.ranks_with_gaps
    assert overall.incomplete["failing"] == ["one"]
    assert set(overall.methods) == {"alpha", "beta", "gamma", "diverging", "failing", "short"}


def test_every_view_says_what_is_missing(report, capsys):
    terminal.show(report)
    shown = capsys.readouterr().out
    text = markdown.markdown(report)
    for words in (
        "2 (1 diverged)",
        "0 (2 failed, 1 missing)",
        "1 (2 not planned)",
        "failing has gaps on one",
    ):
        assert words in shown
        assert words in text
    table = latex.latex(report)
    assert "(2 of 3 runs)" in table
    assert "& failed" in table
    assert (report.done, report.diverged, report.failed, report.missing) == (24, 1, 2, 1)


def test_tables_hold_nothing_for_what_there_is_not(report, tmp_path):
    write(report, GAPS, tmp_path)
    table = pd.read_parquet(tmp_path / "leaderboard.parquet").set_index(["dataset", "method"])
    assert table.loc[("one", "failing"), ["rank", "auc_mean", "auc_std", "train_seconds"]].isna().all()
    assert pd.isna(table.loc[("one", "diverging"), "rank"])
    cells = pd.read_parquet(tmp_path / "cells.parquet")
    assert cells[cells["status"] != "finished"]["auc"].isna().all()
    assert sorted(cells["status"].unique()) == ["diverged", "failed", "finished", "missing", "timeout"]
    data = (tmp_path / "leaderboard.html").read_text().partition('id="data"')[2]
    assert json.loads(data[data.index("{") : data.index("</script>")])["missing"] == 1


def test_cells_of_an_older_version_have_no_place_in_the_table_of_cells(tmp_path):
    old = [finished(0.6, seed=seed, source="old", finished_at="2025") for seed in range(2)]
    cells = old + several(runs=2)
    write(build.build(cells, "t"), cells, tmp_path)
    table = pd.read_parquet(tmp_path / "cells.parquet")
    assert list(table["board"].isna()) == [True, True, False, False, False, False]
    assert list(table["method"].isna()) == list(table["board"].isna())
