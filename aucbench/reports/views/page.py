"""The page: one offline HTML file with its data, style and script."""

import base64
import gzip
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import msgspec

from aucbench.reports.answer import answer
from aucbench.reports.report import Report
from aucbench.reports.views.page_data import packed
from aucbench.reports.views.text import board_table

SCRIPTS = ("dom", "report", "state", "plot", "table", "forest", "charts", "views", "app")


def write_page(report: Report, path: Path) -> None:
    """Write a report as one HTML file, which opens from any place without a network."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(report), encoding="utf-8", newline="\n")


def page(report: Report) -> str:
    """The text of the page.

    The content security policy allows only this script and no loading: names, citations and parameters are
    never executed, wherever they come from.
    """
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    code, looks = script(), _read("page.css")
    policy = f"default-src 'none'; script-src {_digest(code)}; style-src {_digest(looks)}; img-src data:"
    return environment.from_string(_read("template.html")).render(
        report=report,
        answers={setting: answer(report, setting) for setting in report.settings},
        made=report.made[:10],
        tables={setting: board_table(report, setting, brief=True) for setting in report.settings},
        data=compressed(packed(report)),
        script=code,
        style=looks,
        policy=policy,
    )


def script() -> str:
    """All scripts as one function, so that the page has no global names."""
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f'(async function () {{\n"use strict";\n{parts}}})();\n'


@cache
def _read(name: str) -> str:
    folder = files("aucbench.reports.views").joinpath("page_files")
    return folder.joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def compressed(data: Any) -> str:
    """JSON as gzip in base64: a fourth of the size, and without characters of markup."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), compresslevel=7, mtime=0)).decode()
