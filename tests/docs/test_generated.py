"""The pages that are made of the code."""

import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import aucbench
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Family
from aucbench.studies import default_settings
from aucbench.studies.plugin_metadata import bibliography, sentence

pytest.importorskip(
    "numpydoc", reason="the documentation's packages are not installed: pip install -e '.[docs]'"
)
EXTENSION = Path(__file__).parents[2] / "docs" / "_ext"


def names(cls):
    return [field.name for field in fields(cls)]


@pytest.fixture(autouse=True)
def path(monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(EXTENSION))
    yield
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(EXTENSION) in str(sys.modules[name].__file__):
            del sys.modules[name]


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
        for row in rows:
            cells = re.split(r"(?<!\\)\|", row)[1:-1]  # a bar of mathematics is escaped
            assert len(cells) == 4, f"{name}: {row}"
            assert cells[3].strip(), f"{name}: a field without a meaning: {row}"


def test_every_loss_feature_map_and_data_set_stands_in_its_table():
    import plugin_tables

    pages = plugin_tables.pages()
    plugins = aucbench.catalog().plugins
    assert all(f"| `{name}` |" in pages["losses.md"] for name in plugins[Family.losses])
    assert all(f"| `{name}` |" in pages["datasets.md"] for name in plugins[Family.datasets])
    headings = pages["features.md"].replace("\\", "")
    assert all(f"## {name}\n" in headings for name in plugins[Family.features])


def test_every_command_and_field_stands_in_the_reference():
    import command_pages
    import field_pages

    commands = command_pages.pages()["commands.md"]
    assert all(f"## aucbench {name}\n" in commands for name in COMMANDS)
    page = field_pages.pages()["configuration.md"]
    for prefix, cls in (
        ("", default_settings.Settings),
        ("", default_settings.Running),
        ("budget.", default_settings.Budget),
    ):
        for name in names(cls):
            row = next(line for line in page.splitlines() if line.startswith(f"| `{prefix}{name}` |"))
            cells = re.split(r"(?<!\\)\|", row)[1:-1]  # a bar of mathematics is escaped
            assert len(cells) == 3, row
            assert cells[2].strip(), f"{prefix}{name} has no meaning"
    assert "| `store.path` | `aucbench-store` | Where finished cells" in page
    assert "| `tracking.uri` | `sqlite:///mlflow.db` | Log every entry" in page


def test_plain_mathematics_stays_as_it_is():
    import docstrings
    import markdown

    lines = ["the norm |x_i|_1 of `rows_` and u_, sum::", "", "    |kept_|", "", "of `x_` and |y|"]
    docstrings.escape(None, "", "", None, None, lines)
    assert lines[0] == "the norm \\|x_i\\|_1 of `rows_` and u\\_, sum::"
    assert lines[2:] == ["    |kept_|", "", "of `x_` and \\|y\\|"]
    assert (
        markdown.escaped("w_t in `solam`, |w|", {"solam": "solam.md"})
        == "w\\_t in [`solam`](solam.md), \\|w\\|"
    )
    shown = markdown.prose("Minimises\n\n    f(w)\n      + g(w)\n\nwhere f * g is small.\n")
    assert shown == "Minimises\n\n```text\nf(w)\n  + g(w)\n```\n\nwhere f \\* g is small."


def test_citations_read_as_sentences():
    entries = bibliography("aucbench_algorithms")
    assert sentence(entries["ying2016solam"]) == (
        "Yiming Ying, Longyin Wen, Siwei Lyu: Stochastic Online AUC Maximization. "
        "Advances in Neural Information Processing Systems 29, 2016."
    )
    assert "Kotłowski" in sentence(entries["kotlowski2011bipartite"])
    for key, entry in entries.items():
        assert "{" not in sentence(entry), key


