"""Text in the terminal and Markdown has the numbers of the frames, and names cannot break it."""

import re

import numpy as np
import pytest
from rich.cells import cell_len

from aucbench.reports.answer import answer
from aucbench.reports.build import build
from aucbench.reports.report import ALL
from aucbench.reports.views import text
from tests.helpers.board_cells import several
from tests.helpers.small_report import failed_cells, small_cells, small_report

NASTY = "a_b | [x](y) #1 ~z~ *é* <i>$m$</i> \\ `c` & 数据 \x1b[2J \x07\nsecond line, and a very long name"


@pytest.fixture(scope="module")
def report():
    """A report on three methods on twelve data sets, and on a method that failed on two data sets."""
    lost = small_cells(("lost",), 12)
    lost = [cell for cell in lost if cell.described.dataset.name not in ("data0", "data1")]
    return build(small_cells() + lost + failed_cells("lost", 2), "a study", True, reference="alpha")


@pytest.fixture
def printed(capsys, monkeypatch):
    """A function that returns the output of a view in a terminal of some width, or in a pipe."""

    def capture(width, view, *arguments, **options):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr("sys.stdout.isatty", lambda: width is not None)
        view(*arguments, **options)
        return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)  # styles

    return capture


def lines_of(table):
    """Texts of a table by heading, one mapping per line."""
    return [dict(zip(table.head, line, strict=True)) for line in table.lines]


def gain_and_verdict(row):
    if row is None or np.isnan(row["gain"]):
        return {"Gain over alpha": "-", "Verdict": "-"}
    interval = f"({row['low']:+.4f} to {row['high']:+.4f})"
    return {"Gain over alpha": f"{row['gain']:+.4f} {interval}", "Verdict": row["verdict"] or "-"}


def test_every_number_of_the_tables_is_that_of_the_frames(report):
    written = text.markdown(report).replace("\\", "")
    assert answer(report, "defaults") in written
    rows = report.verdicts[report.verdicts["group"] == ALL].to_dict("records")
    for line, row in zip(lines_of(text.board_table(report, "defaults")), rows, strict=True):
        mean = f"{row['mean']:.4f}" + " (10 of 12)" * (row["method"] == "lost")
        expected = {"Method": row["method"], "Mean AUC": mean, "Gaps": str(row["gaps"])}
        assert line.items() >= (expected | gain_and_verdict(row)).items()
        if row["method"] != "alpha":
            assert float(line["Time"]) == pytest.approx(row["time_ratio"], rel=0.006)
            shares = [float(line[name].removesuffix(" %")) / 100 for name in ("Worse", "Same", "Better")]
            assert shares == pytest.approx([row[name] for name in ("worse", "same", "better")], abs=0.001)
    for data_set in report.data_sets["data_set"]:
        results = report.part("results", "defaults", data_set).set_index("method")
        gains = report.part("gains", "defaults", data_set).set_index("method").to_dict("index")
        table = text.board_table(report, "defaults", data_set)
        assert {line[0] for line in table.lines} == set(results.index)
        assert all(" | ".join(line) in written for line in table.lines)
        for line in lines_of(table):
            row = results.loc[line["Method"]]
            expected = {"Runs": str(row["runs"])} | gain_and_verdict(gains.get(line["Method"]))
            if row["gaps"]:
                expected["Gaps"] = row["gaps"]
                assert line == lines_of(table)[-1]
            else:
                expected["Test AUC"] = f"{row['mean']:.4f} ± {row['std']:.4f}"
            assert line.items() >= expected.items()
        means = [line["Test AUC"].split()[0] for line in lines_of(table) if line["Test AUC"] != "-"]
        assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("width", [80, None])
def test_the_terminal_shows_all_of_a_table_within_its_width(report, printed, width):
    out = printed(width, text.show, report, ("data0",)) + printed(width, text.show, report, notes=True)
    assert max(map(cell_len, re.findall(r"^[│┃┏└].*$", out, re.MULTILINE))) <= (width or text.WIDTH)
    assert "…" not in out
    for table in (text.board_table(report, "defaults"), text.board_table(report, "defaults", "data0")):
        for line in [table.head, *table.lines]:
            assert all(part in out for part in line)
    flat = " ".join(out.split())
    assert answer(report, "defaults") in flat
    assert all(" ".join(note.split()) in flat for note in report.notes)
    assert text.counts(report) in flat


@pytest.fixture(scope="module")
def nasty():
    return build(several((NASTY, "beta"), (NASTY, "other")), NASTY, True, reference="beta")


@pytest.mark.parametrize("width", [60, 200])
def test_names_of_any_kind_fit_into_a_terminal_and_end_no_line(printed, width, nasty):
    out = printed(width, text.show, nasty, (NASTY,)) + printed(width, text.show, nasty)
    lines = re.findall(r"^[│┃┏└┡].*$", out, re.MULTILINE)
    assert lines
    assert max(map(cell_len, lines)) <= width
    assert not re.search("[\x1b\x07]", out)


def test_markdown_has_no_markup_that_names_brought_in(nasty):
    plain = re.sub(r"\\.", "", text.markdown(nasty))
    assert not re.search(r"[<>`$\[\]~]", plain)
    tables = re.findall(r"(?:^\|.*\n)+", plain, re.MULTILINE)
    assert len(tables) == 4
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert len(re.findall(r"^#", plain, re.MULTILINE)) == 4


def test_a_sweep_shows_its_best_methods_alone(printed):
    names = tuple(f"method{k:02}" for k in range(12))
    for data_sets, shown_set in ((1, "data0"), (3, "")):
        report = small_report(names, data_sets=data_sets, runs=1)
        out = printed(200, text.show_best, report)
        best = [line[0] for line in text.board_table(report, "defaults", shown_set).lines]
        assert re.findall(r"^│ (method\d+)", out, re.MULTILINE) == best[:10]
        assert "12 methods on" in out
