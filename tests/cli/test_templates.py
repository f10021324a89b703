"""Generated packages are clean, obey the rules as they are, and ask their authors for few changes."""

import importlib.util
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aucbench.cli.commands.new import TEMPLATES, Names, write
from aucbench.testing import CHECKS, Status

ROOT = Path(__file__).resolve().parents[2]
MOST_CHANGES = 15


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A package of each kind, in one folder."""
    folder = tmp_path_factory.mktemp("packages")
    return {kind: write(kind, Names(f"generated_{kind}"), folder) for kind in TEMPLATES}


def clean(*words, cwd):
    """Require that a tool which is installed finds nothing wrong."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("process")
def test_generated_packages_have_the_projects_style_and_types(packages):
    config = ("--config", ROOT / "pyproject.toml", "--no-cache")
    for folder in packages.values():
        clean("ruff", "check", "--per-file-ignores", "**/tests/*.py:D", *config, ".", cwd=folder)
        clean("ruff", "format", "--check", *config, ".", cwd=folder)
    modules = [folder / f"generated_{kind}.py" for kind, folder in packages.items()]
    clean("mypy", "--config-file", ROOT / "pyproject.toml", *modules, cwd=ROOT)


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_generated_plugin_passes_every_check_as_it_is(packages, kind, monkeypatch):
    name = f"generated_{kind}"
    spec = importlib.util.spec_from_file_location(name, packages[kind] / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where pickles look for it
    spec.loader.exec_module(module)
    cls = getattr(module, Names(name).cls)
    findings = [check.find(check.prepare(cls)) for check in CHECKS[TEMPLATES[kind].family]]
    assert [str(finding) for finding in findings if finding.status is not Status.passed] == []
    assert cls.name == name
    assert getattr(module, f"aucbench_{TEMPLATES[kind].family}")() == (cls,)


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_package_has_one_entry_point_few_lines_to_change_and_a_readme_with_three_commands(packages, kind):
    folder = packages[kind]
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {
        "aucbench": {Names(f"generated_{kind}").distribution: f"generated_{kind}"}
    }
    assert project["name"] == Names(f"generated_{kind}").distribution
    readme = (folder / "README.md").read_text()
    assert sum(line.startswith("    ") for line in readme.splitlines()) == 3
    assert f"aucbench check generated_{kind}" in readme
    assert 1 <= (folder / f"generated_{kind}.py").read_text().count("# yours") <= MOST_CHANGES
    assert not [
        path
        for path in folder.rglob("*")
        if path.suffix in (".py", ".toml", ".md") and "$" in path.read_text()
    ]
