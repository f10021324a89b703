"""The page is a template around three texts: the data, the styles and the script."""

import base64
import hashlib
from pathlib import Path

import jinja2

from aucbench.boards import texts
from aucbench.boards.page.assets import script, style
from aucbench.boards.page.packing import embedded, packed
from aucbench.boards.report import Report


def write_page(report: Report, file: Path) -> None:
    """Write a report as one HTML file, which opens from any place without a network.

    Parameters
    ----------
    report : Report
        What it says.
    file : Path
        Where to; its folder is made, an older file replaced.
    """
    text = page(report)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")


def page(report: Report) -> str:
    """The text of the page.

    The browser is told to run this script and no other, and to load nothing: names, citations and parameters
    are data wherever they come from.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("aucbench.boards.page", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    code, looks = script(), style()
    return environment.get_template("template.html").render(
        report=report,
        texts=texts,
        data=embedded(packed(report)),
        script=code,
        style=looks,
        policy=_policy(code, looks),
    )


def _policy(code: str, looks: str) -> str:
    """What the browser may do: this script, this style sheet, an empty icon."""
    return f"default-src 'none'; script-src {_digest(code)}; style-src {_digest(looks)}; img-src data:"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
