"""Which method is the baseline of a board, and what stands where there is none."""

import math

import pytest

from aucbench import ParameterError
from aucbench.reports import build
from aucbench.reports.cells import of_results
from aucbench.reports.render import display, figures, latex
from aucbench.reports.render.figure_style import look, styles
from aucbench.reports.report import Estimate
from tests.helpers.board_cells import (
    PLUGIN,
    altered,
    finished,
    parameters,
    result,
    several,
    tuning,
    unfinished,
)

FEATURES = PLUGIN | {"name": "nystroem", "parameters": {"landmarks": 10}}


def variant(auc, eta, **what):
    """Three runs of a variant of alpha."""
    found = []
    for seed in range(3):
        made = result(auc, seed=seed, **what)
        found.append(altered(made, algorithm=parameters(eta=eta), key=f"{eta} {what} {seed}"))
    return of_results(found)


def built(cells, baseline):
    return build.build(cells, "t", baseline=baseline)


def test_of_several_variants_that_without_feature_map_is_taken_then_the_first():
    cells = [
        *several(("beta",)),
        *variant(0.9, 0.2),
        *variant(0.8, 0.3),
        *variant(0.7, 0.1, features=FEATURES),
    ]
    (board,) = built(cells, "alpha").boards
    labels = {row.method for row in board.rows}
    assert len(labels) == 4
    assert board.baseline in labels
    assert "eta=0.2" in board.baseline
    assert "nystroem" not in board.baseline
    assert f"Gains are over {board.baseline}." in display.remarks(board)


def test_a_variant_is_taken_that_is_named_in_full():
    cells = [*variant(0.9, 0.2), *variant(0.8, 0.3)]
    (board,) = built(cells, "alpha (eta=0.3)").boards
    gains = {row.method: row.gain.value for row in board.rows}
    assert gains == {"alpha (eta=0.2)": pytest.approx(0.1), "alpha (eta=0.3)": 0.0}


def test_tuned_and_untuned_boards_have_baselines_of_their_own():
    cells = several(("alpha", "beta")) + [
        finished(0.9, seed=seed, algorithm="beta", tuning=tuning()) for seed in range(3)
    ]
    plain, tuned = built(cells, "alpha").boards
    assert (plain.baseline, plain.baseline_reason) == ("alpha", "")
    assert (tuned.baseline, tuned.baseline_reason) == ("", "alpha was not run")


@pytest.mark.parametrize("status", ["diverged", "failed"])
def test_a_baseline_without_any_auc_is_said_with_its_reason(status):
    lost = {
        "diverged": lambda **what: finished(None, **what),
        "failed": lambda **what: unfinished("failed", **what),
    }
    cells = several(("beta",)) + [lost[status](seed=seed) for seed in range(3)]
    report = built(cells, "alpha")
    (board,) = report.boards
    assert board.baseline_reason == f"alpha has no AUC: {status} in 3 of 3 runs"
    assert all(math.isnan(row.gain.value) for row in board.rows)
    assert [display.row_gain(row, board) for row in board.rows] == ["-", "baseline"]
    assert latex.latex(report).count("& -- ") >= 1


def test_overall_gains_are_over_the_data_sets_where_both_are_complete():
    cells = several(("alpha", "beta"), ("one", "two", "three"))
    cells += [finished(0.8, seed=seed, algorithm="gamma", dataset="one") for seed in range(3)]
    report = built(cells, "alpha")
    (overall,) = report.overall
    assert overall.gain_boards == {"alpha": 3, "beta": 3, "gamma": 1}
    assert math.isnan(overall.gains["gamma"].low)
    assert "Gains over fewer than 3 data sets: gamma (1)." in display.overall_remarks(overall, report.boards)
    with look():
        figure, sentence = figures.gains(overall, styles(report), "alpha")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["beta", "gamma"]
    assert "alpha" in sentence
    with look():
        assert figures.gains(built(cells, "log_reg").overall[0], styles(report), "log_reg") is None


def test_an_unknown_baseline_is_refused_with_the_nearest_name():
    with pytest.raises(ParameterError, match=r"'alpho'.*alpha"):
        built(several(), "alpho")
    assert built(several(), "ls_svm").boards[0].baseline_reason == "ls_svm was not run"


def test_a_gain_never_has_a_negative_zero():
    assert display.gain(Estimate(-1e-9, -1e-9, 1e-9)) == "+0.0000 (+0.0000 to +0.0000)"


@pytest.mark.parametrize("was_run", [True, False])
@pytest.mark.parametrize("tuned", [True, False])
def test_boards_of_tuned_methods_compare_with_log_reg_cv_where_it_was_run(tuned, was_run):
    how = {"tuning": tuning()} if tuned else {}
    methods = ("log_reg", "psam", "log_reg_cv") if was_run else ("log_reg", "psam")
    results = [
        altered(result(0.8, seed=seed, **how), algorithm=parameters(name), key=f"{name} {seed}")
        for name in methods
        for seed in range(3)
    ]
    report = build.build(of_results(results), "t")
    assert report.baseline == ("log_reg_cv" if tuned and was_run else "log_reg")
    assert report.boards[0].baseline == report.baseline
