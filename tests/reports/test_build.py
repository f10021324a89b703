"""Parts of a report: settings, variants, other measures, families."""

from dataclasses import replace

import pytest

from aucbench import ParameterError
from aucbench.reports.build import build
from aucbench.reports.columns import RESULTS, VERDICTS
from aucbench.reports.report import ALL
from aucbench.reports.results import time_note
from aucbench.reports.views.text import markdown
from tests.helpers.board_cells import altered, budget, finished, several, tuning, unfinished
from tests.helpers.small_report import small_cells, small_report

FRAMES = ("curves", "data_sets", "methods", "results", "gains", "verdicts")


def measured(cells, value, name="ap", **fields):
    """The cells with a measure, whose value is `value(method, auc)`; no measure if that is None."""
    copies = []
    for cell in cells:
        number = value(cell.described.algorithm.name, cell.record.result.auc)
        measures = {} if number is None else {name: {"value": number, "parameters": fields}}
        copy = altered(cell, result={"measures": measures})
        copies.append(replace(copy, curve=copy.curve | {name: copy.curve["auc"]}))
    return copies


def test_settings_are_compared_apart_in_every_frame():
    parts = {
        "defaults": small_cells(data_sets=11),
        "tuned": small_cells(data_sets=10, tuning=tuning(), seed=1),
    }
    report = build([*parts["defaults"], *parts["tuned"]], "t", True, reference="alpha")
    for setting, cells in parts.items():
        separate = build(cells, "t", True, reference="alpha")
        for name in FRAMES:
            frame, expected = getattr(report, name), getattr(separate, name)
            columns = expected.columns.difference(["links", "colour", "dark", "marker", "dashes"])
            part = frame.loc[frame["setting"] == setting, columns].reset_index(drop=True)
            assert part.equals(expected[columns].reset_index(drop=True)), name


@pytest.mark.parametrize("rope", [None, 0.05])
def test_by_another_measure_everything_follows_it_and_verdicts_need_a_rope(rope):
    values = {"alpha": 0.4, "beta": 0.5, "gamma": 0.401}
    cells = measured(small_cells(), lambda name, auc: values[name])
    report = build(cells, "t", True, reference="alpha", by="ap", rope=rope)
    overall = report.verdicts[report.verdicts["group"] == ALL].set_index("method")
    assert report.measure.name == "ap"
    assert "auc" in {measure.name for measure in report.others}
    for method, value in values.items():
        assert overall.loc[method, "mean"] == pytest.approx(value)
        assert report.results.set_index("method").loc[method, "mean"].to_numpy() == pytest.approx(value)
    gains = report.gains.groupby("method")["gain"].mean()
    assert [gains["beta"], gains["gamma"]] == pytest.approx([0.1, 0.001])
    assert overall.loc["beta", "gain"] == pytest.approx(0.1)
    expected = ["better", "equivalent"] if rope else ["", ""]
    assert list(overall.loc[["beta", "gamma"], "verdict"]) == expected
    assert report.gains["low"].isna().all()  # runs with one gain are no evidence on a data set
    assert not report.gains["verdict"].any()
    assert report.rope == rope


def test_finished_cells_without_the_measure_are_gaps():
    cells = measured(small_cells(), lambda name, auc: None if name == "beta" else auc)
    report = build(cells, "t", True, reference="alpha", by="ap")
    assert set(report.gains["method"]) == {"gamma"}
    assert report.counts == {"finished": 48, "missing": 24}
    assert any("24 finished cells have no average precision" in note for note in report.notes)


def test_a_measure_that_no_cell_has_or_that_cells_have_in_two_ways_is_refused():
    with pytest.raises(ParameterError, match="no ap"):
        build(several(), "t", by="ap")
    first, second = several(("alpha",)), several(("beta",))
    ways = [(first, 0.1), (second, 0.2)]
    mixed = [cell for cells, fpr in ways for cell in measured(cells, lambda _, auc: auc, "pauc", max_fpr=fpr)]
    with pytest.raises(ParameterError, match=r"max_fpr=0\.1.* and .*max_fpr=0\.2"):
        build(mixed, "t", by="pauc")
    assert "pauc" not in {measure.name for measure in build(mixed, "t").others}


