"""Edges of grids, what lies beyond them, and what is said of them."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from msgspec import UNSET
from msgspec.structs import replace

import aucbench
from aucbench import ParameterError
from aucbench.studies.result import chosen_in_words, edges_in_words
from aucbench.studies.tuners import Grid, NoTuning, Optuna, Random, beyond, edges
from tests.helpers.board_cells import result
from tests.helpers.board_cells import tuning as tuning_of


@dataclass(frozen=True)
class Ranged:
    """A method with fields of several ranges."""

    name: ClassVar[str] = "ranged"
    lam: aucbench.Positive = 1.0
    share: aucbench.OpenUnit = 0.5
    rounds: aucbench.Count = 10
    any: float = 0.0
    kind: str = "a"
    few: int | None = None

    __post_init__ = aucbench.check_fields


SPACE = {
    "lam": (0.1, 1.0, 10.0),
    "rounds": (30, 10, 20),
    "kind": ("a", "b"),
    "flag": (False, True),
    "share": (0.5,),
    "few": (None, 3, 5),
}


def test_an_edge_is_the_smallest_or_largest_of_at_least_two_numbers():
    chosen = {"lam": 0.1, "rounds": 30, "kind": "a", "flag": False, "share": 0.5, "few": 5}
    assert edges(SPACE, chosen) == {"lam": "lower", "rounds": "upper", "few": "upper"}
    assert edges(SPACE, {"lam": 1.0, "rounds": 20, "kind": "b", "flag": True, "few": None}) == {}
    assert edges(SPACE, {"lam": 10.0}) == {"lam": "upper"}  # a field that was ignored lies on none


@pytest.mark.parametrize(
    ("field", "values", "lower", "upper"),
    [
        ("lam", (0.1, 1.0, 10.0), 0.01, 100.0),
        ("lam", (1e-10, 1e-9, 1e-8, 1e-7), 1e-11, 1e-6),
        ("lam", tuple(2.0**k for k in range(-10, 11)), 2.0**-11, 2.0**11),
        ("lam", (1.0, 10.0, 19.0, 28.0), None, 37.0),  # evenly spaced: 1 - 9 is no step
        ("lam", (10.0, 1.0), 0.1, 100.0),
        ("share", (0.3, 0.6), 0.15, None),  # 1.2 is out of range
        ("share", (0.2, 0.4, 0.6), None, 0.8),
        ("rounds", (4, 8, 16), 2, 32),
        ("rounds", (1, 2), None, 4),
        ("any", (0.0, 0.5, 1.0), None, 1.5),  # a grid of numbers that are not negative does not become so
        ("any", (-1.0, 0.0, 1.0), -2.0, 2.0),
        ("any", (0.0, 0.01, 0.1), None, 1.0),
    ],
)
def test_a_grid_goes_on_by_its_own_spacing_inside_the_range_of_its_field(field, values, lower, upper):
    for side, expected in (("lower", lower), ("upper", upper)):
        found = beyond(Ranged(), field, values, side)
        assert found == (None if expected is None else pytest.approx(expected, rel=1e-12))
        assert type(found) in (type(expected), type(values[0]))


def test_values_that_continue_powers_of_ten_are_written_as_such():
    value, values = 1e-7, [1e-7, 1e-8]
    for _ in range(12):
        value = beyond(Ranged(), "lam", values, "upper")
        values.append(value)
    assert [f"{each!r}" for each in values[2:5]] == ["1e-06", "1e-05", "0.0001"]


def record(parameters, found, name="ls_svm", extend=False, tuning="grid"):
    cost = {"settings": 2, "trainings": 2, "passes": 2.0, "train_seconds": 0.1}
    tuned = {"parameters": parameters, "edges": found, "cost": cost}
    return result(0.9, algorithm=name, tuning=tuning_of(tuning, extend=extend), tuned=tuned).record


def test_runs_at_an_edge_are_counted_for_each_method_and_field():
    records = [record({"lam": 0.1}, {"lam": "lower"})] * 28 + [record({"lam": 1.0}, {})] * 2
    ((name, sentence),) = edges_in_words(records)
    assert name == "ls_svm"
    assert sentence.startswith("lam at the lower edge of its grid in 28 of 30 runs")
    assert "tuning.extend=true" in sentence
    other = record({"C": 1.0, "eta": 9.0}, {"C": "upper", "eta": "lower"}, "other")
    assert len(edges_in_words([*records, other])) == 3
    assert edges_in_words([records[-1], result(0.9).record]) == []
    old = replace(records[0], tuned=replace(records[0].tuned, edges=UNSET))  # from before edges were kept
    assert edges_in_words([old]) == []


def test_chosen_settings_are_counted_where_they_differ():
    records = [record({"lam": 0.1, "kind": "a"}, {}), record({"lam": 1e-7, "kind": "a"}, {})]
    assert chosen_in_words(records[:1] * 3) == "lam=0.1 kind=a"
    assert chosen_in_words([*records, records[1]]) == "lam=1e-07 kind=a (2); lam=0.1 kind=a (1)"
    assert chosen_in_words([]) == ""


def test_only_a_grid_can_be_extended():
    assert Grid(extend=True).extend
    assert NoTuning(extend=True).extend  # its fields are those of the others, without effect
    for cls in (Random, Optuna):
        with pytest.raises(ParameterError, match=f"tuning={cls.name}: extend must be false"):
            cls(extend=True)
