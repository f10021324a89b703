"""The stored findings about claims are those of the installed methods and of what they claim now."""

import json
from pathlib import Path

import pytest

import aucbench
from studies.claims.rates import can_be_measured

FILE = Path(__file__).parents[2] / "docs" / "results" / "claims.json"
FINDINGS = json.loads(FILE.read_text())


def test_most_methods_with_claims_were_measured_and_none_that_is_not_installed():
    installed = aucbench.catalog().plugins["algorithms"]
    claiming = {name for name, plugin in installed.items() if hasattr(plugin.cls, "claims")}
    assert set(FINDINGS) <= claiming
    assert len(FINDINGS) > 0.75 * len(claiming)


@pytest.mark.parametrize("name", FINDINGS)
def test_what_was_measured_is_what_is_claimed(name):
    cls, found = aucbench.catalog().algorithm(name), FINDINGS[name]
    for kind in ("rate", "cost"):
        assert found[kind]["claimed"] == getattr(cls.claims, kind)
    assert can_be_measured(cls) == (found["rate"]["verdict"] not in ("none claimed", "no objective"))


@pytest.mark.parametrize("name", FINDINGS)
def test_a_method_that_is_slower_or_faster_than_claimed_has_a_likely_reason(name):
    for kind in ("rate", "cost"):
        found = FINDINGS[name][kind]
        assert found["why"] or found["verdict"] not in ("slower", "faster")
