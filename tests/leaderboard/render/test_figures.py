"""Pictures: one of each kind, with titles and sentences, in the colours of the report."""

import re
from dataclasses import replace

import matplotlib.colors
import numpy as np
import pytest

from aucbench.leaderboard.method_info import looks_of
from aucbench.leaderboard.render import figures
from aucbench.leaderboard.render.figure_style import begin, legible, look, power, short, styles
from aucbench.leaderboard.report import Estimate, TriedSetting
from aucbench.studies.plugin_metadata import colour
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
    assert found == {name: legible(look.colour) for name, look in report.looks.items()}
    assert colours_of(drawn["profile-tuned"][0]) == found
    assert len(set(styles(report).values())) == 4


@pytest.mark.parametrize("colour", ["#ffffff", "#ffff00", "#00ff00", "#123456", "#000000"])
def test_light_colours_are_darkened_and_dark_ones_kept(colour):
    red, green, blue = matplotlib.colors.to_rgb(legible(colour))
    assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.46
    assert (legible(colour) == colour) == (colour in ("#123456", "#000000"))


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
    files = figures.draw_all(small, tmp_path, ("png",))
    assert [file.suffix for file in files] == [".png"] * 9 + [".md"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files[:-1])
    lines = files[-1].read_text().splitlines()
    assert [re.match(r"- `([^`]+)`", line)[1] for line in lines] == [file.stem for file in files[:-1]]


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
            _, said[runs] = figures.curves(report.boards[0], styles(report), "samples")
    assert "band" not in said[1]
    assert "band" in said[2]


def test_many_methods_with_long_names_have_room_in_the_legend():
    report = random_report(methods=20, boards=1, gaps=False)
    names = {row.method: f"{row.method} (tuning=random loss=squared_hinge)" for row in report.boards[0].rows}
    rows = tuple(replace(row, method=names[row.method]) for row in report.boards[0].rows)
    board = replace(report.boards[0], rows=rows)
    with look():
        figure, _ = figures.curves(
            board, styles(replace(report, looks=looks_of(dict.fromkeys(names.values(), "solam")))), "samples"
        )
        figure.canvas.draw()
        box = figure.axes[0].get_legend().get_window_extent()
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


def test_dollars_are_no_formulas(tmp_path):
    with look():
        figure, axes = begin()
        axes.set_title("$\\frac{$")
        figure.savefig(tmp_path / "one.png")
    assert (tmp_path / "one.png").exists()


def test_powers_of_ten_are_written_without_formulas():
    assert (power(1e5), power(1e-12)) == ("10⁵", "10⁻¹²")


def test_bars_join_the_methods_of_each_group_and_no_others(report):
    overall = replace(
        report.overall[0], groups={"method0": "a", "method1": "ab", "method2": "b", "method3": "c"}
    )
    with look():
        figure, _ = figures.ranks(overall, styles(report))
    bars = [line for line in figure.axes[0].get_lines() if line.get_color() == "0.6"]
    assert sorted(tuple(line.get_ydata()) for line in bars) == [(0, 1), (1, 2)]
    lows = [interval.low for interval in overall.ranks.values()]
    assert all(max(line.get_xdata()) < min(lows) for line in bars)


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
        ((name, (figure, _)),) = figures.sensitivity(board, styles(report))
    assert name == "method0"
    eta, kind = figure.axes
    assert list(eta.get_lines()[0].get_xdata()) == [0.0, 1.0, 2.0]
    assert [text.get_text() for text in kind.get_xticklabels()] == ["a", "b"]
    assert np.isclose(max(kind.get_lines()[0].get_ydata()), 0.8)


def test_the_front_and_the_bars_that_are_drawn_are_those_of_the_report(report):
    board, (overall,) = report.boards[1], report.overall
    with look():
        cost, _ = figures.pareto(board, styles(report))
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
