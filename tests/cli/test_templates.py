"""What is generated is clean, obeys the rules as it is, and asks its author for few changes."""

import compileall
import importlib.util
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aucbench.cli.commands.new import KINDS, Names, render, write
from aucbench.testing import CHECKS, Status

ROOT = Path(__file__).resolve().parents[2]
MOST_CHANGES = 15


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A package of each kind, in one folder."""
    folder = tmp_path_factory.mktemp("packages")
    return {kind: write(kind, Names(f"generated_{kind}"), folder) for kind in KINDS}


def tool(name, *words, cwd):
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return subprocess.run([path, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)


def imported(folder, name, monkeypatch):
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where pickles look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.usefixtures("process")
def test_rendered_text_has_the_projects_style_and_compiles(packages):
    config = ["--config", ROOT / "pyproject.toml", "--no-cache"]
    for folder in packages.values():
        for words in (
            ["check", "--per-file-ignores", "**/tests/*.py:D", *config, "."],
            ["format", "--check", *config, "."],
        ):
            done = tool("ruff", *words, cwd=folder)
            assert done.returncode == 0, done.stdout + done.stderr
        assert compileall.compile_dir(folder, quiet=1)


@pytest.mark.usefixtures("process")
def test_generated_plugins_are_typed_as_strictly_as_the_built_in_ones(packages):
    modules = [folder / f"generated_{kind}.py" for kind, folder in packages.items()]
    done = tool("mypy", "--config-file", ROOT / "pyproject.toml", *modules, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_plugin_passes_every_check_as_it_is(packages, kind, monkeypatch):
    name = f"generated_{kind}"
    module = imported(packages[kind], name, monkeypatch)
    cls = getattr(module, Names(name).cls)
    findings = [check.find(check.prepare(cls)) for check in CHECKS[KINDS[kind].family]]
    assert [str(finding) for finding in findings if finding.status is not Status.passed] == []
    assert cls.name == name
    assert getattr(module, f"aucbench_{KINDS[kind].family}")() == (cls,)


@pytest.mark.parametrize("kind", KINDS)
def test_the_lines_to_be_changed_are_marked_and_few(packages, kind):
    text = (packages[kind] / f"generated_{kind}.py").read_text()
    assert 1 <= text.count("# yours") <= MOST_CHANGES


@pytest.mark.parametrize("kind", KINDS)
def test_the_package_has_one_entry_point_and_a_readme_with_three_commands(packages, kind):
    project = tomllib.loads((packages[kind] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {"aucbench": {f"generated-{kind}": f"generated_{kind}"}}
    assert project["name"] == f"generated-{kind}"
    readme = (packages[kind] / "README.md").read_text()
    commands = [line for line in readme.splitlines() if line.startswith("    ")]
    assert len(commands) == 3
    assert f"aucbench check generated_{kind}" in readme


def test_no_placeholder_is_left_in_any_file():
    for kind in KINDS:
        for path, text in render(kind, Names("state")).items():
            assert "$" not in text, path
