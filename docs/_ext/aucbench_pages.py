"""Sphinx extension for pages made from code: methods, losses, feature maps, data sets, commands, fields.

Every installed plugin has its page: no plugin is listed here by name, except those of the front page.
"""

import shutil
from pathlib import Path
from typing import Any

import claims_page
import command_pages
import docstrings
import field_pages
import landing
import method_pages
import paper_tables
import plugin_tables
import printed
import reference_study
import results
import source_copy
import trials_study
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def generate(app: Any) -> None:
    """Write everything below ``generated``; finished runs are kept in ``_runs`` from build to build."""
    docs = Path(app.srcdir)
    folder = docs / "generated"
    if folder.exists():
        shutil.rmtree(folder)
    for name in ("methods", "sources"):
        (folder / name).mkdir(parents=True)
    if app.config.aucbench_runs:
        results.run(docs / "_runs")
        results.draw_curves(folder / "methods")
        printed.run(docs, folder / "printed")
    reference_study.write(folder)
    reference_study.write_leaderboard(Path(app.outdir) / "leaderboard.html")
    reference_study.write_leaderboard(Path(app.outdir) / "leaderboard_tuned.html", reference_study.TRIALS)
    landing.write(folder)
    paper_tables.write(folder)
    trials_study.write(folder)
    claims_page.write(folder)
    pages = method_pages.pages() | plugin_tables.pages() | command_pages.pages() | field_pages.pages()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def _write_formula(translator: Any, node: Any) -> None:
    """Write a formula as MathML, which browsers typeset without scripts or network; called by Sphinx."""
    is_block = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=is_block)
    translator.body.append(f'<div class="formula">{formula}</div>' if is_block else formula)
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Register the extension; called by Sphinx."""
    app.srcdir = type(app.srcdir)(source_copy.make(Path(app.doctreedir) / "source"))
    # Without runs, the site builds in a minute: enough for editing a page.
    app.add_config_value("aucbench_runs", True, "html", types=[bool])
    app.connect("builder-inited", generate, priority=100)  # before the gallery
    app.connect("source-read", printed.insert)
    app.connect("env-get-outdated", printed.outdated)
    app.connect("autodoc-process-docstring", docstrings.escape, priority=900)  # after numpydoc
    app.add_html_math_renderer("mathml", (_write_formula, None), (_write_formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
