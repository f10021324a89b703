"""The files of the page: many small ones here, one script and one style sheet there."""

from importlib.resources import files

SCRIPTS = (
    "dom", "numbers", "data", "state", "identity", "copying", "verdict", "columns", "table", "filters",
    "scales", "lineplot", "readout", "legend", "curves", "strips", "matrices", "sensitivity", "ranking",
    "critical", "pareto", "profile", "heat", "view_overall", "view_results", "view_board", "view_data",
    "view_methods", "view_notes", "theme", "main",
)  # fmt: skip
STYLES = ("base", "controls", "tables", "pictures", "print")


def script() -> str:
    """All scripts as one function, so that the page has no global names."""
    parts = "\n".join(_read("scripts", f"{name}.js") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{parts}}})();\n'


def style() -> str:
    """All style sheets, in order."""
    return "\n".join(_read("styles", f"{name}.css") for name in STYLES)


def _read(folder: str, name: str) -> str:
    return files("aucbench.boards.page").joinpath(folder, name).read_text("utf-8").replace("\r\n", "\n")
