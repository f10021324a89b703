"""The page says what Python found, and what all other views say."""

import itertools
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

import aucbench
from aucbench.reports import build
from aucbench.reports.cells import from_store
from aucbench.reports.render import latex, markdown, terminal
from aucbench.reports.render.page import write_page
from aucbench.reports.report import DataFacts
from aucbench.studies.store import Store
from tests.helpers.board_cells import altered, finished
from tests.helpers.small_study import cells
from tests.reports.render.test_page_in_browser import DASH, column


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    many = cells(methods=6, boards=3)
    write_page(build.build(many, "a study", one_study=True, baseline="method1"), file)
    return file.as_uri()


def test_the_sentence_the_letters_the_pairs_and_the_diagram_do_not_contradict_each_other(
    visit, tmp_path, capsys
):
    report = build.build(cells(methods=6, boards=12, gaps=False), "a study", one_study=True)
    (overall,) = report.overall
    write_page(report, tmp_path / "page.html")
    tab = visit((tmp_path / "page.html").as_uri())
    lines = tab.locator(".ranking tbody tr")
    names = lines.locator("th .method").all_inner_texts()
    heads = tab.locator(".ranking thead th").all_inner_texts()
    place = next(k for k, text in enumerate(heads, 1) if "Tied with" in " ".join(text.split()))
    ties = lines.locator(f"xpath=*[{place}]").all_inner_texts()
    letters = [set(overall.groups[name]) for name in names]
    assert ties[0] == "best"
    assert names == [f"method{k}" for k in range(6)]
    matrix = tab.locator("#pairs tbody tr").evaluate_all(
        "all => all.map(line => [...line.querySelectorAll('td')].map(cell => cell.className))"
    )
    said = tab.locator(".verdict").inner_text()
    for one in range(6):
        for other in range(one + 1, 6):
            differ = not letters[one] & letters[other]
            assert differ == (matrix[one][other] == "better") == (matrix[other][one] == "worse")
            assert differ == (overall.pairwise[names[one], names[other]] < report.level)
    near = [name for name, own in zip(names[1:], letters[1:], strict=True) if own & letters[0]]
    assert near == [name for name, text in zip(names, ties, strict=True) if text == "tied"]
    assert ("significantly ahead of all 5 others" in said) == (not near)
    assert all(name in said for name in near)
    bars = tab.locator("#critical .clique").evaluate_all("all => all.map(bar => bar.dataset.methods)")
    assert bars == [", ".join(group) for group in overall.cliques]
    joined = {frozenset(pair) for group in overall.cliques for pair in itertools.pairwise(group)}
    wilcoxon = {frozenset(pair) for pair, p in overall.pairwise.items() if p < report.level}
    assert joined & wilcoxon  # here the tests say different things about the same two methods
    assert "Nemenyi" in tab.locator("#critical").inner_text()
    assert "Nemenyi" not in said + tab.locator("#ranking").inner_text() + tab.locator("#pairs").inner_text()
    for place in ("#ranking", "#pairs"):
        assert (
            "Wilcoxon's signed-rank test over 12 data sets, Holm over 15 pairs"
            in tab.locator(place).inner_text()
        )
    terminal.show(replace(report, notes=()))
    for text in (capsys.readouterr().out, markdown.markdown(replace(report, notes=())), latex.latex(report)):
        assert "Nemenyi" not in text


def test_letters_of_a_board_stand_beside_their_test(visit, address):
    tab = visit(f"{address}#data/data2")
    said = tab.locator("#results .reading").inner_text()
    assert "paired t-test over 5 runs with Nadeau and Bengio's correction (test/training rows = 0.25)" in said
    assert "Holm over 15 pairs, 5 %" in said


def test_the_page_shows_the_front_and_the_costs_that_python_found(visit, tmp_path):
    found = [
        altered(cell, environment={"cpu": "a faster chip"}, result={"train_seconds": 1e-6})
        if cell.described.algorithm.name == "method5"
        else cell
        for cell in cells(methods=6, boards=3, gaps=False)
    ]
    report = build.build(found, "a study", one_study=True)
    write_page(report, tmp_path / "page.html")
    costs = report.overall[0].costs
    assert costs["method5"].marked
    assert not costs["method5"].on_front
    front = {name for name, cost in costs.items() if cost.on_front}
    rivals = {name: cost for name, cost in costs.items() if not cost.marked}
    for name, cost in rivals.items():
        beaten = any(
            other.auc >= cost.auc and other.seconds <= cost.seconds and other != cost
            for other in rivals.values()
        )
        assert (name in front) == (not beaten)
    tab = visit(f"{(tmp_path / 'page.html').as_uri()}#overall")
    shown = tab.locator("#pareto > figure .best").evaluate_all("all => all.map(each => each.dataset.method)")
    assert set(shown) == front
    assert "method5 †" in tab.locator("#pareto > figure .point:not(.best) text").all_text_contents()
    for board in report.boards:
        assert not next(row for row in board.rows if row.method == "method5").on_front


