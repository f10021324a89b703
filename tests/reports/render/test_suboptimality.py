"""Boards of methods whose objective was measured: columns, reasons, profiles, pictures, exports, the page."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from aucbench.cli.main import main
from aucbench.reports import build
from aucbench.reports.cells import from_store
from aucbench.reports.render import figures
from aucbench.reports.render.columns import board_table
from aucbench.reports.render.export import write
from aucbench.reports.render.figure_style import look
from aucbench.studies.store import Store

pytestmark = pytest.mark.slow  # whole studies

WORDS = (
    "-m", "algo=ls_svm,spdam,psam,oam_gra", "dataset=wine,breast_cancer", "runs=3", "study=near",
    "tracking=none", "budget.checkpoints=25", "budget.epochs=20", "metrics=[objective]",
    "matrix.for_algo={ls_svm: ['algo.lam=0.05'], spdam: ['algo.lam=0.05']}",
)  # fmt: skip


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    path = tmp_path_factory.mktemp("near") / "store"
    assert main([*WORDS, f"store.path={path}"]) == 0
    return from_store(Store(path), "near")


@pytest.fixture(scope="module")
def report(cells):
    return build.build(cells, "near", one_study=True)


@pytest.fixture(scope="module")
def written(report, cells, tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    write(report, cells, place)
    return place


def row_of(report, dataset, method):
    board = next(board for board in report.boards if board.dataset == dataset)
    return next(row for row in board.rows if row.algorithm == method)


def passes_to(cell, target):
    """Read off the curve of a cell, linear in both logarithms."""
    own = cell.record.measures["objective"]
    x = cell.curve["samples"] / cell.record.data.train_rows
    y = np.maximum(cell.curve["objective"] / own.minimum.value - 1.0, 1e-16)
    if not (y <= target).any():
        return math.inf
    k = int(np.argmax(y <= target))
    if k == 0:
        return x[0]
    share = np.log(y[k - 1] / target) / np.log(y[k - 1] / y[k])
    return math.exp(np.log(x[k - 1]) + share * np.log(x[k] / x[k - 1]))


def test_costs_are_medians_of_what_the_curves_say(report, cells):
    finite = 0
    for dataset in ("wine", "breast_cancer"):
        for method in ("ls_svm", "spdam", "psam"):
            own = row_of(report, dataset, method).suboptimality
            members = [
                cell
                for cell in cells
                if (cell.described.algorithm.name, cell.described.dataset.name) == (method, dataset)
            ]
            for target, found in zip((1e-2, 1e-3, 1e-4), own.passes, strict=True):
                expected = np.median([passes_to(cell, target) for cell in members])
                assert found == pytest.approx(expected, rel=1e-6)
                finite += math.isfinite(found)
            assert own.budget_passes == pytest.approx(members[0].curve["passes"][-1])
    assert finite >= 6


def test_one_that_is_exact_needs_one_pass_and_unreached_targets_name_the_budget(report):
    assert row_of(report, "wine", "ls_svm").suboptimality.passes == (1.0, 1.0, 1.0)
    table = board_table(report, report.boards[0])
    place = table.head.index("Passes to 1e-4")
    texts = {line[0]: line[place] for line in table.lines}
    own = row_of(report, report.boards[0].dataset, "psam").suboptimality
    assert own.passes[-1] == math.inf
    assert texts["psam"] == f"> {own.budget_passes:.3g}"
    assert texts["oam_gra"] == "-"


def test_a_method_without_an_objective_has_the_reason(report):
    own = row_of(report, "wine", "oam_gra").suboptimality
    assert own.passes == ()
    assert "oam_gra" in own.reason
    assert row_of(report, "wine", "oam_gra").curve.suboptimality is None


def test_the_reason_is_in_the_terminal_and_in_every_file(report, written, capsys):
    from aucbench.reports.render import terminal
    from aucbench.reports.render.latex import escaped

    reason = row_of(report, "wine", "oam_gra").suboptimality.reason
    terminal.show(report)
    assert capsys.readouterr().out.count(reason) == 2
    assert (written / "leaderboard.md").read_text().replace("\\", "").count(reason) == 2
    assert (written / "leaderboard.tex").read_text().count(escaped(reason)) == 2


def test_an_objective_that_overflowed_in_one_run_costs_no_other_run_its_targets(tmp_path):
    words = ["-m", "algo=spam,psam", "dataset=diabetes", "runs=3", "study=over", "tracking=none"]
    words += [
        "metrics=[objective]",
        "budget.epochs=3",
        "matrix.for_algo={spam: ['algo.C=100', 'algo.bounded=false']}",
    ]
    assert main([*words, f"store.path={tmp_path}"]) == 0
    made = build.build(from_store(Store(tmp_path), "over"), "over", one_study=True)
    own = row_of(made, "diabetes", "spam").suboptimality
    assert own.final == math.inf
    assert own.reason == ""
    assert own.passes == (math.inf,) * 3
    assert row_of(made, "diabetes", "spam").linear


def test_the_share_of_reached_targets_is_over_all_pairs_of_data_set_and_target(report):
    (overall,) = report.overall
    assert set(overall.reached) == {"passes", "seconds"}
    for method, (cost, share, boards) in overall.reached["passes"].items():
        owned = [
            each
            for board in report.boards
            for row in board.rows
            if row.method == method
            for each in row.suboptimality.passes
        ]
        assert boards == 2
        assert len(owned) == 6
        expected = [np.mean(np.array(owned) <= at) for at in cost]
        np.testing.assert_allclose(share, expected)
    assert "oam_gra" not in overall.reached["passes"]


def test_exports_have_minimum_gap_costs_and_reason(written):
    table = pd.read_csv(written / "leaderboard.csv").set_index(["dataset", "algorithm"])
    assert table.loc[("wine", "psam"), "passes_to_1e-04"] == math.inf
    assert table.loc[("wine", "ls_svm"), "objective_minimum"] == pytest.approx(
        table.loc[("wine", "spdam"), "objective_minimum"], rel=1e-9
    )
    assert "oam_gra" in table.loc[("wine", "oam_gra"), "suboptimality_reason"]
    single = pd.read_parquet(written / "cells.parquet").set_index("algorithm")
    own = single.loc["psam"]
    expected = own["objective"] / own["objective_minimum"] - 1.0
    np.testing.assert_allclose(own["suboptimality"], expected, rtol=1e-6)
    assert single.loc["oam_gra"]["objective_reason"].str.contains("oam_gra").all()


def test_there_are_pictures_with_the_objective_of_each_curve(report):
    with look():
        drawn = {title: (figure, sentence) for title, figure, sentence in figures.pictures(report)}
    near = [title for title in drawn if "suboptimality" in title or "reached" in title]
    assert len(near) == 2 * 3 + 2
    figure, sentence = drawn["1-breast_cancer-suboptimality-passes"]
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    labels = {line.get_label() for line in axes.get_lines()}
    assert len({label.split()[0] for label in labels if label.split()[1] in ("ls_svm", "spdam")}) == 1
    assert len(labels) == 3
    assert sentence.count("mean over pairs of") == 2
    steps = {line.get_label(): line for line in drawn["reached-untuned-passes"][0].axes[0].get_lines()}
    assert steps["ls_svm"].get_ydata()[-1] == 1.0


def test_the_page_shows_curves_columns_and_reasons(visit, written, report):
    tab = visit(
        f"{(written / 'leaderboard.html').as_uri()}#data/{report.boards[0].dataset}",
        viewport={"width": 1400, "height": 900},
    )
    heads = tab.locator(".results thead th").all_inner_texts()
    assert [text for text in heads if " to 1e" in text] == [
        f"{cost} to 1e-{power}" for cost in ("Passes", "Seconds") for power in (2, 3, 4)
    ]
    curves = tab.locator("#curves")
    curves.get_by_role("button", name="suboptimality", exact=True).click()
    curves.get_by_role("button", name="passes", exact=True).click()
    text = curves.inner_text()
    assert "relative suboptimality" in text
    assert "passes over the training rows" in text
    assert tab.locator("#curves svg path.line").count() == 3
    own = row_of(report, "breast_cancer", "oam_gra").suboptimality.reason
    assert own in tab.locator("#curves .notes").inner_text()
    assert tab.locator("#curves .objectives dt").all_inner_texts() == ["Objective F1", "Objective F2"]
    before = tab.locator("#curves svg path.line").first.get_attribute("d")
    curves.get_by_role("button", name="full", exact=True).click()
    assert tab.locator("#curves svg path.line").first.get_attribute("d") != before
    place = heads.index("Passes to 1e-4") + 1
    shown = tab.locator(f".results tbody tr > :nth-child({place})").all_inner_texts()
    assert sum(text.startswith("> ") for text in shown) >= 1
    dash = tab.locator(".results tbody tr", has_text="oam_gra").locator(".nothing").last
    assert dash.get_attribute("title") == own


@pytest.mark.parametrize("width", [1400, 390])
def test_views_with_suboptimality_fit_the_screen(visit, written, width):
    tab = visit((written / "leaderboard.html").as_uri(), viewport={"width": width, "height": 900})
    for view in (
        "overall?at=reached",
        "overall?m=suboptimality",
        "data/wine?m=suboptimality&x=seconds&y=close",
    ):
        tab.goto(f"{(written / 'leaderboard.html').as_uri()}#{view}")
        tab.reload()
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
    assert tab.locator("#curves svg path.line").count() == 3
    tab.goto(f"{(written / 'leaderboard.html').as_uri()}#overall")
    tab.reload()
    assert tab.locator("#reached svg path.line").count() == 4
    tab.get_by_role("button", name="suboptimality", exact=True).click()
    assert tab.locator("#reached svg path.line").count() == 3
    assert tab.locator("#curves .panel svg path.line").count() == 2 * 3
    content = json.loads(tab.locator("#data").text_content())
    for measure in ("", "suboptimality"):
        assert set(content["groups"][0]["reached"][measure]) == {"passes", "seconds"}


def test_boards_without_objectives_are_as_they_were(report):
    from tests.helpers.small_study import report as plain

    made = plain(methods=2, boards=1)
    assert not made.has_suboptimality
    assert "Suboptimality" not in board_table(made, made.boards[0]).head
    assert report.has_suboptimality
