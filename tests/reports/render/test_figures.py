"""Pictures: one of each kind, with titles and sentences, in the colours of the report."""

import re
from dataclasses import replace
from itertools import combinations

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure

from aucbench.reports.method_info import looks_of
from aucbench.reports.render import board_figures, figures
from aucbench.reports.render.figure_style import begin, fitting, look, power, short, styles
from aucbench.reports.report import Estimate, TriedSetting
from aucbench.studies.method_look import colour
from tests.helpers.small_study import report as random_report


@pytest.fixture(scope="module")
def report():
    return random_report(methods=4, boards=11)


@pytest.fixture(scope="module")
def drawn(report):
    """Title to figure and sentence, of everything across boards and of the first board."""
    with look():
        first = replace(report, boards=report.boards[:1])
        return {title: (figure, sentence) for title, figure, sentence in figures.pictures(first)}


def test_there_is_one_picture_of_each_kind(drawn):
    kinds = [title.removeprefix("1-data1-") for title in drawn]
    assert kinds == [
        "ranks-tuned", "gains-tuned", "critical-difference-tuned", "profile-tuned", "tests-tuned",
        "auc-samples", "auc-seconds", "auc-cost", "runs", "tests",
        *(f"sensitivity-method{k}" for k in range(4)),
    ]  # fmt: skip


def test_pictures_say_what_they_show_and_how_to_read_it(drawn):
    for title, (figure, sentence) in drawn.items():
        axes = figure.axes[0]
        assert axes.get_title() or figure.get_suptitle() or title.startswith("critical")
        assert sentence.endswith(".")
        assert len(sentence) > 60
        if "critical" not in title and "tests" not in title:
            assert axes.get_xlabel()


def colours_of(figure):
    lines = [line for line in figure.axes[0].get_lines() if line.get_label().startswith("method")]
    return {line.get_label(): matplotlib.colors.to_hex(line.get_color()) for line in lines}


def test_every_method_has_its_colour_and_a_look_of_its_own(report, drawn):
    found = colours_of(drawn["1-data1-auc-samples"][0])
    assert found == {name: look.colour for name, look in report.looks.items()}
    assert colours_of(drawn["profile-tuned"][0]) == found
    assert len(set(styles(report).values())) == 4


def test_rows_of_one_algorithm_share_the_colour_and_differ_in_marker_and_dashes():
    found = looks_of({f"solam zeta={k}": "solam" for k in range(5)} | {"psam": "psam"})
    solams = [look for label, look in found.items() if label != "psam"]
    assert {look.colour for look in solams} == {colour("solam")} != {found["psam"].colour}
    assert len({look.marker for look in solams}) == len({look.dashes for look in solams}) == 5


def test_thirty_methods_have_thirty_different_markers_and_dashes():
    found = looks_of({f"method {k}": "one" for k in range(30)})
    assert len({(look.marker, look.dashes) for look in found.values()}) == 30


def test_files_and_their_sentences_are_written(report, tmp_path):
    small = replace(report, boards=report.boards[:1], overall=())
    files = figures.draw_all(small, tmp_path, formats=("png",))
    assert [file.suffix for file in files] == [".png"] * 9 + [".md"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files[:-1])
    lines = files[-1].read_text().splitlines()
    assert [re.match(r"- `([^`]+)`", line)[1] for line in lines] == [file.stem for file in files[:-1]]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "inches"), [("column", 3.35), ("page", 7.0)])