def test_the_facts_of_real_cells_reach_the_page(visit, folder, tmp_path):
    """What Python writes, the script reads, for every field."""
    uncounted = {
        "test_positives": None,
        "positive": (),
        "negative": (),
    }  # as in records of an earlier version
    found = [
        altered(cell, data=uncounted) if cell.described.dataset.name == "wine" else cell
        for cell in from_store(Store(folder), "small")
    ]
    report = build.build(found, "small", one_study=True)
    write_page(report, tmp_path / "page.html")
    place = (tmp_path / "page.html").as_uri()
    tab = visit(f"{place}#data")
    for board in report.boards:
        line = tab.locator(".results tbody tr", has_text=board.dataset).first.locator("td").all_inner_texts()
        assert line[:2] == [f"{board.facts.rows:,}", f"{board.facts.features:,}"]
        assert line[2].endswith("%")
    for board in report.boards:
        tab.goto(f"{place}#data/{board.dataset}")
        pairs = tab.locator("#facts [data-fact]").evaluate_all(
            "all => all.map(each => [each.dataset.fact, each.querySelector('dd').innerText])"
        )
        facts = dict(pairs)
        listed = [field.name for field in fields(DataFacts) if field.name not in ("summary", "links")]
        assert list(facts) == listed
        assert board.facts.summary in tab.locator("#facts").inner_text()
        for name in listed:
            value = getattr(board.facts, name)
            assert (facts[name] == DASH) == (value in (None, "", ()))
        assert facts["rows"] == f"{board.facts.train_rows + board.facts.test_rows:,}"
        assert facts["citation"] == board.facts.citation
    tab.goto(f"{place}#data/digits")
    assert tab.locator("[data-fact=positive] dd").inner_text() == "5, 6, 7, 8 and 9"
    y = aucbench.data.load(aucbench.catalog().dataset("digits")()).y
    assert tab.locator("[data-fact=positives] dd").inner_text() == f"{np.count_nonzero(y == 1):,}"


TIES = (0.93095, 0.53125, 0.90625, 0.50005, 0.99995)  # five decimals: halves, and what six digits make halves


@pytest.mark.parametrize("auc", [*TIES, 0.930949999, 0.9309500001])
def test_a_number_is_rounded_once_and_stands_so_in_every_view(visit, auc, tmp_path, capsys):
    made = [finished(auc, seed=seed, algorithm=name) for seed in range(2) for name in ("alpha", "beta")]
    report = build.build(made, "t", baseline="beta")
    text = f"{auc:.4f}"
    write_page(report, tmp_path / "page.html")
    tab = visit(f"{(tmp_path / 'page.html').as_uri()}#data/data")
    assert column(tab, 3) == [f"{text} ± 0.0000"] * 2
    assert text in tab.locator(".verdict").inner_text()
    tab.locator("#curves svg.plot").focus()
    for _ in range(41):
        tab.keyboard.press("ArrowRight")
    assert tab.locator("#curves .readout td:nth-child(2)").all_inner_texts() == [text] * 2
    tab.goto(f"{(tmp_path / 'page.html').as_uri()}#overall")
    assert tab.locator(".heat tbody td").all_inner_texts() == [text.removeprefix("0")] * 2
    terminal.show(report)
    assert capsys.readouterr().out.count(f"{text} ± 0.0000") == 2
    assert markdown.markdown(report).count(f"{text} ± 0.0000") == 2
    assert latex.latex(report).count(f"{{{text}}} \\pm 0.0000") == 2


