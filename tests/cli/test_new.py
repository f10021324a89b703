"""``aucbench new``: its packages obey the rules; test_bad_input has its refusals."""

import importlib.util
import sys

import pytest

from aucbench.cli.commands.new import KINDS, write
from aucbench.contracts.validation import Family
from aucbench.testing import CHECKS, Status


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A package of each kind, in one folder."""
    folder = tmp_path_factory.mktemp("packages")
    return {kind: write(kind, f"generated_{kind}", folder) for kind in KINDS}


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


def test_a_package_is_written_without_importing_it_and_the_next_commands_are_shown(output, tmp_path):
    out = output("new", "algorithm", "my_fast_method", "--into", tmp_path / "deep")
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
