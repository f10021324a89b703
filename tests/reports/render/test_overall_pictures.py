"""The pictures that the view over all data sets opens with: gaps, fronts, targets, highlights, emphasis."""

import json
import math

import numpy as np
import pytest

from aucbench.reports import build
from aucbench.reports.render.page import write_page
from tests.helpers.board_cells import altered, finished
from tests.helpers.small_study import cells, report

BOARDS, METHODS, RUNS = 10, 12, 5
FRACTIONS = (0.9, 0.97, 0.99, 0.997, 0.999)


@pytest.fixture(scope="module")
def made():
    """Twelve methods on ten data sets, of which the last has a gap; the seventh is the baseline."""
    found = cells(methods=METHODS, boards=BOARDS, runs=RUNS, tuned=False)
    return found, build.build(found, "a study", one_study=True, baseline="method6")


@pytest.fixture(scope="module")
def address(made, tmp_path_factory):
    file = tmp_path_factory.mktemp("overall") / "page.html"
    write_page(made[1], file)
    return file.as_uri()


def group_of(tab):
    return json.loads(tab.locator("#data").text_content())["groups"][0]


def crossing(curve, target):
    """The seconds of a run until a target, the AUC being linear in their logarithm between checkpoints."""
    auc, seconds = curve["auc"], curve["train_seconds"]
    for k in range(len(auc)):
        if auc[k] >= target:
            if k == 0 or seconds[k - 1] <= 0:
                return seconds[k]
            part = (target - auc[k - 1]) / (auc[k] - auc[k - 1])
            return math.exp(math.log(seconds[k - 1]) + part * math.log(seconds[k] / seconds[k - 1]))
    return math.inf


def paid(found, method, dataset):
    """Median seconds until each target on a data set, from the cells alone."""
    here = [cell for cell in found if cell.described.dataset.name == dataset]
    by_method = {}
    for cell in here:
        by_method.setdefault(cell.described.algorithm.name, []).append(cell)
    whole = [own for own in by_method.values() if all(cell.record for cell in own)]
    best = max(np.mean([cell.curve["auc"][-1] for cell in own]) for own in whole)
    costs = []
    for fraction in FRACTIONS:
        target = 0.5 + fraction * (best - 0.5)
        runs = [crossing(cell.curve, target) if cell.record else math.inf for cell in by_method[method]]
        costs.append(np.median(runs))
    return costs


def test_the_share_of_targets_is_that_of_brute_force(visit, made, address):
    group = group_of(visit(address))
    steps = {method: (at, share, boards) for method, at, share, boards in group["reached"][""]["seconds"]}
    assert len(steps) == METHODS
    finite = 0
    for method, (at, share, boards) in steps.items():
        costs = np.array([paid(made[0], method, f"data{k + 1}") for k in range(BOARDS)]).ravel()
        assert boards == BOARDS
        assert len(costs) == BOARDS * len(FRACTIONS)
        finite += np.isfinite(costs).sum()
        assert share[0] == 0.0
        assert all(np.diff(at) >= 0)
        assert all(np.diff(share) >= 0)
        for low, high, value in zip(at, at[1:], share, strict=False):
            if high > low * (1 + 1e-4):
                assert value == pytest.approx(np.mean(costs <= math.sqrt(low * high)), abs=1e-5)
        assert share[-1] == pytest.approx(np.isfinite(costs).mean(), abs=1e-5)
    assert 10 < finite < METHODS * BOARDS * len(FRACTIONS)


def test_gaps_and_fronts_are_those_of_the_curves_and_of_all_pairs(visit, address):
    for board in group_of(visit(address))["boards"]:
        whole = [row for row in board["rows"] if not row["trouble"]]
        best = max(max(row["curve"]["auc"]) for row in whole)
        for row in board["rows"]:
            expected = np.maximum(best - np.array(row["curve"]["auc"]), 1e-4)
            np.testing.assert_allclose(row["curve"]["gap"], expected, rtol=6e-3, atol=2e-6)
        for row in whole:
            beaten = [
                other
                for other in whole
                if other["auc"]["value"] >= row["auc"]["value"]
                and other["train_seconds"] <= row["train_seconds"]
                and other is not row
            ]
            assert row["on_front"] == (not beaten)


