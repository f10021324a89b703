"""``aucbench check``: names, words and exit statuses."""

import pytest

from aucbench import api
from aucbench.cli.main import main
from aucbench.contracts.validation import Failure, Family
from aucbench.registry import Catalog, Plugin
from aucbench.testing import ALGORITHM_CHECKS, CHECKS
from tests.helpers import mistaken_plugins as mistaken
from tests.helpers.broken_plugins import Healthy
from tests.testing.test_other_families import Projection

ALL = len(ALGORITHM_CHECKS)
METHODS = {"healthy": Healthy, "slow": mistaken.Slow, "exiting": mistaken.Exiting}
BAD = Failure(
    "algorithm Bad of distribution my-methods",
    "Bad lacks score; is `scores` for `score` a slip?",
    frozenset({"Bad", "bad_one"}),
    "bad.py:3: class Bad:",
)


@pytest.fixture(autouse=True)
def small_catalog(monkeypatch):
    """A catalog with methods, a feature map of the same name as one, and a class that is left out."""
    plugins = {family: {} for family in Family}
    for family, classes in ((Family.algorithms, METHODS), (Family.features, {"healthy": Projection})):
        for name, cls in classes.items():
            plugins[family][name] = Plugin(family, name, cls, "my-methods", "1.0")
    monkeypatch.setattr(api, "catalog", lambda: Catalog(plugins, (BAD,)))


def test_a_name_of_two_families_checks_both(capsys):
    assert main(["check", "healthy"]) == 0
    output = capsys.readouterr().out.splitlines()
    lines = [line for line in output if not line.startswith("  note")]  # on a slow machine
    count = len(CHECKS[Family.algorithms])
    assert lines[0].startswith(f"healthy (algorithm of my-methods 1.0): {count} of {count} checks passed in ")
    assert lines[1].startswith("healthy (feature map of my-methods 1.0): 9 of 9 checks passed in ")
    assert lines[2] == f"2 plugins checked: {count + 9} passed, 0 exempt, 0 failed, 0 untried"


def test_a_cause_is_told_once_with_its_rule_its_place_and_what_it_stops(capsys):
    assert main(["check", "exiting"]) == 1
    output = capsys.readouterr().out
    assert output.count("ends the program") == 1
    assert f"  the place  {mistaken.__file__}:" in output
    assert ": sys.exit(3)  # the mistake\n" in output
    (rule,) = (check.sentence for check in CHECKS[Family.algorithms] if check.name == "runs")
    assert f"  the rule   {rule}" in output
    assert f"  it stops   {ALL - 5} other checks: scores, inputs_untouched, compiled_once, " in output
    assert output.endswith(f": 4 passed, 0 exempt, 1 failed, {ALL - 5} untried\n")


@pytest.mark.parametrize("name", sorted(BAD.names))
def test_a_class_that_could_not_be_registered_is_explained_by_any_of_its_names(capsys, name):
    assert main(["check", name]) == 1
    output = capsys.readouterr().out
    assert all(part in output for part in (BAD.what, BAD.reason, f"the place  {BAD.place}"))
    assert output.endswith("; 1 could not be registered\n")


def test_what_was_not_tried_is_no_success(capsys):
    assert main(["check", "Slow", "--patience", "0.5"]) == 1
    output = capsys.readouterr().out
    assert "\n  note     one iteration takes " in output
    assert "\n  untried  " in output
    assert "0.5 s for all checks" in output
