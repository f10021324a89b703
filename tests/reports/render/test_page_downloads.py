"""What the page hands out, how it is found by words and names, what it is on paper, and whom it shuts out."""

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib.resources import files

import pytest

from aucbench.reports import build
from aucbench.reports.render.page import write_page
from tests.helpers.board_cells import finished
from tests.helpers.small_study import cells

VIEWS = ("overall", "results", "data", "data/data1", "methods", "methods/method0", "notes")


@pytest.fixture(scope="module")
def made():
    report = build.build(
        cells(methods=6, boards=4, gaps=False), "a study", one_study=True, baseline="method1"
    )
    first, *others = report.boards
    facts = replace(
        first.facts,
        summary="Adult, incomes above 50,000 dollars a year",
        links=(("Paper", "https://doi.org/10.1/x"),),
    )
    info = {
        name: replace(own, links=(("Paper", "https://doi.org/10.1/y"),))
        for name, own in report.methods.items()
    }
    return replace(report, boards=(replace(first, facts=facts), *others), methods=info)


@pytest.fixture(scope="module")
def address(made, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    write_page(made, file)
    return file.as_uri()


def saved(tab, button):
    with tab.expect_download() as started:
        button.click()
    return started.value.path().read_bytes(), started.value.suggested_filename


def lines(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"))))


def test_a_table_of_results_downloads_with_all_digits(visit, address, made):
    tab = visit(f"{address}#data/data2")
    content, name = saved(tab, tab.locator("#results .save, .controls .save").first)
    found = {line["method"]: line for line in lines(content)}
    assert name.endswith(".csv")
    board = next(each for each in made.boards if each.dataset == "data2")
    for row in board.rows:
        line = found[row.method]
        assert float(line["auc_mean"]) == row.auc.value
        assert float(line["auc_low"]) == row.auc.low
        assert float(line["auc_high"]) == row.auc.high
        assert float(line["auc_std"]) == row.std
        assert (int(line["runs"]), int(line["wins"]), int(line["losses"])) == (row.runs, row.wins, row.losses)
        assert float(line["train_seconds"]) == row.train_seconds


def test_the_ranking_all_cells_and_all_pairs_download(visit, address, made):
    tab = visit(f"{address}#overall")
    ranking = lines(saved(tab, tab.locator("#ranking .save").first)[0])
    overall = made.overall[0]
    assert {line["method"]: float(line["rank"]) for line in ranking} == {
        method: rank.value for method, rank in overall.ranks.items()
    }
    glance = lines(saved(tab, tab.locator("#glance .save").first)[0])
    assert len(glance) == sum(len(board.rows) for board in made.boards)
    pairs = lines(saved(tab, tab.locator("#pairs .save").first)[0])
    assert {
        (line["method"], line["other"]): float(line["p"]) for line in pairs if line["p"]
    } == pytest.approx(overall.pairwise)


def test_a_figure_downloads_as_svg_and_png_that_stand_alone(visit, address):
    tab = visit(f"{address}#data/data2")
    content, name = saved(tab, tab.locator("#curves .save", has_text="SVG"))
    root = ET.fromstring(content)
    assert name.endswith(".svg")
    text = content.decode("utf-8")
    assert "var(--" not in text
    assert "class=" not in text
    drawn = [node for node in root.iter("{http://www.w3.org/2000/svg}path") if node.get("fill") == "none"]
    assert len([node for node in drawn if node.get("stroke", "none") != "none"]) >= 6
    width, height = float(root.get("width")), float(root.get("height"))
    picture, name = saved(tab, tab.locator("#curves .save", has_text="PNG"))
    assert name.endswith(".png")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (2 * width, 2 * height)


@pytest.mark.parametrize("view", ["data", "results"])
def test_words_of_a_description_find_a_data_set(visit, address, view):
    tab = visit(f"{address}#{view}")
    tab.locator("[data-key='filter-data']").fill("adult")
    named = tab.locator(".results a[href*='#data/']").all_inner_texts()
    assert set(named) == {"data1"}


def test_an_old_address_by_number_is_answered_with_the_table(visit, address):
    tab = visit(f"{address}#data/2")
    assert "names" in tab.locator(".warning").inner_text()
    assert tab.locator(".results tbody tr").count() == 4
    tab.locator(".results a", has_text="data2").first.click()
    assert tab.url.endswith("#data/data2")


@pytest.mark.parametrize(("view", "link"), [("data/data1", "10.1/x"), ("methods/method0", "10.1/y")])
def test_pages_link_to_the_paper(visit, address, view, link):
    tab = visit(f"{address}#{view}")
    assert tab.get_by_role("link", name="Paper").get_attribute("href") == f"https://doi.org/{link}"


@pytest.mark.parametrize("declared", [True, False])
def test_the_module_of_a_method_links_to_its_source_where_that_is_declared(visit, made, tmp_path, declared):
    links = (("Source", "https://example.org/mine"),) if declared else ()
    methods = {name: replace(own, source="mine.method0", links=links) for name, own in made.methods.items()}
    write_page(replace(made, methods=methods), tmp_path / "p.html")
    tab = visit(f"{(tmp_path / 'p.html').as_uri()}#methods/method0")
    assert "mine.method0" in tab.locator(".facts").inner_text()
    found = tab.get_by_role("link", name="mine.method0").evaluate_all("all => all.map(each => each.href)")
    assert found == ["https://example.org/mine"] * declared


def test_a_method_has_a_picture_of_its_gap_to_the_best(visit, address, made):
    tab = visit(f"{address}#methods/method3")
    titles = tab.locator("[id^='gaps'] svg g > g > title").all_text_contents()
    for board in made.boards:
        row = next(each for each in board.rows if each.method == "method3")
        gap = max(each.auc.value for each in board.rows) - row.auc.value
        said = next(text for text in titles if f"on {board.dataset}:" in text)
        assert float(said.split(": ")[1].split()[0]) == pytest.approx(gap, rel=0.01)


def test_escape_closes_a_menu_and_returns_the_focus(visit, address):
    tab = visit(f"{address}#results")
    tab.locator("summary", has_text="Columns").click()
    tab.get_by_label("Anytime, samples").focus()
    tab.keyboard.press("Escape")
    assert tab.locator("details.chooser[open]").count() == 0
    assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.parametrize("methods", [3, 6])
def test_axes_of_ranks_have_two_ticks_on_a_phone(visit, tmp_path, methods):
    write_page(
        build.build(cells(methods=methods, boards=12, gaps=False), "a study", one_study=True),
        tmp_path / "p.html",
    )
    tab = visit((tmp_path / "p.html").as_uri(), viewport={"width": 390, "height": 800})
    assert tab.locator("#ranking thead svg text").count() >= 2
    numbers = [text for text in tab.locator("#critical svg > text").all_text_contents() if text.isdigit()]
    assert len(numbers) >= 2


@pytest.mark.parametrize("view", ["overall", "data/one"])
@pytest.mark.parametrize("label", ["method{}", "a_method_of_a_long_name_{}"])
def test_paper_has_all_pairs_and_nothing_beyond_its_edge(visit, tmp_path, view, label):
    names = [label.format(k) for k in range(44)]
    found = [
        finished(0.9 - 0.005 * k - 0.002 * (run * k % 3), seed=run, algorithm=name, dataset=data)
        for k, name in enumerate(names)
        for data in ("one", "two")
        for run in range(3)
    ]
    write_page(build.build(found, "a study"), tmp_path / "p.html")
    width = round((210 - 2 * 13) / 25.4 * 96)  # of A4 without its margins, in pixels
    tab = visit(f"{(tmp_path / 'p.html').as_uri()}#{view}", viewport={"width": width, "height": 1000})
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tables = tab.locator("#pairs table")
    heads = [own.locator("thead span") for own in tables.all()]
    titles = [own.evaluate_all("all => all.map(each => each.title)") for own in heads]
    assert len(titles) > 1
    assert [name for own in titles for name in own] == names
    for own, part in zip(tables.all(), titles, strict=True):
        assert own.locator("tbody tr").count() == 44
        assert own.locator("tbody td").count() == 44 * len(part)
    ends = tab.locator("#view table").evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
    assert max(ends) <= width
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tables.count() == 1


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, address, width, scheme):
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    tab = visit(address, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for view in VIEWS:
        tab.goto("about:blank")
        tab.goto(f"{address}#{view}")
        tab.locator("#title").wait_for()
        tab.evaluate(script)
        found = tab.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        worst = [
            (each["id"], each["nodes"][0]["html"])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert worst == [], view