def test_pictures_come_before_the_ranking_and_begin_with_seconds_zoomed(visit, address):
    tab = visit(address)
    ids = tab.locator("#view section").evaluate_all("all => all.map(each => each.id)")
    assert ids[:5] == ["curves", "pareto", "reached", "ranking", "glance"]
    for name in ("seconds", "zoom"):
        assert tab.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed") == "true"
    panels = tab.locator("#curves .panel")
    assert panels.count() == BOARDS
    for k in range(BOARDS):
        assert panels.nth(k).locator(".series").count() == METHODS
        assert panels.nth(k).locator(".target").count() == 1
    assert tab.locator("#pareto .panel").count() == BOARDS
    # The last method has a gap on the first data set.
    assert [tab.locator("#pareto .panel").nth(k).locator(".point").count() for k in range(BOARDS)] == [
        METHODS - 1, *[METHODS] * (BOARDS - 1),
    ]  # fmt: skip


@pytest.mark.parametrize("view", ["overall", "data/data2"])
def test_at_most_eight_methods_have_colours(visit, address, view):
    tab = visit(f"{address}#{view}")

    def coloured():
        found = {}
        for sign in (".series", ".point", ".stem", ".strip", ".ranking tbody tr"):
            marks = tab.locator(f"#view {sign}:not(.rest)").evaluate_all(
                "all => all.map(each => each.dataset.method)"
            )
            if tab.locator(f"#view {sign}").count():
                found[sign] = set(marks)
        return found

    usual = {f"method{k}" for k in range(7)} | {"method7"}
    first = coloured()
    overall = {".series", ".point", ".stem", ".ranking tbody tr"}
    assert set(first) == (overall if view == "overall" else {".series", ".strip"})
    assert all(names == usual for names in first.values())
    for name in ("method10", "method9"):
        tab.locator(".key", has_text=name).click()
    chosen = usual - {"method5", "method7"} | {"method10", "method9"}
    assert all(names == chosen for names in coloured().values())
    again = visit(tab.url)
    assert again.locator(".key[aria-pressed=true]").count() == 8
    assert again.locator(".key", has_text="method10").get_attribute("aria-pressed") == "true"
    for k in range(METHODS):
        if tab.locator(".key", has_text=f"method{k}").first.get_attribute("aria-pressed") == "false":
            tab.locator(".key", has_text=f"method{k}").first.click()
    assert max(map(len, coloured().values())) == 8


def test_grey_lines_have_neither_colour_nor_marker(visit, address):
    tab = visit(address)
    style = "node => getComputedStyle(node).stroke"
    lines = tab.locator("#reached .series.rest .line")
    assert len({lines.nth(k).evaluate(style) for k in range(lines.count())}) == 1
    assert tab.locator("#reached .series.rest path").count() == lines.count() == METHODS - 8
    tab.locator(".key", has_text="method11").hover()
    bright = tab.locator('#reached .series[data-method="method11"] .line')
    assert bright.evaluate(style) != lines.first.evaluate(style)


