"""Every check of feature maps finds the map that breaks its rule."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from aucbench.testing import FEATURE_CHECKS, CheckFailure, Status, check_features
from tests.helpers.findings import failed


class Fitted:
    def __init__(self, R):
        self.R, self.calls = R, 0

    def transform(self, X):
        return np.ascontiguousarray(X @ self.R, X.dtype)


@dataclass(frozen=True)
class Healthy:
    """A random projection to three features."""

    name: ClassVar[str] = "healthy"
    fitted: ClassVar[type] = Fitted

    def fit(self, X, rng):
        return self.fitted(rng.standard_normal((X.shape[1], 3)))


class Transposed(Fitted):
    def transform(self, X):
        return np.asfortranarray(np.hstack([super().transform(X)] * 2))


class AlwaysDouble(Fitted):
    def transform(self, X):
        return np.ascontiguousarray(X @ self.R, np.float64)


class Centring(Fitted):
    def transform(self, X):
        Z = super().transform(X)
        return Z - Z.mean(axis=0)


class Clipping(Fitted):
    def transform(self, X):
        values = X.data if sparse.issparse(X) else X
        np.clip(values, -0.3, 0.3, out=values)
        return super().transform(X)


class Local(Fitted):
    def __init__(self, R):
        super().__init__(R)
        self.function = lambda x: x


def broken(fitted):
    return dataclass(frozen=True)(type(fitted.__name__ + "Map", (Healthy,), {"fitted": fitted}))


class RandomMap(Healthy):
    def fit(self, X, rng):
        return Fitted(np.random.default_rng().standard_normal((X.shape[1], 3)))


@dataclass
class Thawed:
    name: ClassVar[str] = "thawed"

    def fit(self, X, rng):
        return Fitted(np.ones((X.shape[1], 3)))


class Excused(Healthy):
    exempt: ClassVar = {"pickling": ""}


class Drifting(Fitted):
    def transform(self, X):
        self.calls += 1
        if X.shape[0] > 1 and self.calls == 2:
            self.R = self.R * 1.5
        return super().transform(X)


CULPRITS = {
    Thawed: {"declared"},
    broken(Transposed): {"mapped"},
    broken(AlwaysDouble): {"dtype"},
    RandomMap: {"same_seed"},
    broken(Centring): {"companions"},
    broken(Clipping): {"inputs_untouched"},
    broken(Drifting): {"transform_pure"},
    broken(Local): {"pickling"},
    Excused: {"exempt"},
}


@pytest.mark.parametrize("culprit", CULPRITS, ids=lambda cls: cls.__name__)
def test_a_map_that_breaks_one_rule_is_found_by_its_check_alone(culprit):
    assert failed(check_features(culprit, raise_on_failure=False)) == CULPRITS[culprit]


def test_there_is_a_culprit_for_every_check():
    assert set.union(*CULPRITS.values()) == {check.name for check in FEATURE_CHECKS}


@pytest.mark.parametrize("check", FEATURE_CHECKS, ids=str)
def test_a_sound_map_passes_each_check(check):
    assert check(Healthy).status is Status.passed


def test_the_failure_names_the_smallest_input():
    with pytest.raises(CheckFailure, match=r"become features of float64.*: 2 x 1 dense rows of float32"):
        check_features(broken(AlwaysDouble))


def test_a_map_that_returns_nothing_of_use_says_so_at_its_line():
    class NothingFitted(Healthy):
        def fit(self, X, rng):
            X.mean()

    class NothingTransformed(Healthy):
        def fit(self, X, rng):
            return self

        def transform(self, X):
            X.mean()

    class DenseOnly(NothingTransformed):
        def transform(self, X):
            return np.hstack([X, X])

    for culprit, words, line in (
        (NothingFitted, "`fit` returned None: end it with `return` and an object", "def fit(self, X, rng):"),
        (NothingTransformed, "of 2 rows, got None.", "def transform(self, X):"),
        (DenseOnly, "These rows are CSR (scipy.sparse)", "def transform(self, X):"),
    ):
        findings = check_features(culprit, raise_on_failure=False)
        (found,) = [finding for finding in findings if finding.status is Status.failed]
        assert words in found.message
        assert found.place.endswith(f": {line}")
