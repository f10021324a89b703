"""Text in the terminal and Markdown: its numbers are those of the frames, and names cannot break it."""

import re

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
    """Of three methods on twelve data sets, and one that failed on two of them."""
    lost = small_cells(("lost",), 12)
    lost = [cell for cell in lost if cell.described.dataset.name not in ("data0", "data1")]
    return build(small_cells() + lost + failed_cells("lost", 2), "a study", True, reference="alpha")


@pytest.fixture
def shown(capsys, monkeypatch):
    """What is printed in a terminal of some width, or into a pipe."""

    def shown(width, view, *words, **options):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setattr("sys.stdout.isatty", lambda: width is not None)
        view(*words, **options)
        return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)  # styles

    return shown


def numbers(row, name):
    """A gain as text: with its interval."""
    low, high = ("gain_low", "gain_high") if "gain_low" in row else ("low", "high")
    return f"{row[name]:+.4f} ({row[low]:+.4f} to {row[high]:+.4f})"


def same_overall(lines, report):
    """Assert that lines of a table over all data sets, lists of texts, equal the frame of verdicts."""
    rows = report.verdicts[report.verdicts["group"] == ALL].to_dict("records")
    assert [line[0] for line in lines] == [row["method"] for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert line[4] == f"{row['mean']:.4f}" + (" (10 of 12)" if row["method"] == "lost" else "")
        assert line[-1] == str(row["gaps"])
        if row["method"] in report.references.values():
            assert line[1:3] == ["-", "-"]
            continue
        assert line[1] == numbers(row, "gain")
        assert line[2] == row["verdict"]
        assert float(line[3]) == pytest.approx(row["time_ratio"], rel=0.006)
        shares = [float(part.removesuffix(" %")) / 100 for part in line[5:8]]
        assert shares == pytest.approx([row[name] for name in ("worse", "same", "better")], abs=0.001)


def same_on_data(lines, report, data_set):
    """Assert that lines of a table on one data set equal the frames of results and gains."""
    results = report.results[report.results["data_set"] == data_set].set_index("method")
    gains = report.gains[report.gains["data_set"] == data_set].set_index("method")
    assert {line[0] for line in lines} == set(results.index)
    for line in lines:
        row = results.loc[line[0]]
        if row["gaps"]:
            assert line == lines[-1]
            assert line[-1] == row["gaps"]
            continue
        assert line[1] == f"{row['mean']:.4f} ± {row['std']:.4f}"
        gain = gains.loc[line[0]] if line[0] in gains.index else None
        assert line[2] == ("-" if gain is None else numbers(gain, "gain"))
        assert line[3] == ("-" if gain is None else gain["verdict"] or "-")
        assert line[7] == str(row["runs"])


def test_every_number_of_the_tables_is_that_of_the_frames(report):
    written = text.markdown(report).replace("\\", "")
    assert answer(report, "defaults") in written
    same_overall(text.board_table(report, "defaults").lines, report)
    for data_set in report.data_sets["data_set"]:
        table = text.board_table(report, "defaults", data_set)
        same_on_data(table.lines, report, data_set)
        assert all(" | ".join(line) in written for line in table.lines)
        means = [line[1].split()[0] for line in table.lines if line[1] != "-"]
        assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("width", [80, 200, None])
def test_the_terminal_shows_all_of_a_table_within_its_width(report, shown, width):
    out = shown(width, text.show, report, ("data0",)) + shown(width, text.show, report, notes=True)
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


@pytest.mark.parametrize("width", [60, 80, 200])
def test_names_of_any_kind_fit_into_a_terminal_and_end_no_line(shown, width, nasty):
    out = shown(width, text.show, nasty, (NASTY,)) + shown(width, text.show, nasty)
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


def test_a_sweep_shows_its_best_methods_alone(shown):
    names = tuple(f"method{k:02}" for k in range(12))
    for data_sets in (1, 3):
        report = small_report(names, data_sets=data_sets)
        out = shown(200, text.show_best, report)
        best = [line[0] for line in text.board_table(report, "defaults").lines]
        if data_sets == 1:
            best = [line[0] for line in text.board_table(report, "defaults", "data0").lines]
        assert re.findall(r"^│ (method\d+)", out, re.MULTILINE) == best[:10]
        assert "12 methods on" in out
