"""``aucbench check``: names, words and exit statuses."""

import io
import sys

import pytest

from aucbench import api
from aucbench.cli.main import main
from aucbench.contracts.validation import Failure, Family
from aucbench.registry import Catalog, Plugin
from aucbench.testing import ALGORITHM_CHECKS, CHECKS
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.broken_plugins import Healthy, StepPerChunk
from tests.testing.test_other_families import Projection

ALL = len(ALGORITHM_CHECKS)


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
    plugins[Family.features] = {"healthy": registered(Family.features, Projection, "healthy")}
    monkeypatch.setattr(api, "catalog", lambda: Catalog(plugins))


def test_a_name_of_two_families_checks_both(own_plugins, capsys):
    assert main(["check", "healthy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    count = len(CHECKS[Family.algorithms])
    assert lines[0].startswith(f"healthy (algorithm of my-methods 1.0): {count} of {count} checks passed in ")
    assert lines[1].startswith("healthy (feature map of my-methods 1.0): 9 of 9 checks passed in ")
    assert lines[2] == f"2 plugins checked: {count + 9} passed, 0 exempt, 0 failed, 0 untried"


def test_a_failure_is_explained_and_gives_exit_status_1(own_plugins, capsys):
    assert main(["check", "--all"]) == 1
    shown = capsys.readouterr().out
    assert "\n  failed   chunks: chunks of 1 give another result than all rows at once" in shown
    assert shown.endswith("0 exempt, 1 failed, 0 untried\n")
    (rule,) = (check.sentence for check in CHECKS[Family.algorithms] if check.name == "chunks")
    assert f"  the rule   {rule}" in shown


@pytest.fixture
def mistaken_plugins(monkeypatch):
    """A catalog with a sound method, one with a mistake, and a class that could not be registered."""
    methods = {"plain": mistaken.Plain, "slow": mistaken.Slow, "exiting": mistaken.Exiting}
    plugins = {family: {} for family in Family}
    plugins[Family.algorithms] = {
        name: registered(Family.algorithms, cls, name) for name, cls in methods.items()
    }
    failures = (
        Failure(
            "algorithm Bad of distribution my-methods",
            "Bad lacks score; is `scores` for `score` a slip?",
            frozenset({"Bad", "bad_one"}),
            "bad.py:3: class Bad:",
        ),
    )
    monkeypatch.setattr(api, "catalog", lambda: Catalog(plugins, failures))


def test_a_cause_is_told_once_with_its_place_and_what_it_stops(mistaken_plugins, capsys):
    assert main(["check", "exiting"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("ends the program") == 1
    assert f"  the place  {mistaken.__file__}:" in shown
    assert ": sys.exit(3)  # the mistake\n" in shown
    assert f"  it stops   {ALL - 5} other checks: scores, inputs_untouched, compiled_once, " in shown
    assert shown.endswith(f": 4 passed, 0 exempt, 1 failed, {ALL - 5} untried\n")


@pytest.mark.parametrize("name", ["bad_one", "Bad", "bad-one"])
def test_a_class_that_could_not_be_registered_is_explained_by_any_of_its_names(
    mistaken_plugins, capsys, name
):
    assert main(["check", name]) == 1
    assert capsys.readouterr().out == (
        "algorithm Bad of distribution my-methods: left out, it could not be registered\n"
        "  failed   Bad lacks score; is `scores` for `score` a slip?\n"
        "           the place  bad.py:3: class Bad:\n"
        "0 plugins checked: 0 passed, 0 exempt, 0 failed, 0 untried; 1 could not be registered\n"
    )


def test_what_was_not_tried_is_no_success(mistaken_plugins, capsys):
    assert main(["check", "slow", "--patience", "0.5"]) == 1
    shown = capsys.readouterr().out
    assert "\n  note     one iteration takes " in shown
    assert "\n  untried  " in shown
    assert "0.5 s for all checks" in shown


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_what_is_tried_and_is_left_clean(mistaken_plugins, monkeypatch, capsys):
    assert main(["check", "plain"]) == 0
    assert capsys.readouterr().err == ""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["check", "plain"]) == 0
    shown = [line.strip() for line in screen.getvalue().split("\r")]
    assert {"aucbench: plain: declared", "aucbench: plain: cost"} <= set(shown)
    assert shown[-2:] == ["", ""]