def test_the_numbers_of_real_cells_are_those_of_every_other_view(visit, folder, tmp_path, capsys):
    report = build.build(from_store(Store(folder), "small"), "small", one_study=True, baseline="psam")
    write_page(report, tmp_path / "page.html")
    terminal.show(report)
    shown, text, tex = capsys.readouterr().out, markdown.markdown(report), latex.latex(report)
    tab = visit(f"{(tmp_path / 'page.html').as_uri()}#results")
    for line in tab.locator(".results tbody tr").all():
        cells_ = line.locator("> *").all_inner_texts()
        auc, gain = cells_[3], cells_[7]
        assert auc in shown
        assert auc in text
        assert auc.partition(" ")[0] in tex
        assert gain in shown
        assert gain in text
        assert latex.signed(gain) in tex


def test_gains_stand_on_every_table_of_the_page(visit, address):
    tab = visit(f"{address}#data/data2")
    column_of = {text: at for at, text in enumerate(tab.locator(".results thead th").all_inner_texts(), 1)}
    found = column(tab, column_of["Gain over method1"])
    assert found.count("baseline") == 1
    assert found[0].startswith("+0.0")
    tab.goto(f"{address}#overall")
    assert tab.locator(".ranking thead").inner_text().count("Mean gain over method1") == 1
    assert tab.locator(".ranking tbody").inner_text().count("baseline") == 1


def test_a_baseline_that_was_not_run_is_said_on_the_page(visit, tmp_path):
    write_page(build.build([finished(0.9), finished(0.8, algorithm="beta")], "t"), tmp_path / "page.html")
    tab = visit(f"{(tmp_path / 'page.html').as_uri()}#data/data")
    assert tab.get_by_title("log_reg was not run").count() == 2
    assert "log_reg was not run" in tab.locator("#results").inner_text()


def test_diverged_runs_edges_and_chosen_values_are_shown(visit, troubled):
    records = [cell.record for cell in Store(troubled)]
    said = {record.result.advice for record in records if record.algorithm.name == "opauc"}
    assert len(records) == 10
    assert all("rescale=true" in advice and "algo.eta, now 1e+06" in advice for advice in said)
    page = troubled / "boards" / "troubled" / "leaderboard.html"
    tab = visit(f"{page.as_uri()}#data/breast_cancer?cols=auc.chosen.edges")
    assert "5 diverged" in tab.locator(".cells").inner_text()
    assert column(tab, 2)[1] == "diverged in 5 of 5 runs"
    assert any(
        tab.get_by_title(advice).first.is_visible() for advice in said if tab.get_by_title(advice).count()
    )
    assert column(tab, 3)[0] == "lam=100 in 5 of 5 runs"
    assert column(tab, 4)[0] == "lam at the lower edge in 5 of 5 runs"
    assert "§ ls_svm: lam at the lower edge in 5 of 5 runs" in tab.locator(".footnotes").inner_text()
    tab.goto(f"{page.as_uri()}#data/breast_cancer")
    assert tab.locator("[data-fact=positive] dd").inner_text() == "0"


def test_diverged_runs_edges_and_chosen_values_stand_in_the_other_views(troubled, capsys):
    own = troubled / "boards" / "troubled"
    rows = pd.read_parquet(own / "leaderboard.parquet").set_index("method")
    assert rows.loc["ls_svm", "chosen"] == "lam=100 in 5 of 5 runs"
    assert rows.loc["ls_svm", "edges"] == "lam at the lower edge in 5 of 5 runs"
    assert (rows.loc["opauc", "runs"], rows.loc["opauc", "diverged"]) == (0, 5)
    cells = pd.read_parquet(own / "cells.parquet").set_index("method")
    assert set(cells.loc["ls_svm", "edges"]) == {'{"lam": "lower"}'}
    assert set(cells.loc["opauc", "status"]) == {"diverged"}
    terminal.show(build.build(from_store(Store(troubled), "troubled"), "troubled", one_study=True))
    written = (own / "leaderboard.md").read_text(encoding="utf-8").replace("\\", "")
    for text in (capsys.readouterr().out, written):
        assert "lam=100 in 5 of 5 runs" in text
        assert "ls_svm: lam at the lower edge in 5 of 5 runs" in text
        assert "opauc diverged in 5 of 5 runs: " in text
        assert "rescale=true" in text
        assert "nan" not in text
    tex = (own / "leaderboard.tex").read_text(encoding="utf-8")
    assert "diverged" in tex
    chosen = r"\noindent\textbf{Chosen settings, breast\_cancer.} ls\_svm: lam=100 in 5 of 5 runs"
    assert f"{chosen} (lam at the lower edge in 5 of 5 runs)" in tex