def test_the_target_is_a_share_of_the_way_to_the_best_linear_method_without_gaps():
    aucs = {"alpha": 0.8, "net": 0.99, "lost": 0.95}
    cells = [
        altered(finished(auc, seed=seed, algorithm=name), result={"weights_norm": norm})
        for (name, auc), norm in zip(aucs.items(), (1.0, None, 1.0), strict=True)
        for seed in range(2)
    ]
    report = build([*cells, unfinished("failed", seed=2, algorithm="lost")], "t", True)
    facts = report.data_sets.iloc[0]
    assert [facts["chance"], facts["best"]] == pytest.approx([0.5, 0.99])
    assert facts["target"] == pytest.approx(0.5 + 0.99 * 0.3)
    results = report.results.set_index("method")
    assert results["target_share"].to_dict() == pytest.approx({"alpha": 1.0, "net": 1.0, "lost": 2 / 3})
    assert results.loc["net", "target_seconds"] < results.loc["alpha", "target_seconds"]


def test_a_part_of_a_report_keeps_the_numbers_of_the_whole_and_its_references():
    report = small_report(("alpha", "beta", "gamma"), data_sets=2)
    part = report.only(("gamma",))
    for name in ("methods", "cells", "curves", "results", "gains", "verdicts"):
        frame, subset = getattr(report, name), getattr(part, name)
        assert subset.equals(frame[frame["method"].isin(["gamma", "alpha"])])


@pytest.mark.parametrize("odd", [(), ("beta",)])
def test_a_board_says_what_all_its_methods_share_and_marks_the_rest_at_the_method(odd):
    cells = []
    for name in ("alpha", "beta", "gamma"):
        changes = {"scaling": "none", "budget": budget(epochs=2.0)} if name in odd else {}
        cells += small_cells((name,), 2, **changes)
    report = build(cells, "t", True)
    for text in report.data_sets["setting_text"]:
        assert ("scaling=maxabs" in text) == ("budget=default" in text) == (not odd)
        assert "scaling=none" not in text
        assert "order=shuffled" in text
    for frame in (report.methods, report.results):
        for name, setting in frame.set_index("method")["own_setting"].items():
            expected = "scaling=none epochs=2" if name in odd else "scaling=maxabs budget=default"
            assert setting == (expected if odd else "")
    text = markdown(report)
    assert ("scaling=none epochs=2" in text) == bool(odd)


@pytest.mark.parametrize(
    ("record", "phrase"),
    [
        ({}, ""),
        ({"threads": 1, "device": "cpu", "process_cpu_seconds": 1.2}, ""),
        ({"threads": 4, "device": "cpu", "process_cpu_seconds": 3.9}, "4 threads"),
        ({"threads": 0}, "unknown number of threads"),
        ({"threads": 1, "process_cpu_seconds": 3.9}, "several threads"),
        ({"threads": 1, "device": "cuda"}, "on cuda"),
        ({"threads": 1, "warm_up": "ValueError: no"}, "compilation"),
    ],
)
def test_times_that_are_not_those_of_one_thread_are_noted(record, phrase):
    note = time_note([altered(finished(0.9, seconds=1.0), result=record).record.result])
    assert phrase in note
    assert bool(phrase) == bool(note)


def test_times_that_are_noted_have_a_mark_in_every_table():
    threaded = [altered(cell, result={"threads": 4}) for cell in small_cells(("beta",), 2)]
    cells = small_cells(("alpha", "gamma"), 2) + threaded
    report = build(cells, "t", True, reference="alpha")
    for columns, frame in ((VERDICTS, report.verdicts), (RESULTS, report.results)):
        name = "time_ratio" if columns is VERDICTS else "train_seconds"
        for row in frame.to_dict("records"):
            assert columns[name].shown(row).endswith("*") == (row["method"] == "beta")
    assert any("asterisk" in note for note in report.notes)
    assert "beta was trained by 4 threads." in markdown(report).replace("\\", "")
