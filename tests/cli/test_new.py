"""``aucbench new``: what it writes, and what it refuses in one sentence."""

import sys

import pytest

from aucbench.cli.commands.new import Names
from aucbench.cli.main import main


def said(words, capsys):
    status = main(["new", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_package_is_written_and_the_next_commands_are_shown(tmp_path, capsys):
    status, out, _ = said(["algorithm", "my_fast_method", "--into", tmp_path / "deep"], capsys)
    folder = tmp_path / "deep" / "my-fast-method"
    assert status == 0
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == [
        "README.md", "my_fast_method.py", "pyproject.toml", "tests/test_my_fast_method.py",
    ]  # fmt: skip
    assert "class MyFastMethod:" in (folder / "my_fast_method.py").read_text()
    assert f"cd {folder} && pip install -e '.[test]' && pytest\n" in out
    assert "aucbench check my_fast_method\n" in out
    assert "aucbench try my_fast_method\n" in out


REFUSED = {
    ("algorithm", "my-method"): "'my-method' cannot name a plugin: expected an identifier of small letters, "
    "digits and single underscores. Did you mean my_method?",
    ("algorithm", "class"): "'class' cannot name a plugin: it is a word of Python",
    ("algorithm", "null"): "'null' cannot name a plugin: it is taken",
    ("dataset", "x"): "'x' cannot name a plugin: it is one letter",
    ("algorithm", "2nd"): "'2nd' cannot name a plugin",
    ("loss", "solam"): "There is already a plugin 'solam': the algorithm of aucbench",
    ("dataset", "json"): "There is already a Python module 'json', which a plugin would hide.",
    ("dataset", "scikit_learn"): "There is already an installed package 'scikit-learn'.",
    ("algoritm", "mine"): "Unknown kind 'algoritm'. Did you mean algorithm?",
    ("method", "mine"): "Unknown kind 'method'. Known: algorithm, dataset, features, loss.",
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_cannot_be_made_is_refused_in_one_sentence_and_nothing_is_written(words, tmp_path, capsys):
    status, out, err = said([*words, "--into", tmp_path], capsys)
    assert status == 2
    assert err.startswith(f"aucbench: {REFUSED[words]}")
    assert err.count("\n") == 1
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    status, _, err = said(["loss", "mine", "--into", tmp_path], capsys)
    assert status == 2
    assert f"{tmp_path / 'mine'} is there already" in err
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_file_in_place_of_the_folder_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    status, _, err = said(["loss", "mine", "--into", tmp_path / "file"], capsys)
    assert status == 2
    assert "file" in err


@pytest.mark.parametrize("name", ["true", "none", "state", "batch", "any"])
def test_a_class_never_has_the_name_of_a_keyword_or_of_what_its_module_imports(name):
    assert Names(name).cls == f"{name.capitalize()}Plugin"


def test_making_a_package_imports_nothing_of_it(tmp_path, capsys):
    said(["features", "not_imported", "--into", tmp_path], capsys)
    assert "not_imported" not in sys.modules
