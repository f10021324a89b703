"""Declarations of all built-in plugins, and the values that their fields refuse."""

import math
import re
from enum import StrEnum
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
OWN = [plugin.cls for plugin in CATALOG if plugin.distribution == "aucbench"]


@pytest.mark.parametrize("cls", [each for each in OWN if hasattr(each, "step")], ids=lambda cls: cls.name)
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


def refused_values(kind):
    """Values that a field of that type does not take."""
    low, high = kind.interval.low, kind.interval.high
    if kind.base in (int, float):
        return [
            "many",
            *([math.nan] if kind.base is float else [0.5]),
            *([low - 1, *([low] if kind.interval.open_low else [])] if low > -math.inf else []),
            *([high + 1, *([high] if kind.interval.open_high else [])] if high < math.inf else []),
        ]
    if kind.base is bool or (isinstance(kind.base, type) and issubclass(kind.base, StrEnum)):
        return ["neither", 3]
    return []


@pytest.mark.parametrize("cls", [each for each in OWN if field_types(each)], ids=lambda cls: cls.name)
def test_a_value_out_of_range_is_refused_with_plugin_field_and_value(cls):
    for field, kind in field_types(cls).items():
        for value in refused_values(kind):
            with pytest.raises(ParameterError) as caught:
                cls(**{field: value})
            assert all(word in str(caught.value) for word in (cls.name, field, str(value))), (field, value)


@pytest.mark.parametrize(
    ("cls", "fields", "words"),
    [
        (Boosting, {"library": "xgboost"}, r"library=xgboost needs .*pip install 'aucbench\[boosting\]'"),
        (Mlp, {}, r"jax.*pip install 'aucbench\[nn\]'"),
        (SklearnClassifier, {"estimator": "lightgbm"}, r"lightgbm needs the package lightgbm.*pip install"),
    ],
    ids=["of boosting", "of mlp", "of sklearn"],
)
def test_a_library_that_is_not_installed_is_named_with_what_installs_it(cls, fields, words, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=words):
        cls(**fields)
