"""The text of a page: one file, safe whatever names say."""

import html
import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from aucbench.reports.render._page_data import packed
from aucbench.reports.render.columns import board_table, overall_table
from aucbench.reports.render.page import SCRIPTS, embedded, page, script, style, write_page
from aucbench.reports.report import DataFacts, TriedSetting
from aucbench.studies.method_look import Look
from tests.helpers.small_study import report

HARMFUL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


class Parsed(HTMLParser):
    """Elements with their attributes, and the text of each script and style."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_data(self, data):
        if self.texts:
            self.texts[-1] += data

    def of(self, tag):
        found = zip(self.elements, self.texts, strict=True)
        return [(attrs, text) for (name, attrs), text in found if name == tag]


def named(name):
    """A report in which every text that a plugin may choose is `name`."""
    made = report(methods=2, boards=1, runs=2, gaps=False)
    board = made.boards[0]
    rows = tuple(
        replace(
            row, method=f"{name} {k}", algorithm=name, parameters=name, command=name, timing_mark=name,
            exempt=name,
        )
        for k, row in enumerate(board.rows)
    )  # fmt: skip
    facts = DataFacts(citation=name, licence=name, format=name, positive=(name,))
    board = replace(
        board, dataset=name, setting=name, facts=facts, target_text=name, rows=rows,
        trials={name: [TriedSetting({name: name}, 0.7), TriedSetting({name: 1}, 0.8)]},
    )  # fmt: skip
    method = replace(next(iter(made.methods.values())), name=name, summary=name, citation=name, source=name)
    overall = replace(made.overall[0], methods=(f"{name} 0", f"{name} 1"), friedman_text=name)
    return replace(
        made, title=name, version=name, machines=name, made=name, boards=(board,), overall=(overall,),
        methods={name: method}, looks={name: Look(f'red"{name}', name, name, name)}, notes=(name,),
    )  # fmt: skip


def test_a_page_is_written_into_a_new_folder_and_over_an_older_one(tmp_path):
    file = tmp_path / "new" / "page.html"
    write_page(report(), file)
    write_page(report(methods=2, boards=1), file)
    assert file.read_text("utf-8") == page(report(methods=2, boards=1))


@pytest.mark.parametrize("made", [report(), named(HARMFUL)], ids=["usual", "harmful"])
def test_a_page_loads_nothing(made):
    parsed = Parsed(page(made))
    for tag, attrs in parsed.elements:
        assert tag not in {"img", "iframe", "object", "embed", "audio", "video", "base", "form"}
        assert "src" not in attrs
        assert not [name for name in attrs if name.startswith("on")]
        if tag == "link":
            assert attrs["href"] == "data:,"
    assert "@import" not in style()
    assert "url(" not in style()


def test_scripts_fetch_nothing_and_write_no_markup():
    for word in ("fetch(", "XMLHttpRequest", "import(", "innerHTML", "outerHTML", "document.write", "eval("):
        assert word not in script()
    assert "</script" not in script().lower()
    assert "</style" not in style().lower()


def test_the_browser_may_run_only_the_script_of_the_page():
    parsed = Parsed(page(report()))
    policy = next(attrs["content"] for attrs, _ in parsed.of("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 2


def test_harmful_names_stay_texts():
    text = page(named(HARMFUL))
    parsed = Parsed(text)
    scripts = parsed.of("script")
    assert len(scripts) == 2
    assert scripts[1][1].strip() == script().strip()
    assert json.loads(scripts[0][1])["title"] == HARMFUL
    assert "<script>alert" not in text
    assert "<img" not in text


def test_embedded_data_is_read_back_as_it_was():
    data = {"</script>": "<!-- & \u2028\u2029 é", "x": [1.5, None, True]}
    text = embedded(data)
    assert json.loads(text) == data
    assert not set("<>&\u2028\u2029") & set(text)


def test_numbers_are_rounded_to_what_anybody_reads():
    made = report(methods=1, boards=1, gaps=False)
    row = made.boards[0].rows[0]
    found = packed(made)["groups"][0]["boards"][0]["rows"][0]
    assert found["auc"]["value"] == row.auc.value
    assert found["curve"]["auc"] == pytest.approx(row.curve.auc, rel=1e-5)
    assert max(len(str(value)) for value in found["curve"]["seconds"]) <= 11


def test_trials_are_points_of_each_field_with_the_best_of_each_value():
    made = report(methods=1, boards=1, gaps=False)
    trials = made.boards[0].trials["method0"]
    found = packed(made)["groups"][0]["boards"][0]["trials"]["method0"]
    assert [name for name, _, _, _ in found] == ["eta", "radius"]
    for name, numeric, points, best in found:
        assert numeric
        expected = [(trial.parameters[name], trial.auc) for trial in trials]
        assert np.array(points) == pytest.approx(np.array(expected), rel=1e-5)
        values = sorted({value for value, _ in points})
        assert best == [[value, max(auc for other, auc in points if other == value)] for value in values]


def test_a_value_that_is_not_known_is_null_and_a_cell_says_why():
    row = packed(report(methods=1, boards=1, runs=1, gaps=False))["groups"][0]["boards"][0]["rows"][0]
    assert row["auc"]["low"] is None
    assert row["cells"]["interval"] == ["-", None, "one run has no spread", None, None]


def test_pairs_are_signed_where_the_report_says_that_they_differ():
    made = report(methods=4, boards=2, gaps=False)
    for board, found in zip(made.boards, packed(made)["groups"][0]["boards"], strict=True):
        names = [row.method for row in board.rows]
        for one, line in zip(names, found["pairs"], strict=True):
            for other, pair in zip(names, line, strict=True):
                if one == other:
                    assert pair is None
                    continue
                differ = board.pairwise[one, other] < made.level
                assert pair[0] == ("+" if names.index(one) < names.index(other) else "-") * differ


@pytest.mark.slow
def test_the_page_of_a_large_study_stays_small():
    assert len(page(report(methods=20, boards=20, runs=25, checkpoints=50))) < 4_000_000


def test_every_script_is_in_the_page():
    from importlib.resources import files

    folder = files("aucbench.reports.render").joinpath("page_files")
    assert sorted(SCRIPTS) == sorted(f.name[:-3] for f in folder.iterdir() if f.name.endswith(".js"))


def test_without_scripts_the_tables_are_there():
    made = report()
    text = page(made).split("<noscript>")[1].split("</noscript>")[0]
    for table in (overall_table(made, made.overall[0]), *(board_table(made, board) for board in made.boards)):
        for line in table.lines:
            assert "".join(f"<td>{html.escape(text)}</td>" for text in line) in text


def test_an_empty_report_is_a_page():
    empty = replace(report(), boards=(), overall=(), methods={}, looks={}, notes=())
    assert "<main" in page(empty)
