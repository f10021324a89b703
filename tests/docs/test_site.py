"""The built site: what a reader of it sees without a network."""

import base64
import gzip
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
CSS_ADDRESS = re.compile(r"url\(['\"]?(https?:)?//|@import ['\"]?(https?:)?//")
# Elements that load what their attribute names; links, which a reader follows, are none of them.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object|use)\b[^>]*?(?:src|srcset|data|href)=['\"](?:https?:)?//[^>]*>"
    r"|<link\b(?=[^>]*rel=['\"](?:stylesheet|preload|icon|preconnect|modulepreload))[^>]*href=['\"](?:https?:)?//[^>]*>",
    re.IGNORECASE,
)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
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


def test_no_page_loads_anything_from_another_host(site, pages):
    assert len(pages) > 80
    for page in pages:
        found = LOADED.search(page.read_text(encoding="utf-8"))
        assert not found, f"{page.relative_to(site)}: {found[0]}"
    for style in (site / "_static").rglob("*.css"):
        assert not CSS_ADDRESS.search(style.read_text(encoding="utf-8")), style.name


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