def test_pictures_for_papers_have_their_width_no_titles_and_no_type_3_fonts(report, tmp_path, width, inches):
    small = replace(report, boards=report.boards[:1])
    drawn = {}
    original = Figure.savefig

    def kept(figure, file, **options):
        drawn[file.name] = (figure.get_figwidth(), [axes.get_title() for axes in figure.axes])
        original(figure, file, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", kept)
        files = figures.draw_all(small, tmp_path, figures.Pictures(width), formats=("pdf",))
    assert len(drawn) == len(files) - 1 > 9
    assert {found for found, _ in drawn.values()} == {inches}
    assert not any(title for _, titles in drawn.values() for title in titles)
    assert all(b"/Type3" not in file.read_bytes() for file in files[:-1])
    assert any(b"/FontFile2" in file.read_bytes() for file in files[:-1])  # TrueType


def test_a_part_of_a_report_keeps_the_numbers_of_the_whole(report):
    whole = report.overall[0]
    part = report.only(top=2)
    assert part.overall[0].methods == whole.methods[:2]
    assert all({row.method for row in board.rows} == set(whole.methods[:2]) for board in part.boards)
    for method in whole.methods[:2]:
        assert part.overall[0].ranks[method] == whole.ranks[method]
    assert set(report.only([whole.methods[3]]).overall[0].gains) <= {whole.methods[3]}
    with look():
        assert any(title.startswith("critical") for title, _, _ in figures.pictures(part))


def test_nothing_across_boards_is_drawn_for_one_board(report):
    alone = replace(report.overall[0], boards=1)
    with look():
        titles = [title for title, _, _ in figures.pictures(replace(report, boards=(), overall=(alone,)))]
    assert titles == []


def test_a_single_run_has_no_band_and_no_sentence_about_one():
    said = {}
    for runs in (1, 2):
        report = random_report(methods=2, boards=1, runs=runs, gaps=False)
        with look():
            _, said[runs] = board_figures.curves(report.boards[0], styles(report), "samples")
    assert "band" not in said[1]
    assert "band" in said[2]


def test_curves_are_drawn_around_the_final_values_of_all_but_the_worst_quarter(report):
    finals = [(0.60, True), (0.88, True), (0.89, True), (0.90, True), (0.90, True)]
    low, high = board_figures.zoomed(finals)
    assert low < 0.88 - 0.02
    assert low > 0.85  # the worst is left out
    assert 0.90 < high < 0.92
    far = board_figures.zoomed([*finals, (0.99, False)])  # above all linear ones
    assert 0.99 < far[1] <= 1.0
    assert abs(far[0] - low) < 0.005
    assert board_figures.zoomed([(0.3, False)])[0] < 0.3
    board = report.boards[0]
    with look():
        figure, _ = board_figures.curves(board, styles(report), "seconds")
    low, high = figure.axes[0].get_ylim()
    assert low <= board.target <= high
    assert low > min(np.min(line.get_ydata()) for line in figure.axes[0].get_lines())


def test_many_methods_with_long_names_have_room_in_the_legend():
    report = random_report(methods=20, boards=1, gaps=False)
    names = {row.method: f"{row.method} (tuning=random loss=squared_hinge)" for row in report.boards[0].rows}
    rows = tuple(replace(row, method=names[row.method]) for row in report.boards[0].rows)
    board = replace(report.boards[0], rows=rows)
    with look():
        figure, _ = board_figures.curves(
            board, styles(replace(report, looks=looks_of(dict.fromkeys(names.values(), "solam")))), "samples"
        )
        figure.canvas.draw()
        box = figure.legends[0].get_window_extent()
    assert 0 <= box.y0 < box.y1 <= figure.bbox.y1
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("label", ["a" * 200, "a b " * 60, "_hidden", "$x_", "two\n\nlines", ""])
def test_labels_are_short_and_never_hidden(label):
    (found,) = short([label])
    assert found
    assert not found.startswith("_")
    assert found.count("\n") < 3
    assert max(map(len, found.split("\n"))) <= 31


def test_long_labels_that_differ_at_the_end_stay_different():
    one, other = short(["method " + "x=1 " * 60 + end for end in ("eta=1", "eta=2")])
    assert one != other


def test_of_many_methods_eight_are_named_and_the_others_are_counted():
    report = random_report(methods=20, boards=11, gaps=False)
    report = replace(report, boards=report.boards[:1])
    overall = report.overall[0]
    baseline = overall.methods[-1]
    report = replace(report, overall=(replace(overall, baseline=baseline),), baseline=baseline)
    expected = {baseline, *overall.methods[:7]}
    with look():
        drawn = {title: figure for title, figure, _ in figures.pictures(report)}
        for title in ("profile-tuned", "1-data1-auc-samples", "1-data1-auc-seconds", "1-data1-auc-cost"):
            (box,) = drawn[title].legends
            names = [text.get_text() for text in box.get_texts()]
            assert set(names[:-1]) == expected, title
            assert names[-1] == "12 other methods", title
        lines = drawn["1-data1-auc-samples"].axes[0].get_lines()
        thin = [line for line in lines if line.get_linewidth() < 0.7]
        named = [line for line in lines if line.get_label() in expected]
    assert (len(thin), len(named)) == (12, 8)
    assert max(line.get_zorder() for line in thin) < min(line.get_zorder() for line in named)
    assert {line.get_label(): matplotlib.colors.to_hex(line.get_color()) for line in named} == {
        name: report.looks[name].colour for name in expected
    }


@pytest.fixture(scope="module")
def large():
    """A report with many methods, and its first board."""
    report = random_report(methods=42, boards=11, gaps=False)
    return replace(report, boards=report.boards[:1])


def overlapping(texts):
    """Whether some texts are drawn over each other."""
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.slow
@pytest.mark.parametrize("width", ["column", "page"])
def test_pictures_of_forty_methods_fit_a_page_and_no_labels_are_drawn_over_each_other(large, width):
    with look(width):
        drawn = {title: (figure, sentence) for title, figure, sentence in figures.pictures(large)}
        for title, (figure, _) in drawn.items():
            figure.canvas.draw()
            assert figure.get_figheight() <= 9.0
            axes = figure.axes[0]
            assert not overlapping(axes.get_xticklabels()), title
            assert not overlapping(axes.get_yticklabels()), title
            sizes = [text.get_size() for text in [*axes.get_yticklabels(), *axes.texts]]
            assert not sizes or min(sizes) >= 5.0
        (diagram,) = drawn["critical-difference-tuned"][0].axes
        assert not overlapping([text for text in diagram.texts if text.get_text() in large.looks])
        assert len(drawn["ranks-tuned"][0].axes[0].get_yticks()) == 42
    matrix, sentence = drawn["tests-tuned"]
    others = 42 - len(matrix.axes[0].get_yticks())
    assert (others > 0) == (width == "column")
    assert (f" {others} other methods." in sentence) == (others > 0)


def test_of_more_methods_than_fit_the_baseline_and_the_best_are_shown():
    names = [f"method{number}" for number in range(300)]
    shown, sentence = fitting(names, "method299")
    assert shown == [*names[: len(shown) - 1], "method299"]
    assert f" {300 - len(shown)} other methods." in sentence
    assert fitting(names[:42], "method41") == (names[:42], "")


@pytest.mark.slow
def test_of_many_methods_across_boards_eight_have_colours(large):
    with look():
        drawn = {title: figure for title, figure, _ in figures.pictures(large)}
    colours = {look.colour for look in large.looks.values()}
    for title, expected in [("ranks-tuned", 8), ("gains-tuned", 7), ("critical-difference-tuned", 8)]:
        lines = drawn[title].axes[0].get_lines()
        coloured = [line for line in lines if len(line.get_xdata()) > 1 and line.get_color() in colours]
        assert len(coloured) == expected, title  # gains are over the baseline


def test_names_stand_clear_of_their_lines_in_the_diagram(report):
    with look("column"):
        figure, _ = figures.critical_difference(report.overall[0], styles(report))
        figure.canvas.draw()
        (axes,) = figure.axes
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text() in report.looks]
        ends = [line.get_transform().transform(line.get_xydata())[:, 0] for line in axes.get_lines()]
    assert len(boxes) == 4
    joined = [points for points in ends if len(points) == 3]  # from the axis, down, and to the name
    for box, points in zip(boxes, joined, strict=True):
        assert not box.x0 <= points[-1] <= box.x1


