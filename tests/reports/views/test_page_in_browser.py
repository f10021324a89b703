"""A page in a real browser, opened from a file."""

from importlib.resources import files

import pytest

from aucbench.reports.views.page import write_page
from tests.reports.views.test_page import HARMFUL, named, usual

VIEWS = ("overall", "data", "data/data3", "methods", "methods/beta", "notes")


@pytest.fixture(scope="module")
def report():
    return usual()


@pytest.fixture(scope="module")
def address(report, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    write_page(report, file)
    return file.as_uri()


def moved(tab, address, view):
    """Load a view in the tab anew: a changed hash alone would only move within the page."""
    tab.goto("about:blank")
    tab.goto(f"{address}#{view}")
    tab.locator("html[data-ready]").wait_for(state="attached")


def lines(tab, section):
    """Visible texts of a table's cells, one list per row."""
    return tab.locator(f"#{section} .results tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.innerText.trim()))"
    )


def column(tab, section, heading):
    heads = tab.locator(f"#{section} .results thead th").all_inner_texts()
    at = next(k for k, text in enumerate(heads) if text.startswith(heading))
    return [row[at] for row in lines(tab, section)]


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_every_view_fits_the_screen_and_is_accessible(visit, address, width, scheme):
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    tab = visit(address, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for view in VIEWS:
        moved(tab, address, view)
        assert tab.locator("#view h2").count() > 0
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
        assert tab.locator("html").get_attribute("data-theme") == scheme
        tab.evaluate(axe)
        violations = tab.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        worst = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
        assert [(violation["id"], violation["nodes"][0]["html"]) for violation in worst] == [], view


def test_what_is_chosen_stands_in_the_address(visit, address):
    tab = visit(address)
    tab.get_by_label("Reference").select_option("gamma")
    tab.get_by_role("button", name="AUC", exact=True).click()
    tab.get_by_role("button", name="Time", exact=False).first.click()
    second = visit(tab.url)
    assert second.locator("#ranking h2").inner_text() == "Gain over gamma"
    for part in ("#ranking .results tbody", "#heat .matrix tbody"):
        assert second.locator(part).inner_text() == tab.locator(part).inner_text()
    assert second.locator("#ranking th[aria-sort=ascending]").inner_text().startswith("Time")
    tab.get_by_role("link", name="Data sets").click()
    assert tab.get_by_label("Reference").input_value() == "gamma"
    tab.go_back()
    assert tab.locator("#ranking h2").inner_text() == "Gain over gamma"


def test_a_data_set_has_its_curves(visit, address):
    tab = visit(f"{address}#data/data3")
    assert tab.locator("#curves .series:not(.rest)").count() == 4
    tab.locator("[data-key=key-beta]").click()
    assert tab.locator("#curves .series.rest").get_attribute("data-method") == "beta"
    before = tab.locator("#curves .axis").all_text_contents()
    tab.get_by_role("button", name="rows seen").click()
    tab.get_by_role("button", name="whole").click()
    assert tab.locator("#curves .axis").all_text_contents() != before
    tab.locator("#curves svg.plot").focus()
    tab.keyboard.press("ArrowRight")
    assert "rows seen" in tab.locator(".readout").inner_text()
    assert tab.locator("#curves .series.rest").count() == 1


def test_verdicts_shown_are_those_of_the_frames_for_every_group(visit, address, report):
    tab = visit(address, viewport={"width": 1400, "height": 900})
    for group, rows in report.verdicts.groupby("group"):
        tab.locator("[data-key=group]").select_option(group)
        verdicts = rows.set_index("method")["verdict"]
        pairs = zip(column(tab, "ranking", "Method"), column(tab, "ranking", "Verdict"), strict=True)
        for method, text in ((name.split("\n")[0], text.split("\n")[0]) for name, text in pairs):
            assert text == ("reference" if method == "alpha" else verdicts.get(method) or "\u2013"), group


def test_harmful_names_stay_texts_in_every_view(visit, tmp_path):
    write_page(named(HARMFUL), tmp_path / "p.html")
    address = (tmp_path / "p.html").as_uri()
    tab = visit(address, viewport={"width": 390, "height": 900})
    assert tab.locator("h1").inner_text() == HARMFUL
    for view in ("overall", "data", "methods"):
        moved(tab, address, view)
        tab.locator("#view .results tbody a").first.click()
        assert HARMFUL in tab.locator("#view h2").first.inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
        assert tab.locator("#view").get_by_role("link", name=HARMFUL).count() > 0
        assert tab.locator("a[href^='javascript']").count() == 0
        assert tab.locator("#view img, #view script").count() == 0
