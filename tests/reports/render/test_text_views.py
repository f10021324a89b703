"""Markdown and LaTeX: their structure, and names with characters that mean something there."""

import math
import re
from dataclasses import replace

import pytest

from aucbench.reports import build
from aucbench.reports.render import latex, markdown, terminal
from aucbench.reports.render.columns import board_table
from aucbench.reports.render.figures import draw_all
from tests.helpers.board_cells import altered, finished, several, unfinished
from tests.helpers.small_study import report as random_report

NASTY = 'a_b & 50% | [x] #1 {y} ~z^2 <i>$m$</i> \\frac\n\nsecond line *é* 数据 \x07 "q" `c` --'


@pytest.fixture(scope="module")
def nasty():
    """A report in which everything that has a name has a nasty one."""
    cells = several((NASTY, "plain"), (NASTY, "[first", "*star"))
    cells += [
        finished(0.8, seed=seed, dataset=NASTY, scaling=NASTY, cpu=NASTY, concurrency=seed + 1)
        for seed in range(3)
    ]
    return build.build(cells, NASTY, one_study=True)


def columns(line):
    return len(re.split(r"(?<!\\)\|", line)) - 2


def test_markdown_tables_have_a_cell_a_column_whatever_names_hold(nasty):
    text = markdown.markdown(nasty)
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) == len(nasty.boards) + 1
    for table in tables:
        lines = table.splitlines()
        assert len({columns(line) for line in lines}) == 1
        assert set(lines[1]) <= set("|-: ")
    assert "<i>" not in text.replace("\\<", "")
    assert len([line for line in text.splitlines() if line.startswith("# ")]) == 1


def structure(text):
    """Whether braces and environments of a LaTeX text close, and the cells of each table's lines."""
    bare = re.sub(r"\\[\\{}&%$#_]", lambda found: "\n" if found[0] == r"\\" else "", text)
    depth = 0
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    assert re.findall(r"\\begin{(\w+)}", text).count("tabular") == text.count("\\end{tabular}")
    tables = re.findall(r"\\toprule(.*?)\\bottomrule", text, re.DOTALL)
    return [
        [len(re.findall(r"(?<!\\)&", line)) for line in table.splitlines() if "&" in line] for table in tables
    ]


def test_latex_closes_what_it_opens_and_has_a_cell_a_column(nasty):
    text = latex.latex(nasty)
    for cells in structure(text):
        assert len(cells) == 2 + len(nasty.boards)  # head and mean ranks
        assert set(cells) == {3}
    assert text.isprintable() or all(ord(letter) < 0x180 for letter in text)
    assert "\n\n" not in text.partition("toprule")[2].partition("bottomrule")[0]


def test_columns_of_siunitx_have_numbers_or_braces(nasty):
    report = random_report(methods=3, boards=2)
    for each in (report, nasty):
        text = latex.latex(each, siunitx=True)
        assert structure(text) == structure(latex.latex(each))
        assert text.count("\\usepackage{siunitx}") == 1
    assert "siunitx" not in latex.latex(report)
    shown = latex.latex(report, siunitx=True)
    means = shown.partition("toprule")[2].partition("bottomrule")[0]
    cells = [
        cell for line in means.split(r"\\") for cell in re.split(r"(?<!\\)&", line.replace("\n", ""))[1:]
    ]
    assert cells
    assert all(cell.strip().startswith("{") or latex.NUMBER.fullmatch(cell.strip()) for cell in cells)
    for board in report.boards:
        for row in board.rows:
            if not (math.isnan(row.auc.value) or row.gaps):
                assert f"{row.auc.value:.4f}({round(1e4 * row.std)})" in means


@pytest.mark.parametrize("letter", '\\&%$#_{}~^<>|"[]*`')
def test_latex_never_sees_a_special_character_as_such(letter):
    assert latex.escaped(f"x{letter}y") != f"x{letter}y"
    assert latex.escaped(f"x{letter}y")[0] + latex.escaped(f"x{letter}y")[-1] == "xy"


def test_escaped_text_is_one_line_of_letters_that_latex_knows():
    assert latex.escaped("a\n\nb\tc\x07") == "a b c?"
    assert latex.escaped("é 数") == "é ?"


