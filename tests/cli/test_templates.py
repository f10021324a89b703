"""Generated packages are clean, obey the rules as they are, and ask their authors for few changes."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aucbench.cli.commands.new import TEMPLATES, Names, write
from aucbench.testing import CHECKS, Status

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.package
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
