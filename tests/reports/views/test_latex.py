"""LaTeX has the numbers of the frames, and is well-formed for any names."""

import re
import shutil
import subprocess

import pytest

from aucbench.reports.build import build
from aucbench.reports.labels import with_titles
from aucbench.reports.views import latex
from tests.helpers.small_report import failed_cells, small_cells, small_report

NASTY = 'a_b & 50% | [x] #1 {y} ~z^2 <i>$m$</i> \\frac\n\nsecond line *é* 数据 \x07 "q" `c` --'


@pytest.fixture(scope="module")
def report():
    return small_report(data_sets=12, runs=3)


def tables(text):
    """The cells of each table, one list per line."""
    parsed = []
    for body in re.findall(r"\\toprule(.*?)\\bottomrule", text, re.DOTALL):
        lines = body.replace("\\midrule", "").strip().split("\\\\\n")
        lines = [line.removesuffix("\\\\") for line in lines]
        parsed.append([[cell.strip() for cell in re.split(r"(?<!\\)&", line)] for line in lines])
    return parsed


def value(cell):
    """The number of a cell."""
    return float(cell.replace("\\bfseries ", "").replace("$-$", "-").split(" ")[0])


def test_the_first_table_has_the_verdicts_of_the_frame(report):
    head, *lines = tables(latex.latex(report))[0]
    rows = report.verdicts[report.verdicts["group"] == "all"]
    assert len(head) == 5
    assert len(lines) == len(rows) == 3
    for (name, gain, interval, verdict, time), row in zip(lines, rows.to_dict("records"), strict=True):
        assert name == row["method"]
        assert float(time) == pytest.approx(row["time_ratio"], rel=0.006)
        if name == "alpha":
            assert (value(gain), interval, verdict) == (0.0, "", "reference")
            continue
        low, high = re.fullmatch(r"\((.*), (.*)\)", interval.replace("$-$", "-")).groups()
        for column, number in (("gain", value(gain)), ("low", float(low)), ("high", float(high))):
            assert number == pytest.approx(1000 * row[column], abs=0.05 + 1e-9)
        assert verdict == row["verdict"]


def test_the_best_gain_and_what_is_equivalent_to_it_are_bold():
    names = ["alpha", "beta", "gamma", "delta"]
    cells = small_cells(names, 12, 3, far=["alpha", "delta"])
    report = build(cells, "t", True, reference="alpha")
    (lines,) = tables(latex.latex(report))
    against = build(cells, "t", True, reference="beta").over_all("defaults")
    assert lines[1][0] == "beta"
    equal = set(against.loc[against["verdict"] == "equivalent", "method"])
    assert equal == {"gamma"}
    assert {line[0] for line in lines[1:] if "\\bfseries" in line[1]} == {"beta", *equal}


def test_methods_have_the_names_of_papers_and_every_citation_has_an_entry():
    cells = small_cells(["log_reg", "psam", "solam", "mine"], 3)
    named = with_titles(build(cells, "t", True, reference="log_reg"))
    text = latex.latex(named)
    assert {line[0].partition(" ")[0] for line in tables(text)[0][1:]} == {"LogReg", "PSAM", "SOLAM", "mine"}
    cited = set(re.findall(r"\\cite{(.*?)}", text))
    assert len(cited) == 3
    assert set(re.findall(r"^@\w+{(.*),", latex.bibtex(named), re.MULTILINE)) == cited
    assert set(named.gains["reference"]) == set(named.references.values()) == {"LogReg"}
    alike = build(small_cells(["log_reg", "LogReg"], 1), "t", True, reference="log_reg")
    assert with_titles(alike) is alike


def test_a_single_data_set_has_the_verdicts_over_its_runs():
    report = build(small_cells(["alpha", "beta"], 1, 8, far=["beta"]), "t", True, reference="alpha")
    lines = {line[0]: line for line in tables(latex.latex(report))[0][1:]}
    assert lines["beta"][3] == report.gains["verdict"].iloc[0] == "worse"


@pytest.fixture
def compiled(process, tmp_path):
    """A function that compiles a document with its bibliography and asserts that LaTeX does not warn."""
    if not (shutil.which("pdflatex") and shutil.which("bibtex")):
        pytest.skip("no pdflatex on PATH")

    def run(text, references):
        (tmp_path / "paper.tex").write_text(text)
        (tmp_path / latex.BIBLIOGRAPHY).write_text(references)
        typeset = ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "paper"]
        cites = "\\cite{" in text
        for command in [typeset, *([["bibtex", "paper"], typeset, typeset] if cites else [])]:
            subprocess.run(command, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, timeout=100)
        log = (tmp_path / "paper.log").read_text(errors="replace")
        assert re.findall("^(?:Overfull|LaTeX Warning).*", log, re.MULTILINE) == []

    return run


def test_the_tables_compile_whatever_they_hold(compiled):
    methods = ["log_reg", "psam", "solam", "mine", "psam (max_train_rows=10000, radius=100)", NASTY]
    data_sets = [NASTY, "*star", *(f"data{k}" for k in range(20))]
    named = with_titles(build(small_cells(methods, data_sets, 3), "t", True, reference="log_reg"))
    compiled(latex.latex(named), latex.bibtex(named))
    empty = build(failed_cells("beta", 2), "t", True)
    compiled(latex.latex(empty), latex.bibtex(empty))
    assert latex.escaped("a\n\nb\tc\x07 é 数") == "a b c é ?"
