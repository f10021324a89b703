"""Attributes of a class that its contract refuses, and the behaviour of a registered class."""

from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace

import numpy as np
import pytest

import aucbench
from aucbench.contracts.validation import Family, reason_against
from aucbench.sklearn import AUCClassifier


class Shape(StrEnum):
    round = "round"


class Plain:
    """A method that inherits nothing, before it is a dataclass."""

    name = "plain"
    access = "stream"
    eta: aucbench.Positive = 0.1
    shape: Shape = Shape.round

    def init(self, problem, rng):
        return np.zeros(problem.n_features)

    def step(self, w, batch):
        for x, label in batch:
            w = w + self.eta * label * x
        return w

    def score(self, w, X):
        return X @ w

    def weights(self, w):
        return w


def method(**attributes):
    """A new class with these attributes; those of `annotations` are its fields."""
    annotations = Plain.__annotations__ | attributes.pop("annotations", {})
    own = dict(vars(Plain)) | attributes | {"__annotations__": annotations}
    return dataclass(frozen=True)(
        type("Mine", (), {k: own[k] for k in own if k not in ("__dict__", "__weakref__")})
    )


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
    ("attributes", "words"),
    [
        ({"resumeable": True}, ("`resumeable`", "`resumable`")),
        ({"lossses": ("hinge",)}, ("`lossses`", "`losses`")),
        ({"eta0": 0.1}, ("`eta0`", "annotate")),
        ({"finalise": lambda self, w: w}, ("`finalise`", "`finalize`")),
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
def test_a_misspelt_attribute_and_one_of_a_wrong_type_are_refused_by_name(attributes, words):
    reason = reason_against(Family.algorithms, method(**attributes))
    assert reason is not None
    assert all(word in reason for word in ("Mine", *words))


@pytest.mark.parametrize(
    ("family", "functions", "attributes", "word"),
    [
        (Family.losses, ("value", "derivative"), {"smoothnes": 2.0}, "smoothness"),
        (Family.datasets, ("load",), {"license": "CC0"}, "licence"),
        (Family.features, ("fit",), {"columns": 3}, "columns"),
    ],
)
def test_an_attribute_of_a_loss_a_data_set_or_a_feature_map_is_refused_as_well(
    family, functions, attributes, word
):
    made = {name: staticmethod(lambda *arguments: None) for name in functions}
    cls = dataclass(frozen=True)(type("Mine", (), made | attributes | {"name": "mine"}))
    assert f"`{word}`" in reason_against(family, cls)


def test_an_accepted_class_checks_and_coerces_the_fields_of_every_instance():
    cls = method()
    assert cls(eta=-1).eta == -1
    assert reason_against(Family.algorithms, cls) is None
    made = cls(eta=2, shape="round")
    assert (made.eta, type(made.eta), made.shape) == (2.0, float, Shape.round)
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
        lambda made: aucbench.replay(made, X, y, np.arange(20)),
        lambda made: AUCClassifier(made).fit(X, y),
        lambda made: aucbench.testing.check_algorithm(made),
    ],
    ids=["replay", "AUCClassifier", "check"],
)
def test_an_instance_that_is_handed_over_is_held_to_the_contract(use):
    with pytest.raises((aucbench.ParameterError, aucbench.testing.CheckFailure), match="`resumable`"):
        use(method(resumeable=True)())
    with pytest.raises((aucbench.ParameterError, aucbench.testing.CheckFailure), match="eta must be > 0"):
        use(method()(eta=-1))


def test_a_method_that_inherits_the_base_class_needs_no_annotations_and_no_weights_function():
    @dataclass(frozen=True)
    class Mine(aucbench.LinearMethod):
        name = "mine"
        access = "stream"
        losses = ("hinge",)
        eta: aucbench.Positive = 0.1

        def init(self, problem, rng):
            return SimpleNamespace(w=np.zeros(problem.n_features))

        def step(self, state, batch):
            return SimpleNamespace(w=state.w + self.eta * sum(label * x for x, label in batch))

    with pytest.raises(aucbench.ParameterError, match="eta"):
        Mine(eta=-1)
    assert np.allclose(aucbench.replay(Mine(), X, y, np.arange(3)), 0.1 * y[:3] @ X[:3])
