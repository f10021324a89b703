"""What a page does in a real browser, opened from a file."""

from dataclasses import replace

import pytest

from aucbench.reports import build
from aucbench.reports.render.display import EXEMPT
from aucbench.reports.render.page import write_page
from tests.helpers.board_cells import altered, budget, finished, tuning, unfinished
from tests.helpers.small_study import cells, report
from tests.reports import test_by_measure as by_measure
from tests.reports.render.test_page import HARMFUL, named

DASH = "\u2013"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    many, few = cells(methods=6, boards=12), cells(methods=6, boards=3, tuned=False)
    write_page(build.build([*many, *few], "a study", one_study=True, baseline="method1"), file)
    return file.as_uri()


def column(tab, number):
    return tab.locator(f".results tbody tr > :nth-child({number})").all_inner_texts()


def heading(tab, text):
    return tab.locator(".results thead th", has=tab.get_by_role("button", name=text, exact=True))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_opens_without_errors_and_fits_the_screen(visit, address, width, scheme):
    tab = visit(address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for view in ("overall", "results", "data", "data/data1", "methods", "methods/method0", "notes"):
        tab.goto(f"{address}#{view}")
        assert tab.locator("#view h2").count() > 0
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
    assert tab.locator("html").get_attribute("data-theme") == scheme


def test_the_first_screen_says_who_leads(visit, address):
    tab = visit(address)
    assert tab.locator(".verdict").inner_text().startswith("method0 leads with an average rank of 1")
    assert tab.locator(".ranking tbody tr").count() == 6
    assert tab.get_by_role("heading", name="Critical differences").count() == 1


def test_a_lead_over_methods_with_gaps_is_not_claimed(visit, tmp_path):
    found = cells(methods=3, boards=2, gaps=False)
    lost = unfinished(algorithm="method0", dataset="data1", tuning=tuning())
    made = [lost if cell.key == found[0].key else cell for cell in found]
    write_page(build.build(made, "a study", one_study=True), tmp_path / "page.html")
    tab = visit((tmp_path / "page.html").as_uri())
    said = tab.locator(".verdict").inner_text()
    assert said.startswith("method1 leads")
    assert "Left out for its gaps, and no worse on the boards it is on: method0 (1.00 with gaps)." in said
    assert "method0: data1" in tab.locator(".incomplete").text_content()


def test_tuned_and_untuned_results_never_share_a_table(visit, address):
    tab = visit(f"{address}#results")
    assert tab.locator(".count").inner_text() == "72 of 72 rows"
    tab.get_by_role("button", name="Not tuned").click()
    assert tab.locator(".count").inner_text() == "18 of 18 rows"
    assert "kind=untuned" in tab.url
    tab.goto(f"{address}#data/data1-untuned")
    assert tab.get_by_role("button", name="Not tuned").get_attribute("aria-pressed") == "true"


def test_groups_of_one_kind_are_chosen_by_what_tells_them_apart(visit, tmp_path):
    both = [cell for n in (1.0, 9.0) for cell in cells(methods=2, seed=int(n), budget=budget(epochs=n))]
    write_page(build.build(both, "a study"), tmp_path / "p.html")
    tab = visit(f"{(tmp_path / 'p.html').as_uri()}#results")
    assert tab.locator(".count").inner_text() == "6 of 6 rows"
    tab.get_by_label("Results shown").select_option("tuned; epochs=9")
    assert "epochs=9" in tab.locator("#title").inner_text()
    assert tab.locator(".results a[href*='data1-tuned-2']").count() == 2
    assert visit(tab.url).get_by_label("Results shown").input_value() == "tuned-2"


def test_columns_sort_by_click_and_by_key(visit, address):
    tab = visit(f"{address}#data/data2")
    tab.get_by_role("button", name="Training s", exact=True).click()
    assert heading(tab, "Training s").get_attribute("aria-sort") == "ascending"
    found = [float(text) for text in column(tab, 8)]
    assert found == sorted(found)
    tab.keyboard.press("Enter")
    assert heading(tab, "Training s").get_attribute("aria-sort") == "descending"
    assert [float(text) for text in column(tab, 8)] == sorted(found, reverse=True)
    assert "sort=-train" in tab.url


def test_data_sets_sort_by_their_numbers(visit, address):
    tab = visit(f"{address}#data")
    assert column(tab, 1)[:3] == ["data1", "data2", "data3"]
    assert column(tab, 1)[9] == "data10"


def test_an_unknown_value_comes_last_either_way_and_says_why(visit, address):
    tab = visit(f"{address}#data/data1")
    for _ in range(2):
        assert column(tab, 2)[-1] == DASH
        tab.get_by_role("button", name="Rank", exact=True).click()
    dash = tab.locator(".results tbody tr").last.locator(".nothing").first
    assert dash.get_attribute("title") == "no rank: failed in 1 of 5 runs"
    dash.click()
    assert tab.locator(".hint").inner_text() == "no rank: failed in 1 of 5 runs"


def test_words_and_chips_filter_together(visit, address):
    tab = visit(f"{address}#results")
    tab.get_by_label("Data set", exact=True).fill("maxabs data1")
    assert tab.locator(".count").inner_text() == "24 of 72 rows"
    tab.get_by_role("group", name="Methods").get_by_role("button", name="method3").click()
    assert tab.locator(".count").inner_text() == "4 of 72 rows"
    assert set(column(tab, 1)) == {"method3"}
    tab.get_by_role("button", name="Clear the filters").click()
    assert tab.locator(".count").inner_text() == "72 of 72 rows"
    assert tab.get_by_label("Data set", exact=True).input_value() == ""


def test_columns_are_chosen(visit, address):
    tab = visit(f"{address}#results")
    tab.locator("summary", has_text="Columns").click()
    tab.get_by_label("Anytime, samples").check()
    tab.get_by_label("Rank", exact=True).uncheck()
    assert heading(tab, "Anytime, samples").count() == 1
    assert heading(tab, "Rank").count() == 0
    again = visit(tab.url)
    assert heading(again, "Anytime, samples").count() == 1
    assert heading(again, "Rank").count() == 0


def test_curves_toggle_and_methods_hide(visit, address):
    tab = visit(f"{address}#data/data2")
    curves = tab.locator("#curves")
    assert curves.locator(".series").count() == 6
    before = curves.locator(".series .line").first.get_attribute("d")
    assert "training time" in curves.locator("svg.plot").text_content()
    tab.get_by_role("button", name="samples").click()
    assert "samples seen" in curves.locator("svg.plot").text_content()
    tab.get_by_role("button", name="linear").click()
    assert curves.locator(".series .line").first.get_attribute("d") != before
    curves.locator(".key", has_text="method2").click()
    assert curves.locator(".series").count() == 6
    assert curves.locator(".series.rest").get_attribute("data-method") == "method2"
    assert curves.locator(".key", has_text="method2").get_attribute("aria-pressed") == "false"
    curves.get_by_label("others in grey").uncheck()
    assert curves.locator(".series").count() == 5
    tab.get_by_role("button", name="None").click()
    assert curves.locator(".series").count() == 0


def test_methods_are_told_apart_without_colours(visit, address):
    tab = visit(f"{address}#data/data2")
    dashes = tab.locator("#curves .series .line").evaluate_all(
        "lines => lines.map(line => line.getAttribute('stroke-dasharray'))"
    )
    assert len(set(dashes)) == 5


def test_curves_read_out_values_by_pointer_and_by_key(visit, address):
    tab = visit(f"{address}#data/data2")
    picture = tab.locator("#curves svg.plot")
    picture.hover()
    assert tab.locator("#curves .readout tr").count() == 6
    picture.press("Escape")
    assert tab.locator("#curves .readout").is_hidden()
    picture.press("ArrowRight")
    assert "after" in tab.locator("#curves .readout").inner_text()


def test_a_copied_address_restores_the_view(visit, address):
    tab = visit(f"{address}#data/data2")
    tab.get_by_role("button", name="samples").click()
    tab.get_by_role("button", name="linear").click()
    tab.locator("#curves .key", has_text="method2").click()
    tab.get_by_role("button", name="W/T/L").click()
    again = visit(tab.url)
    assert again.locator("#title").inner_text() == tab.locator("#title").inner_text()
    assert again.locator("#curves .series.rest").get_attribute("data-method") == "method2"
    for name in ("samples", "linear"):
        assert again.get_by_role("button", name=name).get_attribute("aria-pressed") == "true"
    assert heading(again, "W/T/L").get_attribute("aria-sort") == "descending"


def test_the_back_button_returns_to_the_place_before_with_its_filters(visit, address):
    tab = visit(f"{address}#results")
    tab.get_by_label("Method", exact=True).fill("method1")
    tab.locator(".results a", has_text="data3").click()
    assert tab.locator("#title").inner_text() == "data3"
    tab.go_back()
    assert tab.get_by_label("Method", exact=True).input_value() == "method1"
    assert tab.locator(".count").inner_text() == "12 of 72 rows"
    tab.go_forward()
    assert tab.locator("#title").inner_text() == "data3"


def test_a_command_is_copied_and_the_button_says_so(visit, address):
    tab = visit(f"{address}#methods/method3")
    tab.evaluate(
        "document.addEventListener('copy', () => { window.text = String(document.activeElement.value); })"
    )
    tab.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    tab.locator("#settings summary").first.click()
    button = tab.locator("#settings .copy").first
    button.click()
    tab.locator("#settings .copy", has_text="Copied").wait_for()
    assert tab.evaluate("window.text").startswith("aucbench algo=method3")


def test_a_view_survives_a_change_of_the_theme_and_of_the_width(visit, address):
    tab = visit(f"{address}#data/data2")
    tab.get_by_label("others in grey").uncheck()
    tab.get_by_role("button", name="None").click()
    tab.get_by_role("button", name="Dark").click()
    assert tab.locator("html").get_attribute("data-theme") == "dark"
    tab.set_viewport_size({"width": 500, "height": 700})
    assert tab.locator("#curves .empty").inner_text() == "All methods are hidden."


@pytest.mark.parametrize("name", [HARMFUL, "__proto__", "constructor"])
def test_harmful_names_do_no_harm(visit, tmp_path, name):
    file = tmp_path / "page.html"
    write_page(named(name), file)
    tab = visit(file.as_uri())
    for view in ("overall", "results", "data/data1", "methods", "notes"):
        tab.goto(f"{file.as_uri()}#{view}")
        assert tab.locator("#view img").count() == 0
    tab.goto(f"{file.as_uri()}#methods")
    tab.locator(".card a").first.click()
    assert tab.locator("#title").inner_text().strip() == name


@pytest.mark.parametrize(
    "hash_", ["data/99", "data/1", "methods/none", "nowhere", "data/%E0%A4%A", "?x=y&sort=zzz"]
)
def test_a_wrong_address_is_answered(visit, address, hash_):
    tab = visit(f"{address}#{hash_}")
    assert tab.locator("#view").inner_text().strip() != ""


def test_reports_with_nothing_or_little_in_them_open(visit, tmp_path):
    small = report(methods=1, boards=1, runs=1, gaps=False)
    lost = build.build([finished(None)], "lost")
    nothing = build.build([], "nothing")
    unranked = replace(lost, overall=(replace(small.overall[0], ranks={}, ranks_with_gaps={}, profile={}),))
    for k, made in enumerate((small, lost, nothing, unranked)):
        write_page(made, tmp_path / f"{k}.html")
        address = (tmp_path / f"{k}.html").as_uri()
        tab = visit(f"{address}#overall")
        for view in ("results", "data", "data/data1", "methods", "notes"):
            tab.goto(f"{address}#{view}")
            tab.reload()
            tab.locator("#title").wait_for()


def test_a_sign_of_exemption_says_from_what(visit, tmp_path):
    exempt = {"alpha": {"cost": "it waits"}, "beta": {"cost": "it waits"}, "gamma": {"auc": "it forgets"}}
    made = [altered(finished(0.9, algorithm=name), algorithm={"exempt": own}) for name, own in exempt.items()]
    write_page(build.build(made, "t"), tmp_path / "page.html")
    tab = visit(f"{(tmp_path / 'page.html').as_uri()}#data/data")
    assert tab.locator(".footnotes li").all_inner_texts() == [
        f"‡ alpha and beta are {EXEMPT}: cost: it waits",
        f"‡ gamma is {EXEMPT}: auc: it forgets",
    ]
    sign = tab.locator(".results tbody tr", has_text="gamma").locator(".mark")
    assert sign.get_attribute("title") == f"gamma is {EXEMPT}: auc: it forgets"


@pytest.mark.parametrize("by", ["auc", "ap"])
def test_curves_of_every_measure_can_be_shown(visit, tmp_path, by):
    write_page(by_measure.made(by), tmp_path / "page.html")
    tab = visit(f"{(tmp_path / 'page.html').as_uri()}#data/data")
    first, *others = {"auc": ["AUC", "AP", "pAUC(0.1)"], "ap": ["AP", "AUC", "pAUC(0.1)"]}[by]
    curves = tab.locator("#curves")
    assert f"test {first}" in curves.inner_text()
    shown = [tab.locator("#curves svg path.line").first.get_attribute("d")]
    for symbol in others:
        curves.get_by_role("button", name=symbol, exact=True).click()
        assert f"test {symbol}" in tab.locator("#curves").inner_text()
        shown.append(tab.locator("#curves svg path.line").first.get_attribute("d"))
    assert tab.locator("#curves svg path.line").count() == 3
    assert len(set(shown)) > 1
    assert "m=pauc" in tab.url
    heads = tab.locator(".results thead th").all_inner_texts()
    assert [text for text in heads if "Test" in text] == [f"Test {name}" for name in (first, *others)]
    best = {"auc": "alpha", "ap": "gamma"}[by]
    assert column(tab, 1)[0] == best
    assert tab.locator(".verdict").inner_text().startswith(best)
