"""Curves in characters: 80 columns, no colours unless asked for, letters where there is no braille."""

import numpy as np
import pytest

from aucbench.reports.views.braille_plot import HEIGHT, LEFT, WIDTH, Series, draw

X = np.geomspace(1, 5000, 30)


def rising(label="mine", top=0.9, mark="*", **options):
    return Series(label, X, np.linspace(0.5, top, 30), mark, **options)


def level(value=0.95):
    return Series("best", np.empty(0), np.array([value]), "-", dash=(1, 6))


@pytest.mark.parametrize("braille", [True, False])
def test_no_line_is_wider_than_80_columns_whatever_the_labels(braille):
    series = [
        rising("a_very_long_name_of_a_method_indeed"),
        *(rising(f"m{i}", 0.9 - i / 100) for i in range(7)),
    ]
    lines = draw([*series, level()], braille=braille)
    assert len(lines) == HEIGHT + 1
    assert max(map(len, lines)) <= WIDTH


def test_a_pipe_gets_no_escape_sequences_and_a_terminal_gets_colours():
    series = [rising(colour=31)]
    assert "\x1b" not in "\n".join(draw(series))
    assert "\x1b[31m" in "\n".join(draw(series, colours=True))


def test_a_rising_curve_begins_in_the_lowest_row_and_ends_in_the_highest():
    lines = draw([rising()], braille=False)
    assert lines[HEIGHT - 1][LEFT] == "*"
    assert "*" in lines[0][LEFT:60]
    assert lines[0].startswith(" 0.900|")


def test_without_braille_every_curve_has_its_letter_and_only_ascii_is_written():
    text = "\n".join(draw([rising(), rising("other", 0.7, "p"), level()], braille=False))
    assert text.isascii()
    for letter in "*p-":
        assert f"{letter}{letter}" in text or f"{letter} " in text
    assert "p other 0.7000" in text


def test_with_braille_the_canvas_holds_braille_and_blanks_only():
    for line in draw([rising(), level()])[:HEIGHT]:
        canvas = line[LEFT:].split(" *")[0].split(" -")[0]
        assert all(char == " " or 0x2800 <= ord(char) <= 0x28FF for char in canvas)


def test_the_x_axis_is_logarithmic():
    axis = draw([rising()])[-1]
    places = [axis.index(text) for text in (" 10 ", " 100 ", " 1,000 ")]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=1)
    assert "samples seen" in axis


def test_labels_never_share_a_row():
    lines = draw([rising(f"same{i}") for i in range(5)])
    assert sum("same" in line for line in lines) == 5


def test_a_single_point_and_a_constant_curve_are_drawn():
    one = Series("one", np.array([3.0]), np.array([0.5]), "o")
    assert "one 0.5000" in "\n".join(draw([one]))
    flat = Series("flat", X, np.full(30, 1.0), "f")
    assert "flat 1.0000" in "\n".join(draw([flat]))
    assert draw([level()]) == []
