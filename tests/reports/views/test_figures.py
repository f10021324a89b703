"""Pictures show the numbers of the frames, and all parts fit, for any data and any names."""

import re
import warnings
from dataclasses import replace
from itertools import combinations, cycle

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.text import Text

from aucbench.reports.build import build
from aucbench.reports.columns import signed
from aucbench.reports.views import figures
from aucbench.reports.views.figure_style import WIDTHS, look
from tests.helpers.small_report import failed_cells, small_cells, small_report

MANY = [
    f"method_{k} (loss=squared_hinge radius=10 tuning=random tuning.inner=KFold tuning.trials=20 "
    f"protocol=holdout budget.seconds=3600 order=shuffled_each_pass distribution=another_package eta={k})"
    for k in range(42)
]


def drawn(report, width="page"):
    """The figures by kind of picture, with one data set's curves; some warnings are errors."""
    if len(report.curves):
        is_first = report.curves["data_set"] == report.curves["data_set"].iloc[0]
        report = replace(report, curves=report.curves[is_first])
    with look(width):
        warnings.filterwarnings("error", message=".*(layout|log-scaled|limits|collapsed)")
        pictures = {title.split()[0]: figure for title, figure in figures.pictures(report) if figure}
        for figure in pictures.values():
            figure.canvas.draw()
    return pictures


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.fixture(scope="module")
def large():
    return small_report(MANY, data_sets=10, far=MANY[-1:])


@pytest.fixture(scope="module", params=list(WIDTHS))
def pages(large, request):
    """The pictures of many methods, as wide as a page or a column."""
    return request.param, drawn(large, request.param)


def shown_texts(figure):
    """Visible texts, without tick labels beyond an axis."""
    hidden = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        hidden |= {id(tick.label1) for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high}
    texts = figure.findobj(Text)
    return [text for text in texts if text.get_text() and text.get_visible() and id(text) not in hidden]


@pytest.mark.slow
def test_42_long_labels_neither_overlap_nor_leave_the_canvas_and_outliers_are_marked_with_their_gain(
    large, pages
):
    width, pictures = pages
    for kind, figure in pictures.items():
        assert figure.get_figwidth() == WIDTHS[width]
        assert figure.get_figheight() <= 9.0, kind
        texts = [(text.get_text(), Text.get_window_extent(text)) for text in shown_texts(figure)]
        for label, box in texts:
            assert figure.bbox.x0 - 1 <= box.x0 < box.x1 <= figure.bbox.x1 + 1, (kind, label)
            assert figure.bbox.y0 - 1 <= box.y0 < box.y1 <= figure.bbox.y1 + 1, (kind, label)
        for (first, box), (second, other_box) in combinations(texts, 2):
            assert not box.padded(-0.5).overlaps(other_box.padded(-0.5)), (kind, first, second)
        assert min(axes.bbox.width for axes in figure.axes) > 0.2 * figure.bbox.width / len(figure.axes)
    assert min(text.get_size() for text in shown_texts(pictures["forest"])) >= 4.5
    (axes, *_), rows = pictures["forest"].axes, large.over_all("defaults")
    low, high = axes.get_xlim()
    gain = rows.set_index("method").loc[MANY[-1], "gain"]
    assert gain < low < 0.0 < high
    assert any(text.get_text().startswith(signed(gain)) for text in axes.texts)
    arrows = [line for line in axes.lines if line.get_marker() in ("<", ">")]
    assert (low, len(rows) - 1) in {(line.get_xdata()[0], line.get_ydata()[0]) for line in arrows}
    order = list(dict.fromkeys([MANY[0], *rows.loc[rows["front"], "method"], *rows["method"]]))
    labels = [text.get_text() for text in pictures["curves"].legends[0].get_texts()]
    assert labels[-1] == "34 other methods"
    ends = [re.search(r"eta=(\d+)", text)[1] for text in labels[:-1]]  # the end of a label is kept
    assert ends == [re.search(r"eta=(\d+)", name)[1] for name in order[:8]]


