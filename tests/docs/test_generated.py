"""The pages that are made of the code."""

import inspect
import math
import re
import statistics
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import aucbench
import aucbench_algorithms
from aucbench.cli.commands import COMMANDS
from aucbench.contracts.validation import Family
from aucbench.reports import papers
from aucbench.studies import default_settings
from aucbench.studies.archives.archive_file import read
from aucbench.studies.plugin_metadata import bibliography, link, sentence

pytest.importorskip(
    "numpydoc", reason="the documentation's packages are not installed: pip install -e '.[docs]'"
)
ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "docs" / "_ext"


def names(cls):
    return [field.name for field in fields(cls)]


@pytest.fixture(autouse=True, scope="module")
def path():
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXTENSION))
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
    assert "| `store.path` | `aucbench-store` | " in page
    assert "| `tracking.uri` | `null` | Log every entry" in page


def test_plain_mathematics_stays_as_it_is():
    import docstrings
    import markdown

    lines = ["the norm of `rows_` and u_, |sum|::", "", "    |kept_|", "", "of `x_`"]
    docstrings.escape(None, "", "", None, None, lines)
    assert lines[0] == "the norm of `rows_` and u\\_, \\|sum\\|::"
    assert lines[2:] == ["    |kept_|", "", "of `x_`"]
    assert (
        markdown.escaped("w_t in `solam`, |w|", {"solam": "solam.md"})
        == "w\\_t in [`solam`](solam.md), \\|w\\|"
    )
    shown = markdown.prose("Minimises\n\n    f(w)\n      + g(w)\n\nwhere f * g is small.\n")
    assert shown == "Minimises\n\n```text\nf(w)\n  + g(w)\n```\n\nwhere f \\* g is small."


def test_citations_read_as_sentences():
    entries = bibliography(aucbench_algorithms.Solam)
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


@pytest.mark.docs
def test_the_first_run_shows_its_report(tmp_path):
    import printed

    page = EXTENSION.parent / "tutorials" / "first_run.md"
    report, _ = printed.texts(page.read_text(encoding="utf-8"), page, tmp_path / "made")
    table = page.read_text(encoding="utf-8").partition("| line | meaning |")[2].partition("\n\n")[0]
    lines = re.findall(r"^\| (\w[\w ]*\w) \|", table, re.MULTILINE)
    assert lines == re.findall(r"^ *(\w[\w ]*\w)  +\S", report, re.MULTILINE)


@pytest.mark.docs
def test_readme_says_what_the_archive_of_the_reference_study_says():
    import reference_study

    readme = (EXTENSION.parents[1] / "README.md").read_text(encoding="utf-8")
    assert " ".join(reference_study.section().split()) in " ".join(readme.split())


@pytest.mark.docs
@pytest.mark.parametrize(("file", "setting"), [("ARCHIVE", "defaults"), ("TRIALS", "tuned")])
def test_the_numbers_of_the_studies_are_those_of_their_cells(file, setting):
    """Gains over families and ratios of time, computed here from the records alone."""
    import reference_study

    file = getattr(reference_study, file)
    aucs, seconds, timed = {}, {}, {}
    for cell in reference_study.archive(file):
        record = cell.record
        where = (record.algorithm.name, record.dataset.title)
        aucs.setdefault(where, {})[record.seeds] = cell.auc
        spent = record.result.train_seconds + (record.tuned.cost.train_seconds if record.tuned else 0.0)
        seconds.setdefault(where, []).append(spent)
        machine = record.environment.cpu, record.environment.concurrency, record.environment.machine
        timed.setdefault(record.dataset.title, {}).setdefault(record.algorithm.name, set()).add(machine)
    usual = {}  # where most methods were timed; the times of others do not compare
    for data_set, machines in timed.items():
        every = sorted(each for found in machines.values() for each in found)
        usual[data_set] = {max(every, key=every.count)}
    known = aucbench.catalog().plugins[Family.datasets]
    told = reference_study.verdicts(file, setting)
    base = reference_study.REFERENCE
    own = told[(told["gaps"] == 0) & (told["method"] != base)]
    assert len(own) > 35
    for method, row in own.iterrows():
        families, ratios = {}, []
        for data_set in {data_set for name, data_set in aucs if name == method}:
            mine, theirs = aucs[method, data_set], aucs[base, data_set]
            family = getattr(known[data_set].cls, "family", None) or data_set
            families.setdefault(family, []).append(np.mean([mine[seed] - theirs[seed] for seed in mine]))
            if timed[data_set][method] == timed[data_set][base] == usual[data_set]:
                ratios.append(np.mean(seconds[method, data_set]) / np.mean(seconds[base, data_set]))
        assert row["gain"] == pytest.approx(np.mean([np.mean(each) for each in families.values()]), abs=1e-12)
        ratio = np.exp(np.mean(np.log(ratios))) if ratios else np.nan
        assert row["time_ratio"] == pytest.approx(ratio, nan_ok=True)
    assert file.stat().st_size < 10_000_000


