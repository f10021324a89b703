"""``aucbench check``: names, words and exit statuses."""

import pytest

import aucbench
from aucbench.cli import main
from aucbench.registry import Catalog, Family, Plugin
from aucbench.testing import CHECKS
from tests.testing.broken import Healthy, StepPerChunk
from tests.testing.test_feature_checks import Healthy as HealthyMap


def registered(family, cls, name):
    return Plugin(family, name, cls, "my-methods", "1.0")


@pytest.fixture
def own_plugins(monkeypatch):
    """A catalog with two methods, one of them broken, and a feature map of the same name as one."""
    plugins = {family: {} for family in Family}
    plugins[Family.algorithms] = {
        "healthy": registered(Family.algorithms, Healthy, "healthy"),
        "per_chunk": registered(Family.algorithms, StepPerChunk, "per_chunk"),
    }
    plugins[Family.features] = {"healthy": registered(Family.features, HealthyMap, "healthy")}
    monkeypatch.setattr(aucbench, "catalog", lambda: Catalog(plugins))


def test_a_name_of_two_families_checks_both(own_plugins, capsys):
    assert main(["check", "healthy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    count = len(CHECKS[Family.algorithms])
    assert lines[0].startswith(f"healthy (algorithm of my-methods 1.0): {count} of {count} checks passed in ")
    assert lines[1].startswith("healthy (feature map of my-methods 1.0): 9 of 9 checks passed in ")
    assert lines[2] == f"2 plugins checked: {count + 9} passed, 0 exempt, 0 failed"


def test_a_failure_is_explained_and_gives_exit_status_1(own_plugins, capsys):
    assert main(["check", "--all"]) == 1
    shown = capsys.readouterr().out
    assert "\n  failed  chunks: chunks of 1 give another result than all rows at once" in shown
    assert shown.endswith("0 exempt, 1 failed\n")
    assert "  the rule   Cutting the rows of a run into other chunks changes no bit" in shown
    assert "  the input  X = [[" in shown
    assert "reproduce(StepPerChunk(), 'chunks', n=2, d=1, epochs=1)" in shown


def test_an_unknown_name_is_bad_input_with_a_suggestion(own_plugins, capsys):
    assert main(["check", "helthy"]) == 2
    assert capsys.readouterr().err == "aucbench: Unknown plugin 'helthy'. Did you mean healthy?\n"


def test_no_name_is_bad_input(capsys):
    assert main(["check"]) == 2
    assert "use --all" in capsys.readouterr().err


def test_the_list_shows_every_check_with_its_rule(capsys):
    assert main(["check", "--list"]) == 0
    shown = capsys.readouterr().out
    for family, checks in CHECKS.items():
        assert f"{family}:\n" in shown
        for check in checks:
            assert f"  {check.name} " in shown
            assert check.sentence in shown


def test_the_shell_is_offered_plugins_of_all_families(monkeypatch, capsys):
    monkeypatch.setenv("COMP_LINE", "aucbench check h")
    assert main(["-sc", "query=bash"]) == 0
    assert "hinge" in capsys.readouterr().out.split()


def test_importing_aucbench_does_not_import_the_checks():
    import subprocess
    import sys

    code = "import sys, aucbench; aucbench.Problem; print('aucbench.testing' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