def test_the_forest_shows_every_method_with_its_gain_interval_verdict_and_costs(report):
    axes = drawn(report)["forest"].axes[0]
    rows = report.verdicts[report.verdicts["group"] == "all"].set_index("method")
    assert [label.get_text() for label in axes.get_yticklabels()] == list(rows.index)
    texts = [text.get_text() for text in axes.texts]
    points = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"}
    bars = {line.get_ydata()[0]: tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    for index, (method, row) in enumerate(rows.iterrows()):
        assert f"{row['mean']:.4f}" in texts
        if method == "alpha":
            assert index not in points
            continue
        assert points[index] == row["gain"]
        low, high = axes.get_xlim()
        assert bars[index] == pytest.approx(tuple(np.clip([row["low"], row["high"]], low, high)))
        assert row["verdict"] in texts
    assert any(np.allclose(patch.get_extents().intervalx, axes.transData.transform([(-report.rope, 0),
               (report.rope, 0)])[:, 0]) for patch in axes.patches)  # fmt: skip


def test_curves_are_those_of_the_frame_in_the_colours_of_the_methods(report):
    figure = drawn(report)["curves"]
    colours = report.methods.set_index("method")["colour"]
    for axes, cost in zip(figure.axes, ("seconds", "passes"), strict=True):
        lines = {matplotlib.colors.to_hex(line.get_color()): line for line in axes.lines}
        for method, curve in report.curves[report.curves["data_set"] == "data0"].groupby("method"):
            curve = curve[curve[cost] > 0]
            line = lines[colours[method]]
            assert np.array_equal(line.get_xdata(), curve[cost])
            assert np.array_equal(line.get_ydata(), curve["mean"])
        assert len(axes.collections) == 3  # bands


CASES = {
    "zero times": lambda: small_cells(data_sets=1, seconds=0.0),
    "one checkpoint at no cost": lambda: small_cells(data_sets=2, checkpoints=1, seconds=0.0),
    "nothing but failures": lambda: failed_cells("alpha", 3) + failed_cells("beta", 3),
    "no reference": lambda: failed_cells("alpha", 3) + small_cells(["beta", "gamma"], 3),
    "hostile names": lambda: small_cells(["_a", "$\\frac{$", "{x}", "数 据" * 40, "a/../b"], ["$_{/", "x"]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("case", "width"), list(zip(CASES, cycle(WIDTHS), strict=False)))
def test_degenerate_data_are_drawn(case, width, tmp_path, monkeypatch):
    report = build(CASES[case](), "t", True, reference="alpha" if case == "no reference" else None)
    report = replace(report, data_sets=report.data_sets[:2])
    pictures = drawn(report, width)
    assert ("curves" in pictures) == (report.cells["status"] == "finished").any()
    assert ("forest" in pictures) == bool(report.verdicts["gain"].notna().any())
    monkeypatch.setattr(figures, "FORMATS", ("svg",))
    result = figures.draw_all(report, tmp_path, width)
    assert all(file.parent == tmp_path for file in result.files)
    assert len(result.files) + len(result.lacking) == 1 + len(report.data_sets)


@pytest.mark.slow
def test_files_for_papers_have_no_type_3_fonts(report, tmp_path):
    single = replace(report, data_sets=report.data_sets[:1])
    result = figures.draw_all(single, tmp_path, "column", "serif")
    assert {file.suffix for file in result.files} == {".pdf", ".png", ".svg"}
    pdfs = [file.read_bytes() for file in result.files if file.suffix == ".pdf"]
    assert len(pdfs) == 2
    assert not any(b"/Type3" in content for content in pdfs)
    assert any(b"/FontFile2" in content for content in pdfs)  # TrueType


@pytest.mark.parametrize(("chosen", "drawn"), [((), (7, 8, 9, 10, 11)), (("data0", "data3"), (0, 3))])
def test_curves_of_the_largest_data_sets_are_drawn_or_of_those_that_are_named(
    report, chosen, drawn, monkeypatch
):
    monkeypatch.setattr(figures, "forest", lambda *_: None)
    monkeypatch.setattr(figures, "curves", lambda *_: None)
    rows = report.data_sets["data_set"].str[4:].astype(int)
    resized = replace(report, data_sets=report.data_sets.assign(rows=rows))
    titles = [title for title, _ in figures.pictures(resized, chosen)]
    assert titles[0] == "forest defaults"
    assert set(titles[1:]) == {f"curves data{number} defaults" for number in drawn}
