"""The pages that are made of the code."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

import aucbench
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Family
from aucbench.studies import default_settings

pytest.importorskip(
    "numpydoc", reason="the documentation's packages are not installed: pip install -e '.[docs]'"
)
ROOT = Path(__file__).parents[2]


def names(cls):
    return [field.name for field in fields(cls)]


def meaning(row, columns):
    """The last cell of a line of a table."""
    cells = re.split(r"(?<!\\)\|", row)[1:-1]  # a bar of mathematics is escaped
    assert len(cells) == columns, row
    return cells[-1].strip()


pytestmark = pytest.mark.usefixtures("extension")


def test_every_method_has_a_page_with_its_parameters_and_its_source():
    import method_pages

    pages = method_pages.pages()
    for name, plugin in aucbench.catalog().plugins[Family.algorithms].items():
        page = pages[f"methods/{name}.md"]
        for part in ("## Parameters", "## Citation", "```bibtex", "cost of an iteration", "claimed rate"):
            assert part in page, f"{name}: {part}"
        assert "```text\n" in page.partition("## How it works")[2].partition("## ")[0], f"{name}: no formula"
        assert f"algo={name}" in page
        assert f"`{name}`]({name}.md)" in pages["methods/index.md"]
        assert all(f"`algo.{field}`" in page for field in names(plugin.cls))
        table = page.partition("## Parameters")[2].partition("## ")[0]
        rows = [line for line in table.splitlines() if line.startswith("| `algo.")]
        assert all(meaning(row, 4) for row in rows), name


def test_every_command_and_field_stands_in_the_reference():
    import command_pages
    import field_pages

    commands = command_pages.pages()["commands.md"]
    assert all(f"## aucbench {name}\n" in commands for name in COMMANDS)
    page = field_pages.pages()["configuration.md"]
    fields = names(default_settings.Settings) + names(default_settings.Running)
    for name in [*fields, *(f"budget.{field}" for field in names(default_settings.Budget))]:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert meaning(row, 3), f"{name} has no meaning"
    assert "| `store.path` | `aucbench-store` | " in page
    assert "| `tracking.uri` | `null` | Log every entry" in page


@pytest.mark.docs
def test_readme_says_what_the_archive_of_the_reference_study_says():
    import reference_study

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert " ".join(reference_study.section().split()) in " ".join(readme.split())
