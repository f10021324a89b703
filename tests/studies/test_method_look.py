"""Methods that are shown together look different, also to colour-blind readers and in greyscale."""

from itertools import combinations

from aucbench.studies.method_look import COLOURS, shown_looks


def test_the_first_eight_methods_shown_differ_in_colour_and_marker_and_48_in_something():
    looks = list(shown_looks([f"method {k}" for k in range(48)]).values())
    first = looks[: len(COLOURS)]
    assert len({look.colour for look in first}) == len({look.marker for look in first}) == len(first) == 8
    assert {look.dashes for look in first} == {"solid"}
    for one, other in combinations(looks, 2):
        assert one.dashes != other.dashes or (one.colour != other.colour and one.marker != other.marker)