def test_dollars_are_no_formulas(tmp_path):
    with look():
        figure, axes = begin()
        axes.set_title("$\\frac{$")
        figure.savefig(tmp_path / "one.png")
    assert (tmp_path / "one.png").exists()


def test_powers_of_ten_are_written_without_formulas():
    assert (power(1e5), power(1e-12)) == ("10⁵", "10⁻¹²")


def test_ranks_begin_at_1_and_methods_that_are_tied_with_the_best_are_filled(report):
    overall = replace(
        report.overall[0], groups={"method0": "a", "method1": "ab", "method2": "b", "method3": "ac"}
    )
    ranked = sorted(overall.ranks, key=lambda method: overall.ranks[method].value)
    best = set(overall.groups[ranked[0]])
    with look():
        figure, _ = figures.ranks(overall, styles(report))
        untested, _ = figures.ranks(replace(overall, groups={}), styles(report))
    marks = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 1]
    filled = [line.get_markerfacecolor() != "white" for line in marks]
    assert filled == [bool(best & set(overall.groups[method])) for method in ranked]
    assert set(filled) == {True, False}
    assert "tied with best" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert not untested.legends
    low, high = figure.axes[0].get_xlim()
    assert low == figure.axes[0].get_xticks()[0] == 1.0
    assert high < max(rank.high for rank in overall.ranks.values()) + 1