@pytest.mark.parametrize("how", ["legend", "ranking", "keyboard", "point", "line"])
def test_a_method_is_emphasised_in_all_pictures(visit, address, how):
    tab = visit(address, viewport={"width": 1400, "height": 900})
    if how == "legend":
        tab.locator(".key", has_text="method3").hover()
    elif how == "ranking":
        tab.locator(".ranking tbody tr", has_text="method3").hover()
    elif how == "keyboard":
        tab.locator(".ranking tbody tr", has_text="method3").locator("a").focus()
    elif how == "point":
        tab.locator('#pareto > figure .point[data-method="method3"] path').hover()
    else:
        tab.locator("#reached").scroll_into_view_if_needed()
        box = tab.locator('#reached .series[data-method="method3"] path').last.bounding_box()
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    bright = tab.locator("#view .bright")
    names = set(bright.evaluate_all("all => all.map(each => each.dataset.method)"))
    assert len(names) == 1
    if how != "line":
        assert names == {"method3"}
    (name,) = names
    pictures = {"#curves .series": BOARDS, "#pareto .point": BOARDS + 1, "#reached .series": 1,
        ".ranking tr": 1, ".key": 1, "#profile .series": 1, ".heat tr": 1}  # fmt: skip
    for place, count in pictures.items():
        assert tab.locator(f'{place}.bright[data-method="{name}"]').count() == count, place
    assert tab.locator("#curves .linked").count() == BOARDS
    tab.mouse.move(2, 2)
    tab.evaluate("document.activeElement.blur()")
    assert bright.count() == 0
    assert tab.locator("#view .linked").count() == 0


def test_arrow_keys_go_from_method_to_method(visit, address):
    tab = visit(address)
    for place in ("#reached svg.plot", "#pareto > figure svg.plot", "#curves .panel >> nth=1 >> svg.plot"):
        seen = []
        for _ in range(3):
            tab.locator(place).press("ArrowDown" if "pareto" not in place else "ArrowRight")
            (own,) = set(tab.locator("#view .bright").evaluate_all("all => all.map(e => e.dataset.method)"))
            seen.append(own)
        assert len(set(seen)) == 3
        assert own in tab.locator(".readout:visible").inner_text()
        tab.locator(place).press("Escape")
        assert tab.locator("#view .bright").count() == 0


def test_the_axis_is_one_choice_for_all_pictures_and_stands_in_the_address(visit, address):
    tab = visit(address)
    before = tab.locator("#curves .line").first.get_attribute("d")
    tab.get_by_role("button", name="samples", exact=True).click()
    assert tab.locator("#curves .line").first.get_attribute("d") != before
    assert "passes over the training rows" in tab.locator("#reached svg").text_content()
    again = visit(tab.url)
    assert again.get_by_role("button", name="samples", exact=True).get_attribute("aria-pressed") == "true"
    assert again.locator("#curves .line").first.get_attribute("d") == tab.locator(
        "#curves .line"
    ).first.get_attribute("d")


def test_ties_with_the_best_stand_in_the_place_of_letters(visit, made, address):
    tab = visit(f"{address}#data/data2")
    board = made[1].boards[1]
    heads = tab.locator(".results thead th").all_inner_texts()
    place = next(k for k, text in enumerate(heads, 1) if "Tied with best" in text)
    assert not any("Groups" in text for text in heads)
    shown = tab.locator(f".results tbody tr > :nth-child({place})").all_inner_texts()
    lead = board.rows[0]
    expected = ["best"]
    for row in board.rows[1:]:
        differs = board.pairwise[lead.method, row.method] < 0.05
        expected.append("\u2013" if differs else "tied")
    assert shown == expected
    assert set(shown) == {"best", "tied", "\u2013"} or len(set(shown)) == 2
    dash = tab.locator(f".results tbody tr > :nth-child({place}) .nothing").first
    assert dash.get_attribute("title") == f"significantly worse than {lead.method}"


@pytest.fixture(scope="module")
def far_away(tmp_path_factory):
    """Fourteen methods of about the same AUC, and two slow ones, far above and far below them."""
    aucs = {f"near{k}": 0.88 + 0.0005 * (k * 5 % 14) for k in range(14)} | {"above": 0.97, "below": 0.6}
    seconds = {name: 0.01 * 1.1 ** (k * 3 % 14) for k, name in enumerate(aucs)} | {"above": 0.5, "below": 0.4}
    found = [
        altered(finished(auc, algorithm=name, dataset=data), result={"train_seconds": seconds[name]})
        for name, auc in aucs.items()
        for data in ("one", "two")
    ]
    file = tmp_path_factory.mktemp("far") / "page.html"
    made = build.build(found, "a study", one_study=True)
    write_page(made, file)
    return made.overall[0].costs, file.as_uri()


