"""Declarations of all built-in plugins, and the values that their fields refuse."""

import re
from pathlib import Path

import pytest

import aucbench
import aucbench_algorithms
from aucbench import Claims, ParameterError
from aucbench.contracts import field_types
from aucbench_algorithms import Boosting, Mlp, SklearnClassifier

CATALOG = aucbench.catalog()
REFERENCES = (Path(aucbench_algorithms.__file__).parent / "references.bib").read_text()
KEYS = set(re.findall(r"^@\w+\{(\w+),", REFERENCES, re.M))
BUILT_IN = [plugin.cls for plugin in CATALOG if plugin.distribution == "aucbench"]


@pytest.mark.parametrize("cls", [cls for cls in BUILT_IN if hasattr(cls, "step")], ids=lambda cls: cls.name)
def test_a_method_declares_grid_claims_citation_and_deviations(cls):
    assert isinstance(cls.claims, Claims)
    assert cls.citation in KEYS
    assert all(isinstance(sentence, str) and sentence.endswith(".") for sentence in cls.deviations)
    assert set(cls.grid) <= set(field_types(cls))
    assert cls.grid or not field_types(cls) or cls.name in ("sklearn", "estimator")


@pytest.mark.parametrize("cls", [p.cls for p in CATALOG.plugins["losses"].values()], ids=lambda cls: cls.name)
def test_a_loss_names_the_source_of_its_facts(cls):
    assert cls.source in KEYS
    assert isinstance(cls.convex, bool)
    assert isinstance(cls.consistent, bool)


@pytest.mark.parametrize(
    ("cls", "fields", "message"),
    [
        (Boosting, {"library": "xgboost"}, r"library=xgboost needs .*pip install 'aucbench\[boosting\]'"),
        (Mlp, {}, r"jax.*pip install 'aucbench\[nn\]'"),
        (SklearnClassifier, {"estimator": "lightgbm"}, r"lightgbm needs the package lightgbm.*pip install"),
    ],
    ids=["of boosting", "of mlp", "of sklearn"],
)
def test_a_library_that_is_not_installed_is_named_with_what_installs_it(cls, fields, message, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=message):
        cls(**fields)