def test_ranks_without_intervals_are_drawn(report):
    ranks = {name: Estimate(rank.value) for name, rank in report.overall[0].ranks.items()}
    with look():
        figure, _ = figures.ranks(replace(report.overall[0], ranks=ranks), styles(report))
        figure.canvas.draw()


def test_settings_of_which_some_lack_a_field_are_drawn(report):
    trials = [
        TriedSetting({"eta": 1.0, "kind": "a"}, 0.7),
        TriedSetting({"eta": 2.0, "kind": "b"}, 0.8),
        TriedSetting({"eta": 0.0}, 0.9),
        TriedSetting({"eta": 9.0}, None),
    ]
    board = replace(report.boards[0], trials={"method0": trials, "method1": trials[:1]})
    with look():
        ((name, (figure, _)),) = board_figures.sensitivity(board, styles(report))
    assert name == "method0"
    eta, kind = figure.axes
    assert list(eta.get_lines()[0].get_xdata()) == [0.0, 1.0, 2.0]
    assert [text.get_text() for text in kind.get_xticklabels()] == ["a", "b"]
    assert np.isclose(max(kind.get_lines()[0].get_ydata()), 0.8)


def test_the_front_and_the_bars_that_are_drawn_are_those_of_the_report(report):
    board, (overall,) = report.boards[1], report.overall
    with look():
        cost, _ = board_figures.pareto(board, styles(report))
        diagram, sentence = figures.critical_difference(overall, styles(report))
    (step,) = (line for line in cost.axes[0].get_lines() if line.get_color() == "0.6")
    front = sorted((row.train_seconds, row.auc.value) for row in board.rows if row.on_front)
    assert list(zip(*step.get_data(), strict=True))[:-1] == front
    bars = [line.get_xdata() for line in diagram.axes[0].get_lines() if line.get_color() == "0.35"]
    ranks = {name: rank.value for name, rank in overall.ranks.items()}
    spans = [[min(map(ranks.get, group)), max(map(ranks.get, group))] for group in overall.cliques]
    assert overall.cliques
    assert [[low + 0.04, high - 0.04] for low, high in bars] == [pytest.approx(span) for span in spans]
    assert "Nemenyi" in sentence
