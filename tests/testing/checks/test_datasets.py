"""Every check of data sets finds the one that breaks its rule."""

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from aucbench import File, Samples
from aucbench.testing import DATASET_CHECKS, Status, check_dataset
from tests.helpers.findings import by_name, failed
from tests.third_party.my_methods import Moons

LINES = [f"{1 if i % 2 else -1} 1:{i % 7} 2:{(i * i) % 11}" for i in range(40)]
COUNTER = itertools.count()


def samples(n=40):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return Samples(X, np.arange(n) % 2)


@dataclass(frozen=True)
class Healthy:
    name: ClassVar[str] = "healthy"
    features: ClassVar[int] = 3

    def load(self):
        return samples()


@dataclass
class Thawed:
    name: ClassVar[str] = "thawed"

    def load(self):
        return samples()


def changed(**attributes):
    """A data set with other attributes."""
    return dataclass(frozen=True)(type("Mine", (Healthy,), attributes))


def infinite(self):
    X, y = samples()
    X[3, 1] = np.inf
    return Samples(X, y)


EVERYTHING_LOADED = {"rows", "same_twice", "facts"}
CULPRITS = [  # the check that finds each of them
    (Thawed, "declared"),
    (dataclass(frozen=True)(type("Mine", (), {"name": "no_files", "files": ()})), "origin"),
    (changed(load=infinite), "rows"),
    (changed(load=lambda self: Samples(samples().X, np.ones(40))), "rows"),
    (changed(load=lambda self: Samples(samples().X + next(COUNTER), samples().y)), "same_twice"),
    (changed(features=4), "facts"),
    (changed(exempt={"row": "it has none"}), "exempt"),
]


@pytest.mark.parametrize(("culprit", "check"), CULPRITS)
def test_a_data_set_that_breaks_a_rule_is_found_by_its_check_alone(culprit, check):
    assert failed(check_dataset(culprit, raise_on_failure=False)) == {check}


@pytest.mark.parametrize("check", DATASET_CHECKS, ids=str)
def test_sound_data_sets_pass_each_check(check):
    assert check(Healthy).status is Status.passed
    assert check(Moons(n=60)).status is Status.passed


@pytest.fixture
def offline(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    monkeypatch.delenv("AUCBENCH_MIRROR", raising=False)


def test_files_are_read_and_their_numbers_compared(offline, tmp_path):
    path = tmp_path / "my.txt"
    path.write_text("".join(line + "\n" for line in LINES))

    @dataclass(frozen=True)
    class Mine:
        name: ClassVar[str] = "mine"
        features: ClassVar[int] = 2
        files: ClassVar[tuple] = (File(str(path), rows=40), File(str(path), part="test", rows=40))

    findings = by_name(check_dataset(Mine))
    assert findings["rows"].message == "train: 40 x 2, test: 40 x 2"


def test_files_that_cannot_be_had_are_exempt_not_passed(offline):
    @dataclass(frozen=True)
    class Elsewhere:
        name: ClassVar[str] = "elsewhere"
        files: ClassVar[tuple] = (File("binary/elsewhere"),)

    findings = by_name(check_dataset(Elsewhere))
    assert findings["declared"].status is findings["origin"].status is Status.passed
    for name in EVERYTHING_LOADED:
        assert findings[name].status is Status.exempt
        assert findings[name].message.startswith("not available here: ")


def test_a_data_set_that_needs_parameters_is_exempt(offline):
    import aucbench

    findings = by_name(check_dataset(aucbench.catalog().dataset("libsvm")))
    assert findings["rows"].status is Status.exempt
    assert "cannot be checked with default parameters: libsvm: path is missing" in findings["rows"].message
