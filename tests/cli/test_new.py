"""``aucbench new``: what it writes is clean and obeys the rules; test_bad_input shows what it refuses."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aucbench.cli.commands.new import FOLDER, KINDS, class_name, write
from aucbench.contracts.validation import Family
from aucbench.testing import CHECKS, Status

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A package of each kind, in one folder."""
    folder = tmp_path_factory.mktemp("packages")
    return {kind: write(kind, f"generated_{kind}", folder) for kind in KINDS}


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_generated_plugin_passes_every_check_as_it_is(packages, kind, monkeypatch):
    name = f"generated_{kind}"
    spec = importlib.util.spec_from_file_location(name, packages[kind] / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where pickles look for it
    spec.loader.exec_module(module)
    (cls,) = getattr(module, f"aucbench_{KINDS[kind]['family']}")()
    findings = [check.find(check.prepare(cls)) for check in CHECKS[Family(KINDS[kind]["family"])]]
    assert [str(finding) for finding in findings if finding.status is not Status.passed] == []
    assert (cls.name, cls.__name__) == (name, name.title().replace("_", ""))


def test_a_package_is_written_without_importing_it_and_the_next_commands_are_shown(done, tmp_path):
    out = done("new", "algorithm", "my_fast_method", "--into", tmp_path / "deep")
    folder = tmp_path / "deep" / "my-fast-method"
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "AGENTS.md", "README.md", "my_fast_method.py", "pyproject.toml", "tests/test_my_fast_method.py",
    ]  # fmt: skip
    assert "class MyFastMethod:" in (folder / "my_fast_method.py").read_text()
    assert "my_fast_method" not in sys.modules
    assert f"cd {folder} && pip install -e '.[test]' && pytest\n" in out
    for command in ("check", "try"):
        assert f"aucbench {command} my_fast_method\n" in out


def test_a_folder_or_file_that_is_there_is_left_alone(refused, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "file").write_text("")
    assert f"{tmp_path / 'mine'} is there already" in refused("new", "loss", "mine", "--into", tmp_path)
    assert "file" in refused("new", "loss", "mine", "--into", tmp_path / "file")
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_class_never_has_the_name_of_a_keyword_or_of_what_its_module_imports():
    text = (FOLDER / "algorithm.py.template").read_text()
    for name in ("true", "none", "state", "batch", "any"):
        assert class_name(name, text) == f"{name.capitalize()}Plugin"
