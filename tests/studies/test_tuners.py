import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse

from aucbench import ParameterError
from aucbench.runner.cell import run_cell
from aucbench.runner.task import Task
from aucbench.studies.tuners import grid_points, random_points, resolve
from aucbench_algorithms.spam import Spam
from aucbench_losses import Square
from tests.helpers.fake_plugins import two_clouds
from tests.helpers.study_methods import Gentle, Other


def test_the_grid_of_a_method_is_its_own_unless_one_is_given_under_its_name():
    assert resolve(Gentle(), None) == {"eta": (0.01, 0.1, 1.0)}
    assert resolve(Gentle(), {"fake_other": {"eta": [5]}}) == {"eta": (0.01, 0.1, 1.0)}
    assert resolve(Gentle(), {"fake_gentle": {"eta": [5, 7]}}) == {"eta": (5.0, 7.0)}
    assert resolve(Other(), None) == {}


def test_values_are_of_the_type_of_their_field_and_none_is_tried_twice():
    space = resolve(Gentle(), {"fake_gentle": {"eta": [1, 1.0, 2], "shrink": 0}})
    assert space == {"eta": (1.0, 2.0), "shrink": (0.0,)}
    assert all(isinstance(value, float) for values in space.values() for value in values)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([1], r"tuning.grid: expected {METHOD: {FIELD: \[VALUES\]}}, got \[1\]"),
        ({"fake_gentle": [1]}, r"tuning.grid.fake_gentle: expected {FIELD: \[VALUES\]}, got \[1\]"),
        ({"fake_gentle": {"zeta": [1]}}, "fake_gentle has no field 'zeta'. Known: eta, shrink, pause"),
        ({"fake_gentle": {"budget.seconds": [1]}}, "fake_gentle has no field 'budget.seconds'"),
        ({"fake_gentle": {"budget.epochs": [0]}}, "budget: epochs must be > 0"),
        ({"fake_gentle": {"budget.epochs": [1], "budget.iterations": [9]}}, "tune only one"),
        ({"fake_gentle": {"eta": [1, -1]}}, "fake_gentle: eta must be > 0, got -1"),
        ({"fake_gentle": {"eta": ["x"]}}, "fake_gentle: eta must be a number, got 'x'"),
        ({"fake_gentle": {"eta": []}}, "tuning.grid.fake_gentle.eta is empty: give at least one value"),
    ],
)
def test_a_grid_that_does_not_suit_its_method_is_refused(given, sentence):
    with pytest.raises(ParameterError, match=sentence):
        resolve(Gentle(), given)


def test_a_grid_has_every_combination_and_the_last_field_varies_fastest():
    points = grid_points({"eta": (1.0, 2.0), "shrink": (0.0, 0.5)}, Gentle())
    assert [tuple(point.values()) for point in points] == [(1.0, 0.0), (1.0, 0.5), (2.0, 0.0), (2.0, 0.5)]


def test_random_draws_stay_inside_their_ranges_and_the_first_do_not_depend_on_how_many_follow():
    space = {"eta": (0.01, 100.0, 1.0), "rounds": (1, 64), "shrink": (0.0, 0.5), "kind": ("a", "b", "c")}
    many = random_points(space, 400, 3, Gentle())
    assert many[:7] == random_points(space, 7, 3, Gentle()) != random_points(space, 7, 4, Gentle())
    assert all(0.01 <= point["eta"] <= 100.0 for point in many)
    assert {type(point["rounds"]) for point in many} == {int}
    assert {point["shrink"] for point in many} == {0.0, 0.5}  # zero has no logarithm: one of the values
    assert {point["kind"] for point in many} == {"a", "b", "c"}
    # Log-uniform: as many below the geometric mean as above it.
    below = np.mean([point["eta"] < math.sqrt(0.01 * 100.0) for point in many])
    assert 0.4 < below < 0.6


def test_lists_of_numbers_are_tuples_and_a_single_number_is_no_range():
    @dataclass(frozen=True)
    class Layered:
        name: ClassVar[str] = "layered"
        layers: tuple[int, ...] = (1,)

    assert resolve(Layered(), {"layered": {"layers": [[1, 2], [3]]}}) == {"layers": ((1, 2), (3,))}
    assert random_points({"eta": (3.0,)}, 2, 0, Gentle()) == [{"eta": 3.0}]  # twice the same is once


SPAM = {"C": (0.1, 1.0), "beta": (1e-3, 1e-1), "nu": (1e-4, 1e-2), "radius": (1.0, 10.0)}


@pytest.mark.parametrize(
    ("penalty", "fields"), [("l2", {"C", "beta"}), ("net", {"C", "beta", "nu"}), ("ball", {"C", "radius"})]
)
def test_settings_that_differ_in_ignored_fields_only_are_tried_once(penalty, fields):
    base = Spam(penalty=penalty)
    points = grid_points(SPAM, base)
    assert {tuple(point) for point in points} == {tuple(field for field in SPAM if field in fields)}
    assert len(points) == 2 ** len(fields) == len({tuple(point.values()) for point in points})
    assert all(set(point) == fields for point in random_points(SPAM, 20, 0, base))


@pytest.mark.parametrize("penalty", ["l2", "net", "ball"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_what_spam_says_it_ignores_has_no_effect_and_everything_else_has(penalty, form):
    X, y = two_clouds(n=300, d=5)
    others = {"beta": 0.3, "nu": 0.3, "radius": 0.03}

    def weights(**fields):
        method = Spam(penalty=penalty, C=0.1, **fields)
        task = Task(method, Square(), form(X), y, form(X), y, checkpoints=1)
        return run_cell(task).weights.tobytes()

    same = {field for field, value in others.items() if weights(**{field: value}) == weights()}
    assert same == set(Spam(penalty=penalty).ignored())


def test_the_first_setting_can_be_the_method_as_given():
    space = {"eta": (0.01, 100.0), "shrink": (0.0, 0.5)}
    given = Gentle(eta=7.0)
    points = random_points(space, 5, 3, given, given_first=True)
    assert points[0] == {"eta": 7.0, "shrink": given.shrink}
    assert points[1:] == random_points(space, 4, 3, given)
