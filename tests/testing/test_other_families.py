"""Every check of losses, data sets and feature maps finds the plugin that breaks its rule."""

import itertools
import math
import re
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

import aucbench
from aucbench import File, Samples
from aucbench.testing import (
    DATASET_CHECKS,
    FEATURE_CHECKS,
    LOSS_CHECKS,
    Status,
    check_dataset,
    check_features,
    check_loss,
)
from tests.helpers.findings import by_name, failed, failures
from tests.third_party.my_methods import Moons, Ramp

COUNTER = itertools.count()


@dataclass(frozen=True)
class Square:
    name: ClassVar[str] = "square_of_a_test"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 2.0
    target: float = 1.0

    @staticmethod
    def value(m, theta):
        return (theta - m) ** 2

    @staticmethod
    def derivative(m, theta):
        return 2.0 * (m - theta)

    @staticmethod
    def prox(m, c, theta):
        return (m + 2.0 * c * theta) / (1.0 + 2.0 * c)


class Forgetful(Square):
    @staticmethod
    def value(m, theta):
        (theta - m) ** 2


class Bound(Square):
    def value(self, m, theta):
        return (theta - m) ** 2


def samples(**parts):
    return Samples(**{"X": np.random.default_rng(0).standard_normal((40, 3)), "y": np.arange(40) % 2} | parts)


@dataclass(frozen=True)
class Rows:
    name: ClassVar[str] = "rows"
    features: ClassVar[int] = 3

    def load(self):
        return samples()


class Fitted:
    def __init__(self, R, transform=None):
        self.R, self.other, self.calls = R, transform, 0

    def transform(self, X):
        return self.other(self, X) if self.other else self.usual(X)

    def usual(self, X):
        return np.ascontiguousarray(X @ self.R, X.dtype)


@dataclass(frozen=True)
class Projection:
    """A random projection to three features."""

    name: ClassVar[str] = "projection_of_a_test"
    fitted: ClassVar[type] = Fitted

    def fit(self, X, rng):
        return self.fitted(rng.standard_normal((X.shape[1], 3)))


def doubling(self, X):
    return np.float64(X @ self.R)


def centring(self, X):
    Z = self.usual(X)
    return Z - Z.mean(axis=0)


def clipping(self, X):
    values = X.data if sparse.issparse(X) else X
    np.clip(values, -0.3, 0.3, out=values)
    return self.usual(X)


def drifting(self, X):
    self.calls += 1
    if X.shape[0] > 1 and self.calls == 2:
        self.R = self.R * 1.5
    return self.usual(X)


def changed(base, **attributes):
    """A plugin with other attributes; functions of losses become static methods."""
    if issubclass(base, Square | Ramp):
        attributes = {k: staticmethod(value) if callable(value) else value for k, value in attributes.items()}
    return dataclass(frozen=True)(type("Mine", (base,), attributes))


def mapping(transform):
    """A projection whose features a function computes."""
    return changed(Projection, fitted=partial(Fitted, transform=transform))


def thawed(base):
    return dataclass(type("Thawed", (), {k: value for k, value in vars(base).items() if k[:2] != "__"}))