def test_the_pictures_of_readme_are_drawn_by_the_project_and_small():
    import reference_study

    root = EXTENSION.parents[1]
    for path in (reference_study.PICTURE, reference_study.LOSSES_PICTURE):
        picture = path.relative_to(root).as_posix()
        assert f"({picture})" in (root / "README.md").read_text(encoding="utf-8")
        assert path.stat().st_size < 150_000
    assert "docs/_ext/reference_study.py" in (root / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_first_screen_of_readme_is_promise_picture_and_two_commands():
    lines = (EXTENSION.parents[1] / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150
    first = "\n".join(lines[:20])
    assert first.index("aucbench compares") < first.index("![") < first.index("pip install -e .")
    assert "pytest" in first


def test_pictures_of_the_leaderboard_are_kept_and_small():
    import screenshots

    pages = "\n".join(
        (EXTENSION.parent / name).read_text("utf-8") for name in ("index.md", "tutorials/leaderboard.md")
    )
    for view in screenshots.VIEWS:
        picture = screenshots.path(view)
        assert f"_static/{picture.name}" in pages
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size < 300_000


@pytest.mark.docs
def test_a_picture_of_the_leaderboard_can_be_taken_again(tmp_path, browser):
    import reference_study
    import screenshots
    from PIL import Image

    page = tmp_path / "leaderboard.html"
    reference_study.write_leaderboard(page)
    window = browser.new_page(color_scheme="light")
    for view in screenshots.VIEWS:
        screenshots.take(window, page.as_uri(), view, tmp_path / f"{view}.png")
        with Image.open(tmp_path / f"{view}.png") as taken:
            assert taken.size == screenshots.SIZE
            assert len(taken.convert("RGB").getcolors(1 << 16)) > 20, f"{view} is empty"
    window.close()


@pytest.mark.docs
def test_numbers_of_the_front_page_are_counted():
    import landing

    found = landing.numbers()
    plugins = aucbench.catalog().plugins
    assert found["methods"] == len(plugins[Family.algorithms])
    own = {"arff", "csv", "libsvm", "npz", "openml", "parquet"}  # readers of the user's data
    assert found["data sets"] == len(set(plugins[Family.datasets]) - own)
    verdicts = [
        (mean - cell.auc_mean > margin) - (mean - cell.auc_mean < -margin)
        for name, table in papers.TABLES.items()
        for cell in table.cells()
        if cell.dataset not in table.other_data
        if (mean := mean_auc(name, cell)) is not None
        for margin in [max(0.003, 0.0 if math.isnan(cell.auc_std) else 2 * cell.auc_std)]
    ]
    assert verdicts
    assert found["published results compared"] == len(verdicts)
    assert found["of these equal or better"] == len(verdicts) - verdicts.count(-1)


@cache
def cells_of_table(name):
    return [cell for file in (ROOT / "docs" / "results").glob(f"{name}*.zip") for cell in read(file)[1]]


def mean_auc(name, published):
    """Of the cells that stand for a published number and whose classes the paper names; None without any."""
    own = [
        cell
        for cell in cells_of_table(name)
        if cell.record.dataset.name == published.dataset
        and papers.is_method(cell.record, published.method)
        and papers.is_comparable(cell.record)
    ]
    return statistics.fmean(cell.auc for cell in own) if own else None


def test_references_lead_to_papers():
    entries = bibliography(aucbench_algorithms.Solam)
    links = {key: link(entry) for key, entry in entries.items()}
    assert links["cox1958regression"] == "https://doi.org/10.1111/j.2517-6161.1958.tb00292.x"
    assert links["gao2013opauc"] == "https://arxiv.org/abs/1305.1363"
    assert links["yang2020sauc"] == "https://doi.org/10.3934/cpaa.2020188"
    assert links["liu2018fsauc"] == "https://proceedings.mlr.press/v80/liu18g.html"
    assert [key for key, address in links.items() if not address] == [
        "khalid_psam"
    ]  # whose address is not known
    import method_pages

    pages = method_pages.pages()
    assert f"<{links['gao2013opauc']}>" in pages["methods/opauc.md"]


def test_every_method_links_to_its_source():
    import method_pages

    pages = method_pages.pages()
    for name, plugin in aucbench.catalog().plugins[Family.algorithms].items():
        assert f"[`{plugin.source}`](../sources/{plugin.source}.md)" in pages[f"methods/{name}.md"]
        shown = pages[f"sources/{plugin.source}.md"]
        assert Path(inspect.getsourcefile(plugin.cls)).read_text(encoding="utf-8") in shown
