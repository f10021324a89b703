"""The text of a page: one file, safe whatever names say."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from aucbench.boards.page import page, write_page
from aucbench.boards.page.assets import SCRIPTS, STYLES, script, style
from aucbench.boards.page.packing import embedded, packed
from aucbench.boards.report import DataFacts, Look
from tests.boards.making import report

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
        trials={name: [{"parameters": {name: name}, "auc": 0.7}, {"parameters": {name: 1}, "auc": 0.8}]},
    )  # fmt: skip
    method = replace(next(iter(made.methods.values())), name=name, summary=name, citation=name, source=name)
    overall = replace(made.overall[0], methods=(f"{name} 0", f"{name} 1"), friedman_text=name)
    return replace(
        made, title=name, version=name, machines=name, made=name, boards=(board,), overall=(overall,),
        methods={name: method}, looks={name: Look(f'red"{name}', name, name)}, notes=(name,),
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
    found = packed(made)["boards"][0]["rows"][0]
    assert found["auc"]["value"] == pytest.approx(row.auc.value, rel=1e-5)
    assert found["curve"]["auc"] == pytest.approx(row.curve.auc, rel=1e-5)


def test_trials_are_columns():
    made = report(methods=1, boards=1, gaps=False)
    trials = made.boards[0].trials["method0"]
    found = packed(made)["boards"][0]["trials"]["method0"]
    assert found["fields"] == ["eta", "radius"]
    assert found["values"][3] == pytest.approx(list(trials[3]["parameters"].values()))
    assert len(found["auc"]) == len(trials)


def test_a_value_that_is_not_known_is_null():
    row = packed(report(methods=1, boards=1, runs=1, gaps=False))["boards"][0]["rows"][0]
    assert row["std"] is None


def test_the_page_of_a_large_study_stays_small():
    assert len(page(report(methods=20, boards=20, runs=25, checkpoints=50))) < 4_000_000


def test_every_script_and_style_is_in_the_page():
    from importlib.resources import files

    folder = files("aucbench.boards.page")
    assert sorted(SCRIPTS) == sorted(file.name[:-3] for file in folder.joinpath("scripts").iterdir())
    assert sorted(STYLES) == sorted(file.name[:-4] for file in folder.joinpath("styles").iterdir())


def test_without_scripts_the_results_are_there_in_words():
    assert "method0: 1.00 (groups a)" in page(report()).split("<noscript>")[1].split("</noscript>")[0]


def test_an_empty_report_is_a_page():
    empty = replace(report(), boards=(), overall=(), methods={}, looks={}, notes=())
    assert "<main" in page(empty)