def test_a_page_shows_what_its_code_prints(tmp_path):
    import printed

    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\nprint(a)\n```\n\n```{printed}\n```\n\nText.\n\n    aucbench check --list\n\n"
        "```{printed}\n```\n\n    rm -r nothing of this is run\n\n```python\nprint(a + 1)\n```\n\n"
        "```{printed}\n```\n"
    )
    first, second, third = printed.texts(page.read_text(), page, tmp_path / "made")
    assert first == "1"
    assert "compiled_once" in second
    assert third == "2"
    printed._texts["page"] = [first, second, third]
    source = [page.read_text()]
    printed.insert(None, "page", source)
    assert source[0].startswith("```python\na = 1\nprint(a)\n```\n\n```text\n1\n```\n\nText.")
    assert printed.HERE not in source[0]


def test_code_of_a_page_that_fails_ends_the_build_at_its_line(tmp_path):
    import printed

    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```python\na = 1\nraise KeyError\n```\n\n```{printed}\n```\n")
    with pytest.raises(KeyError) as caught:
        printed.texts(page.read_text(), page, tmp_path)
    assert caught.traceback[-1].lineno == 4  # counted from 0
    for command, complaint in (
        ("aucbench check no_such", "ended with 2"),
        ("ls", "is no command of aucbench"),
    ):
        page.write_text(f"    {command}\n\n```{{printed}}\n```\n")
        with pytest.raises(RuntimeError, match=complaint):
            printed.texts(page.read_text(), page, tmp_path)


@pytest.mark.parametrize(
    "above", ["    aucbench check --list\n\nprints\n\n", "```python\na = 1\n```\n\n", "Text.\n\n"]
)
def test_a_block_that_stays_empty_ends_the_build(tmp_path, above):
    import printed

    page = tmp_path / "page.md"
    page.write_text(f"{above}```{{printed}}\n```\n")
    line = above.count("\n") + 1
    with pytest.raises(RuntimeError, match=rf"page\.md, line {line}: nothing is printed"):
        printed.texts(page.read_text(), page, tmp_path)


def test_a_figure_of_a_page_does_not_stay_open(tmp_path):
    import printed
    from matplotlib import pyplot

    page = tmp_path / "page.md"
    page.write_text(
        "```python\nfrom matplotlib import pyplot\npyplot.figure()\nprint(1)\n```\n\n```{printed}\n```\n"
    )
    assert printed.texts(page.read_text(), page, tmp_path) == ["1"]
    assert not pyplot.get_fignums()


def test_the_first_run_shows_its_report(tmp_path):
    import printed

    page = EXTENSION.parent / "tutorials" / "first_run.md"
    report, _ = printed.texts(page.read_text(encoding="utf-8"), page, tmp_path / "made")
    table = page.read_text(encoding="utf-8").partition("| line | meaning |")[2].partition("\n\n")[0]
    lines = re.findall(r"^\| (\w[\w ]*\w) \|", table, re.MULTILINE)
    assert lines == re.findall(r"^ *(\w[\w ]*\w)  +\S", report, re.MULTILINE)


def test_the_front_page_says_the_settings_of_its_study():
    import results

    page = (EXTENSION.parent / "index.md").read_text(encoding="utf-8")
    command = (
        page.partition("    python -m aucbench -m ")[2].partition("\n\n")[0].replace("\\\n", " ").split()
    )
    assert set(command) == {*results.STUDY, *results.COMMON} - {"tracking=none"}
    assert set(results.STUDY) >= {"tuning=none", "runs=5"}  # as the sentences beside it and in README say
    assert not [word for word in command if word.startswith("budget.")]  # the default, ten passes


def test_the_picture_of_readme_is_drawn_by_the_project_and_small():
    from front_picture import __doc__ as told

    picture = "docs/_static/board.svg"
    root = EXTENSION.parents[1]
    assert f"({picture})" in (root / "README.md").read_text(encoding="utf-8")
    assert f"docs/_ext/front_picture.py {picture}" in told
    assert f"docs/_ext/front_picture.py {picture}" in (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert (root / picture).stat().st_size < 150_000