CHECKED = {check_loss: LOSS_CHECKS, check_dataset: DATASET_CHECKS, check_features: FEATURE_CHECKS}
WRONG_SIGN = r"derivative\(0, 1\) is 2, .* left and right of that margin are -2\.00"
CULPRITS = {  # the checks that find each of them, and a pattern of the message
    check_loss: [
        (changed(Square, other=2.0, __annotations__={"other": float}), "form", "fields target, other"),
        (changed(Square, target="1", __annotations__={"target": str}), "form", r"'target' .*'1'"),
        (Bound, "form", "`value` is no static method: write @staticmethod"),
        (Forgetful, "finite", "returned None: end it with `return`"),
        (changed(Square, value=lambda m, a: (a - m) ** 2 if m < 20 else math.inf), "finite", ""),
        (changed(Square, derivative=lambda m, theta: 2.0 * (theta - m)), "derivative", WRONG_SIGN),
        (changed(Square, prox=lambda m, c, theta: (m + c * theta) / (1.0 + c)), "prox", ""),
        (changed(Ramp, convex=True), "facts", ""),
        (changed(Square, lipschitz=3.0), "facts", ""),
        (changed(Square, smoothness=1.0), "facts", ""),
        (changed(Square, pieces=lambda a: ((math.inf, a * a, -a, 1.0),)), "structure", ""),
        (changed(Square, pieces=lambda a: ((3.0, a * a, -2.0 * a, 1.0),)), "structure", ""),
        (changed(Square, multiplicative=True), "structure", ""),
    ],
    check_dataset: [
        (changed(object, name="no_files", files=()), "rows", ""),
        (changed(Rows, load=lambda self: samples(X=np.full((40, 3), np.inf))), "rows", ""),
        (changed(Rows, load=lambda self: samples(y=np.ones(40))), "rows", ""),
        (changed(Rows, load=lambda self: samples(X=np.eye(40, 3) + next(COUNTER))), "same_twice", ""),
        (changed(Rows, features=4), "facts", ""),
    ],
    check_features: [
        (thawed(Projection), "declared", ""),
        (changed(Projection, fit=lambda self, X, rng: None), "mapped", "`fit` returned None"),
        (mapping(lambda self, X: np.asfortranarray(np.hstack([X @ self.R] * 2))), "mapped", ""),
        (mapping(lambda self, X: np.hstack([X, X])), "mapped", r"These rows are CSR \(scipy.sparse\)"),
        (mapping(doubling), "dtype", "float64.*: 2 x 1 dense rows of float32"),
        (
            changed(Projection, fit=lambda self, X, rng: Fitted(np.random.rand(X.shape[1], 3))),
            "same_seed",
            "",
        ),
        (mapping(centring), "companions", ""),
        (mapping(clipping), "inputs_untouched", ""),
        (mapping(drifting), "reading", ""),
        (mapping(lambda self, X: self.usual(X)), "pickling", ""),
        (changed(Projection, exempt={"pickling": ""}), "exempt", ""),
    ],
}


@pytest.mark.filterwarnings("ignore:divide by zero")  # an infinite feature
@pytest.mark.parametrize(
    ("check", "culprit", "name", "regex"), [(check, *row) for check, rows in CULPRITS.items() for row in rows]
)
def test_a_plugin_that_breaks_a_rule_is_found_by_its_check_alone(check, culprit, name, regex):
    findings = failures(check(culprit, raise_on_failure=False))
    assert set(findings) == {name}
    assert re.search(regex, findings[name].message)
    if culprit is Forgetful:
        assert findings[name].place.endswith(": def value(m, theta):")


def test_there_is_a_culprit_for_every_check():
    for check, checks in CHECKED.items():
        names = {name for _, name, _ in CULPRITS[check]}
        # Two are the same for all families, and the last one is tried below.
        assert {rule.name for rule in checks} - names <= {"declared", "exempt", "compiled"}


@pytest.mark.parametrize(
    ("checks", "plugin"),
    [
        *((LOSS_CHECKS, plugin) for plugin in (Square, Square(target=0.3), Ramp())),
        *((DATASET_CHECKS, plugin) for plugin in (Rows, Moons(n=60))),
        (FEATURE_CHECKS, Projection),
    ],
)
def test_sound_plugins_pass_each_check(checks, plugin):
    assert {check(plugin).status for check in checks} == {Status.passed}


SCALE = 1.0  # compiled code keeps the value it had


class Scaled(Square):
    @staticmethod
    def value(m, theta):
        return SCALE * (theta - m) ** 2


def test_compiled_code_that_computes_something_else_is_found(monkeypatch):
    assert failed(check_loss(Scaled)) == set()
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert "compiled" in failed(check_loss(Scaled, raise_on_failure=False))


@pytest.fixture
def offline(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    monkeypatch.delenv("AUCBENCH_MIRROR", raising=False)


def test_files_are_read_and_those_that_cannot_be_had_are_exempt_not_passed(offline, tmp_path):
    path = tmp_path / "my.txt"
    path.write_text("".join(f"{1 if i % 2 else -1} 1:{i % 7} 2:{(i * i) % 11}\n" for i in range(40)))
    files = (File(str(path), rows=40), File(str(path), part="test", rows=40))
    findings = by_name(check_dataset(changed(object, name="mine", features=2, files=files)))
    assert findings["rows"].message == "train: 40 x 2, test: 40 x 2"
    findings = by_name(check_dataset(changed(object, name="mine", files=(File("binary/elsewhere"),))))
    assert findings["declared"].status is Status.passed
    for name in ("rows", "same_twice", "facts"):
        assert findings[name].status is Status.exempt
        assert findings[name].message.startswith("not available here: ")
    findings = by_name(check_dataset(aucbench.catalog().dataset("libsvm")))
    assert findings["rows"].status is Status.exempt
    assert "cannot be checked with default parameters: libsvm: path is missing" in findings["rows"].message
