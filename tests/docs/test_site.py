"""The built site works for a reader without a network."""

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
# Elements that load the address in their attribute; links that a reader follows are not among them.
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
        match = LOADED.search(page.read_text(encoding="utf-8"))
        assert not match, f"{page.relative_to(site)}: {match[0]}"
    for style in (site / "_static").rglob("*.css"):
        assert not CSS_ADDRESS.search(style.read_text(encoding="utf-8")), style.name
