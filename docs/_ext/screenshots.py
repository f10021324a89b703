"""Pictures of the leaderboard of the reference study, as a browser shows it.

``python docs/_ext/screenshots.py`` takes the pictures anew with the installed Chromium and writes them beside
the other files of the site, so that a build needs no browser. Run the script after a change of the
page or the archive.
"""

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import reference_study
from PIL import Image

PICTURES = Path(__file__).parents[1] / "_static"
SIZE = (1200, 780)
COLOURS = 128  # enough for a page, at a third of the file size
# By view: its URL fragment, and the prefix of links in the view; if set, the first such link is shown.
VIEWS: Mapping[str, tuple[str, str]] = {
    "overall": ("#overall", ""),
    "data_set": ("#data", "#data/"),
    "method": ("#methods/psam", ""),
}


def path(view: str) -> Path:
    """Path of the picture of a view."""
    return PICTURES / f"leaderboard_{view}.png"


def take(page: Any, address: str, view: str, to: Path) -> None:
    """Take one picture, with the view at the top of the window."""
    start, part = VIEWS[view]
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    page.goto("about:blank")  # without a blank page, a new fragment of the same address loads nothing
    page.goto(address + start)
    page.wait_for_selector("main :is(h2, svg, table)")
    if part:
        link = page.locator(f'main a[href^="{part}"]').first.get_attribute("href")
        page.goto("about:blank")
        page.goto(address + link)
        page.wait_for_selector("main :is(h2, svg, table)")
    page.wait_for_timeout(300)  # the page draws its pictures after a delay
    page.screenshot(path=to)
    with Image.open(to) as image:
        image.convert("RGB").quantize(COLOURS).save(to, optimize=True)


def main() -> int:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    candidates = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    executable = next((candidate for candidate in candidates if candidate), None)
    if executable is None:
        print("There is no Chromium on the PATH to take pictures with.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        leaderboard = Path(folder) / "leaderboard.html"
        reference_study.write_leaderboard(leaderboard)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        window = browser.new_page(color_scheme="light", device_scale_factor=1)
        for view in VIEWS:
            take(window, leaderboard.as_uri(), view, path(view))
            print(path(view), path(view).stat().st_size)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
