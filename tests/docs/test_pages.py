"""The commands of README and of the pages are typed here, page by page."""

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from aucbench.cli.commands import COMMANDS
from aucbench.cli.main import main
from tests.helpers import page_substitutes
from tests.helpers.markdown_blocks import blocks

ROOT = Path(__file__).parents[2]
GENERATED = {"generated", "auto_examples", "_build"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not GENERATED & set(page.relative_to(ROOT / "docs").parts)
    ),
]
RUNNABLE = [page for page in PAGES if any(block.is_python or block.is_commands for block in blocks(page))]

# Marks of README's commands by their first words, since comments in README would show on some sites.
README = {
    "pip install": "not run: installs the checkout, which the tests have done",
    "mlflow ui": "not run: a server that goes on until it is stopped",
    "aucbench new": "not run: the tests of the command write and try such a package",
    "aucbench check": "not run: the tests of the command check such a plugin",
    "aucbench try": "not run: the tests of the command try such a plugin",
    "aucbench leaderboard --out": "not run: draws all pictures; the pages run it without",
    "python -m aucbench -m": "dry-run",
}

CATALOGUE = ("a9a", "w8a", "ijcnn1", "covtype", "+experiment", "+suite")  # in commands that read real files


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def steps(page):
    """Each command and Python block of a page, with its mark."""
    for block in blocks(page):
        if block.is_python:
            yield block, block.text, block.mark
        elif block.is_commands:
            for command in block.commands():
                yield block, command, block.mark or _of_readme(page, command)


def _of_readme(page, command):
    if page.name != "README.md":
        return ""
    return next((mark for start, mark in README.items() if command.startswith(start)), "")


def _needs_files(page):
    run = [text for _, text, mark in steps(page) if not mark.startswith("not run")]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in run for name in CATALOGUE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder and one store for all pages, so that a command of two pages runs once."""
    path = tmp_path_factory.mktemp("pages")
    page_substitutes.write(path)
    return path


MARKED = [
    pytest.param(page, id=name_of(page), marks=[pytest.mark.mirror] if _needs_files(page) else [])
    for page in RUNNABLE
]


@pytest.mark.docs
@pytest.mark.parametrize("page", MARKED)
def test_what_a_page_says_can_be_typed(page, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    if page.name == "data.md":  # it removes data that other pages need
        monkeypatch.setenv("AUCBENCH_CACHE", str(folder / "cache"))
    module, variables = ModuleType(f"page_{page.stem}"), {}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block, text, mark in steps(page):
        if mark.startswith("not run"):
            continue
        where = f"{name_of(page)}:{block.line}"
        if block.is_python:
            exec(compile(text, where, "exec"), module.__dict__)
        elif assigned := re.fullmatch(r"([A-Z]+)=\"(.*)\"", text):
            variables[f"${assigned[1]}"] = assigned[2]
        else:
            _type(text, variables, mark, where, capsys)


def _type(command, variables, mark, where, capsys):
    for name, value in variables.items():
        command = command.replace(name, value)
    args = shlex.split(command)
    program = next((p for p in (["aucbench"], ["python", "-m", "aucbench"]) if args[: len(p)] == p), None)
    assert program, f"{where}: `{command}` is no command of aucbench: a comment must say why it is not run"
    args = args[len(program) :]
    is_run = not args or args[0] == "run" or args[0] not in COMMANDS
    status = main([*args, "--dry-run"] if mark == "dry-run" and is_run else args)
    printed = capsys.readouterr()
    assert status == 0, (
        f"{where}: `{command}` ended with {status}:\n{printed.out[-2000:]}{printed.err[-2000:]}"
    )


def test_every_command_stands_on_a_page_that_somebody_wrote():
    written = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in COMMANDS:
        assert re.search(rf"aucbench {name}\b", written), f"no page says what `aucbench {name}` is for"


@pytest.mark.parametrize(
    "package", ["aucbench", "aucbench.testing", "aucbench.kernels", "aucbench.river", "aucbench.sklearn"]
)
def test_every_public_name_stands_in_the_reference(package):
    folder = ROOT / "docs" / "reference"
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted(folder.iterdir()))
    members = "\n".join(re.findall(r"automodule:: (\S+)\n   :members:", pages))
    for name in import_module(package).__all__:
        home = getattr(getattr(import_module(package), name), "__module__", "")
        match = re.search(rf"(?<![.\w])({package}\.)?{name}(?!\w)", pages)
        assert match or home in members.splitlines(), f"the reference does not know {package}.{name}"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+\.(?:md|rst))(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            generated = GENERATED & set(Path(target).parts)
            home = ROOT / "docs" if page.name == "CONTRIBUTING.md" and "docs" in target else page.parent
            assert generated or (home / target).exists(), f"{name_of(page)} links to {target}"
