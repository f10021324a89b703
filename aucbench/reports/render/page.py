"""The page: one offline HTML file, with the data, the style and the script in a template."""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from aucbench.reports.render import display
from aucbench.reports.render._page_data import packed
from aucbench.reports.render.columns import board_table, overall_table
from aucbench.reports.report import Report

SCRIPTS = (
    "dom", "report", "state", "highlights", "plot", "downloads", "table", "board_charts", "objective_charts",
    "overall_curves", "pareto_charts", "overall_charts", "method_charts", "views", "app",
)  # fmt: skip


def write_page(report: Report, file: Path) -> None:
    """Write a report as one HTML file, which opens from any place without a network."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(report), encoding="utf-8", newline="\n")


def page(report: Report) -> str:
    """The text of the page.

    The browser is told to run this script and no other, and to load nothing: names, citations and parameters
    are data wherever they come from.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    code, looks = script(), style()
    policy = f"default-src 'none'; script-src {_digest(code)}; style-src {_digest(looks)}; img-src data:"
    return environment.from_string(_read("template.html")).render(
        report=report,
        display=display,
        board_table=board_table,
        overall_table=overall_table,
        data=embedded(packed(report)),
        script=code,
        style=looks,
        policy=policy,
    )


def script() -> str:
    """All scripts as one function, so that the page has no global names."""
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{parts}}})();\n'


def style() -> str:
    """The style sheet."""
    return _read("page.css")


@cache
def _read(name: str) -> str:
    folder = files("aucbench.reports.render").joinpath("page_files")
    return folder.joinpath(name).read_text("utf-8").replace("\r\n", "\n")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded(data: Any) -> str:
    """JSON that no HTML parser mistakes for markup: a text ``</script>`` stays a text."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
