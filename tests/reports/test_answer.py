"""The answer of a report names methods as its frames judge them."""

import re

import pytest

from aucbench import ParameterError
from aucbench.humanize import counted
from aucbench.reports.answer import answer, listed
from aucbench.reports.build import build
from aucbench.reports.report import ALL
from tests.helpers.board_cells import with_models
from tests.helpers.small_report import failed_cells, small_cells, small_report

NAMES = ("alpha", "beta", "gamma", "delta")


def shown(report):
    (setting,) = report.settings
    return answer(report, setting)


def verdicts(report):
    table = report.verdicts[report.verdicts["group"] == ALL].set_index("method")
    return table.drop(index=list(report.references.values()))


@pytest.mark.parametrize(
    ("reference", "far"),
    [("alpha", ()), ("alpha", ("delta",)), ("beta", ("alpha",)), ("gamma", ("beta", "gamma")), ("delta", ())],
)
def test_better_equivalent_and_worse_methods_are_those_of_the_verdicts(reference, far):
    report = build(small_cells(NAMES, 10, far=far), "t", True, reference=reference)
    text, table = shown(report), verdicts(report)
    better = table[table["verdict"].isin(["better", "slightly better"])]
    assert ("no linear method is better" in text) == (not len(better))
    if len(better):
        assert f"better than {reference}" in text
        assert all(name in text for name in better.index)
        assert f"{better['gain'].max():+.4f}" in text
    for verdict, labels in {"equivalent": ["equivalent"], "worse": ["worse", "slightly worse"]}.items():
        names = table.index[table["verdict"].isin(labels)]
        if len(names):
            assert re.search(rf"{listed(list(names))} (is|are) {verdict}", text)
    equal = table[table["verdict"] == "equivalent"]
    if len(equal) > 1:
        assert f"{equal['time_ratio'].idxmin()} is the cheapest of these" in text


@pytest.mark.parametrize("data_sets", [1, 12])
def test_classes_of_model_are_never_told_together(data_sets):
    models = {"alpha": "linear", "beta": "trees", "gamma": "network", "delta": "trees"}
    cells = with_models(small_cells(tuple(models), data_sets, 5, far=("gamma",)), models)
    report = build(cells, "t", True, reference="alpha")
    parts = re.split("(?:[oO]f the|[nN]o) (?=tree|neural)", shown(report))
    for part in parts:
        assert len({models[name] for name in re.findall("beta|gamma|delta", part)}) <= 1
    assert len(parts) == (3 if data_sets > 1 else 5)
    only = build(cells, "t", True, reference="alpha", model_class="trees")
    assert set(only.verdicts["method"]) == {"alpha", "beta", "delta"}
    assert not re.search("gamma|Of the", shown(only))
    assert "alpha (linear)" in shown(only)
    with pytest.raises(ParameterError, match="kernel"):
        build(cells, "t", True, reference="alpha", model_class="kernel")


def test_below_ten_families_there_is_no_verdict_and_the_best_mean_is_named():
    report = small_report(data_sets=9, far=("gamma",))
    best = report.results.groupby("method")["mean"].mean()
    assert f"{best.idxmax()} has the highest mean AUC over 9 data sets, {best.max():.4f}" in shown(report)
    assert "needs 10 families; there are 9" in shown(report)


def test_a_report_without_reference_or_without_any_result_says_so():
    assert "no gains: the reference was not run" in shown(build(small_cells(data_sets=3), "t", True))
    assert "No run has finished." in shown(build(failed_cells("beta", 3), "t", True))


def test_only_methods_with_results_on_every_data_set_have_the_best_mean():
    cells = small_cells(("alpha", "beta"), 3, far=("alpha", "beta")) + small_cells(("gamma",), 1, seed=1)
    assert "alpha has the highest mean AUC over 3 data sets" in shown(build(cells, "t", True))
    disjoint = small_cells(("alpha",), ["one"]) + small_cells(("beta",), ["two"])
    assert "No method has a result on every data set" in shown(build(disjoint, "t", True))


def test_lists_and_counts_read_as_sentences_do():
    assert [listed(list("abcdef")[:n]) for n in range(1, 6)] == [
        "a", "a and b", "a, b and c", "a, b, c and d", "a, b, c and 2 more",
    ]  # fmt: skip
    assert [counted(n, "family") for n in (1, 2, 1000)] == ["1 family", "2 families", "1,000 families"]
