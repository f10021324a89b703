"""Writes the pages that are made of the code: methods, losses, feature maps, data sets, commands, fields.

A plugin that is installed has its page: nothing here lists one by name, but for those of the front page.
"""

import shutil
from pathlib import Path
from typing import Any

import command_pages
import docstrings
import field_pages
import method_pages
import plugin_tables
import printed
import results


def generate(app: Any) -> None:
    """Write everything below ``generated``; finished runs are kept in ``_runs`` from build to build."""
    docs = Path(app.srcdir)
    folder = docs / "generated"
    if folder.exists():
        shutil.rmtree(folder)
    for part in ("methods", "board"):
        (folder / part).mkdir(parents=True)
    results.run(docs / "_runs")
    results.draw_curves(folder / "methods")
    results.draw_board(folder)
    printed.run(docs, folder / "printed")
    pages = method_pages.pages() | plugin_tables.pages() | command_pages.pages() | field_pages.pages()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", generate, priority=100)  # before the gallery
    app.connect("source-read", printed.insert)
    app.connect("env-get-outdated", printed.outdated)
    app.connect("autodoc-process-docstring", docstrings.escape, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
