"""The settings that tuners try, and the edges of grids."""

import math
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from aucbench import ParameterError
from aucbench.studies.tuners import edges, grid_points, random_points, resolve
from aucbench_algorithms.spam import Spam
from tests.helpers.study_methods import Gentle, Other


def test_the_grid_of_a_method_is_its_own_unless_one_is_given_under_its_name():
    assert resolve(Gentle(), None) == {"eta": (0.01, 0.1, 1.0)}
    assert resolve(Gentle(), {"fake_other": {"eta": [5]}}) == {"eta": (0.01, 0.1, 1.0)}
    assert resolve(Gentle(), {"fake_gentle": {"eta": [5, 7]}}) == {"eta": (5.0, 7.0)}
    assert resolve(Other(), None) == {}


def test_values_are_of_the_type_of_their_field_and_none_is_tried_twice():
    @dataclass(frozen=True)
    class Layered:
        name: ClassVar[str] = "layered"
        layers: tuple[int, ...] = (1,)

    assert resolve(Layered(), {"layered": {"layers": [[1, 2], [3]]}}) == {"layers": ((1, 2), (3,))}
    assert random_points({"eta": (3.0,)}, 2, 0, Gentle()) == [{"eta": 3.0}]  # a single number is not a range
    space = resolve(Gentle(), {"fake_gentle": {"eta": [1, 1.0, 2], "shrink": 0}})
    assert space == {"eta": (1.0, 2.0), "shrink": (0.0,)}
    assert all(isinstance(value, float) for values in space.values() for value in values)


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        ([1], r"tuning.grid: expected {METHOD: {FIELD: \[VALUES\]}}, got \[1\]"),
        ({"fake_gentle": [1]}, r"tuning.grid.fake_gentle: expected {FIELD: \[VALUES\]}.*, got \[1\]"),
        ({"fake_gentle": {"zeta": [1]}}, r"with fields eta, shrink, pause.*, got {'zeta': \[1\]}"),
        ({"fake_gentle": {"budget.seconds": [1]}}, r"got {'budget.seconds': \[1\]}"),
        ({"fake_gentle": {"budget.epochs": [0]}}, "budget: epochs must be > 0"),
        ({"fake_gentle": {"budget.epochs": [1], "budget.iterations": [9]}}, "tune only one"),
        ({"fake_gentle": {"eta": [1, -1]}}, "fake_gentle: eta must be > 0, got -1"),
        ({"fake_gentle": {"eta": ["x"]}}, "fake_gentle: eta must be a number, got 'x'"),
        ({"fake_gentle": {"eta": []}}, "tuning.grid.fake_gentle.eta is empty: give at least one value"),
    ],
)
def test_a_grid_that_does_not_suit_its_method_is_refused(grid, sentence):
    with pytest.raises(ParameterError, match=sentence):
        resolve(Gentle(), grid)


def test_a_grid_has_every_combination_and_the_last_field_varies_fastest():
    points = grid_points({"eta": (1.0, 2.0), "shrink": (0.0, 0.5)}, Gentle())
    assert [tuple(point.values()) for point in points] == list(product((1.0, 2.0), (0.0, 0.5)))


def test_random_draws_stay_inside_their_ranges_and_the_first_do_not_depend_on_how_many_follow():
    space = {"eta": (0.01, 100.0, 1.0), "rounds": (1, 64), "shrink": (0.0, 0.5), "kind": ("a", "b", "c")}
    points = random_points(space, 400, 3, Gentle())
    assert points[:7] == random_points(space, 7, 3, Gentle()) != random_points(space, 7, 4, Gentle())
    assert all(0.01 <= point["eta"] <= 100.0 for point in points)
    assert {type(point["rounds"]) for point in points} == {int}
    assert {point["shrink"] for point in points} == {0.0, 0.5}  # zero has no logarithm: the values are drawn
    assert {point["kind"] for point in points} == {"a", "b", "c"}
    # Log-uniform: as many below the geometric mean as above it.
    below = np.mean([point["eta"] < math.sqrt(0.01 * 100.0) for point in points])
    assert 0.4 < below < 0.6


SPAM = {"C": (0.1, 1.0), "beta": (1e-3, 1e-1), "nu": (1e-4, 1e-2), "radius": (1.0, 10.0)}


def test_settings_that_differ_in_ignored_fields_only_are_tried_once():
    for penalty, used in {"l2": "C beta", "net": "C beta nu", "ball": "C radius"}.items():
        base, fields = Spam(penalty=penalty), used.split()
        points = grid_points(SPAM, base)
        assert {tuple(point) for point in points} == {tuple(fields)}
        assert len(points) == 2 ** len(fields) == len({tuple(point.values()) for point in points})
        assert all(set(point) == set(fields) for point in random_points(SPAM, 20, 0, base))


def test_the_first_setting_can_be_the_method_as_given():
    for method, space, first in (
        (Gentle(eta=7.0), {"eta": (0.01, 100.0), "shrink": (0.0, 0.5)}, {"eta": 7.0, "shrink": 0.0}),
        (Gentle(eta=0.15), {"eta": (0.1, 0.2), "budget.epochs": (1.0, 9.0)}, {"eta": 0.15}),  # run's epochs
    ):
        points = random_points(space, 5, 3, method, given_first=True)
        assert points == [first, *random_points(space, 4, 3, method)]


SPACE = {
    "lam": (0.1, 1.0, 10.0), "rounds": (30, 10, 20), "kind": ("a", "b"), "flag": (False, True),
    "share": (0.5,), "few": (None, 3, 5),
}  # fmt: skip


def test_an_edge_is_the_smallest_or_largest_of_at_least_two_numbers():
    chosen = {"lam": 0.1, "rounds": 30, "kind": "a", "flag": False, "share": 0.5, "few": 5}
    assert edges(SPACE, chosen) == {"lam": "lower", "rounds": "upper", "few": "upper"}
    assert edges(SPACE, {"lam": 1.0, "rounds": 20, "kind": "b", "flag": True, "few": None}) == {}
    assert edges(SPACE, {"lam": 10.0}) == {"lam": "upper"}  # an ignored field lies on no edge
    budget = "budget.iterations"
    assert edges({budget: (10, 100)}, {budget: 10}) == {budget: "lower"}
