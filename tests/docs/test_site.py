"""The built site: what a reader of it sees, at any width and without a network."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip(
    "numpydoc", reason="the documentation's packages are not installed: pip install -e '.[docs]'"
)
ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README", "CONTRIBUTING", "CHANGELOG")
WIDTHS = (390, 768, 1000, 1280, 1400)
CSS_ADDRESS = re.compile(r"url\(['\"]?(https?:)?//|@import ['\"]?(https?:)?//")
# Elements that load what their attribute names; links, which a reader follows, are none of them.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|use)\b[^>]*?(?:src|srcset|data|href)=['\"](?:https?:)?//[^>]*>"
    r"|<link\b(?=[^>]*rel=['\"](?:stylesheet|preload|icon|preconnect|modulepreload))[^>]*href=['\"](?:https?:)?//[^>]*>",
    re.IGNORECASE,
)


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """The files of the checkout that a build reads, and what each had before it."""
    names = ("aucbench", "docs", "examples", "plugins", "conf", *(f"{each}.md" for each in DOCUMENTS))
    return {path: path.stat().st_mtime_ns for name in names for path in _below(ROOT / name)}


def _below(path):
    if path.is_file():
        return [path]
    return [each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts]


@pytest.fixture(scope="session")
def site(tmp_path_factory, tree):
    """All pages, with the runs whose results some show; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", ROOT / "docs", folder],
        capture_output=True, text=True, cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr[-3000:]
    return folder


@pytest.fixture(scope="session")
def pages(site):
    return [path for path in sorted(site.rglob("*.html")) if ".doctrees" not in path.parts]


pytestmark = [pytest.mark.docs, pytest.mark.system, pytest.mark.timeout(900)]


def test_building_writes_nothing_into_the_source_tree(tree, site):
    after = {path for name in ("docs", "examples", "plugins", "conf") for path in _below(ROOT / name)}
    assert not after - tree.keys()
    assert all(path.stat().st_mtime_ns == before for path, before in tree.items())


def test_no_page_loads_anything_from_another_host(site, pages):
    assert len(pages) > 80
    for page in pages:
        found = LOADED.search(page.read_text(encoding="utf-8"))
        assert not found, f"{page.relative_to(site)}: {found[0]}"
    for style in (site / "_static").rglob("*.css"):
        assert not CSS_ADDRESS.search(style.read_text(encoding="utf-8")), style.name


IMBALANCED = ("imbalanc", "rare", "confid", "weight", "sample_weight")


@pytest.mark.parametrize(
    ("word", "page"),
    [("hyperparamet", "howto/tune"), ("cite", "cite"), *((word, "howto/imbalanced") for word in IMBALANCED)],
)
def test_the_search_knows_the_words_that_readers_look_for(site, word, page):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    numbers = [index[part].get(word, []) for part in ("terms", "titleterms")]
    found = [number for each in numbers for number in ([each] if isinstance(each, int) else each)]
    assert page in [index["docnames"][number] for number in found]


def test_no_page_scrolls_sideways_and_none_asks_another_host(site, pages, browser):
    window, asked, wide = browser.new_page(), set(), []
    window.on("request", lambda request: asked.add(request.url.split("/")[2]))
    for page in pages:
        if page.name.startswith("leaderboard") and page.parent == site:
            continue  # pages of their own, which their own tests look at
        window.goto(page.as_uri(), wait_until="load")
        for width in WIDTHS:
            window.set_viewport_size({"width": width, "height": 900})
            content, seen = window.evaluate(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            if content > seen:
                wide.append((str(page.relative_to(site)), width, content))
    window.close()
    assert not wide
    assert asked <= {""}  # files have no host


def test_the_leaderboards_are_linked_and_link_methods_and_sources(site):
    article = (site / "index.html").read_text(encoding="utf-8")
    for name in ("leaderboard", "leaderboard_tuned"):
        assert f"{name}.html" in article
        text = (site / f"{name}.html").read_text("utf-8")
        data = gzip.decompress(base64.b64decode(re.search(r'<script[^>]* id="data"[^>]*>([^<]*)<', text)[1]))
        linked = set(re.findall(r"generated/[a-z0-9_/.]+\.html", data.decode()))
        assert len([page for page in linked if "/methods/" in page]) > 35
        assert len([page for page in linked if "/sources/" in page]) > 25
        assert all((site / page).is_file() for page in linked)


def test_formulas_are_mathml_that_needs_no_script(site):
    text = (site / "objective.html").read_text(encoding="utf-8")
    assert "<mfrac>" in text
    assert "<msqrt>" in (site / "why.html").read_text(encoding="utf-8")
    assert not [script for script in re.findall("<script[^>]*>", text) if "mathjax" in script.lower()]