def test_a_zoom_leaves_methods_that_are_far_from_the_others_at_the_edge(visit, far_away):
    tab = visit(far_away[1], viewport={"width": 1400, "height": 900})
    picture = tab.locator("#pareto > figure svg")
    height = picture.bounding_box()["height"]

    def heights():
        boxes = {
            name: tab.locator(f'#pareto > figure .point[data-method="{name}"] > path').last.bounding_box()
            for name in far_away[0]
        }
        return {name: box["y"] + box["height"] / 2 for name, box in boxes.items()}

    own = heights()
    near = [own[name] for name in own if name.startswith("near")]
    assert max(near) - min(near) > 0.6 * height
    assert own["above"] < min(near)
    assert own["below"] > max(near)
    names = tab.locator("#pareto > figure .point text:not(.aside)").all_text_contents()
    assert {"above 0.9700 ↑", "below 0.6000 ↓"} <= set(names)
    tab.get_by_role("button", name="full", exact=True).click()
    own = heights()
    near = [own[name] for name in own if name.startswith("near")]
    assert max(near) - min(near) < 0.1 * height
    assert "↑" not in tab.locator("#pareto > figure svg").text_content()


def test_the_front_is_named_in_the_picture_and_listed_by_its_costs(visit, far_away):
    costs, address = far_away
    front = sorted((name for name, cost in costs.items() if cost.on_front), key=lambda n: costs[n].seconds)
    assert len(front) > 2
    tab = visit(address, viewport={"width": 1400, "height": 900})
    listed = f"from the cheapest: {', '.join(front[:-1])} and {front[-1]}."
    assert listed in tab.locator("#pareto > figure figcaption").inner_text()
    for name in front:
        assert tab.locator(f'#pareto > figure .point[data-method="{name}"] text').is_visible()


@pytest.mark.parametrize("width", [1400, 390])
def test_names_in_the_picture_of_costs_cover_neither_names_nor_marks(visit, far_away, width):
    tab = visit(far_away[1], viewport={"width": width, "height": 900})
    boxes = """all => all.map(each => {
        const { x, y, width, height } = each.getBBox();
        return [each.parentNode.dataset.method, x, y, width, height];
    })"""
    names = tab.locator("#pareto > figure .point text:not(.aside)").evaluate_all(boxes)
    marks = tab.locator("#pareto > figure .point path:not(.hair)").evaluate_all(boxes)
    assert len(names) >= 8
    covered = [
        (one, other)
        for one, x, y, w, h in names
        for other, left, top, across, down in names + marks
        if one != other and x < left + across and left < x + w and y + 3 < top + down and top < y + h - 3
    ]
    assert covered == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_pictures_stay_within_the_screen(visit, address, width, scheme):
    tab = visit(address, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    right = tab.locator("svg.plot").evaluate_all(
        "all => Math.max(...all.map(each => each.getBoundingClientRect().right))"
    )
    assert right <= width or tab.locator(".scroll svg.plot").count()
    for panel in tab.locator(".panel svg.plot").all():
        box = panel.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_a_narrow_screen_shows_few_data_sets_until_it_is_asked_for_more(visit, tmp_path):
    write_page(report(methods=2, boards=7, runs=2, checkpoints=4), tmp_path / "p.html")
    address = (tmp_path / "p.html").as_uri()
    narrow = visit(address, viewport={"width": 390, "height": 800})
    panels = narrow.locator("#curves .panel")
    assert panels.count() == 7
    assert [panels.nth(k).is_visible() for k in range(7)] == [True] * 4 + [False] * 3
    narrow.locator("#curves summary", has_text="3 more data sets").click()
    assert all(panels.nth(k).is_visible() for k in range(7))
    narrow.get_by_role("button", name="samples", exact=True).click()  # drawn anew, and still open
    assert all(panels.nth(k).is_visible() for k in range(7))
    wide = visit(address, viewport={"width": 1400, "height": 800}).locator("#curves .panel")
    assert all(wide.nth(k).is_visible() for k in range(7))