def test_the_best_and_those_that_do_not_differ_from_it_are_bold():
    cells = several(("alpha", "beta"), runs=5)
    cells += [
        finished(cell.record.result.auc + (0.001 if cell.run.seed % 2 else -0.0011), seed=cell.run.seed,
                 algorithm="close")
        for cell in cells
        if cell.described.algorithm.name == "alpha"
    ]  # fmt: skip
    report = build.build(cells, "t")
    assert sorted(re.findall(r"\*\*(\w+)\*\*", markdown.markdown(report))) == ["alpha", "close"]
    assert latex.latex(report).count("mathbf") == 2


def test_groups_of_different_settings_have_tables_of_their_own():
    cells = several(datasets=("one", "two")) + [finished(0.9, seed=s, scaling="unit") for s in range(3)]
    report = build.build(cells, "t")
    text = latex.latex(report)
    assert text.count("\\begin{tabular}") == 2
    assert re.findall(r"\n(one|two|data) &", text) == ["one", "two", "data"]
    assert "scaling unit" in text
    assert markdown.markdown(report).count("## All 2 boards, not tuned; scaling maxabs") == 1


def test_a_check_that_a_method_is_exempt_from_is_told_with_its_reason(capsys):
    made = altered(finished(0.9), algorithm={"exempt": {"learning": "it | forgets"}})
    report = build.build([made], "t")
    said = "* alpha is exempt from some checks of `aucbench check`: learning: it | forgets"
    assert said in re.sub(r"\\(.)", r"\1", markdown.markdown(report))
    terminal.show(report)
    assert said in capsys.readouterr().out


def test_a_method_without_weights_is_marked_as_no_linear_model(capsys):
    trees = altered(finished(0.95, algorithm="trees"), result={"weights_norm": None})
    report = build.build([trees, finished(0.9, algorithm="linear")], "t")
    assert [row.linear for row in report.boards[0].rows] == [False, True]
    terminal.show(report)
    for text in (capsys.readouterr().out, markdown.markdown(report)):
        assert "trees°" in text
        assert "linear°" not in text
        assert "° trees is not a linear model" in text


def test_a_ranking_says_what_became_of_methods_without_a_rank_and_has_no_gains_without_a_baseline(capsys):
    cells = several(("alpha", "beta"), ("one", "two"))
    for status, dataset in (("diverged", "one"), ("diverged", "two"), ("failed", "two")):
        cells.append(unfinished(status, seed=len(cells), algorithm="gamma", dataset=dataset))
    for baseline, has_gains in (("log_reg", False), ("alpha", True)):
        terminal.show_best(build.build(cells, "t", baseline=baseline))
        shown = " ".join(capsys.readouterr().out.split())
        assert "gamma has gaps on one, two: " in shown
        assert "diverged in 2 of " in shown
        assert ("Mean gain" in shown) is has_gains
        assert ("log_reg was not run" in shown) is not has_gains


def test_tables_say_who_is_tied_with_the_best():
    cells = [
        finished(auc + 0.001 * seed * (-1) ** seed, seed=seed, algorithm=name)
        for name, auc in (("alpha", 0.9), ("beta", 0.9), ("gamma", 0.6))
        for seed in range(5)
    ]
    (board,) = (report := build.build(cells, "t")).boards
    table = board_table(report, board, ("method", "groups"))
    assert {tuple(line) for line in table.lines} == {("alpha", "best"), ("beta", "tied"), ("gamma", "-")}


def test_the_terminal_shows_names_in_one_line_and_as_they_are(nasty, capsys):
    terminal.show(nasty)
    shown = capsys.readouterr().out
    assert "[first" in shown
    assert "\x07" not in shown


def test_pictures_of_nasty_names_have_files_of_plain_names(nasty, tmp_path):
    files = draw_all(replace(nasty, boards=nasty.boards[:1], overall=()), tmp_path, formats=("png",))
    assert len(files) == 6
    for file in files:
        assert re.fullmatch(r"[A-Za-z0-9.=_-]+", file.name)
        assert len(file.name) < 120


def test_a_report_of_the_views_own_tests_has_all_forms():
    report = random_report(methods=3, boards=2)
    assert all(row.method in markdown.markdown(report) for row in report.boards[0].rows)
    assert structure(latex.latex(report)) == [[3, 3, 3, 3], [3, 3, 3, 3]]  # AUCs and gains
