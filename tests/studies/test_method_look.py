"""Methods that are shown together look different, for eyes that see few colours and on grey paper."""

from itertools import combinations

import numpy as np
import pytest

import aucbench
from aucbench.studies.method_look import COLOURS, colour, shown_looks


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
def matrix(numbers):
    return np.array(numbers.split(), float).reshape(3, 3)


EYES = {
    "normal": np.eye(3),
    "protanopia": matrix(
        "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998"
    ),
    "deuteranopia": matrix(
        "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881"
    ),
    "tritanopia": matrix(
        "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900"
    ),
}
# Ottosson's Oklab, in which equal distances look alike.
LMS = matrix(
    "0.4122214708 0.5363325363 0.0514459929 0.2119034982 0.6806995451 0.1073969566 "
    "0.0883024619 0.2817188376 0.6299787005"
)
OKLAB = matrix(
    "0.2104542553 0.7936177850 -0.0040720468 1.9779984951 -2.4285922050 0.4505937099 "
    "0.0259040371 0.7827717662 -0.8086757660"
)
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
PAPER = {0: "#ffffff", 1: "#1b1f23"}


def linear(colours):
    seen = np.array([[int(each[at : at + 2], 16) / 255 for at in (1, 3, 5)] for each in colours])
    return np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)


def seen_by(colours, eyes):
    return np.cbrt((linear(colours) @ EYES[eyes].T).clip(0, 1) @ LMS.T) @ OKLAB.T


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("eyes", list(EYES))
def test_the_colours_of_the_palette_are_told_apart(theme, eyes):
    places = seen_by([pair[theme] for pair in COLOURS], eyes)
    assert min(np.linalg.norm(one - other) for one, other in combinations(places, 2)) > 0.11


@pytest.mark.parametrize("theme", [0, 1])
def test_the_colours_stand_out_from_their_paper(theme):
    values = linear([pair[theme] for pair in COLOURS]) @ LUMINANCE + 0.05
    paper = linear([PAPER[theme]])[0] @ LUMINANCE + 0.05
    assert (np.maximum(values, paper) / np.minimum(values, paper) >= 3).all()


def test_the_first_eight_methods_shown_differ_in_colour_and_marker_and_48_in_something():
    looks = list(shown_looks([f"method {k}" for k in range(48)]).values())
    first = looks[: len(COLOURS)]
    assert len({own.colour for own in first}) == len({own.marker for own in first}) == len(first) == 8
    assert {own.dashes for own in first} == {"solid"}
    for one, other in combinations(looks, 2):
        assert one.dashes != other.dashes or (one.colour != other.colour and one.marker != other.marker)


def test_the_colours_of_single_runs_differ_between_methods_and_between_variants():
    names = list(aucbench.catalog().plugins["algorithms"])
    assert len({colour(name) for name in names}) == len(names)
    assert len({colour("mine", variant) for variant in names[:12]}) == 12
