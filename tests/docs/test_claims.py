"""The stored results of `aucbench claims` are those of the installed methods and of their claims."""

import json
import tomllib
from pathlib import Path

import pytest

import aucbench
from aucbench.execution.convergence_rate import can_be_measured

FOLDER = Path(__file__).parents[2] / "docs" / "results"
FILES = sorted(FOLDER.glob("claims*.json"))
METHODS = {each["method"]: each for file in FILES for each in json.loads(file.read_text())["methods"]}


def test_most_methods_with_claims_were_measured_and_none_that_is_not_installed():
    installed = aucbench.catalog().plugins["algorithms"]
    claiming = {name for name, plugin in installed.items() if hasattr(plugin.cls, "claims")}
    assert set(METHODS) <= claiming
    assert len(METHODS) > 0.75 * len(claiming)


@pytest.mark.parametrize("name", METHODS)
def test_what_was_measured_is_what_is_claimed(name):
    cls, found = aucbench.catalog().algorithm(name), METHODS[name]
    assert found["cost"]["claimed"] == cls.claims.cost
    assert (found["rate"] is not None) == can_be_measured(cls)
    if found["rate"]:
        assert found["rate"]["claimed"] == cls.claims.rate


def test_a_method_that_is_slower_than_claimed_has_a_likely_reason():
    reasons = tomllib.loads((FOLDER / "claims_reasons.toml").read_text())
    assert set(reasons) <= set(METHODS)
    for name, found in METHODS.items():
        for kind in ("rate", "cost"):
            if found[kind] and found[kind]["verdict"] == "slower":
                assert reasons[name][kind]
