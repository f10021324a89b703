"""The text of a page: one file, safe for any names, with the verdicts over every reference."""

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
        pairs = zip(self.elements, self.texts, strict=True)
        return [(attrs, text) for (name, attrs), text in pairs if name == tag]


@cache
def usual(names=("alpha", "beta", "gamma", "delta"), gaps=True):
    """A report on twelve data sets of 40 to 5,000 rows; the last method failed once on one data set."""
    cells = []
    for cell in several(names, SETS, runs=4):
        number = SETS.index(cell.described.dataset.name)
        rows = 100 * (number + 1)
        data = {"train_rows": rows, "train_positives": max(2, rows // (3 * number + 2))}
        cells.append(altered(cell, data=data))
    if gaps:
        fields, data = {"seed": 9, "dataset": SETS[0]}, {"train_rows": 100, "train_positives": 50}
        cells.append(unfinished("failed", algorithm=names[-1], **fields))
        cells += [finished(0.9, algorithm=name, data=data, **fields) for name in names[:-1]]
    return build(cells, "a study", one_study=True, reference=names[0])


def with_precision(report):
    """The report with another measure in all its cells, one minus the AUC."""
    measure = restored("ap", {})
    return replace(
        report,
        others=(measure,),
        cells=report.cells.assign(ap=1.0 - report.cells["auc"]),
        results=report.results.assign(ap_mean=1.0 - report.results["mean"]),
    )


def named(name):
    """A report in which every text that a plugin, a data set or a study may choose is `name`."""
    cells = [
        finished(0.9 - k / 9 - run / 99, seed=run, cpu=name, algorithm=f"{name} {k}", dataset=f"{name} {at}")
        for k in range(3)
        for at in range(11)
        for run in range(2)
    ]  # fmt: skip
    report = build(cells, name, one_study=True, reference=f"{name} 0")
    links = [[name, "https://example.org"], [name, f"javascript:{name}"]]
    facts = dict.fromkeys(("summary", "citation", "claims", "source", "distribution", "exempt"), name)
    lists = {
        key: [value] * len(report.methods) for key, value in (("deviations", [name, name]), ("links", links))
    }
    texts = ("licence", "citation", "summary", "positive", "negative", "setting_text")
    return replace(
        report,
        notes=(name,),
        data_sets=report.data_sets.assign(**dict.fromkeys(texts, name)),
        results=report.results.assign(command=name, parameters=name, chosen=name, edges=name, advice=name),
        methods=report.methods.assign(**facts, **lists),
    )


def data_of(text):
    """The data in a page."""
    (content,) = [text for attrs, text in Parsed(text).of("script") if attrs.get("id") == "data"]
    return json.loads(gzip.decompress(base64.b64decode(content)))


@pytest.mark.parametrize("report", [usual(), named(HARMFUL)], ids=["usual", "harmful"])
def test_a_page_loads_nothing_and_runs_its_own_script_alone(report):
    text = page(report)
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
    assert parsed.of("title")[0][1].strip() == f"{report.title} - aucbench"
    assert data_of(text)["title"] == report.title


def test_verdicts_are_those_over_each_reference_and_group():
    report = usual()
    (setting,) = packed(report)["settings"]
    (comparison,) = setting["compared"]
    verdicts = dict(comparison["verdicts"])
    assert set(zip(verdicts["reference"], verdicts["group"], strict=True)) == {
        (reference, group)
        for reference in ("alpha", "beta", "gamma", "delta")
        for group in groups_of_data(report.data_sets)
    }
    for reference in ("alpha", "delta"):
        gains = gains_of(report.cells, report.data_sets, {setting["name"]: reference}, report.rope)
        expected = compared(gains, report.results, report.data_sets, report.rope)
        lines = [at for at, value in enumerate(verdicts["reference"]) if value == reference]
        assert len(lines) == len(expected) > 8
        for name in ("group", "method", "verdict"):
            assert [verdicts[name][at] or "" for at in lines] == list(expected[name].fillna(""))
        for name in ("gain", "low", "high", "mean", "time_ratio", "better"):
            values = np.array([verdicts[name][at] for at in lines], dtype=float)
            np.testing.assert_allclose(values, expected[name].astype(float), rtol=1e-5, atol=5.1e-5)


def test_other_measures_that_all_cells_have_are_compared_without_a_rope():
    report = with_precision(usual(gaps=False))
    first, second = packed(report)["settings"][0]["compared"]
    for name in ("reference", "method", "data_set"):
        assert first["gains"][name] == second["gains"][name]
    assert first["gains"]["gain"] == pytest.approx(-np.array(second["gains"]["gain"]), abs=2e-4)
    assert (first["rope"], second["rope"]) == (report.rope, None)
    assert not any(second["verdicts"]["verdict"])
    cells = report.cells.assign(ap=report.cells["ap"].where(report.cells["seed"] > 0))
    assert len(packed(replace(report, cells=cells))["measures"]) == 1


def test_long_curves_are_thinned_to_their_last_point(monkeypatch):
    report = usual(gaps=False)
    full = packed(report)["settings"][0]["curves"]
    monkeypatch.setattr(page_data, "POINTS", len(report.curves) // 2)
    thin = packed(report)["settings"][0]["curves"]
    assert sum(map(len, thin["mean"])) <= len(report.curves) // 2
    for name in ("samples", "seconds", "mean"):
        assert [curve[-1] for curve in thin[name]] == [curve[-1] for curve in full[name]]
        assert all(set(part) <= set(curve) for part, curve in zip(thin[name], full[name], strict=True))


def test_without_scripts_the_verdicts_are_there():
    report = usual()
    text = page(report).split("<noscript>")[1].split("</noscript>")[0]
    for line in board_table(report, "defaults", brief=True).lines:
        assert "".join(f"<td>{html.escape(cell)}</td>" for cell in line) in text
