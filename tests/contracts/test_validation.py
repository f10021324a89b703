"""Attributes of a class that its contract refuses, and the behaviour of a registered class."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pytest

import aucbench
from aucbench.contracts.validation import Family, reason_against
from aucbench.sklearn import AUCClassifier
from tests.helpers.fake_plugins import Perceptron


class Shape(StrEnum):
    round = "round"


def method(**attributes):
    """A new class with these attributes; the attributes in `annotations` are its fields."""
    annotations = {"eta": aucbench.Positive, "shape": Shape} | attributes.pop("annotations", {})
    namespace = {"name": "plain", "eta": 0.1, "shape": Shape.round} | attributes
    return dataclass(frozen=True)(type("Mine", (Perceptron,), namespace | {"__annotations__": annotations}))


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"losses": ("hinge", "*"), "grid": {"eta": (0.1,)}, "claims": aucbench.Claims("1/t", "d")},
        {"grid": {"eta": np.logspace(-3, 0, 4), "block": range(1, 4)}, "validation": np.float64(0.2)},
        {"losses": ["hinge"], "plans": True, "citation": None, "step_size": "eta"},
        {"_constant": 3, "Helper": Shape, "helper": lambda self: 1, "size": property(lambda self: 1)},
        {"finalize": lambda self, w: w, "together": None},
        {"block": 4, "annotations": {"block": int}},
        {"validation": 0.2, "threads": 4, "annotations": {"validation": float, "threads": int}},
        {"requires": property(lambda self: {"dense": "it inverts"})},
    ],
    ids=lambda attributes: "-".join(attributes) or "required",
)
def test_facts_functions_fields_and_private_names_are_accepted(attributes):
    assert reason_against(Family.algorithms, method(**attributes)) is None


@pytest.mark.parametrize(
    ("attributes", "parts"),
    [
        ({"wieghted": True}, ("`wieghted`", "`weighted`")),
        ({"lossses": ("hinge",)}, ("`lossses`", "`losses`")),
        ({"eta0": 0.1}, ("`eta0`", "annotate")),
        ({"finalise": lambda self, w: w}, ("`finalise`", "`finalize`")),
        ({"finalise": None}, ("`finalise`", "`finalize`")),
        ({"losses": "hinge"}, ("`losses`", "'hinge'")),
        ({"losses": {"hinge", "square"}}, ("`losses`", "tuple[str, ...]")),
        ({"deviations": "one sentence."}, ("`deviations`", "tuple[str, ...]")),
        ({"resumable": "yes"}, ("`resumable`", "bool")),
        ({"claims": ("1/t", "d")}, ("`claims`", "Claims | None")),
        ({"grid": ("eta", 0.1)}, ("`grid`", "Mapping[str, Sequence[Any]]")),
        ({"citation": "mine", "annotations": {"citation": str}}, ("`citation`", "declaration", "rename")),
        ({"weighted": lambda self: True}, ("`weighted`", "bool")),
        ({"batch_size": 32, "annotations": {"batch_size": int}}, ("`batch_size`", "function", "rename")),
        ({"step_size": 0.1, "annotations": {"step_size": float}}, ("`step_size`", "declaration", "rename")),
        ({"objective": None, "annotations": {"objective": str}}, ("`objective`", "function", "rename")),
        ({"access": "streams"}, ("`access`", "'streams'", "one of stream, pairs")),
        ({"annotations": {"eta": "NoSuchType"}}, ("NoSuchType",)),
    ],
    ids=lambda value: next(iter(value)),
)
def test_a_misspelt_attribute_and_one_of_a_wrong_type_are_refused_by_name(attributes, parts):
    reason = reason_against(Family.algorithms, method(**attributes))
    assert reason is not None
    assert all(part in reason for part in ("Mine", *parts))


def test_an_accepted_class_checks_and_coerces_the_fields_of_every_instance():
    cls = method()
    assert cls(eta=-1).eta == -1
    assert reason_against(Family.algorithms, cls) is None
    instance = cls(eta=2, shape="round")
    assert (instance.eta, type(instance.eta), instance.shape) == (2.0, float, Shape.round)
    with pytest.raises(aucbench.ParameterError, match="plain: eta must be > 0"):
        cls(eta=-1)


def test_a_subclass_checks_its_own_fields_too_and_a_field_whose_default_is_none_may_be_none():
    base = method(radius=None, annotations={"radius": float})
    assert reason_against(Family.algorithms, base) is None

    @dataclass(frozen=True)
    class Other(base):
        rho: aucbench.OpenUnit = 0.5

    assert reason_against(Family.algorithms, Other) is None
    assert Other().radius is None
    with pytest.raises(aucbench.ParameterError, match="rho"):
        Other(rho=1.5)


X, y = np.random.default_rng(0).standard_normal((20, 3)), np.resize([1, -1], 20)


@pytest.mark.parametrize(
    "use",
    [
        lambda instance: aucbench.replay(instance, X, y, np.arange(20)),
        lambda instance: AUCClassifier(instance).fit(X, y),
        lambda instance: aucbench.testing.check_algorithm(instance),
    ],
    ids=["replay", "AUCClassifier", "check"],
)
def test_an_instance_that_is_handed_over_is_held_to_the_contract(use):
    with pytest.raises((aucbench.ParameterError, aucbench.testing.CheckFailure), match="`weighted`"):
        use(method(wieghted=True)())
    with pytest.raises((aucbench.ParameterError, aucbench.testing.CheckFailure), match="eta must be > 0"):
        use(method()(eta=-1))
