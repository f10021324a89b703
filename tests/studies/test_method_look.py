"""Methods that are shown together look different, for eyes that see few colours and on grey paper."""

from itertools import combinations

from aucbench.studies.method_look import COLOURS, shown_looks


def test_the_first_eight_methods_shown_differ_in_colour_and_marker_and_48_in_something():
    looks = list(shown_looks([f"method {k}" for k in range(48)]).values())
    first = looks[: len(COLOURS)]
    assert len({own.colour for own in first}) == len({own.marker for own in first}) == len(first) == 8
    assert {own.dashes for own in first} == {"solid"}
    for one, other in combinations(looks, 2):
        assert one.dashes != other.dashes or (one.colour != other.colour and one.marker != other.marker)
