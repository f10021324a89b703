"""``aucbench new``: what it writes; test_bad_input shows what it refuses."""

import sys

import pytest

from aucbench.cli.commands.new import Names


def test_a_package_is_written_without_importing_it_and_the_next_commands_are_shown(run, tmp_path):
    status, out, _ = run("new", "algorithm", "my_fast_method", "--into", tmp_path / "deep")
    folder = tmp_path / "deep" / "my-fast-method"
    assert status == 0
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


@pytest.mark.parametrize("name", ["true", "none", "state", "batch", "any"])
def test_a_class_never_has_the_name_of_a_keyword_or_of_what_its_module_imports(name):
    assert Names(name).cls == f"{name.capitalize()}Plugin"
