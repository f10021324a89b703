"""Pictures: what they show is what the frames say, and everything fits, whatever the data and the names."""

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
    """Kind of picture to the figure, of one data set's curves; some warnings are errors."""
    if len(report.curves):
        one = report.curves["data_set"] == report.curves["data_set"].iloc[0]
        report = replace(report, curves=report.curves[one])
    with look(width):
        warnings.filterwarnings("error", message=".*(layout|log-scaled|limits|collapsed)")
        found = {title.split()[0]: figure for title, figure in figures.pictures(report) if figure}
        for figure in found.values():
            figure.canvas.draw()
    return found


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
    """Texts that one sees, without tick labels beyond an axis."""
    hidden = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        hidden |= {id(tick.label1) for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high}
    texts = figure.findobj(Text)
    return [each for each in texts if each.get_text() and each.get_visible() and id(each) not in hidden]


@pytest.mark.slow
def test_42_long_labels_neither_overlap_nor_leave_the_canvas_and_outliers_are_marked_with_their_gain(
    large, pages
):
    width, found = pages
    for kind, figure in found.items():
        assert figure.get_figwidth() == WIDTHS[width]
        assert figure.get_figheight() <= 9.0, kind
        texts = [(each.get_text(), Text.get_window_extent(each)) for each in shown_texts(figure)]
        for words, box in texts:
            assert figure.bbox.x0 - 1 <= box.x0 < box.x1 <= figure.bbox.x1 + 1, (kind, words)
            assert figure.bbox.y0 - 1 <= box.y0 < box.y1 <= figure.bbox.y1 + 1, (kind, words)
        for (one, box), (other, another) in combinations(texts, 2):
            assert not box.padded(-0.5).overlaps(another.padded(-0.5)), (kind, one, other)
        assert min(axes.bbox.width for axes in figure.axes) > 0.2 * figure.bbox.width / len(figure.axes)
    assert min(each.get_size() for each in shown_texts(found["forest"])) >= 4.5
    (axes, *_), rows = found["forest"].axes, large.over_all("defaults")
    low, high = axes.get_xlim()
    gain = rows.set_index("method").loc[MANY[-1], "gain"]
    assert gain < low < 0.0 < high
    assert any(text.get_text().startswith(signed(gain)) for text in axes.texts)
    arrows = [line for line in axes.lines if line.get_marker() in ("<", ">")]
    assert (low, len(rows) - 1) in {(line.get_xdata()[0], line.get_ydata()[0]) for line in arrows}
    order = list(dict.fromkeys([MANY[0], *rows.loc[rows["front"], "method"], *rows["method"]]))
    words = [text.get_text() for text in found["curves"].legends[0].get_texts()]
    assert words[-1] == "34 other methods"
    ends = [re.search(r"eta=(\d+)", word)[1] for word in words[:-1]]  # the end of a label is kept
    assert ends == [re.search(r"eta=(\d+)", name)[1] for name in order[:8]]


def test_the_forest_shows_every_method_with_its_gain_interval_verdict_and_costs(report):
    axes = drawn(report)["forest"].axes[0]
    rows = report.verdicts[report.verdicts["group"] == "all"].set_index("method")
    assert [label.get_text() for label in axes.get_yticklabels()] == list(rows.index)
    texts = [text.get_text() for text in axes.texts]
    points = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"}
    bars = {line.get_ydata()[0]: tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    for place, (method, row) in enumerate(rows.iterrows()):
        assert f"{row['mean']:.4f}" in texts
        if method == "alpha":
            assert place not in points
            continue
        assert points[place] == row["gain"]
        low, high = axes.get_xlim()
        assert bars[place] == pytest.approx(tuple(np.clip([row["low"], row["high"]], low, high)))
        assert row["verdict"] in texts
    assert any(np.allclose(patch.get_extents().intervalx, axes.transData.transform([(-report.rope, 0),
               (report.rope, 0)])[:, 0]) for patch in axes.patches)  # fmt: skip


def test_curves_are_those_of_the_frame_in_the_colours_of_the_methods(report):
    figure = drawn(report)["curves"]
    colours = report.methods.set_index("method")["colour"]
    for axes, cost in zip(figure.axes, ("seconds", "passes"), strict=True):
        lines = {matplotlib.colors.to_hex(line.get_color()): line for line in axes.lines}
        for method, own in report.curves[report.curves["data_set"] == "data0"].groupby("method"):
            own = own[own[cost] > 0]
            line = lines[colours[method]]
            assert np.array_equal(line.get_xdata(), own[cost])
            assert np.array_equal(line.get_ydata(), own["mean"])
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
    found = drawn(report, width)
    assert ("curves" in found) == (report.cells["status"] == "finished").any()
    assert ("forest" in found) == bool(report.verdicts["gain"].notna().any())
    monkeypatch.setattr(figures, "FORMATS", ("svg",))
    done = figures.draw_all(report, tmp_path, width)
    assert all(file.parent == tmp_path for file in done.files)
    assert len(done.files) + len(done.lacking) == 1 + len(report.data_sets)


@pytest.mark.slow
def test_files_for_papers_have_no_type_3_fonts(report, tmp_path):
    one = replace(report, data_sets=report.data_sets[:1])
    done = figures.draw_all(one, tmp_path, "column", "serif")
    assert {file.suffix for file in done.files} == {".pdf", ".png", ".svg"}
    pdfs = [file.read_bytes() for file in done.files if file.suffix == ".pdf"]
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
    other = replace(report, data_sets=report.data_sets.assign(rows=rows))
    titles = [title for title, _ in figures.pictures(other, chosen)]
    assert titles[0] == "forest defaults"
    assert set(titles[1:]) == {f"curves data{number} defaults" for number in drawn}
