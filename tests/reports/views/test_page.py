"""The text of a page: one file, safe whatever names say, with the verdicts over every reference."""

import base64
import gzip
import html
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

from aucbench.evaluation.measures import restored
from aucbench.reports.build import build
from aucbench.reports.gains import compared, gains_of, groups_of_data
from aucbench.reports.views import page_data
from aucbench.reports.views.page import page, script
from aucbench.reports.views.page_data import packed
from aucbench.reports.views.text import board_table
from tests.helpers.board_cells import altered, finished, several, unfinished

HARMFUL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
SETS = tuple(f"data{number}" for number in range(12))


class Parsed(HTMLParser):
    """Elements with their attributes, and the text of each."""

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


@cache
def usual(names=("alpha", "beta", "gamma", "delta"), gaps=True):
    """A report on twelve data sets of 40 to 5,000 rows; the last method failed once on one of them."""
    cells = []
    for cell in several(names, SETS, runs=4):
        number = SETS.index(cell.described.dataset.name)
        rows = 100 * (number + 1)
        data = {"train_rows": rows, "train_positives": max(2, rows // (3 * number + 2))}
        cells.append(altered(cell, data=data))
    if gaps:
        where, data = {"seed": 9, "dataset": SETS[0]}, {"train_rows": 100, "train_positives": 50}
        cells.append(unfinished("failed", algorithm=names[-1], **where))
        cells += [finished(0.9, algorithm=name, data=data, **where) for name in names[:-1]]
    return build(cells, "a study", one_study=True, reference=names[0])


def with_precision(made):
    """The report with another measure, one less the AUC, that all its cells have."""
    other = restored("ap", {})
    return replace(
        made,
        others=(other,),
        cells=made.cells.assign(ap=1.0 - made.cells["auc"]),
        results=made.results.assign(ap_mean=1.0 - made.results["mean"]),
    )


def named(name):
    """A report in which every text that a plugin, a data set or a study may choose is `name`."""
    cells = [
        finished(0.9 - k / 9 - run / 99, seed=run, cpu=name, algorithm=f"{name} {k}", dataset=f"{name} {at}")
        for k in range(3)
        for at in range(11)
        for run in range(2)
    ]  # fmt: skip
    made = build(cells, name, one_study=True, reference=f"{name} 0")
    links = [[name, "https://example.org"], [name, f"javascript:{name}"]]
    says = dict.fromkeys(("summary", "citation", "claims", "source", "distribution", "exempt"), name)
    lists = {
        key: [value] * len(made.methods) for key, value in (("deviations", [name, name]), ("links", links))
    }
    texts = ("licence", "citation", "summary", "positive", "negative", "setting_text")
    return replace(
        made,
        notes=(name,),
        data_sets=made.data_sets.assign(**dict.fromkeys(texts, name)),
        results=made.results.assign(command=name, parameters=name, chosen=name, edges=name, advice=name),
        methods=made.methods.assign(**says, **lists),
    )


def data_of(text):
    """The data in a page."""
    (content,) = [text for attrs, text in Parsed(text).of("script") if attrs.get("id") == "data"]
    return json.loads(gzip.decompress(base64.b64decode(content)))


@pytest.mark.parametrize("made", [usual(), named(HARMFUL)], ids=["usual", "harmful"])
def test_a_page_loads_nothing_and_runs_its_own_script_alone(made):
    text = page(made)
    parsed = Parsed(text)
    for tag, attrs in parsed.elements:
        assert tag not in {"img", "iframe", "object", "embed", "audio", "video", "base", "form"}
        assert "src" not in attrs
        assert not [name for name in attrs if name.startswith("on")]
        if tag == "link":
            assert attrs["href"] == "data:,"
    (_, style), *_ = parsed.of("style")
    assert not re.search(r"@import|url\(", style)
    policy = next(attrs["content"] for attrs, _ in parsed.of("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 2
    assert [text.strip() for _, text in parsed.of("script")][1:] == [script().strip()]
    assert parsed.of("title")[0][1].strip() == f"{made.title} - aucbench"
    assert data_of(text)["title"] == made.title


def test_verdicts_are_those_over_each_reference_and_group():
    made = usual()
    (setting,) = packed(made)["settings"]
    (own,) = setting["compared"]
    found = dict(own["verdicts"])
    assert set(zip(found["reference"], found["group"], strict=True)) == {
        (reference, group)
        for reference in ("alpha", "beta", "gamma", "delta")
        for group in groups_of_data(made.data_sets)
    }
    for reference in ("alpha", "delta"):
        gains = gains_of(made.cells, made.data_sets, {setting["name"]: reference}, made.rope)
        expected = compared(gains, made.results, made.data_sets, made.rope)
        lines = [at for at, each in enumerate(found["reference"]) if each == reference]
        assert len(lines) == len(expected) > 8
        for name in ("group", "method", "verdict"):
            assert [found[name][at] or "" for at in lines] == list(expected[name].fillna(""))
        for name in ("gain", "low", "high", "mean", "time_ratio", "better"):
            values = np.array([found[name][at] for at in lines], dtype=float)
            np.testing.assert_allclose(values, expected[name].astype(float), rtol=1e-5, atol=5.1e-5)


def test_other_measures_that_all_cells_have_are_compared_without_a_rope():
    made = with_precision(usual(gaps=False))
    first, second = packed(made)["settings"][0]["compared"]
    for name in ("reference", "method", "data_set"):
        assert first["gains"][name] == second["gains"][name]
    assert first["gains"]["gain"] == pytest.approx(-np.array(second["gains"]["gain"]), abs=2e-4)
    assert (first["rope"], second["rope"]) == (made.rope, None)
    assert not any(second["verdicts"]["verdict"])
    lacking = made.cells.assign(ap=made.cells["ap"].where(made.cells["seed"] > 0))
    assert len(packed(replace(made, cells=lacking))["measures"]) == 1


def test_long_curves_are_thinned_to_their_last_point(monkeypatch):
    made = usual(gaps=False)
    whole = packed(made)["settings"][0]["curves"]
    monkeypatch.setattr(page_data, "POINTS", len(made.curves) // 2)
    thin = packed(made)["settings"][0]["curves"]
    assert sum(map(len, thin["mean"])) <= len(made.curves) // 2
    for name in ("samples", "seconds", "mean"):
        assert [each[-1] for each in thin[name]] == [each[-1] for each in whole[name]]
        assert all(set(some) <= set(every) for some, every in zip(thin[name], whole[name], strict=True))


def test_without_scripts_the_verdicts_are_there():
    made = usual()
    text = page(made).split("<noscript>")[1].split("</noscript>")[0]
    for line in board_table(made, "defaults", brief=True).lines:
        assert "".join(f"<td>{html.escape(each)}</td>" for each in line) in text
