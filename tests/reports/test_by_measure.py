"""Boards that rank by another measure than the AUC, and show others beside it."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from aucbench import ParameterError
from aucbench.reports import build
from aucbench.reports.cells import of_results
from aucbench.reports.render import terminal
from aucbench.reports.render._page_data import packed
from aucbench.reports.render.columns import board_table
from aucbench.reports.render.export import board_table as exported
from aucbench.reports.render.export import write
from aucbench.reports.render.figures import Pictures
from aucbench.reports.render.leaders import board_verdict, is_best
from aucbench.reports.report import MeasureText
from aucbench.studies.record import CellStatus, from_dict, to_dict
from aucbench.studies.result import CellResult
from tests.helpers.board_cells import result, several

RUNS = 6


def measured(value, auc, ap=True, max_fpr=0.1, **what):
    """A finished cell with an average precision, unless it has none, and a partial AUC."""
    made = result(auc, **what)
    content = to_dict(made.record)
    measures = {"pauc": {"parameters": {"max_fpr": max_fpr}, "value": auc - 0.1}}
    if ap:
        measures["ap"] = {"parameters": {}, "value": value}
    content["result"]["measures"] = measures
    share = {"test_rows": 20, "test_positives": 5}
    content["data"] |= share
    curve = made.curve | {"pauc": made.curve["auc"] - 0.1}
    if ap:
        curve |= {"ap": value * np.linspace(0.5, 1.0, len(made.curve["auc"]))}
    return CellResult(from_dict(content, type(made.record)), curve, None)


def reversed_cells(lacking=(), datasets=("data", "more")):
    """Of three methods alpha has the best AUC and gamma the best average precision."""
    rng = np.random.default_rng(0)
    cells = []
    for dataset in datasets:
        for place, name in enumerate(("alpha", "beta", "gamma")):
            for seed in range(RUNS):
                noise = rng.uniform(0.0, 0.001)
                auc, ap = 0.9 - 0.02 * place + noise, 0.6 + 0.03 * place - noise
                has = (name, seed) not in lacking
                cells.append(measured(ap, auc, has, seed=seed, algorithm=name, dataset=dataset))
    return of_results(cells)


def made(by="auc", **options):
    return build.build(reversed_cells(**options), "study", True, baseline="beta", by=by)


def order(report):
    return [[row.method for row in board.rows] for board in report.boards]


def test_everything_follows_the_measure_that_is_asked_for():
    by_auc, by_ap = made(), made("ap")
    assert order(by_auc) == [["alpha", "beta", "gamma"]] * 2
    assert order(by_ap) == [["gamma", "beta", "alpha"]] * 2
    cells = reversed_cells()
    for report, name, sign in ((by_auc, "auc", 1), (by_ap, "ap", -1)):
        for board in report.boards:
            for row in board.rows:
                own = [
                    cell.value(name)
                    for cell in cells
                    if (cell.described.algorithm.name, cell.described.dataset.title)
                    == (row.method, board.dataset)
                ]
                assert row.auc.value == pytest.approx(np.mean(own))
                assert row.std == pytest.approx(np.std(own, ddof=1))
                assert sorted(row.aucs) == pytest.approx(sorted(own))
            rows = {row.method: row for row in board.rows}
            assert sign * rows["alpha"].gain.value > 0 > sign * rows["gamma"].gain.value
            assert (rows["alpha"].wins, rows["gamma"].wins) == ((2, 0) if sign > 0 else (0, 2))
            assert [row.method for row in board.rows if is_best(row, board)] == [board.rows[0].method]
            assert board_verdict(board)[0] == board.rows[0].method
        (overall,) = report.overall
        assert overall.methods[0] == report.boards[0].rows[0].method
        assert sign * overall.gains["alpha"].value > 0
    assert by_ap.measure.name == "ap"
    assert "average precision" in by_ap.boards[0].procedure
    assert "average precision" in board_verdict(by_ap.boards[0])[1]


def test_targets_and_curves_are_those_of_the_measure_and_its_chance():
    board = made("ap").boards[0]
    best = board.rows[0].auc.value
    assert board.target == pytest.approx(
        0.25 + 0.99 * (best - 0.25)
    )  # a quarter of the test rows is positive
    for row in board.rows:
        assert row.curve.auc[-1] == pytest.approx(row.auc.value)
        assert row.curve.others["auc"][-1] == pytest.approx(row.others["auc"].mean)
        assert row.curve.others["pauc"] == pytest.approx(row.curve.others["auc"] - 0.1)
        assert row.target_share in (0.0, 1.0)


@pytest.mark.slow
def test_other_measures_are_columns_of_every_table(tmp_path):
    report = made("ap")
    head = board_table(report, report.boards[0]).head
    assert {"Test AP", "Test AUC", "Test pAUC(0.1)"} <= set(head)
    frame = exported(report)
    rows = {row.method: row for row in report.boards[0].rows}
    for line in frame[frame["board"] == 1].to_dict("records"):
        row = rows[line["method"]]
        assert line["ap_mean"] == row.auc.value
        assert (line["auc_mean"], line["auc_std"]) == (row.others["auc"].mean, row.others["auc"].std)
        assert line["pauc_mean"] == pytest.approx(line["auc_mean"] - 0.1)
    assert (frame["pauc_max_fpr"] == 0.1).all()
    write(report, reversed_cells(), tmp_path, Pictures())
    assert (pd.read_csv(tmp_path / "leaderboard.csv")["pauc_max_fpr"] == 0.1).all()
    assert (pd.read_csv(tmp_path / "overall.csv")["measure"] == "ap").all()
    assert (pd.read_parquet(tmp_path / "leaderboard.parquet")["ap_mean"] == frame["ap_mean"]).all()
    cells = pd.read_parquet(tmp_path / "cells.parquet")
    assert (cells["pauc"] - (cells["auc"] - 0.1)).abs().max() < 1e-12
    assert set(cells.columns) >= {"ap", "auc", "pauc"}
    pictures = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert {"1-data-ap-samples.png", "1-data-auc-samples.png", "1-data-pauc-samples.png"} <= pictures
    for name in ("leaderboard.md", "leaderboard.tex", "leaderboard.html"):
        text = (tmp_path / name).read_text("utf-8")
        for row in report.boards[0].rows:
            assert f"{row.auc.value:.4f}" in text
            assert f"{row.others['pauc'].mean:.4f}" in text
    page = packed(report)
    row = page["groups"][0]["boards"][0]["rows"][0]
    assert row["cells"]["auc"][1] == rows["gamma"].auc.value
    assert row["cells"]["measure-auc"][1] == rows["gamma"].others["auc"].mean
    assert set(row["curve"]["others"]) == {"auc", "pauc"}


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("name", ["alpha", "a-method-with-a-name-that-is-longer-than-any-other-" * 2])
def test_the_terminal_shows_names_and_every_number_at_any_width(name, width, monkeypatch, capsys):
    monkeypatch.setattr(terminal, "WIDTH", width)
    cells = [
        measured(0.5, 0.8 + 0.01 * seed, seed=seed, algorithm=own)
        for own in (name, "beta")
        for seed in range(3)
    ]
    report = build.build(of_results(cells), "study", True, baseline="beta", by="ap")
    # as many more as a run can ask for
    more = [MeasureText(f"m{place}", "more", f"tpAUC(0.5, 0.{place})") for place in range(4)]
    report = dataclasses.replace(report, others=(*report.others, *more))
    terminal.show(report)
    lines = capsys.readouterr().out.splitlines()
    (board,) = report.boards
    head = board_table(report, board).head
    tables = [line for line in lines if line.startswith("┏")]
    assert all(len(line) <= width for line in lines if line[:1] in "┏┃│└")
    titles = [line for line in lines if line.startswith("┃")]
    assert len(titles) == len(tables)
    assert all("Method" in line for line in titles)
    assert all(text in titles[0] for text in head[:3])
    found = [text.strip() for line in titles for text in line.strip("┃").split("┃")]
    assert sorted(set(found)) == sorted(head)
    shown = [line.strip("│").split("│") for line in lines if line.startswith("│")]
    for text in (name[:12], "beta"):
        assert sum(each[0].strip().startswith(text) for each in shown) == len(tables)
    if len(tables) > 1:
        assert found[-1] == "Test tpAUC(0.5, 0.3)"


def test_parameters_of_measures_are_in_all_that_is_written(tmp_path):
    cells = [measured(0.5, 0.9 + 0.01 * seed, seed=seed, max_fpr=0.3) for seed in range(2)]
    own = of_results([*cells, result(0.8, seed=2)])
    report = build.build(of_results(cells), "study", True, by="pauc")
    write(report, own, tmp_path)
    for name in ("leaderboard.csv", "overall.csv"):
        assert (pd.read_csv(tmp_path / name)["pauc_max_fpr"] == 0.3).all()
    assert (pd.read_parquet(tmp_path / "leaderboard.parquet")["pauc_max_fpr"] == 0.3).all()
    mixed = of_results([*cells, measured(0.5, 0.9, seed=3, max_fpr=0.1), result(0.8, seed=2)])
    write(report, mixed, tmp_path)
    found = pd.read_parquet(tmp_path / "cells.parquet").set_index("seed")["pauc_max_fpr"]
    assert found.dropna().to_dict() == {0: 0.3, 1: 0.3, 3: 0.1}


def test_a_board_without_other_measures_is_as_before():
    report = build.build(several(), "study", True)
    assert not report.others
    assert report.measure.name == "auc"
    assert not [name for name in exported(report).columns if "measure" in name or name.startswith("ap")]


def test_cells_that_lack_the_measure_are_missing_and_are_counted():
    report = made("ap", lacking=[("beta", 0), ("gamma", 3)])
    assert sum(row.missing for row in report.boards[0].rows) == 2
    (alpha, *others) = report.boards[0].rows
    assert alpha.method == "alpha"
    assert all(math.isnan(row.rank) for row in others)
    assert any("4 finished cells have no average precision" in note for note in report.notes)
    shown = made("auc", lacking=[("beta", 0)])
    rows = {row.method: row for row in shown.boards[0].rows}
    assert "ap" not in rows["beta"].others
    assert "ap" in rows["alpha"].others
    assert not any(math.isnan(row.rank) for row in rows.values())


def test_unknown_measures_and_those_with_several_parameters_are_refused():
    for by, said in (("prap", "'prap'"), ("tpauc", "no cell has tpauc")):
        with pytest.raises(ParameterError, match=said):
            made(by)
    mixed = [measured(0.5, 0.9, seed=0), measured(0.5, 0.9, seed=1, max_fpr=0.3)]
    with pytest.raises(ParameterError, match=r"0\.1.*0\.3"):
        build.build(of_results(mixed), "study", True, by="pauc")
    assert [other.name for other in build.build(of_results(mixed), "study", True).others] == ["ap"]


def test_diverged_cells_stay_diverged_under_any_measure():
    cells = [*reversed_cells(), *of_results([result(None, algorithm="wild", seed=seed) for seed in range(2)])]
    report = build.build(cells, "study", True, baseline="beta", by="ap")
    assert report.diverged == 2
    assert [cell.status for cell in cells].count(CellStatus.diverged) == 2
