"""Import paths in others' results are imported only if the user trusts the module."""

import sys
from dataclasses import replace

import pytest

from aucbench.analysis import entry_of
from aucbench.cli.main import main
from aucbench.errors import AucbenchError, ParameterError
from aucbench.studies.import_paths import UntrustedError, check_choice
from aucbench_algorithms import estimator

pytestmark = pytest.mark.slow  # whole studies

MODULE = """
from pathlib import Path
from sklearn.linear_model import LogisticRegression

Path(__file__).with_suffix(".imported").touch()


class Stranger(LogisticRegression):
    pass
"""
PATH = "stranger_model.models.Stranger"
RUN = ("dataset=breast_cancer", "tracking=none", "isolation=none", "algo=estimator")
FIXED = (f"algo.cls={PATH}",)
TUNED = ("tuning=grid", f"tuning.grid={{estimator: {{cls: [{PATH}, sklearn.svm.LinearSVC]}}}}")


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """A function that returns whether the stranger's package was imported since its last call."""
    package = tmp_path / "stranger_model"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "models.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def was_imported():
        for name in [name for name in sys.modules if name.startswith("stranger_model")]:
            del sys.modules[name]
        estimator.imported.cache_clear()
        marker = package / "models.imported"
        existed = marker.exists()
        marker.unlink(missing_ok=True)
        return existed

    yield was_imported
    was_imported()


def test_no_command_imports_a_path_of_others_until_its_module_is_trusted(stranger, capsys):
    for overrides in (FIXED, TUNED):
        assert main([*RUN, *overrides, "study=theirs"]) == 0
    assert main(["results", "export", "theirs", "theirs.zip"]) == 0
    assert stranger()
    assert main(["results", "import", "theirs.zip", "--store", "ours"]) == 0
    verify = ["results", "verify", "theirs.zip"]
    rescore = ["rescore", "theirs", "--metrics", "ap", "--store", "ours"]
    for command in (
        ["leaderboard", "--with", "theirs.zip"],
        ["leaderboard", "--store", "ours"],
        ["status", "--store", "ours"],
        ["results", "check", "theirs.zip"],
        rescore,
        verify,
        [*verify, "--trust", "stranger"],
    ):
        capsys.readouterr()
        status, output = main(command), capsys.readouterr()
        assert not stranger(), command
        if command is rescore or command[:3] == verify:
            assert status == 1
            assert f"import {PATH}" in output.out + output.err
            assert "add --trust stranger_model" in output.out + output.err
    trust = ["--trust", "stranger_model.models", "--trust", "sklearn.svm"]
    assert main([*verify, *trust]) == 0
    assert "2 with equal AUC" in capsys.readouterr().out
    assert stranger()
    assert main([*rescore, *trust]) == 0
    assert stranger()


def test_own_paths_need_no_trust_the_default_has_it_and_choices_that_were_not_tried_have_not(stranger):
    assert entry_of([*RUN, f"algo.cls={PATH}"]).algorithm.instance.cls == PATH
    assert stranger()
    assert entry_of(RUN, trust=()).algorithm.instance.cls.startswith("sklearn")
    with pytest.raises(UntrustedError, match=r"import sklearn\.svm\.SVC"):
        entry_of([*RUN, "algo.cls=sklearn.svm.SVC"], trust=("stranger_model", "sklearn.svm.S", "skl"))
    entry = entry_of([*RUN, "tuning=grid", "tuning.grid={estimator: {cls: [sklearn.svm.LinearSVC]}}"])
    check_choice(entry.algorithm.instance, {"cls": "sklearn.svm.LinearSVC"}, entry.tuning.space)
    with pytest.raises(UntrustedError, match=PATH):
        check_choice(entry.algorithm.instance, {"cls": PATH}, entry.tuning.space)
    assert not stranger()
    with pytest.raises(AucbenchError):
        replace(entry.algorithm.instance, cls="stranger_model.nothing.Stranger")
    with pytest.raises(ParameterError, match="needs the package nobody"):
        replace(entry.algorithm.instance, cls="nobody.models.Stranger")
